/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/store/store_capture.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/store/incidents.h"
#include "consumer/capture/onset.h"
#include "consumer/store/store_growths.h"

#include <limits.h>
#include <string.h>

/* When the stall began by PSI's readings; INT64_MAX: they do not show it. */
static int64_t trigger_onset_at(const struct capture_trigger *trigger)
{
	return capture_was_triggered(trigger) && trigger->onset_ns
		       ? capture_wall_ns(trigger, trigger->onset_ns)
		       : INT64_MAX;
}

int store_capture_announce(struct sql *sql, int64_t run_id, const struct capture_trigger *trigger,
			   uint64_t history_ns, int64_t *ret_capture_id)
{
	const struct asking *asking = trigger->asking;
	bool fired = capture_was_triggered(trigger), is_pressure = capture_is_of_pressure(trigger),
	     is_latency = trigger->mode == TRIGGER_LATENCY;
	const struct latency_trigger *latency = &trigger->latency;
	const char *resource = is_pressure ? psi_resource_names[trigger->psi.resource] : NULL;
	int64_t onset_at = trigger_onset_at(trigger);
	sqlite3_stmt *statement = NULL;
	sqlite3_int64 capture_id = 0;
	int64_t incident_id = 0;
	int result = fired ? incidents_find(sql, run_id, trigger->incident, trigger->triggered_at, resource,
					    &incident_id)
			   : 0;

	if (!result)
		result = sql_insert(
			sql, &statement, "capture", NULL, &capture_id,
			SQL_COLUMNS(
				SQL_NUMBER(run_id, run_id),
				SQL_NUMBER_IF(rule_id, trigger->rule_id, trigger->rule_id),
				SQL_TEXT(rule, asking ? NULL : trigger->rule), SQL_TEXT(resource, resource),
				SQL_TEXT(kind, is_pressure ? psi_kind_names[trigger->psi.kind] : NULL),
				SQL_NUMBER_IF(stall_us, is_pressure, trigger->psi.stall_us),
				SQL_NUMBER_IF(window_us, is_pressure, trigger->psi.window_us),
				SQL_TEXT(trigger_mode, trigger_mode_names[trigger->mode]),
				SQL_TEXT(cgroup, trigger->cgroup),
				SQL_NUMBER(triggered_at, trigger->triggered_at),
				SQL_NUMBER(began_at, trigger->triggered_at - (int64_t)history_ns),
				SQL_NUMBER(history_ns, history_ns), SQL_TEXT(state, "recording"),
				SQL_NUMBER_IF(observed_us, is_pressure, trigger->observed_us),
				SQL_TEXT(latency_metric,
					 is_latency ? latency_metric_names[latency->metric] : NULL),
				SQL_TEXT(latency_quantile,
					 is_latency ? latency_quantile_names[latency->quantile] : NULL),
				SQL_NUMBER_IF(latency_limit_ns, is_latency, latency->limit_ns),
				SQL_NUMBER_IF(latency_observed_ns, is_latency, trigger->latency_observed_ns),
				SQL_NUMBER_IF(latency_window_ns, is_latency, latency->window_ns),
				SQL_NUMBER(hz, trigger->hz), SQL_TEXT(verdict, NULL),
				SQL_NUMBER_IF(verdict_version, false, 0), SQL_TEXT(not_examined, NULL),
				SQL_NUMBER_IF(incident_id, incident_id, incident_id),
				SQL_NUMBER_IF(onset_at, onset_at != INT64_MAX, onset_at),
				SQL_NUMBER_IF(asked_by_uid, asking, asking->uid),
				SQL_TEXT(asked_by, asking && asking->user[0] ? asking->user : NULL),
				SQL_TEXT(asked_for, asking ? asking->text : NULL),
				SQL_TEXT(note, asking ? asking->note : NULL)));
	sqlite3_finalize(statement);
	if (!result && fired)
		result = incidents_settle(sql, capture_id);
	if (!result)
		*ret_capture_id = capture_id;
	return result;
}

/* One capture that is being written. */
struct writing {
	struct sql *sql;
	struct capture_statements *statements;
	sqlite3_int64 run_id;
	const struct capture *capture;
	const struct resolved *resolved;
	const struct mappings *mappings;
	sqlite3_int64 *processes; /* ids of their rows */
	struct capture_ids ids;
	struct sample_counts counts;
};

static int write_process(struct writing *writing, uint32_t position)
{
	const struct capture_process *process = &writing->capture->processes[position];
	int result = 0;

	if (process->cgroup)
		result = sql_insert(writing->sql, &writing->statements->add_cgroup, "cgroup",
				    "ON CONFLICT DO NOTHING", NULL,
				    SQL_COLUMNS(SQL_NUMBER(cgroup_id, process->cgroup_id),
						SQL_TEXT(path, process->cgroup)));
	if (!result)
		result = store_process_write(
			writing->sql, &writing->statements->usage, writing->run_id,
			&(struct stored_process){ process->tgid, process->started_ns, process->comm,
						  mappings_exe(writing->mappings, process->tgid,
							       process->started_ns, process->program),
						  process->uid, process->cgroup,
						  mappings_of(writing->mappings, process->tgid,
							      process->started_ns, process->program) },
			&writing->processes[position]);
	return result;
}

/* Whether the reason is counted for this capture. What is counted from a begin to an end is not, of history alone. */
static bool is_counted(const struct capture *capture, size_t loss)
{
	const uint64_t of_spans = 1ULL << LOSS_NOT_TAKEN | 1ULL << LOSS_LOOKS | 1ULL << LOSS_TARGETS_FULL |
				  1ULL << LOSS_EVENTS | 1ULL << LOSS_STALE_EVENTS |
				  1ULL << LOSS_OFFCPU_UNSTACKED | 1ULL << LOSS_PROGRAM_RUNS |
				  1ULL << LOSS_OFFCPU_JOINED | 1ULL << LOSS_OFFCPU_UNTRACKED |
				  1ULL << LOSS_MISSING | 1ULL << LOSS_WATCH_SUPPRESSED;

	return capture->trigger.mode != TRIGGER_BASELINE || !(of_spans >> loss & 1);
}

static int write_losses(struct writing *writing)
{
	const struct capture *capture = writing->capture;
	int result = 0;

	for (size_t i = 0; i < LOSS_REASONS && !result; i++)
		if (is_counted(capture, i))
			result = sql_insert(
				writing->sql, &writing->statements->add_loss, "loss", NULL, NULL,
				SQL_COLUMNS(SQL_NUMBER(capture_id, writing->ids.capture_id),
					    SQL_TEXT(reason, loss_reasons[i].name),
					    SQL_NUMBER(events,
						       i == LOSS_UNRESOLVED_FRAMES
							       ? writing->resolved->unresolved
						       : i == LOSS_SYMBOLIZER   ? writing->resolved->failures
						       : i == LOSS_MAPPINGS_CUT ? writing->resolved->cut
										: capture->losses[i]),
					    SQL_TEXT(unit, loss_reasons[i].unit)));
	return result;
}

static int write_pressure(struct writing *writing)
{
	const struct capture *capture = writing->capture;
	const struct capture_trigger *trigger = &capture->trigger;
	int result = 0;

	for (uint32_t i = 0; i < capture->pressure.count && !result; i++) {
		const struct pressure_reading *reading = &capture->pressure.readings[i];
		const struct psi_totals *totals = &reading->totals;

		result = sql_insert(
			writing->sql, &writing->statements->add_pressure, "pressure", NULL, NULL,
			SQL_COLUMNS(SQL_NUMBER(capture_id, writing->ids.capture_id),
				    SQL_NUMBER(at, capture_wall_ns(trigger, reading->at_ns)),
				    SQL_TEXT(scope, reading->scope == PRESSURE_SYSTEM    ? "system"
						    : reading->scope == PRESSURE_TARGETS ? "targets"
											 : trigger->cgroup),
				    SQL_TEXT(resource, psi_resource_names[reading->resource]),
				    SQL_NUMBER(some_us, totals->us[PSI_SOME]),
				    SQL_NUMBER_IF(full_us, totals->has[PSI_FULL], totals->us[PSI_FULL])));
	}
	return result;
}

static int write_kernel_stats(struct writing *writing)
{
	const struct capture_trigger *trigger = &writing->capture->trigger;
	const struct kernel_stats *stats = &writing->capture->kernel_stats;
	char scope[PATH_MAX];
	int result = 0;

	for (uint32_t i = 0; i < stats->count && !result; i++) {
		const struct kernel_stat *stat = &stats->stats[i];

		if (stat->scope == KERNEL_STAT_SYSTEM)
			strcpy(scope, "system");
		else if (stat->scope == KERNEL_STAT_RECORDER)
			strcpy(scope, "recorder");
		else
			snprintf(scope, sizeof(scope), "%.*s",
				 kernel_stat_scope_length(stat, trigger->cgroup), trigger->cgroup);
		result = sql_insert(writing->sql, &writing->statements->add_statistic, "statistic", NULL,
				    NULL,
				    SQL_COLUMNS(SQL_NUMBER(capture_id, writing->ids.capture_id),
						SQL_NUMBER(from_at, capture_wall_ns(trigger, stats->from_ns)),
						SQL_NUMBER(to_at, capture_wall_ns(trigger, stats->to_ns)),
						SQL_TEXT(scope, scope), SQL_TEXT(source, stat->source),
						SQL_TEXT(device, *stat->device ? stat->device : NULL),
						SQL_TEXT(name, stat->name),
						SQL_NUMBER_IF(before, stat->before != -1, stat->before),
						SQL_NUMBER_IF(after, stat->after != -1, stat->after)));
	}
	return result;
}

/* What has processes or stacks, but is no samples. */
static int write_beside_samples(struct writing *writing)
{
	const struct capture *capture = writing->capture;
	int result =
		store_wakes_write(writing->sql, &writing->statements->wakes, &capture->wakes, &writing->ids);

	if (!result)
		result = store_growths_write(writing->sql, &writing->statements->add_growth,
					     &capture->growths, &writing->ids);
	return result < 0 ? result
			  : store_thread_states_write(writing->sql, &writing->statements->thread_states,
						      capture, &writing->ids);
}

/* When the stall began: the targets' waiting may show an earlier begin than PSI's readings did. INT64_MAX: not known. */
static int64_t capture_onset_at(const struct capture *capture)
{
	const struct capture_trigger *trigger = &capture->trigger;
	int64_t onset_at = trigger_onset_at(trigger), waited_at;
	struct onset waiting = { 0 };

	if (capture_is_of_pressure(trigger))
		waiting = onset_find(capture);
	waited_at = trigger->triggered_at - waiting.before_s * (int64_t)CLOCK_SECOND_NS;
	return waiting.before_s && waited_at < onset_at ? waited_at : onset_at;
}

static int write_capture(struct writing *writing, int64_t *stack_ids, struct stored_verdict *ret_verdict)
{
	const struct capture *capture = writing->capture;
	const struct capture_trigger *trigger = &capture->trigger;
	uint64_t history_ns = capture_available_history_ns(capture);
	/* between two walks: there is none within a baseline */
	bool has_expected = capture_takes(capture, SAMPLE_ON_CPU) && trigger->mode != TRIGGER_BASELINE;
	int64_t capture_id = capture->capture_id, onset_at = capture_onset_at(capture);
	int result = 0;

	if (!capture_id)
		result = store_capture_announce(writing->sql, writing->run_id, trigger, history_ns,
						&capture_id);
	writing->ids.capture_id = capture_id;
	if (!result)
		result = store_stacks_write(writing->sql, &writing->statements->stacks, capture,
					    writing->resolved, stack_ids);
	for (uint32_t i = 0; i < capture->processes_count && !result; i++)
		result = write_process(writing, i);
	if (!result)
		result = store_samples_write(writing->sql, &writing->statements->samples, capture,
					     &writing->ids, &writing->counts);
	if (!result)
		result = write_beside_samples(writing);
	if (!result)
		result = write_losses(writing);
	if (!result)
		result = write_pressure(writing);
	if (!result)
		result = write_kernel_stats(writing);
	if (!result)
		result = store_usage_write(writing->sql, &writing->statements->usage, writing->run_id,
					   writing->ids.capture_id, capture, writing->mappings);
	if (!result)
		result = store_accounts_write(writing->sql, &writing->statements->accounts,
					      writing->ids.capture_id, capture, writing->resolved);
	if (!result)
		result = store_latency_write(writing->sql, &writing->statements->latency,
					     writing->ids.capture_id, capture, writing->resolved);
	if (!result)
		result = sql_update(
			writing->sql, &writing->statements->finish_capture, "capture", "capture_id",
			capture_id,
			SQL_COLUMNS(
				SQL_NUMBER(began_at, trigger->triggered_at - (int64_t)history_ns),
				SQL_NUMBER_IF(onset_at, onset_at != INT64_MAX, onset_at),
				SQL_NUMBER(ended_at, capture_wall_ns(trigger, capture->ended_ns)),
				SQL_NUMBER(history_ns, history_ns),
				SQL_NUMBER(offcpu_history_ns, capture_available_offcpu_history_ns(capture)),
				SQL_NUMBER_IF(expected_samples, has_expected,
					      capture_expected_samples(capture)),
				SQL_NUMBER_IF(received_samples, has_expected, capture->expected.received),
				SQL_NUMBER(process_count, writing->counts.processes),
				SQL_NUMBER(stack_count, writing->counts.stacks),
				SQL_NUMBER(sample_count, writing->counts.samples),
				SQL_NUMBER(interval_count, writing->counts.intervals),
				SQL_TEXT(state, capture->interrupted ? "interrupted" : "complete")));
	*ret_verdict = (struct stored_verdict){ .kind = VERDICT_KINDS };
	if (!result && trigger->mode != TRIGGER_BASELINE)
		result = store_verdict_write(writing->sql, &writing->statements->write_verdict, capture_id,
					     ret_verdict);
	if (!result && capture_was_triggered(trigger))
		result = incidents_settle(writing->sql, capture_id);
	return result;
}

int store_capture_write(struct sql *sql, struct capture_statements *statements, int64_t run_id,
			const struct capture *capture, const struct resolved *resolved,
			const struct mappings *mappings, int64_t *ret_capture_id,
			struct stored_verdict *ret_verdict)
{
	_cleanup_free_ sqlite3_int64 *processes = calloc(capture->processes_count + 1UL, sizeof(*processes));
	_cleanup_free_ int64_t *stack_ids = calloc(capture->stacks.count + 1UL, sizeof(*stack_ids));
	struct store_threads threads = { .add = &statements->add_thread, .processes = processes };
	struct writing writing = {
		.sql = sql,
		.statements = statements,
		.run_id = run_id,
		.capture = capture,
		.resolved = resolved,
		.mappings = mappings,
		.processes = processes,
		.ids = { .processes = processes, .stacks = stack_ids, .threads = &threads }
	};
	int result = processes && stack_ids ? write_capture(&writing, stack_ids, ret_verdict) : -ENOMEM;

	if (!result)
		*ret_capture_id = writing.ids.capture_id;
	store_threads_free(&threads);
	return result;
}

/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/status.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/version.h"
#include "common/protocol/counters.h"
#include "common/protocol/status_line.h"
#include "common/text/plural.h"
#include "consumer/status_latencies.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void write_daemon(const struct status *status, FILE *out)
{
	char policy[POLICY_TEXT_BYTES];

	policy_describe(&status->kernel->policy, policy);
	status_line_begin(out, "daemon");
	status_line_field(out, "version", "%s", BOURDON_VERSION);
	status_line_field(out, "abi", "%u", BOURDON_ABI);
	status_line_field(out, "pid", "%d", getpid());
	status_line_field(out, "uptime_ns", "%" PRIu64, status->now_ns - status->started_ns);
	status_line_field(out, "hz", "%u", status->kernel->manifest.hz);
	status_line_field(out, "targets", "%u", status->targets->live);
	status_line_field(out, "rules", "%zu", status->reload->in_force->rules.count);
	status_line_field(out, "watches", "%u", watches_live(status->watches));
	status_line_field(out, "watches_max", "%u", watch_room_total(&status->watches->space));
	status_line_field(out, "cgroups_unwatched", "%u", status->watches->space.refused);
	status_line_field(out, "captures_under_way", "%zu", status->recorder->active_count);
	status_line_field(out, "reloads", "%" PRIu64, own_counted(status->own_counters, OWN_RELOADS));
	status_line_field(out, "reloads_refused", "%" PRIu64,
			  own_counted(status->own_counters, OWN_RELOADS_REFUSED));
	status_line_field(out, "reload_mistake", "%s", status->reload->mistake);
	status_line_field(out, "baseline_ns", "%" PRIu64, status->reload->in_force->settings.baseline_ns);
	status_line_field(out, "baselines", "%" PRIu64, own_counted(status->own_counters, OWN_BASELINES));
	status_line_field(out, "baselines_lost", "%" PRIu64,
			  own_counted(status->own_counters, OWN_BASELINES_LOST));
	status_line_field(out, "policy", "%s", policy);
	status_line_field(out, "locked_memory", "%s",
			  locked_memory_names[status->confinement->locked_memory]);
	status_line_field(out, "landlock_abi", "%d", status->confinement->landlock_abi);
	status_line_field(out, "seccomp", "%s", status->confinement->filtered);
	status_line_field(out, "metrics_file", "%s", status->reload->in_force->settings.metrics_file);
	status_line_field(out, "metrics_ns", "%" PRIu64, status->reload->in_force->settings.metrics_ns);
	status_line_end(out);
}

static void write_triggers(const struct rule *rule, FILE *out)
{
	char text[1280] = "";

	for (size_t i = 0; i < rule->triggers_count; i++) {
		const struct trigger *trigger = &rule->triggers[i];

		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "%s%s.%s=%" PRIu64 "us/%" PRIu64 "us", i ? " " : "",
			 psi_resource_names[trigger->resource], psi_kind_names[trigger->kind],
			 trigger->stall_us, trigger->window_us);
	}
	for (size_t i = 0; i < rule->latencies_count; i++) {
		const struct latency_trigger *latency = &rule->latencies[i];

		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "%s%s.%s>%" PRIu64 ".%03" PRIu64 "us/%" PRIu64 "us", *text ? " " : "",
			 latency_metric_names[latency->metric], latency_quantile_names[latency->quantile],
			 latency->limit_ns / 1000, latency->limit_ns % 1000, latency->window_ns / 1000);
	}
	if (rule->on_kill)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%son_kill", *text ? " " : "");
	status_line_field(out, "triggers", "%s", text);
}

/* Returns the number of watches of each rule in force, or NULL. The caller frees it. */
static uint32_t *count_watches(const struct status *status)
{
	const struct rule_set *rules = &status->reload->in_force->rules;
	uint32_t *counts = calloc(rules->count + 1, sizeof(*counts));

	for (uint32_t i = 0; counts && i < status->watches->count; i++)
		if (!status->watches->watches[i]->gone)
			counts[status->watches->watches[i]->rule - rules->rules]++;
	return counts;
}

static void write_rules(const struct status *status, FILE *out)
{
	_cleanup_free_ uint32_t *watches = count_watches(status);
	char probes[LATENCY_GROUPS_TEXT_BYTES];

	for (size_t i = 0; i < status->reload->in_force->rules.count; i++) {
		const struct rule *rule = &status->reload->in_force->rules.rules[i];

		status_line_begin(out, "rule");
		status_line_field(out, "id", "%u", rule->id);
		status_line_field(out, "name", "%s", rule->name);
		status_line_field(out, "source", "%s", rule->source);
		status_line_field(out, "comm", "%s%s", rule->comm.text, rule->comm.prefix ? "*" : "");
		status_line_field(out, "pattern_id", "%u", rule->pattern_id);
		status_line_field(out, "cgroup", "%s", rule->cgroup ? rule->cgroup : "");
		status_line_field(out, "unit", "%s", rule->unit ? rule->unit : "");
		status_line_field(out, "watch", "%s", rule_watch_names[rule->watch]);
		write_triggers(rule, out);
		status_line_field(out, "probes", "%s", measuring_names(rule_latency_groups(rule), probes));
		status_line_field(out, "watches", "%u", watches ? watches[i] : 0);
		status_line_field(out, "cgroups_unwatched", "%u", watches_unwatched(status->watches, rule));
		status_line_end(out);
	}
}

static const char *state_of(const struct watch *watch, uint64_t now_ns)
{
	return watch->trigger && watch->fd < 0 ? "broken"
	       : watch_is_quiet(watch, now_ns) ? "cooldown"
					       : "armed";
}

static void write_mistake(const char *text, FILE *out)
{
	status_line_begin(out, "mistake");
	status_line_field(out, "text", "%s", text);
	status_line_end(out);
}

static void write_mistakes(const struct reload *reload, FILE *out)
{
	const struct config_errors *errors = &reload->mistakes;
	size_t shown = 0;

	if (!errors->count && reload->mistake[0])
		write_mistake(reload->mistake, out);
	for (; shown < errors->count && shown < MISTAKES_SHOWN; shown++)
		write_mistake(errors->messages[shown] ? errors->messages[shown] : "out of memory", out);
	if (shown == errors->count)
		return;
	status_line_begin(out, "mistake");
	status_line_field(out, "more", "%zu", errors->count - shown);
	status_line_end(out);
}

static void write_watch(const struct status *status, const struct watch *watch, FILE *out)
{
	const struct trigger *trigger = watch->trigger;
	char reason[256] = "";

	status_line_begin(out, "watch");
	status_line_field(out, "rule", "%s", watch->rule->name);
	if (trigger) {
		watch_grants_explain(&status->watches->grants, watch, reason, sizeof(reason));
		status_line_field(out, "resource", "%s", psi_resource_names[trigger->resource]);
		status_line_field(out, "kind", "%s", psi_kind_names[trigger->kind]);
		status_line_field(out, "stall_us", "%" PRIu64, trigger->stall_us);
		status_line_field(out, "window_us", "%" PRIu64, trigger->window_us);
	}
	if (watch->latency) {
		status_line_field(out, "latency", "%s.%s", latency_metric_names[watch->latency->metric],
				  latency_quantile_names[watch->latency->quantile]);
		status_line_field(out, "limit_ns", "%" PRIu64, watch->latency->limit_ns);
		status_line_field(out, "window_us", "%" PRIu64, watch->latency->window_ns / 1000);
	}
	status_line_field(out, "trigger_mode", "%s", trigger_mode_names[watch->mode]);
	status_line_field(out, "state", "%s", state_of(watch, status->now_ns));
	status_line_field(out, "cgroup", "%s", watch->cgroup ? watch->cgroup : "");
	status_line_field(out, "fired", "%" PRIu64, watch->fired);
	status_line_field(out, "suppressed", "%" PRIu64, watch->suppressed_all);
	status_line_field(out, "reason", "%s", reason);
	status_line_end(out);
}

static void write_watches(const struct status *status, FILE *out)
{
	const struct event_watches *kills = &status->watches->kills, *latencies = &status->watches->latencies;
	uint32_t shown = 0;

	for (uint32_t i = 0; i < status->watches->count && shown < WATCHES_SHOWN; i++) {
		const struct watch *watch = status->watches->watches[i];

		if (watch->gone)
			continue;
		shown++;
		write_watch(status, watch, out);
	}
	for (uint32_t i = 0; i < kills->count && shown < WATCHES_SHOWN; i++, shown++)
		write_watch(status, &kills->each[i], out);
	for (uint32_t i = 0; i < latencies->count && shown < WATCHES_SHOWN; i++, shown++)
		write_watch(status, &latencies->each[i], out);
}

static void write_captures(const struct status *status, FILE *out)
{
	for (size_t i = 0; i < status->recorder->active_count; i++) {
		const struct recording *active = &status->recorder->active[i];
		char by[CAPTURE_WHOSE_BYTES];

		status_line_begin(out, "capture");
		status_line_field(out, "rule", "%s", active->rule->name);
		status_line_field(out, "asked_by", "%s",
				  active->capture->trigger.asking
					  ? capture_whose(&active->capture->trigger, by, sizeof(by))
					  : "");
		status_line_field(out, "cgroup", "%s", active->cgroup ? active->cgroup : "");
		status_line_field(out, "stacks", "%u", active->capture->stacks.count);
		status_line_end(out);
	}
}

static void write_counter(FILE *out, const char *name, uint64_t value)
{
	status_line_begin(out, "counter");
	status_line_field(out, "name", "%s", name);
	status_line_field(out, "value", "%" PRIu64, value);
	status_line_end(out);
}

static void write_unwind(const struct unwind_gauges *unwind, FILE *out)
{
	status_line_begin(out, "unwind");
	status_line_field(out, "processes", "%" PRIu64, atomic_load(&unwind->processes));
	status_line_field(out, "modules", "%" PRIu64, atomic_load(&unwind->modules));
	status_line_field(out, "modules_without", "%" PRIu64, atomic_load(&unwind->modules_without));
	status_line_field(out, "rows", "%" PRIu64, atomic_load(&unwind->rows));
	status_line_field(out, "bytes", "%" PRIu64, atomic_load(&unwind->bytes));
	status_line_field(out, "bytes_max", "%" PRIu64, atomic_load(&unwind->bytes_max));
	status_line_field(out, "processes_cut", "%" PRIu64, atomic_load(&unwind->processes_cut));
	status_line_field(out, "pending", "%" PRIu64, atomic_load(&unwind->pending));
	status_line_field(out, "kept", "%" PRIu64, atomic_load(&unwind->kept));
	status_line_field(out, "kept_bytes", "%" PRIu64, atomic_load(&unwind->kept_bytes));
	status_line_field(out, "loaded", "%" PRIu64, atomic_load(&unwind->loaded));
	status_line_field(out, "named", "%" PRIu64, atomic_load(&unwind->named));
	status_line_field(out, "named_bytes", "%" PRIu64, atomic_load(&unwind->named_bytes));
	status_line_end(out);
}

void status_write_tables(const struct unwind_gauges *unwind, uint64_t now_ns, FILE *out)
{
	_cleanup_free_ struct table_failure *list = calloc(TABLE_FAILURES_MOST, sizeof(*list));
	uint32_t count = list ? table_failures_copy(unwind->failures, list) : 0;
	uint64_t without = atomic_load(&unwind->modules_without);

	for (uint32_t i = 0; i < count; i++) {
		const struct table_failure *failure = &list[i];
		enum table_reason reason = table_reason_of(failure->error);
		char text[TABLE_REASON_BYTES];

		/* not one of `modules_without` yet */
		without += reason == TABLE_WAITS;
		status_line_begin(out, "without_table");
		status_line_field(out, "path", "%s", failure->path);
		status_line_field(out, "reason", "%s", table_reason_texts[reason].word);
		status_line_field(out, "text", "%s", table_reason_write(failure->error, text));
		status_line_field(out, "remedy", "%s", table_reason_texts[reason].remedy);
		status_line_field(out, "since_ns", "%" PRIu64,
				  now_ns > failure->since_ns ? now_ns - failure->since_ns : 0);
		if (failure->retry_ns)
			status_line_field(out, "retry_ns", "%" PRIu64,
					  failure->retry_ns > now_ns ? failure->retry_ns - now_ns : 0);
		else
			status_line_field(out, "retry_ns", "%s", "");
		status_line_end(out);
	}
	if (without <= count)
		return;
	status_line_begin(out, "without_table");
	status_line_field(out, "more", "%" PRIu64, without - count);
	status_line_end(out);
}

static void write_cgroups(const struct cgroups_gauges *cgroups, FILE *out)
{
	status_line_begin(out, "cgroups");
	status_line_field(out, "paths", "%u", cgroups->count - cgroups->too_long);
	status_line_field(out, "too_long", "%u", cgroups->too_long);
	status_line_field(out, "bytes", "%" PRIu64, cgroups->bytes);
	status_line_field(out, "bytes_max", "%u", CGROUPS_BYTES_MAX);
	status_line_field(out, "forgotten", "%" PRIu64, cgroups->forgotten);
	status_line_end(out);
}

/* A number that is not known is empty. */
static void field_if_known(FILE *out, const char *key, int64_t value)
{
	if (value < 0)
		status_line_field(out, key, "%s", "");
	else
		status_line_field(out, key, "%" PRId64, value);
}

static void write_own(const struct status *status, FILE *out)
{
	const struct offcpu_budgets *budgets = &status->recorder->budgets;
	struct own_used used;

	own_usage_read(status->own_usage, &used);
	status_line_begin(out, "own");
	field_if_known(out, "cpu_ns", used.cpu_ns);
	/* this is the draining thread */
	status_line_field(out, "draining_cpu_ns", "%" PRIu64, clock_read_ns(CLOCK_THREAD_CPUTIME_ID));
	field_if_known(out, "resident_bytes", used.resident_bytes);
	field_if_known(out, "unit_cpu_ns", used.unit_cpu_ns);
	field_if_known(out, "unit_bytes", used.unit_bytes);
	status_line_field(out, "offcpu_joined_ns", "%" PRIu64, budgets->joined_ns);
	status_line_field(out, "offcpu_over_ns", "%" PRIu64, budgets->over_ns);
	status_line_field(out, "past_bytes", "%zu", status->recorder->past.room);
	status_line_end(out);
}

static void write_queues(struct own_counters *counters, FILE *out)
{
	for (size_t i = 0; i < OWN_QUEUES; i++) {
		const struct own_gauge *depth = &counters->queues[i].depth,
				       *lag = &counters->queues[i].lag_ns;
		bool has_lag = own_queue_has_lag((enum own_queue)i);

		status_line_begin(out, "queue");
		status_line_field(out, "name", "%s", own_queue_names[i]);
		status_line_field(out, "depth", "%" PRIuFAST64, atomic_load(&depth->now));
		status_line_field(out, "depth_most", "%" PRIuFAST64, atomic_load(&depth->most));
		field_if_known(out, "room",
			       counters->queues[i].room ? (int64_t)counters->queues[i].room : -1);
		field_if_known(out, "lag_ns", has_lag ? (int64_t)atomic_load(&lag->now) : -1);
		field_if_known(out, "lag_most_ns", has_lag ? (int64_t)atomic_load(&lag->most) : -1);
		status_line_end(out);
	}
}

void status_write_programs(const struct program_costs *costs, FILE *out)
{
	status_line_begin(out, "programs");
	status_line_field(out, "count", "%u", costs->count);
	status_line_field(out, "counted", "%d", costs->are_counted);
	status_line_field(out, "missed", "%" PRIu64, program_costs_missed(costs));
	status_line_end(out);
	for (uint32_t i = 0; i < costs->count; i++) {
		const struct program_cost *cost = &costs->each[i];

		status_line_begin(out, "program");
		status_line_field(out, "name", "%s", cost->name.text);
		field_if_known(out, "runs", costs->are_counted ? (int64_t)cost->runs : -1);
		field_if_known(out, "run_ns", costs->are_counted ? (int64_t)cost->run_ns : -1);
		status_line_field(out, "missed", "%" PRIu64, (uint64_t)cost->missed);
		status_line_end(out);
	}
}

static void write_programs(const struct kernel_objects *kernel, FILE *out)
{
	_cleanup_free_ struct program_costs *costs = malloc(sizeof(*costs));

	if (costs && !program_costs_read(costs, kernel))
		status_write_programs(costs, out);
}

static void __attribute__((format(printf, 3, 4)))
write_problem(FILE *out, const char *remedy, const char *problem, ...)
{
	char text[600];
	va_list values;

	va_start(values, problem);
	vsnprintf(text, sizeof(text), problem, values);
	va_end(values);
	status_line_begin(out, "problem");
	status_line_field(out, "problem", "%s", text);
	status_line_field(out, "remedy", "%s", remedy);
	status_line_end(out);
}

/* Counters of the kernel programs that should be zero, each with its remedy. */
static const struct {
	unsigned int counter;
	const char *problem, *remedy;
} kernel_problems[] = {
	{ COUNTER_TARGETS_FULL, "processes did not fit the targets map",
	  "raise bourdon-load --targets, or narrow the rules" },
	{ COUNTER_EVENTS_LOST, "process events were lost",
	  "nothing to do: the walk every 30 s finds what the lost events reported" },
	{ COUNTER_CGROUPS_OVER_BUDGET,
	  "a user has more cgroups than the kernel programs tell at once, so their pressure is watched later",
	  "nothing to do, if that user may have so many cgroups: 'cgroup.max.descendants' limits them" },
	{ COUNTER_CGROUPS_LOST, "paths of cgroups found no room in their ring buffer",
	  "nothing to do: they are told again" },
	{ COUNTER_ENDED_LOST,
	  "processes ended without telling what they had used since the last walk, because too many ended at once",
	  "nothing to do: that time counts as unaccounted" },
	{ COUNTER_OFFCPU_UNTRACKED,
	  "waits of threads were not recorded, because the kernel had no memory for their state", "" },
	{ COUNTER_ACCOUNTS_LOST, "times of targets' threads found no room among the accounts",
	  "narrow the rules: 512 programs in a cgroup each have accounts" },
	{ COUNTER_CLOCKS_LOST, "CPUs went offline and lost their perf clock", "run bourdon-load again" },
};

/* The rules that do not watch all cgroups of their targets, the first few of them. */
static void write_unwatched(const struct status *status, FILE *out)
{
	const struct watch_room *room = &status->watches->space;
	const struct rule_set *rules = &status->reload->in_force->rules;
	char obstacle[160];
	unsigned int shown = 0;

	for (size_t i = 0; i < rules->count && room->refused && shown < RULES_SHOWN; i++) {
		const struct watch_share *share = watch_room_share(room, &rules->rules[i]);

		if (!share || !share->refused)
			continue;
		shown++;
		watch_room_explain(room, share->obstacle, obstacle, sizeof(obstacle));
		write_problem(out, watch_room_remedy(share->obstacle),
			      "rule %s does not watch %u %s with targets: %s", rules->rules[i].name,
			      share->refused, plural(share->refused, "cgroup", "cgroups"), obstacle);
	}
}

static void write_problems(const struct status *status, const uint64_t counters[COUNTERS], FILE *out)
{
	const struct confinement *confinement = status->confinement;
	const struct settings *settings = &status->reload->in_force->settings;
	const struct unwind_gauges *unwind = status->unwind;
	unsigned int broken = 0;
	char remedy[600];

	if (status->reload->mistake[0])
		write_problem(
			out,
			"correct every line marked 'not in force' above; bourdond then reloads by itself",
			"reload refused; keeping the previous configuration: %s", status->reload->mistake);
	if (!confinement->landlock_abi)
		write_problem(
			out, "add landlock to lsm= on the kernel's command line",
			"the kernel has no Landlock: only file permissions limit which files bourdond can open");
	if (confinement->locked_memory != LOCKED_ALL)
		write_problem(
			out, LOCKED_MEMORY_REMEDY, "%s",
			confinement->locked_memory == LOCKED_NONE
				? "memory is not locked: a thrashing host may stall bourdond"
				: "only memory mapped at the start is locked: RLIMIT_MEMLOCK is below 128 MiB");
	if (confine_calls_are_only_named(confinement))
		write_problem(out, "install a build without SECCOMP_LOG",
			      "system calls that the policies do not list are logged and allowed");
	if (strcmp(confinement->directories, settings->directories) != 0)
		write_problem(out, "restart bourdond",
			      "[files] directories was changed: the new value takes effect after a restart");
	if (!settings_metrics_reach(confinement->metrics_file, settings->metrics_file))
		write_problem(
			out, "restart bourdond",
			"[metrics] textfile was changed to another directory: the new value takes effect after a restart");
	if (!grant_queue_is_served(status->watches->grants.queue))
		write_problem(
			out, "start bourdon-grant.socket; without units see docs/WITHOUT_UNITS.md",
			"bourdon-grant cannot be reached: the pressure of cgroups is read once a second");
	if (status->unsampled_cpus[0])
		write_problem(out, "run bourdon-load again", "CPU %s is not sampled", status->unsampled_cpus);
	for (uint32_t i = 0; i < status->watches->count; i++)
		broken += status->watches->watches[i]->fd < 0 && !status->watches->watches[i]->gone;
	if (broken)
		write_problem(out, "bourdond's log names them", "%u pressure %s could not be opened or read",
			      broken, plural(broken, "file", "files"));
	write_unwatched(status, out);
	if (status->cgroups.too_long)
		write_problem(out, "give these cgroups shorter paths",
			      "%u %s of more than %u bytes or %u levels: no rule watches them",
			      status->cgroups.too_long,
			      plural(status->cgroups.too_long, "cgroup has a path", "cgroups have paths"),
			      CGROUP_PATH_BYTES, CGROUP_LEVELS);
	if (!status->reload->in_force->rules.count) {
		snprintf(remedy, sizeof(remedy), "add a file with a rule to %s, its name ending in .conf",
			 settings->rules_dir);
		write_problem(out, remedy, "no rules: nothing will be captured");
	}
	if (atomic_load(&unwind->modules_no_room) || atomic_load(&unwind->processes_no_room))
		write_problem(out, "raise bourdon-load --unwind-memory",
			      "the unwind tables had no room for %" PRIu64 " files and %" PRIu64
			      " processes, whose stacks are unwound by frame pointers",
			      atomic_load(&unwind->modules_no_room), atomic_load(&unwind->processes_no_room));
	if (atomic_load(&unwind->processes_cut))
		write_problem(
			out, "bourdond's log names the one with the most",
			"%" PRIu64
			" processes have more than %u executable mappings; code in the rest has no names",
			atomic_load(&unwind->processes_cut), UNWIND_MAPPINGS_MAX);
	if (own_counted(status->own_counters, OWN_ASKED_TOO_OFTEN))
		write_problem(out, "bourdond's log names one of them each minute",
			      "connections of users who ask too often were closed: %" PRIu64,
			      own_counted(status->own_counters, OWN_ASKED_TOO_OFTEN));
	for (size_t i = 0; i < ARRAY_SIZE(kernel_problems); i++)
		if (counters[kernel_problems[i].counter])
			write_problem(out, kernel_problems[i].remedy, "%s: %" PRIu64,
				      kernel_problems[i].problem, counters[kernel_problems[i].counter]);
}

static void write_latency_problems(const struct latency_state states[METRICS], FILE *out)
{
	for (uint32_t metric = 0; metric < METRICS; metric++) {
		const char *problem, *remedy;
		double percent;

		if (latency_state_is_bad(&states[metric], &percent, &problem, &remedy))
			write_problem(out, remedy, "latencies: %.1f %% of the events of %s %s", percent,
				      latency_metric_names[metric], problem);
	}
}

void status_write(const struct status *status, FILE *out)
{
	uint64_t counters[COUNTERS] = { 0 };
	struct latency_state states[METRICS];

	write_daemon(status, out);
	write_mistakes(status->reload, out);
	write_rules(status, out);
	write_watches(status, out);
	write_captures(status, out);
	write_own(status, out);
	write_queues(status->own_counters, out);
	latency_states_read(status->latencies, states);
	status_write_latencies(status->latencies, states, out);
	write_programs(status->kernel, out);
	write_unwind(status->unwind, out);
	status_write_tables(status->unwind, status->now_ns, out);
	write_cgroups(&status->cgroups, out);
	counters_read(status->kernel->map_fds[PIN_COUNTERS], counters);
	for (unsigned int i = 0; i < COUNTERS; i++)
		write_counter(out, counter_names[i], counters[i]);
	for (unsigned int i = 0; i < OWN_COUNTERS; i++)
		write_counter(out, own_counter_names[i],
			      own_counted(status->own_counters, (enum own_counter)i));
	write_problems(status, counters, out);
	write_latency_problems(states, out);
}

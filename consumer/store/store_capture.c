/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/store/store_capture.h"

#include "common/array.h"
#include "common/cleanup.h"
#include "consumer/capture/cause.h"

#include <limits.h>
#include <nettle/sha2.h>
#include <string.h>

int store_capture_prepare(struct sql *sql, struct capture_statements *ret_statements)
{
	const struct {
		sqlite3_stmt **statement;
		const char *sql;
	} statements[] = {
		{ &ret_statements->add_module,
		  "INSERT INTO module(path, build_id, version, kind, bias) "
		  "VALUES(?, nullif(?, ''), ?, ?, nullif(?, -1)) "
		  "ON CONFLICT DO UPDATE SET bias = ifnull(bias, excluded.bias) RETURNING module_id" },
		/* a name that was found later applies to all captures */
		{ &ret_statements->add_frame,
		  "INSERT INTO frame(module_id, offset, inlined, function, function_offset, file, line) "
		  "VALUES(?, ?, ?, ?, nullif(?, -1), ?, nullif(?, 0)) ON CONFLICT DO UPDATE SET "
		  "function = iif(function_offset IS NULL, excluded.function, function), "
		  "function_offset = ifnull(function_offset, excluded.function_offset), "
		  "line = iif(file IS NULL, excluded.line, line), file = ifnull(file, excluded.file) "
		  "RETURNING frame_id" },
		{ &ret_statements->add_stack,
		  "INSERT INTO stack(depth, truncated, unwinder, ended, fingerprint) "
		  "VALUES(?, ?, ?, ?, ?) RETURNING stack_id" },
		{ &ret_statements->find_stack, "SELECT stack_id FROM stack WHERE fingerprint = ?" },
		{ &ret_statements->add_stack_frame,
		  "INSERT INTO stack_frame(stack_id, position, frame_id) VALUES(?, ?, ?)" },
		{ &ret_statements->add_process,
		  "INSERT INTO process(run_id, tgid, started_ns, comm, exe, uid, "
		  "cgroup) VALUES(?, ?, ?, ?, ?, ?, ?) "
		  "ON CONFLICT DO UPDATE SET uid = excluded.uid RETURNING process_id" },
		{ &ret_statements->add_sample,
		  "INSERT INTO sample(capture_id, process_id, tid, thread, stack_id, kind, stall, second, "
		  "samples, "
		  "weight_ns) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
		  "samples = samples + excluded.samples, weight_ns = weight_ns + excluded.weight_ns" },
		{ &ret_statements->add_loss,
		  "INSERT INTO loss(capture_id, reason, events, unit) VALUES(?, ?, ?, ?)" },
		{ &ret_statements->add_cgroup,
		  "INSERT OR REPLACE INTO cgroup(cgroup_id, path) VALUES(?, ?)" },
		{ &ret_statements->add_pressure,
		  "INSERT INTO pressure(capture_id, at, scope, resource, some_us, full_us) "
		  "VALUES(?, ?, ?, ?, ?, nullif(?, -1))" },
		{ &ret_statements->add_statistic,
		  "INSERT INTO statistic(capture_id, from_at, to_at, scope, source, device, name, before, "
		  "after) VALUES(?, ?, ?, ?, ?, nullif(?, ''), ?, nullif(?, -1), nullif(?, -1))" },
		{ &ret_statements->add_usage,
		  "INSERT INTO usage(capture_id, process_id, role, from_at, to_at, cpu_ns, run_delay_ns, "
		  "io_delay_ns,"
		  " stalled_cpu_ns, stalled_memory_ns, stalled_io_ns, major_faults, minor_faults, read_bytes,"
		  " write_bytes, voluntary_switches, involuntary_switches, rss_bytes) VALUES("
		  "?, nullif(?, 0), ?, ?, ?, ?, ?, nullif(?, -1), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)" },
		{ &ret_statements->finish_capture,
		  "UPDATE capture SET began_at = ?, ended_at = ?, history_ns = ?, offcpu_history_ns = ?, "
		  "expected_samples = ?, received_samples = ?, cause = ?, because = ?, state = ? WHERE "
		  "capture_id = ?" },
	};
	int result = 0;

	for (size_t i = 0; i < ARRAY_SIZE(statements) && !result; i++)
		result = sql_prepare(sql, statements[i].statement, statements[i].sql);
	return result;
}

int store_capture_announce(struct sql *sql, int64_t run_id, const struct capture_trigger *trigger,
			   uint64_t history_ns, int64_t *ret_capture_id)
{
	sqlite3_stmt *statement;
	sqlite3_int64 capture_id = 0;
	int result = sql_prepare(
		sql, &statement,
		"INSERT INTO capture(run_id, rule_id, rule, resource, kind, stall_us, window_us, "
		"trigger_mode, cgroup, triggered_at, began_at, history_ns, state, observed_us, hz) "
		"VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'recording', ?, ?) RETURNING capture_id");

	if (!result)
		result = sql_run(sql, statement, &capture_id, "iitttiittiiiii", run_id,
				 (int64_t)trigger->rule_id, trigger->rule,
				 psi_resource_names[trigger->psi.resource], psi_kind_names[trigger->psi.kind],
				 (int64_t)trigger->psi.stall_us, (int64_t)trigger->psi.window_us,
				 trigger_mode_names[trigger->mode], trigger->cgroup, trigger->triggered_at,
				 trigger->triggered_at - (int64_t)history_ns, (int64_t)history_ns,
				 (int64_t)trigger->observed_us, (int64_t)trigger->hz);
	sqlite3_finalize(statement);
	if (!result)
		*ret_capture_id = capture_id;
	return result;
}

/* One capture that is being written, with the row ids that it was given so far. */
struct writing {
	struct sql *sql;
	const struct capture_statements *statements;
	sqlite3_int64 run_id;
	const struct capture *capture;
	const struct resolved *resolved;
	const struct mappings *mappings;
	sqlite3_int64 capture_id;
	sqlite3_int64 *modules, *frames, *stacks, *processes;
	sqlite3_int64 *rows; /* frames of the current stack, leaf first */
	uint32_t rows_count, rows_room;
};

static int write_frames(struct writing *writing)
{
	const struct resolved *resolved = writing->resolved;
	int result = 0;

	for (uint32_t i = 0; i < resolved->modules_count && !result; i++) {
		const struct resolved_module *module = &resolved->modules[i];

		if (module->kind == MODULE_NONE)
			continue;
		result = sql_run(writing->sql, writing->statements->add_module, &writing->modules[i], "tttti",
				 module->path, module->build_id, module->version,
				 module_kind_names[module->kind],
				 /* -1 marks a missing bias, because a real bias is a multiple of a page */
				 module->has_bias ? module->bias : (int64_t)-1);
	}
	for (uint32_t i = 0; i < resolved->frames_count && !result; i++) {
		const struct resolved_frame *frame = &resolved->frames[i];

		result = sql_run(writing->sql, writing->statements->add_frame, &writing->frames[i], "iiititi",
				 (int64_t)writing->modules[frame->module], frame->offset,
				 (int64_t)frame->inlined, frame->function, frame->function_offset,
				 frame->file, (int64_t)frame->line);
	}
	return result;
}

static const char *unwinder_name(const struct stack *stack)
{
	static const char *const names[] = { "none", "frame-pointer", "eh-frame", "mixed" };

	return names[stack->unwinder & (UNWINDER_FRAME_POINTER | UNWINDER_EH_FRAME)];
}

/* NULL for a stack without user frames. */
static const char *ended_name(const struct stack *stack)
{
	static const char *const names[] = { NULL,
					     [UNWIND_ENDED_ROOT] = "root",
					     [UNWIND_ENDED_DEPTH] = "depth",
					     [UNWIND_ENDED_MEMORY] = "memory",
					     [UNWIND_ENDED_UNMAPPED] = "unmapped",
					     [UNWIND_ENDED_NO_RULE] = "no-rule",
					     [UNWIND_ENDED_EXPRESSION] = "expression",
					     [UNWIND_ENDED_REGISTER] = "register",
					     [UNWIND_ENDED_POLICY] = "policy" };

	return stack->ended < ARRAY_SIZE(names) ? names[stack->ended] : NULL;
}

/* Adds the functions at one address, the innermost first: stacks are stored leaf first. */
static int add_rows(struct writing *writing, uint32_t place)
{
	const struct resolved_frame *frames = writing->resolved->frames;
	uint32_t count = 1, at = place;

	while ((at = frames[at].inner))
		count++;
	if (array_make_room(writing->rows, writing->rows_count, writing->rows_room, count))
		return -ENOMEM;
	writing->rows_count += count;
	at = place;
	for (uint32_t i = 1; i <= count; i++, at = frames[at].inner)
		writing->rows[writing->rows_count - i] = writing->frames[at];
	return 0;
}

static int write_stack(struct writing *writing, uint32_t position)
{
	const struct stack *stack = &writing->capture->stacks.stacks[position];
	uint32_t addresses = writing->resolved->depths[position];
	bool truncated = stack->truncated || addresses < (uint32_t)stack->kernel_depth + stack->user_depth;
	uint8_t digest[SHA256_DIGEST_SIZE], kind[3] = { stack->unwinder, truncated, stack->ended };
	struct sha256_ctx context;
	int result = 0;

	writing->rows_count = 0;
	for (uint32_t i = 0; i < addresses && !result; i++)
		result = add_rows(writing, writing->resolved->of_stack_frame[stack->first + i]);
	if (result < 0)
		return result;
	/* half of a SHA-256: a hostile process cannot make a stack that collides with another one */
	sha256_init(&context);
	sha256_update(&context, sizeof(kind), kind);
	sha256_update(&context, writing->rows_count * sizeof(*writing->rows), (const uint8_t *)writing->rows);
	sha256_digest(&context, sizeof(digest), digest);
	result = sql_run(writing->sql, writing->statements->find_stack, &writing->stacks[position], "b",
			 digest, sizeof(digest) / 2);
	if (result < 0 || writing->stacks[position])
		return result; /* another capture has stored this stack with all its frames */
	result = sql_run(writing->sql, writing->statements->add_stack, &writing->stacks[position], "iittb",
			 (int64_t)writing->rows_count, (int64_t)truncated, unwinder_name(stack),
			 ended_name(stack), digest, sizeof(digest) / 2);
	for (uint32_t i = 0; i < writing->rows_count && !result; i++)
		result = sql_run(writing->sql, writing->statements->add_stack_frame, NULL, "iii",
				 (int64_t)writing->stacks[position], (int64_t)i, (int64_t)writing->rows[i]);
	return result;
}

static int write_process(struct writing *writing, uint32_t position)
{
	const struct capture_process *process = &writing->capture->processes[position];
	int result = 0;

	if (process->cgroup)
		result = sql_run(writing->sql, writing->statements->add_cgroup, NULL, "it",
				 (int64_t)process->cgroup_id, process->cgroup);
	if (!result)
		result = sql_run(writing->sql, writing->statements->add_process,
				 &writing->processes[position], "iiittit", (int64_t)writing->run_id,
				 (int64_t)process->tgid, (int64_t)process->started_ns, process->comm,
				 mappings_exe(writing->mappings, process->tgid, process->started_ns),
				 (int64_t)process->uid, process->cgroup);
	return result;
}

static const char *stall_name(uint8_t stall)
{
	static const char *const names[] = { "none", "memory",     "io",     "memory+io",
					     "cpu",  "memory+cpu", "io+cpu", "memory+io+cpu" };

	return names[stall & (STALL_MEMORY | STALL_IO | STALL_CPU)];
}

static int write_rows(struct writing *writing)
{
	const struct capture *capture = writing->capture;
	int result = 0;

	for (uint32_t i = 0; i < capture->rows_count && !result; i++) {
		const struct capture_row *row = &capture->rows[i];

		result = sql_run(writing->sql, writing->statements->add_sample, NULL, "iiitittiii",
				 (int64_t)writing->capture_id, (int64_t)writing->processes[row->process],
				 (int64_t)row->tid, row->thread, (int64_t)writing->stacks[row->stack],
				 row->kind == SAMPLE_ON_CPU ? "on-cpu" : "off-cpu", stall_name(row->stall),
				 (int64_t)row->second, (int64_t)row->samples, (int64_t)row->weight_ns);
	}
	for (size_t i = 0; i < LOSS_REASONS && !result; i++)
		result = sql_run(writing->sql, writing->statements->add_loss, NULL, "itit",
				 (int64_t)writing->capture_id, loss_reasons[i].name,
				 (int64_t)(i == LOSS_UNRESOLVED_FRAMES ? writing->resolved->unresolved
					   : i == LOSS_SYMBOLIZER      ? writing->resolved->failures
					   : i == LOSS_MAPPINGS_CUT    ? writing->resolved->cut
								       : capture->losses[i]),
				 loss_reasons[i].unit);
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

		result = sql_run(writing->sql, writing->statements->add_pressure, NULL, "iittii",
				 (int64_t)writing->capture_id,
				 trigger->triggered_at + (int64_t)(reading->at_ns - trigger->triggered_ns),
				 reading->scope == PRESSURE_SYSTEM    ? "system"
				 : reading->scope == PRESSURE_TARGETS ? "targets"
								      : trigger->cgroup,
				 psi_resource_names[reading->resource], (int64_t)totals->us[PSI_SOME],
				 totals->has[PSI_FULL] ? (int64_t)totals->us[PSI_FULL] : (int64_t)-1);
	}
	return result;
}

static int write_kernel_stats(struct writing *writing)
{
	const struct capture_trigger *trigger = &writing->capture->trigger;
	const struct kernel_stats *stats = &writing->capture->kernel_stats;
	int64_t monotonic_at = trigger->triggered_at - (int64_t)trigger->triggered_ns;
	char scope[PATH_MAX];
	int result = 0;

	for (uint32_t i = 0; i < stats->count && !result; i++) {
		const struct kernel_stat *stat = &stats->stats[i];

		if (stat->scope == KERNEL_STAT_SYSTEM)
			strcpy(scope, "system");
		else
			snprintf(scope, sizeof(scope), "%.*s",
				 kernel_stat_scope_length(stat, trigger->cgroup), trigger->cgroup);
		result = sql_run(writing->sql, writing->statements->add_statistic, NULL, "iiittttii",
				 (int64_t)writing->capture_id, monotonic_at + (int64_t)stats->from_ns,
				 monotonic_at + (int64_t)stats->to_ns, scope, stat->source, stat->device,
				 stat->name, stat->before, stat->after);
	}
	return result;
}

static int add_usage_process(struct writing *writing, const struct usage_row *row, sqlite3_int64 *ret_process)
{
	const struct usage_process *process = &row->process;

	return sql_run(writing->sql, writing->statements->add_process, ret_process, "iiittit",
		       (int64_t)writing->run_id, (int64_t)process->tgid, (int64_t)process->started_ns,
		       process->comm, mappings_exe(writing->mappings, process->tgid, process->started_ns),
		       (int64_t)process->uid, row->cgroup);
}

static int write_usage(struct writing *writing)
{
	const struct capture_trigger *trigger = &writing->capture->trigger;
	const struct capture_usage *usage = &writing->capture->usage;
	int64_t monotonic_at = trigger->triggered_at - (int64_t)trigger->triggered_ns;
	int result = 0;

	for (uint32_t i = 0; i < usage->count && !result; i++) {
		const struct usage_row *row = &usage->rows[i];
		const struct usage_sums *sums = &row->process.sums;
		const struct task_usage *task = &sums->task;
		sqlite3_int64 process = 0;

		if (row->role != USAGE_REST)
			result = add_usage_process(writing, row, &process);
		if (!result)
			result = sql_run(
				writing->sql, writing->statements->add_usage, NULL, "iitiiiiiiiiiiiiiii",
				(int64_t)writing->capture_id, (int64_t)process, usage_role_names[row->role],
				monotonic_at + (int64_t)usage->before.walked_ns,
				monotonic_at + (int64_t)usage->to_ns, (int64_t)task->cpu_ns,
				(int64_t)task->run_delay_ns,
				row->process.counts_io_delay ? (int64_t)task->io_delay_ns : (int64_t)-1,
				(int64_t)sums->stalled_cpu_ns, (int64_t)sums->stalled_memory_ns,
				(int64_t)sums->stalled_io_ns, (int64_t)task->major_faults,
				(int64_t)task->minor_faults, (int64_t)task->read_bytes,
				(int64_t)task->write_bytes, (int64_t)task->voluntary_switches,
				(int64_t)task->involuntary_switches, (int64_t)sums->rss_bytes);
	}
	return result;
}

static int write_capture(struct writing *writing)
{
	const struct capture *capture = writing->capture;
	const struct capture_trigger *trigger = &capture->trigger;
	uint64_t history_ns = capture_available_history_ns(capture);
	struct cause why = cause_find(capture);
	int64_t capture_id = capture->capture_id;
	int result = 0;

	if (!capture_id)
		result = store_capture_announce(writing->sql, writing->run_id, trigger, history_ns,
						&capture_id);
	writing->capture_id = capture_id;
	if (!result)
		result = write_frames(writing);
	for (uint32_t i = 0; i < capture->stacks.count && !result; i++)
		result = write_stack(writing, i);
	for (uint32_t i = 0; i < capture->processes_count && !result; i++)
		result = write_process(writing, i);
	if (!result)
		result = write_rows(writing);
	if (!result)
		result = write_pressure(writing);
	if (!result)
		result = write_kernel_stats(writing);
	if (!result)
		result = write_usage(writing);
	if (!result)
		result = sql_run(writing->sql, writing->statements->finish_capture, NULL, "iiiiiittti",
				 trigger->triggered_at - (int64_t)history_ns,
				 trigger->triggered_at + (int64_t)(capture->ended_ns - trigger->triggered_ns),
				 (int64_t)history_ns, (int64_t)capture_available_offcpu_history_ns(capture),
				 (int64_t)capture_expected_samples(capture),
				 (int64_t)capture->expected.received, why.verdict, why.because,
				 capture->interrupted ? "interrupted" : "complete",
				 (int64_t)writing->capture_id);
	return result;
}

/* The number of frames of all stacks, including inlined functions. */
static uint64_t count_stack_frames(const struct capture *capture, const struct resolved *resolved)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < capture->stacks.count; i++)
		for (uint32_t j = 0; j < resolved->depths[i]; j++) {
			uint32_t at = resolved->of_stack_frame[capture->stacks.stacks[i].first + j];

			do
				count++;
			while ((at = resolved->frames[at].inner));
		}
	return count;
}

/* An estimate on the large side: bytes of a row of each table, with half-empty pages. */
uint64_t store_capture_bytes(const struct capture *capture, const struct resolved *resolved)
{
	return capture->rows_count * 96UL + capture->pressure.count * 64UL + capture->usage.count * 384UL +
	       capture->kernel_stats.count * 128UL + capture->stacks.count * 64UL +
	       count_stack_frames(capture, resolved) * 16UL + resolved->frames_count * 192UL +
	       resolved->names_bytes + resolved->modules_count * 256UL + capture->processes_count * 256UL;
}

int store_capture_write(struct sql *sql, const struct capture_statements *statements, int64_t run_id,
			const struct capture *capture, const struct resolved *resolved,
			const struct mappings *mappings)
{
	size_t ids = (size_t)resolved->modules_count + resolved->frames_count + capture->stacks.count +
		     capture->processes_count;
	_cleanup_free_ sqlite3_int64 *rows = calloc(ids + 1, sizeof(*rows));
	struct writing writing = { .sql = sql,
				   .statements = statements,
				   .run_id = run_id,
				   .capture = capture,
				   .resolved = resolved,
				   .mappings = mappings,
				   .modules = rows };
	int result;

	if (!rows)
		return -ENOMEM;
	writing.frames = writing.modules + resolved->modules_count;
	writing.stacks = writing.frames + resolved->frames_count;
	writing.processes = writing.stacks + capture->stacks.count;
	result = write_capture(&writing);
	free(writing.rows);
	return result;
}

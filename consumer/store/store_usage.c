/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/store/store_usage.h"

#include "common/cleanup.h"
#include "consumer/rules/cgroup_parts.h"
#include "consumer/symbols/process_runtime.h"

#include <limits.h>

int store_usage_prepare(struct sql *sql, struct usage_statements *ret_statements)
{
	int result = sql_prepare(
		sql, &ret_statements->add_process,
		"INSERT INTO process(run_id, tgid, started_ns, comm, exe, uid, cgroup, unit, container, runtime, "
		"runtime_evidence) VALUES(?, ?, ?, ?, ?, nullif(?, -1), ?, ?, ?, ?10, iif(?10 IS NULL, NULL, ?11)) "
		"ON CONFLICT DO UPDATE SET uid = ifnull(excluded.uid, uid), "
		"runtime_evidence = iif(excluded.runtime IS NULL, runtime_evidence, excluded.runtime_evidence), "
		"runtime = ifnull(excluded.runtime, runtime) RETURNING process_id");

	if (!result)
		result = sql_prepare(
			sql, &ret_statements->add_usage,
			"INSERT INTO usage(capture_id, process_id, role, from_at, to_at, cpu_ns, run_delay_ns, io_delay_ns,"
			" stalled_cpu_ns, stalled_memory_ns, stalled_io_ns, major_faults, minor_faults, read_bytes,"
			" write_bytes, voluntary_switches, involuntary_switches, rss_bytes, rss_before_bytes, reclaims,"
			" reclaim_ns) VALUES("
			"?, nullif(?, 0), ?, ?, ?, ?, ?, nullif(?, -1), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
	if (!result)
		result = sql_prepare(
			sql, &ret_statements->add_ended,
			"INSERT INTO ended(capture_id, role, comm, parent, parent_tgid, cgroup, unit, container, denied, "
			"processes, cpu_ns, run_delay_ns, major_faults, read_bytes, write_bytes, reclaims, reclaim_ns) "
			"VALUES(?, ?, nullif(?, ''), nullif(?, ''), nullif(?, 0), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
	if (!result)
		result =
			sql_prepare(sql, &ret_statements->add_machine_time,
				    "INSERT INTO machine_time(capture_id, part, from_at, to_at, ns, percent) "
				    "VALUES(?1, ?2, ?3, ?4, ?5, round(100.0 * ?5 / ?6, 2))");
	if (!result)
		result = sql_prepare(
			sql, &ret_statements->add_machine_bytes,
			"INSERT INTO machine_bytes(capture_id, part, from_at, to_at, read_bytes, write_bytes) "
			"VALUES(?, ?, ?, ?, ?, ?)");
	if (!result)
		result = sql_prepare(
			sql, &ret_statements->add_interrupt,
			"INSERT INTO interrupt(capture_id, kind, number, name, from_at, to_at, count, ns, percent) "
			"VALUES(?1, ?2, nullif(?3, -1), ?4, ?5, ?6, ?7, ?8, round(100.0 * ?8 / nullif(?9, 0), 2))");
	if (!result)
		result = sql_prepare(
			sql, &ret_statements->add_killed,
			"INSERT INTO killed(capture_id, at, how, role, comm, tgid, cgroup, unit, container, rss_bytes, by_comm, "
			"by_tgid, by_cgroup, by_unit, limit_cgroup, limit_bytes, processes) VALUES(?1, ?2, ?3, ?4, "
			"nullif(?5, ''), nullif(?6, 0), ?7, ?8, ?9, iif(?6, ?10, NULL), nullif(?11, ''), nullif(?12, 0), ?13, "
			"?14, ?15, nullif(?16, 0), ?17)");
	if (!result)
		result = sql_prepare(
			sql, &ret_statements->add_cgroup_memory,
			"INSERT INTO cgroup_memory(capture_id, cgroup, unit, container, from_at, to_at, current_before_bytes, "
			"current_bytes, anon_before_bytes, anon_bytes, file_before_bytes, file_bytes, refaulted_bytes, "
			"scanned_bytes, reclaimed_bytes, device_read_bytes, device_written_bytes) VALUES(?1, ?2, ?3, ?4, ?5, "
			"?6, nullif(?7, -1), nullif(?8, -1), nullif(?9, -1), nullif(?10, -1), nullif(?11, -1), nullif(?12, -1), nullif(?13, -1), nullif(?14, -1), "
			"nullif(?15, -1), nullif(?16, -1), nullif(?17, -1))");
	return result;
}

/* What systemd and runtimes of containers say of a cgroup. */
struct cgroup_names {
	char unit_text[NAME_MAX + 1], container_text[NAME_MAX + 1];
	const char *unit, *container; /* NULL: none */
};

static void name_cgroup(const char *cgroup, struct cgroup_names *ret_names)
{
	ret_names->unit = cgroup && cgroup_unit(cgroup, ret_names->unit_text) ? ret_names->unit_text : NULL;
	ret_names->container = cgroup && cgroup_container(cgroup, ret_names->container_text)
				       ? ret_names->container_text
				       : NULL;
}

int store_process_write(struct sql *sql, const struct usage_statements *statements, int64_t run_id,
			const struct stored_process *process, sqlite3_int64 *ret_process_id)
{
	struct process_runtime runtime;
	struct cgroup_names names;

	name_cgroup(process->cgroup, &names);
	process_runtime_find(process->mapped, &runtime);
	return sql_run(sql, statements->add_process, ret_process_id, "iiittittttt", run_id,
		       (int64_t)process->tgid, (int64_t)process->started_ns, process->comm, process->exe,
		       process->uid == CAPTURE_NO_UID ? (int64_t)-1 : (int64_t)process->uid, process->cgroup,
		       names.unit, names.container, runtime.name, runtime.evidence);
}

/* Wall clock of a moment in CLOCK_MONOTONIC. */
static int64_t wall_of(const struct capture *capture, uint64_t monotonic_ns)
{
	return capture->trigger.triggered_at + (int64_t)(monotonic_ns - capture->trigger.triggered_ns);
}

static int write_row(struct sql *sql, const struct usage_statements *statements, int64_t run_id,
		     int64_t capture_id, const struct capture *capture, const struct usage_row *row,
		     const struct mappings *mappings)
{
	const struct usage_process *process = &row->process;
	const struct usage_sums *sums = &process->sums;
	const struct task_usage *task = &sums->task;
	sqlite3_int64 process_id = 0;
	int result = 0;

	if (row->role != USAGE_REST)
		result = store_process_write(
			sql, statements, run_id,
			&(struct stored_process){
				process->tgid, process->started_ns, process->comm,
				mappings_exe(mappings, process->tgid, process->started_ns, process->program),
				process->uid, row->cgroup,
				mappings_of(mappings, process->tgid, process->started_ns, process->program) },
			&process_id);
	if (result < 0)
		return result;
	return sql_run(
		sql, statements->add_usage, NULL, "iitiiiiiiiiiiiiiiiiii", capture_id, (int64_t)process_id,
		usage_role_names[row->role], wall_of(capture, capture->usage.before.walked_ns),
		wall_of(capture, capture->usage.to_ns), (int64_t)task->cpu_ns, (int64_t)task->run_delay_ns,
		process->counts_io_delay ? (int64_t)task->io_delay_ns : (int64_t)-1,
		(int64_t)sums->stalled_cpu_ns, (int64_t)sums->stalled_memory_ns, (int64_t)sums->stalled_io_ns,
		(int64_t)task->major_faults, (int64_t)task->minor_faults, (int64_t)task->read_bytes,
		(int64_t)task->write_bytes, (int64_t)task->voluntary_switches,
		(int64_t)task->involuntary_switches, (int64_t)sums->rss_bytes,
		(int64_t)sums->rss_before_bytes, (int64_t)task->reclaims, (int64_t)task->reclaim_ns);
}

static int write_ended(struct sql *sql, const struct usage_statements *statements, int64_t capture_id,
		       const struct ended_row *row)
{
	const struct ended_key *key = &row->key;
	const struct ended_sums *sums = &row->sums;
	struct cgroup_names names;

	name_cgroup(row->cgroup, &names);
	return sql_run(sql, statements->add_ended, NULL, "itttitttiiiiiiiii", capture_id,
		       usage_role_names[row->role], key->comm, key->parent, (int64_t)key->parent_tgid,
		       row->cgroup, names.unit, names.container, (int64_t)((key->flags & ENDED_DENIED) != 0),
		       (int64_t)sums->processes, (int64_t)sums->cpu_ns, (int64_t)sums->run_delay_ns,
		       (int64_t)sums->major_faults, (int64_t)sums->read_bytes, (int64_t)sums->write_bytes,
		       (int64_t)sums->reclaims, (int64_t)sums->reclaim_ns);
}

static int write_machine_time(struct sql *sql, const struct usage_statements *statements, int64_t capture_id,
			      const struct capture *capture)
{
	const struct machine_time *machine = &capture->usage.machine;
	int result = 0;

	for (size_t i = 0; machine->total_ns && i < MACHINE_PARTS && !result; i++)
		result = sql_run(sql, statements->add_machine_time, NULL, "itiiii", capture_id,
				 machine_part_names[i], wall_of(capture, machine->from_ns),
				 wall_of(capture, machine->to_ns), (int64_t)machine->parts_ns[i],
				 (int64_t)machine->total_ns);
	return result;
}

static int write_machine_bytes(struct sql *sql, const struct usage_statements *statements, int64_t capture_id,
			       const struct capture *capture)
{
	const struct capture_usage *usage = &capture->usage;
	int result = 0;

	for (size_t i = 0; usage->bytes.known && i < BYTES_PARTS && !result; i++)
		result = sql_run(sql, statements->add_machine_bytes, NULL, "itiiii", capture_id,
				 byte_part_names[i], wall_of(capture, usage->before.walked_ns),
				 wall_of(capture, usage->to_ns), usage->bytes.read[i],
				 usage->bytes.written[i]);
	return result;
}

static int write_interrupt(struct sql *sql, const struct usage_statements *statements, int64_t capture_id,
			   const struct capture *capture, const struct interrupt *row, bool is_rest)
{
	const struct machine_time *machine = &capture->usage.machine;
	bool has_number = !is_rest && row->key.kind != INTERRUPT_TIMER;

	return sql_run(sql, statements->add_interrupt, NULL, "ititiiiii", capture_id, interrupt_kind(row),
		       has_number ? (int64_t)row->key.number : (int64_t)-1,
		       is_rest ? NULL : interrupt_name(row), wall_of(capture, machine->from_ns),
		       wall_of(capture, machine->to_ns), (int64_t)row->sums.count, (int64_t)row->sums.ns,
		       (int64_t)machine->total_ns);
}

static int write_interrupts(struct sql *sql, const struct usage_statements *statements, int64_t capture_id,
			    const struct capture *capture)
{
	const struct interrupt_time *interrupts = &capture->usage.interrupts;
	int result = 0;

	for (uint32_t i = 0; i < interrupts->count && !result; i++)
		result = write_interrupt(sql, statements, capture_id, capture, &interrupts->rows[i], false);
	if (!result && interrupts->rest.sums.count)
		result = write_interrupt(sql, statements, capture_id, capture, &interrupts->rest, true);
	return result;
}

static int write_killed(struct sql *sql, const struct usage_statements *statements, int64_t capture_id,
			const struct capture *capture, const struct kill_row *row)
{
	const struct kill_record *record = &row->record;
	struct cgroup_names names, by_names;

	name_cgroup(row->cgroup, &names);
	name_cgroup(row->by_cgroup, &by_names);
	return sql_run(sql, statements->add_killed, NULL, "iitttitttititttii", capture_id,
		       wall_of(capture, record->time_ns), kill_row_how(row),
		       row->is_rest     ? "rest"
		       : row->is_target ? "target"
					: "other",
		       record->comm, (int64_t)record->tgid, row->cgroup, names.unit, names.container,
		       (int64_t)record->rss_bytes, record->by_comm, (int64_t)record->by_tgid, row->by_cgroup,
		       by_names.unit, row->limit_cgroup, (int64_t)record->limit_bytes,
		       (int64_t)row->processes);
}

/* -1: not known. */
static int64_t grown(int64_t before, int64_t after)
{
	return before < 0 || after < 0 ? -1 : after > before ? after - before : 0;
}

static int write_cgroup_memory(struct sql *sql, const struct usage_statements *statements, int64_t capture_id,
			       const struct capture *capture, const struct cgroup_memory_row *row)
{
	const struct cgroup_memory_counts *before = &row->before, *after = &row->after;
	struct cgroup_names names;

	name_cgroup(row->cgroup, &names);
	return sql_run(sql, statements->add_cgroup_memory, NULL, "itttiiiiiiiiiiiii", capture_id, row->cgroup,
		       names.unit, names.container, wall_of(capture, capture->cgroup_memory.from_ns),
		       wall_of(capture, capture->cgroup_memory.to_ns), before->current, after->current,
		       before->anon, after->anon, before->file, after->file,
		       grown(before->refaulted, after->refaulted), grown(before->scanned, after->scanned),
		       grown(before->reclaimed, after->reclaimed),
		       grown(before->device_read, after->device_read),
		       grown(before->device_written, after->device_written));
}

int store_usage_write(struct sql *sql, const struct usage_statements *statements, int64_t run_id,
		      int64_t capture_id, const struct capture *capture, const struct mappings *mappings)
{
	const struct capture_usage *usage = &capture->usage;
	int result = 0;

	for (uint32_t i = 0; i < usage->count && !result; i++)
		result = write_row(sql, statements, run_id, capture_id, capture, &usage->rows[i], mappings);
	for (uint32_t i = 0; i < usage->ended_count && !result; i++)
		result = write_ended(sql, statements, capture_id, &usage->ended[i]);
	if (!result)
		result = write_machine_time(sql, statements, capture_id, capture);
	if (!result)
		result = write_machine_bytes(sql, statements, capture_id, capture);
	for (uint32_t i = 0; i < usage->kills.count && !result; i++)
		result = write_killed(sql, statements, capture_id, capture, &usage->kills.rows[i]);
	for (uint32_t i = 0; i < capture->cgroup_memory.count && !result; i++)
		result = write_cgroup_memory(sql, statements, capture_id, capture,
					     &capture->cgroup_memory.rows[i]);
	return result < 0 ? result : write_interrupts(sql, statements, capture_id, capture);
}

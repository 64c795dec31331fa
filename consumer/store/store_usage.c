/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/store/store_usage.h"

#include "common/kernel/cgroup_parts.h"
#include "consumer/symbols/process_runtime.h"

#include <limits.h>

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

int store_process_write(struct sql *sql, struct usage_statements *statements, int64_t run_id,
			const struct stored_process *process, sqlite3_int64 *ret_process_id)
{
	struct process_runtime runtime;
	struct cgroup_names names;
	sqlite3_int64 known = 0;
	int result = 0;

	name_cgroup(process->cgroup, &names);
	process_runtime_find(process->mapped, &runtime);
	if (!statements->find_process)
		result = sql_prepare(
			sql, &statements->find_process,
			"SELECT process_id FROM process WHERE run_id = ? AND tgid = ? AND started_ns = ? AND comm = ? "
			"AND exe IS ? AND cgroup IS ?");
	if (!result)
		result = sql_run(sql, statements->find_process, &known, "iiittt", run_id,
				 (int64_t)process->tgid, (int64_t)process->started_ns, process->comm,
				 process->exe, process->cgroup);
	if (result < 0)
		return result;
	return sql_insert(
		sql, &statements->add_process, "process",
		"ON CONFLICT DO UPDATE SET uid = ifnull(excluded.uid, uid), "
		"runtime_evidence = iif(excluded.runtime IS NULL, runtime_evidence, excluded.runtime_evidence), "
		"runtime = ifnull(excluded.runtime, runtime) RETURNING process_id",
		ret_process_id,
		SQL_COLUMNS(SQL_NUMBER_IF(process_id, known, known), SQL_NUMBER(run_id, run_id),
			    SQL_NUMBER(tgid, process->tgid), SQL_NUMBER(started_ns, process->started_ns),
			    SQL_TEXT(comm, process->comm), SQL_TEXT(exe, process->exe),
			    SQL_NUMBER_IF(uid, process->uid != CAPTURE_NO_UID, process->uid),
			    SQL_TEXT(cgroup, process->cgroup), SQL_TEXT(unit, names.unit),
			    SQL_TEXT(container, names.container), SQL_TEXT(runtime, runtime.name),
			    SQL_TEXT(runtime_evidence, runtime.name ? runtime.evidence : NULL)));
}

static const char *text_or_null(const char *text)
{
	return *text ? text : NULL;
}

/* Rounded to hundredths. */
static double percent_of(uint64_t ns, uint64_t total_ns)
{
	return (double)(uint64_t)(10000.0 * (double)ns / (double)total_ns + 0.5) / 100.0;
}

static int write_row(struct sql *sql, struct usage_statements *statements, int64_t run_id, int64_t capture_id,
		     const struct capture *capture, const struct usage_row *row,
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
	return sql_insert(
		sql, &statements->add_usage, "usage", NULL, NULL,
		SQL_COLUMNS(
			SQL_NUMBER(capture_id, capture_id), SQL_NUMBER_IF(process_id, process_id, process_id),
			SQL_TEXT(role, usage_role_names[row->role]),
			SQL_NUMBER(from_at,
				   capture_wall_ns(&capture->trigger, capture->usage.before.walked_ns)),
			SQL_NUMBER(to_at, capture_wall_ns(&capture->trigger, capture->usage.to_ns)),
			SQL_NUMBER(cpu_ns, task->cpu_ns), SQL_NUMBER(run_delay_ns, task->run_delay_ns),
			SQL_NUMBER_IF(io_delay_ns, process->counts_io_delay, task->io_delay_ns),
			SQL_NUMBER(stalled_cpu_ns, sums->stalled_cpu_ns),
			SQL_NUMBER(stalled_memory_ns, sums->stalled_memory_ns),
			SQL_NUMBER(stalled_io_ns, sums->stalled_io_ns),
			SQL_NUMBER(major_faults, task->major_faults),
			SQL_NUMBER(minor_faults, task->minor_faults),
			SQL_NUMBER(read_bytes, task->read_bytes), SQL_NUMBER(write_bytes, task->write_bytes),
			SQL_NUMBER(voluntary_switches, task->voluntary_switches),
			SQL_NUMBER(involuntary_switches, task->involuntary_switches),
			SQL_NUMBER(rss_bytes, sums->rss_bytes),
			SQL_NUMBER(rss_before_bytes, sums->rss_before_bytes),
			SQL_NUMBER(reclaims, task->reclaims), SQL_NUMBER(reclaim_ns, task->reclaim_ns)));
}

static int write_ended(struct sql *sql, struct usage_statements *statements, int64_t capture_id,
		       const struct ended_row *row)
{
	const struct ended_key *key = &row->key;
	const struct ended_sums *sums = &row->sums;
	struct cgroup_names names;

	name_cgroup(row->cgroup, &names);
	return sql_insert(
		sql, &statements->add_ended, "ended", NULL, NULL,
		SQL_COLUMNS(
			SQL_NUMBER(capture_id, capture_id), SQL_TEXT(role, usage_role_names[row->role]),
			SQL_TEXT(comm, text_or_null(key->comm)), SQL_TEXT(parent, text_or_null(key->parent)),
			SQL_NUMBER_IF(parent_tgid, key->parent_tgid, key->parent_tgid),
			SQL_TEXT(cgroup, row->cgroup), SQL_TEXT(unit, names.unit),
			SQL_TEXT(container, names.container),
			SQL_NUMBER(denied, (key->flags & ENDED_DENIED) != 0),
			SQL_NUMBER(processes, sums->processes), SQL_NUMBER(cpu_ns, sums->cpu_ns),
			SQL_NUMBER(run_delay_ns, sums->run_delay_ns),
			SQL_NUMBER(major_faults, sums->major_faults),
			SQL_NUMBER(read_bytes, sums->read_bytes), SQL_NUMBER(write_bytes, sums->write_bytes),
			SQL_NUMBER(reclaims, sums->reclaims), SQL_NUMBER(reclaim_ns, sums->reclaim_ns)));
}

static int write_machine_time(struct sql *sql, struct usage_statements *statements, int64_t capture_id,
			      const struct capture *capture)
{
	const struct machine_time *machine = &capture->usage.machine;
	int result = 0;

	for (size_t i = 0; machine->total_ns && i < MACHINE_PARTS && !result; i++)
		result = sql_insert(
			sql, &statements->add_machine_time, "machine_time", NULL, NULL,
			SQL_COLUMNS(SQL_NUMBER(capture_id, capture_id), SQL_TEXT(part, machine_part_names[i]),
				    SQL_NUMBER(from_at, capture_wall_ns(&capture->trigger, machine->from_ns)),
				    SQL_NUMBER(to_at, capture_wall_ns(&capture->trigger, machine->to_ns)),
				    SQL_NUMBER(ns, machine->parts_ns[i]),
				    SQL_REAL_IF(percent, true,
						percent_of(machine->parts_ns[i], machine->total_ns))));
	return result;
}

static int write_machine_bytes(struct sql *sql, struct usage_statements *statements, int64_t capture_id,
			       const struct capture *capture)
{
	const struct capture_usage *usage = &capture->usage;
	int result = 0;

	for (size_t i = 0; usage->bytes.known && i < BYTES_PARTS && !result; i++)
		result = sql_insert(
			sql, &statements->add_machine_bytes, "machine_bytes", NULL, NULL,
			SQL_COLUMNS(SQL_NUMBER(capture_id, capture_id), SQL_TEXT(part, byte_part_names[i]),
				    SQL_NUMBER(from_at,
					       capture_wall_ns(&capture->trigger, usage->before.walked_ns)),
				    SQL_NUMBER(to_at, capture_wall_ns(&capture->trigger, usage->to_ns)),
				    SQL_NUMBER(read_bytes, usage->bytes.read[i]),
				    SQL_NUMBER(write_bytes, usage->bytes.written[i])));
	return result;
}

static int write_interrupt(struct sql *sql, struct usage_statements *statements, int64_t capture_id,
			   const struct capture *capture, const struct interrupt *row, bool is_rest)
{
	const struct machine_time *machine = &capture->usage.machine;

	return sql_insert(
		sql, &statements->add_interrupt, "interrupt", NULL, NULL,
		SQL_COLUMNS(
			SQL_NUMBER(capture_id, capture_id), SQL_TEXT(kind, interrupt_kind(row)),
			SQL_NUMBER_IF(number, !is_rest && row->key.kind != INTERRUPT_TIMER, row->key.number),
			SQL_TEXT(name, is_rest ? NULL : interrupt_name(row)),
			SQL_NUMBER(from_at, capture_wall_ns(&capture->trigger, machine->from_ns)),
			SQL_NUMBER(to_at, capture_wall_ns(&capture->trigger, machine->to_ns)),
			SQL_NUMBER(count, row->sums.count), SQL_NUMBER(ns, row->sums.ns),
			SQL_REAL_IF(percent, machine->total_ns,
				    percent_of(row->sums.ns, machine->total_ns))));
}

static int write_interrupts(struct sql *sql, struct usage_statements *statements, int64_t capture_id,
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

static int write_killed(struct sql *sql, struct usage_statements *statements, int64_t capture_id,
			const struct capture *capture, const struct kill_row *row)
{
	const struct kill_record *record = &row->record;
	struct cgroup_names names, by_names;

	name_cgroup(row->cgroup, &names);
	name_cgroup(row->by_cgroup, &by_names);
	return sql_insert(sql, &statements->add_killed, "killed", NULL, NULL,
			  SQL_COLUMNS(SQL_NUMBER(capture_id, capture_id),
				      SQL_NUMBER(at, capture_wall_ns(&capture->trigger, record->time_ns)),
				      SQL_TEXT(how, kill_row_how(row)),
				      SQL_TEXT(role, row->is_rest     ? "rest"
						     : row->is_target ? "target"
								      : "other"),
				      SQL_TEXT(comm, text_or_null(record->comm)),
				      SQL_NUMBER_IF(tgid, record->tgid, record->tgid),
				      SQL_TEXT(cgroup, row->cgroup), SQL_TEXT(unit, names.unit),
				      SQL_TEXT(container, names.container),
				      SQL_NUMBER_IF(rss_bytes, record->tgid, record->rss_bytes),
				      SQL_TEXT(by_comm, text_or_null(record->by_comm)),
				      SQL_NUMBER_IF(by_tgid, record->by_tgid, record->by_tgid),
				      SQL_TEXT(by_cgroup, row->by_cgroup), SQL_TEXT(by_unit, by_names.unit),
				      SQL_TEXT(limit_cgroup, row->limit_cgroup),
				      SQL_NUMBER_IF(limit_bytes, record->limit_bytes, record->limit_bytes),
				      SQL_NUMBER(processes, row->processes)));
}

/* Negative: not known. */
static int64_t grown(int64_t before, int64_t after)
{
	return before < 0 || after < 0 ? -1 : after > before ? after - before : 0;
}

#define KNOWN(column, value) SQL_NUMBER_IF(column, (value) >= 0, value)

static int write_cgroup_memory(struct sql *sql, struct usage_statements *statements, int64_t capture_id,
			       const struct capture *capture, const struct cgroup_memory_row *row)
{
	const struct cgroup_memory_counts *before = &row->before, *after = &row->after;
	struct cgroup_names names;

	name_cgroup(row->cgroup, &names);
	return sql_insert(
		sql, &statements->add_cgroup_memory, "cgroup_memory", NULL, NULL,
		SQL_COLUMNS(
			SQL_NUMBER(capture_id, capture_id), SQL_TEXT(cgroup, row->cgroup),
			SQL_TEXT(unit, names.unit), SQL_TEXT(container, names.container),
			SQL_NUMBER(from_at,
				   capture_wall_ns(&capture->trigger, capture->cgroup_memory.from_ns)),
			SQL_NUMBER(to_at, capture_wall_ns(&capture->trigger, capture->cgroup_memory.to_ns)),
			KNOWN(current_before_bytes, before->current), KNOWN(current_bytes, after->current),
			KNOWN(anon_before_bytes, before->anon), KNOWN(anon_bytes, after->anon),
			KNOWN(file_before_bytes, before->file), KNOWN(file_bytes, after->file),
			KNOWN(refaulted_bytes, grown(before->refaulted, after->refaulted)),
			KNOWN(scanned_bytes, grown(before->scanned, after->scanned)),
			KNOWN(reclaimed_bytes, grown(before->reclaimed, after->reclaimed)),
			KNOWN(device_read_bytes, grown(before->device_read, after->device_read)),
			KNOWN(device_written_bytes, grown(before->device_written, after->device_written))));
}

int store_usage_write(struct sql *sql, struct usage_statements *statements, int64_t run_id,
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

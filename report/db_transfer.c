/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/db_transfer.h"

#include "common/array.h"
#include "common/log.h"
#include "common/schema.h"
#include "consumer/store/incidents.h"
#include "consumer/store/stored_json.h"
#include "report/db_rows.h"
#include "report/db_transfer_activity.h"
#include "report/db_transfer_stacks.h"
#include "report/extend_stacks.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

/* An id that every reader of JSON can hold. The source's ids beyond are not kept. */
#define KEPT_ID_MAX "9007199254740992"

struct transfer {
	struct row_transfer rows;
	bool logged; /* the reason of a failure */
	struct stack_transfer stacks;
};

/* ---- tables ---- */

static const struct table databases = {
	.name = "database",
	.select =
		"SELECT database_id, iif(length(id) = 32 AND id NOT GLOB '*[^0-9a-f]*', id, NULL), name_form(machine) "
		"FROM given.database WHERE database_id IN (SELECT database_id FROM given.run WHERE run_id IN "
		"(SELECT run_id FROM chosen_run)) ORDER BY 1",
	.find = "SELECT database_id FROM main.database WHERE id = ?2",
	.add = "INSERT INTO main.database(id, machine) VALUES(?2, ?3) RETURNING database_id",
	.map = "INSERT INTO database_map(was, id) VALUES(?1, ?2)",
};

static const struct table runs = {
	.name = "run",
	.select = "SELECT r.run_id, iif(r.database_id IS NULL, NULL, ifnull(d.id, 'no such database')), "
		  "ifnull(r.recorded_as, r.run_id), r.started_at, r.ended_at, "
		  "name_form(r.version), r.abi, name_form(r.kernel), name_form(r.hostname), r.cpus, r.hz, "
		  "name_form(r.policy), name_form(r.object_sha256), name_form(r.attachments), r.ring_bytes "
		  "FROM given.run r LEFT JOIN database_map d ON d.was = r.database_id "
		  "WHERE r.run_id IN (SELECT run_id FROM chosen_run) ORDER BY 1",
	.find = "SELECT run_id FROM main.run WHERE database_id IS ?2 AND ifnull(recorded_as, run_id) = ?3 AND "
		"started_at = ?4",
	.renew =
		"UPDATE main.run SET ended_at = ?5 WHERE run_id = :id AND ended_at IS NULL AND ?5 IS NOT NULL",
	.add = "INSERT INTO main.run(run_id, started_at, ended_at, version, abi, kernel, hostname, cpus, hz, policy, "
	       "object_sha256, attachments, ring_bytes, database_id, recorded_as) SELECT n, ?4, ?5, ?6, ?7, ?8, ?9, "
	       "?10, ?11, ?12, ?13, ?14, ?15, ?2, nullif(?3, n) FROM (SELECT ifnull(max(run_id), 0) + 1 AS n FROM "
	       "main.run) RETURNING run_id",
	.map = "INSERT INTO run_map(was, id) VALUES(?1, ?2)",
};

static const struct table counters = {
	.name = "counter",
	.select =
		"SELECT c.name, m.id, c.at, name_form(c.name), c.value FROM given.counter c "
		"JOIN chosen_run r USING(run_id) JOIN run_map m ON m.was = c.run_id WHERE c.at BETWEEN r.from_at AND "
		"r.to_at OR c.at = (SELECT max(at) FROM given.counter l WHERE l.run_id = c.run_id AND l.name = c.name) "
		"ORDER BY c.rowid",
	.find = "SELECT 1 FROM main.counter WHERE run_id = ?2 AND name = ?4 AND at = ?3",
	.add = "INSERT INTO main.counter(run_id, at, name, value) VALUES(?2, ?3, ?4, ?5)",
};

static const struct table rules = {
	.name = "rule",
	.select =
		"SELECT r.rule_id, m.id, ifnull(r.recorded_as, r.rule_id), name_form(r.rule), name_form(r.source), "
		"name_form(r.comm), name_form(r.cgroup), name_form(r.watch), r.pattern_id, r.history_ns, "
		"r.capture_ns, r.cooldown_ns, name_form(r.triggers), name_form(r.unit) FROM given.rule r LEFT JOIN run_map m ON m.was = "
		"r.run_id WHERE r.rule_id IN (SELECT rule_id FROM given.capture WHERE capture_id IN (SELECT "
		"capture_id FROM chosen)) ORDER BY 1",
	.find = "SELECT rule_id FROM main.rule WHERE run_id = ?2 AND ifnull(recorded_as, rule_id) = ?3",
	.add = "INSERT INTO main.rule(rule_id, run_id, rule, source, comm, cgroup, watch, pattern_id, history_ns, "
	       "capture_ns, cooldown_ns, triggers, unit, recorded_as) SELECT n, ?2, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, "
	       "?12, ?13, ?14, nullif(?3, n) FROM (SELECT ifnull(max(rule_id), 0) + 1 AS n FROM main.rule) RETURNING rule_id",
	.map = "INSERT INTO rule_map(was, id) VALUES(?1, ?2)",
};

/* All of the source in a merge: a name that was found later applies to captures that the output has. */
static const struct table modules = {
	.name = "module",
	.select =
		"SELECT module_id, name_form(path), name_form(build_id), name_form(version), kind, bias FROM "
		"given.module WHERE :whole OR module_id IN (SELECT module_id FROM given.frame_row WHERE frame_id IN "
		"(SELECT frame_id FROM chosen_frame)) ORDER BY 1",
	.find = "SELECT module_id FROM main.module WHERE path = ?2 AND ifnull(build_id, '') = ifnull(?3, '') AND "
		"version = ?4 AND kind = ?5",
	.renew = "UPDATE main.module SET bias = ?6 WHERE module_id = :id AND bias IS NULL AND ?6 IS NOT NULL",
	.add = "INSERT INTO main.module(path, build_id, version, kind, bias) VALUES(?2, ?3, ?4, ?5, ?6) "
	       "RETURNING module_id",
	.map = "INSERT INTO module_map(was, id) VALUES(?1, ?2)",
};

/* The name and the file are as in view `frame`: no view of a source runs. */
static const struct table frames = {
	.name = "frame",
	.select =
		"SELECT f.frame_id, m.id, f.offset, f.inlined, name_form(ifnull(f.function, n.function)), "
		"f.function_offset, name_form(iif(f.file IS NULL AND f.line IS NOT NULL, n.file, f.file)), f.line FROM "
		"given.frame_row f LEFT JOIN given.frame_row n ON n.frame_id = f.named_by "
		"LEFT JOIN module_map m ON m.was = f.module_id "
		"WHERE :whole OR f.frame_id IN (SELECT frame_id FROM chosen_frame) ORDER BY 1",
	.find = "SELECT frame_id FROM main.frame_row WHERE module_id = ?2 AND offset = ?3 AND inlined = ?4",
	.renew =
		"UPDATE main.frame_row SET function = iif(function_offset IS NULL AND ?6 IS NOT NULL, ?5, function), "
		"function_offset = ifnull(function_offset, ?6), line = iif(file IS NULL, ?8, line), "
		"file = ifnull(file, ?7) WHERE frame_id = :id AND (function_offset IS NULL AND ?6 IS NOT NULL OR "
		"file IS NULL AND ?7 IS NOT NULL)",
	.add = "INSERT INTO main.frame_row(module_id, offset, inlined, function, function_offset, file, line) "
	       "VALUES(?2, ?3, ?4, ?5, ?6, ?7, ?8) RETURNING frame_id",
	.map = "INSERT INTO frame_map(was, id) VALUES(?1, ?2)",
};

static const struct table stack_classes = {
	.name = "stack_class",
	.select =
		"SELECT class, truncated, name_form(unwinder), name_form(ended) FROM given.stack_class ORDER BY 1",
	.find = "SELECT class FROM main.stack_class WHERE truncated = ?2 AND unwinder = ?3 AND ended IS ?4",
	.add = "INSERT INTO main.stack_class(truncated, unwinder, ended) VALUES(?2, ?3, ?4) RETURNING class",
	.map = "INSERT INTO stack_class_map(was, id) VALUES(?1, ?2)",
};

static const struct table sample_classes = {
	.name = "sample_class",
	.select = "SELECT class, kind, name_form(stall), role FROM given.sample_class ORDER BY 1",
	.find = "SELECT class FROM main.sample_class WHERE kind = ?2 AND stall = ?3 AND role = ?4",
	.add = "INSERT INTO main.sample_class(kind, stall, role) VALUES(?2, ?3, ?4) RETURNING class",
	.map = "INSERT INTO sample_class_map(was, id) VALUES(?1, ?2)",
};

static const struct table processes = {
	.name = "process",
	.select =
		"SELECT p.process_id, m.id, p.tgid, p.started_ns, name_form(p.comm), name_form(p.exe), p.uid, "
		"name_form(p.cgroup), name_form(p.unit), name_form(p.container), name_form(p.runtime), "
		"name_form(p.runtime_evidence) FROM given.process p LEFT JOIN run_map m ON m.was = p.run_id "
		"WHERE p.process_id IN (SELECT process_id FROM chosen_process) ORDER BY 1",
	.find = "SELECT process_id FROM main.process WHERE run_id = ?2 AND tgid = ?3 AND started_ns = ?4 AND "
		"comm = ?5 AND ifnull(exe, '') = ifnull(?6, '') AND ifnull(cgroup, '') = ifnull(?8, '')",
	.add = "INSERT INTO main.process(run_id, tgid, started_ns, comm, exe, uid, cgroup, unit, container, runtime, "
	       "runtime_evidence) VALUES(?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) RETURNING process_id",
	.map = "INSERT INTO process_map(was, id) VALUES(?1, ?2)",
};

static const struct table threads = {
	.name = "thread",
	.select =
		"SELECT t.thread_id, m.id, t.tid, name_form(t.thread) FROM given.thread t LEFT JOIN process_map m ON "
		"m.was = t.process_id WHERE t.thread_id IN (SELECT thread_id FROM chosen_thread) ORDER BY 1",
	.find = "SELECT thread_id FROM main.thread WHERE process_id = ?2 AND tid = ?3 AND thread = ?4",
	.add = "INSERT INTO main.thread(process_id, tid, thread) VALUES(?2, ?3, ?4) RETURNING thread_id",
	.map = "INSERT INTO thread_map(was, id) VALUES(?1, ?2)",
};

static const struct table cgroups = {
	.name = "cgroup",
	.select =
		"SELECT path, cgroup_id, name_form(path) FROM given.cgroup WHERE path IN (SELECT cgroup FROM "
		"given.process WHERE process_id IN (SELECT process_id FROM chosen_process) UNION SELECT cgroup FROM "
		"given.capture WHERE capture_id IN (SELECT capture_id FROM chosen)) ORDER BY cgroup_id, path",
	.add = "INSERT INTO main.cgroup(cgroup_id, path) VALUES(?2, ?3) ON CONFLICT DO NOTHING",
};

/* What else the row has follows from the captures that the output has in the end. */
static const struct table incidents = {
	.name = "incident",
	.select =
		"SELECT i.incident_id, m.id, i.number, i.began_at, name_form(i.resource) FROM given.incident i LEFT JOIN "
		"run_map m ON m.was = i.run_id WHERE i.incident_id IN (SELECT incident_id FROM given.capture WHERE "
		"capture_id IN (SELECT capture_id FROM chosen)) ORDER BY 1",
	.find = "SELECT incident_id FROM main.incident WHERE run_id = ?2 AND number = ?3",
	.add = "INSERT INTO main.incident(incident_id, run_id, number, captures, began_at, resource) SELECT n, ?2, ?3, 0, "
	       "?4, ?5 FROM (SELECT iif(?1 > last AND ?1 <= " KEPT_ID_MAX
	       ", ?1, last + 1) AS n FROM (SELECT max(ifnull("
	       "(SELECT seq FROM main.sqlite_sequence WHERE name = 'incident'), 0), ifnull((SELECT max(incident_id) FROM "
	       "main.incident), 0)) AS last)) RETURNING incident_id",
	.map = "INSERT INTO incident_map(was, id) VALUES(?1, ?2)",
};

/* An id that refers to nothing becomes a text, which the table refuses, with the row's id in the message. */
static const struct table captures = {
	.name = "capture",
	.select =
		"SELECT c.capture_id, ifnull(c.recorded_as, c.capture_id), m.id, iif(c.rule_id IS NULL, NULL, "
		"ifnull(u.id, 'no such rule')), name_form(c.rule), name_form(c.resource), name_form(c.kind), "
		"c.stall_us, c.window_us, c.trigger_mode, name_form(c.cgroup), c.triggered_at, c.began_at, "
		"c.ended_at, c.history_ns, c.state, c.observed_us, c.hz, c.offcpu_history_ns, c.expected_samples, "
		"c.received_samples, name_form(c.cause), name_form(c.because), iif(c.incident_id IS NULL, NULL, "
		"ifnull(i.id, 'no such incident')), c.onset_at, c.asked_by_uid, name_form(c.asked_by), "
		"name_form(c.asked_for), name_form(c.note) FROM given.capture c LEFT JOIN run_map m "
		"ON m.was = c.run_id LEFT JOIN rule_map u ON u.was = c.rule_id LEFT JOIN given.incident g ON "
		"g.incident_id = c.incident_id AND g.run_id = c.run_id LEFT JOIN incident_map i ON i.was = g.incident_id "
		"WHERE c.capture_id = :capture",
	.add = "INSERT INTO main.capture(capture_id, run_id, rule_id, rule, resource, kind, stall_us, window_us, "
	       "trigger_mode, cgroup, triggered_at, began_at, ended_at, history_ns, state, observed_us, hz, "
	       "offcpu_history_ns, expected_samples, received_samples, cause, because, incident_id, onset_at, asked_by_uid, asked_by, "
	       "asked_for, note, recorded_as) "
	       "SELECT n, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, "
	       "?23, ?24, ?25, ?26, ?27, ?28, ?29, nullif(?2, n) "
	       "FROM (SELECT iif(?1 > last AND ?1 <= " KEPT_ID_MAX
	       ", ?1, last + 1) AS n FROM (SELECT max(ifnull("
	       "(SELECT seq FROM main.sqlite_sequence WHERE name = 'capture'), 0), ifnull((SELECT max(capture_id) FROM "
	       "main.capture), 0)) AS last)) RETURNING capture_id",
};

static bool has_valid_times(sqlite3_stmt *row)
{
	return stored_times_are_valid(row, 8, sqlite3_column_int(row, 9), sqlite3_column_int64(row, 6));
}

/* What belongs to one capture. Rows of samples come in the order of the output's primary key, which is fast. */
static const struct table of_capture[] = {
	{ .name = "sample_row",
	  .select =
		  "SELECT r.stack_id, :into, s.id, t.id, c.id, r.second, r.samples, r.weight_ns, "
		  "'[[' || r.times || ']]', k.kind = 'off-cpu' FROM given.sample_row r LEFT JOIN stack_map s ON s.was = r.stack_id "
		  "LEFT JOIN thread_map t ON t.was = r.thread_id LEFT JOIN sample_class_map c ON c.was = r.class "
		  "LEFT JOIN given.sample_class k ON k.class = r.class WHERE r.capture_id = :capture "
		  "ORDER BY 3, 4, 5, 6",
	  .add = "INSERT INTO main.sample_row(capture_id, stack_id, thread_id, class, second, samples, weight_ns, "
		 "times) VALUES(?2, ?3, ?4, ?5, ?6, ?7, ?8, substr(?9, 3, length(?9) - 4)) ON CONFLICT DO UPDATE SET "
		 "samples = samples + excluded.samples, weight_ns = iif(weight_ns IS NULL AND excluded.weight_ns IS "
		 "NULL, NULL, ifnull(weight_ns, samples * (SELECT 1000000000 / hz FROM main.capture WHERE capture_id = "
		 "?2)) + ifnull(excluded.weight_ns, excluded.samples * (SELECT 1000000000 / hz FROM main.capture WHERE "
		 "capture_id = ?2))), times = ifnull(times || '],[' || excluded.times, ifnull(times, excluded.times))",
	  .is_valid = has_valid_times },
	{ .name = "thread_state",
	  .select =
		  "SELECT t.tid, :into, p.id, t.tid, name_form(t.thread), t.role, name_form(t.state), name_form(t.syscall), "
		  "t.fd, name_form(t.lock), iif(t.stack_id IS NULL, NULL, ifnull(s.id, 'no such stack')), t.second, t.seconds, "
		  "t.samples FROM given.thread_state t LEFT JOIN process_map p ON p.was = t.process_id LEFT JOIN stack_map s ON "
		  "s.was = t.stack_id WHERE t.capture_id = :capture ORDER BY t.rowid",
	  .add = "INSERT INTO main.thread_state(capture_id, process_id, tid, thread, role, state, syscall, fd, lock, stack_id, "
		 "second, seconds, samples) VALUES(?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)" },
	{ .name = "thread_look",
	  .select =
		  "SELECT second, :into, second, looks, threads FROM given.thread_look WHERE capture_id = :capture "
		  "ORDER BY second",
	  .add = "INSERT INTO main.thread_look(capture_id, second, looks, threads) VALUES(?2, ?3, ?4, ?5)" },
	{ .name = "wake_row",
	  .select =
		  "SELECT w.rowid, :into, t.id, s.id, name_form(w.stall), name_form(w.lock), w.role, "
		  "iif(w.waker_thread_id IS NULL, NULL, ifnull(k.id, 'no such thread')), "
		  "iif(w.waker_stack_id IS NULL, NULL, ifnull(u.id, 'no such stack')), w.releases, w.intervals, "
		  "w.waited_ns FROM given.wake_row w LEFT JOIN thread_map t ON t.was = w.thread_id LEFT JOIN stack_map s ON "
		  "s.was = w.stack_id LEFT JOIN thread_map k ON k.was = w.waker_thread_id LEFT JOIN stack_map u ON u.was = "
		  "w.waker_stack_id WHERE w.capture_id = :capture ORDER BY w.rowid",
	  .add = "INSERT INTO main.wake_row(capture_id, thread_id, stack_id, stall, lock, role, waker_thread_id, "
		 "waker_stack_id, releases, intervals, waited_ns) VALUES(?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)" },
	{ .name = "usage",
	  .select =
		  "SELECT u.process_id, :into, iif(u.process_id IS NULL, NULL, ifnull(p.id, 'no such process')), "
		  "u.role, u.from_at, u.to_at, u.cpu_ns, u.run_delay_ns, u.io_delay_ns, u.stalled_cpu_ns, "
		  "u.stalled_memory_ns, u.stalled_io_ns, u.major_faults, u.minor_faults, u.read_bytes, "
		  "u.write_bytes, u.voluntary_switches, u.involuntary_switches, u.rss_bytes, u.rss_before_bytes, "
		  "u.reclaims, u.reclaim_ns FROM given.usage u "
		  "LEFT JOIN process_map p ON p.was = u.process_id WHERE u.capture_id = :capture ORDER BY u.rowid",
	  .add = "INSERT INTO main.usage(capture_id, process_id, role, from_at, to_at, cpu_ns, run_delay_ns, "
		 "io_delay_ns, stalled_cpu_ns, stalled_memory_ns, stalled_io_ns, major_faults, minor_faults, "
		 "read_bytes, write_bytes, voluntary_switches, involuntary_switches, rss_bytes, rss_before_bytes, reclaims, reclaim_ns) "
		 "VALUES(?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22)" },
	{ .name = "ended",
	  .select =
		  "SELECT comm, :into, role, name_form(comm), name_form(parent), parent_tgid, name_form(cgroup), "
		  "name_form(unit), name_form(container), denied, processes, cpu_ns, run_delay_ns, major_faults, "
		  "read_bytes, write_bytes, reclaims, reclaim_ns FROM given.ended WHERE capture_id = :capture ORDER BY rowid",
	  .add = "INSERT INTO main.ended(capture_id, role, comm, parent, parent_tgid, cgroup, unit, container, denied, "
		 "processes, cpu_ns, run_delay_ns, major_faults, read_bytes, write_bytes, reclaims, reclaim_ns) "
		 "VALUES(?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)" },
	{ .name = "account",
	  .select =
		  "SELECT account, :into, name_form(victim), name_form(account), threads, ns FROM given.account WHERE "
		  "capture_id = :capture ORDER BY victim, account",
	  .add = "INSERT INTO main.account(capture_id, victim, account, threads, ns) VALUES(?2, ?3, ?4, ?5, ?6)" },
	{ .name = "blame",
	  .select =
		  "SELECT wait, :into, name_form(victim), name_form(wait), role, name_form(program), name_form(unit), "
		  "name_form(cgroup), tgid, processes, ns, name_form(where_text), name_form(then_account) FROM given.blame "
		  "WHERE capture_id = :capture ORDER BY rowid",
	  .add = "INSERT INTO main.blame(capture_id, victim, wait, role, program, unit, cgroup, tgid, processes, ns, "
		 "where_text, then_account) VALUES(?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)" },
	{ .name = "machine_time",
	  .select =
		  "SELECT part, :into, name_form(part), from_at, to_at, ns, percent FROM given.machine_time WHERE "
		  "capture_id = :capture ORDER BY part",
	  .add = "INSERT INTO main.machine_time(capture_id, part, from_at, to_at, ns, percent) VALUES(?2, ?3, ?4, "
		 "?5, ?6, ?7)" },
	{ .name = "machine_bytes",
	  .select = "SELECT part, :into, name_form(part), from_at, to_at, read_bytes, write_bytes FROM "
		    "given.machine_bytes WHERE capture_id = :capture ORDER BY part",
	  .add = "INSERT INTO main.machine_bytes(capture_id, part, from_at, to_at, read_bytes, write_bytes) "
		 "VALUES(?2, ?3, ?4, ?5, ?6, ?7)" },
	{ .name = "interrupt",
	  .select =
		  "SELECT name, :into, kind, number, name_form(name), from_at, to_at, count, ns, percent FROM "
		  "given.interrupt WHERE capture_id = :capture ORDER BY rowid",
	  .add = "INSERT INTO main.interrupt(capture_id, kind, number, name, from_at, to_at, count, ns, percent) "
		 "VALUES(?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)" },
	{ .name = "killed",
	  .select =
		  "SELECT comm, :into, at, how, role, name_form(comm), tgid, name_form(cgroup), name_form(unit), "
		  "name_form(container), rss_bytes, name_form(by_comm), by_tgid, name_form(by_cgroup), "
		  "name_form(by_unit), name_form(limit_cgroup), limit_bytes, processes FROM given.killed WHERE "
		  "capture_id = :capture ORDER BY rowid",
	  .add = "INSERT INTO main.killed(capture_id, at, how, role, comm, tgid, cgroup, unit, container, rss_bytes, "
		 "by_comm, by_tgid, by_cgroup, by_unit, limit_cgroup, limit_bytes, processes) VALUES(?2, ?3, ?4, ?5, "
		 "?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)" },
	{ .name = "cgroup_memory",
	  .select =
		  "SELECT cgroup, :into, name_form(cgroup), name_form(unit), name_form(container), from_at, to_at, "
		  "current_before_bytes, current_bytes, anon_before_bytes, anon_bytes, file_before_bytes, file_bytes, "
		  "refaulted_bytes, scanned_bytes, reclaimed_bytes, device_read_bytes, device_written_bytes FROM "
		  "given.cgroup_memory WHERE capture_id = :capture ORDER BY cgroup",
	  .add = "INSERT INTO main.cgroup_memory(capture_id, cgroup, unit, container, from_at, to_at, "
		 "current_before_bytes, current_bytes, anon_before_bytes, anon_bytes, file_before_bytes, file_bytes, "
		 "refaulted_bytes, scanned_bytes, reclaimed_bytes, device_read_bytes, device_written_bytes) VALUES(?2, ?3, "
		 "?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)" },
	{ .name = "pressure",
	  .select = "SELECT scope, :into, at, name_form(scope), name_form(resource), some_us, full_us FROM "
		    "given.pressure WHERE capture_id = :capture ORDER BY rowid",
	  .add = "INSERT INTO main.pressure(capture_id, at, scope, resource, some_us, full_us) "
		 "VALUES(?2, ?3, ?4, ?5, ?6, ?7)" },
	{ .name = "statistic",
	  .select =
		  "SELECT name, :into, from_at, to_at, name_form(scope), name_form(source), name_form(device), "
		  "name_form(name), before, after FROM given.statistic WHERE capture_id = :capture ORDER BY rowid",
	  .add = "INSERT INTO main.statistic(capture_id, from_at, to_at, scope, source, device, name, before, after) "
		 "VALUES(?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)" },
	{ .name = "histogram",
	  .select =
		  "SELECT metric, :into, name_form(metric), name_form(label), lower_ns, upper_ns, count FROM "
		  "given.histogram WHERE capture_id = :capture ORDER BY rowid",
	  .add = "INSERT INTO main.histogram(capture_id, metric, label, lower_ns, upper_ns, count) "
		 "VALUES(?2, ?3, ?4, ?5, ?6, ?7)" },
	{ .name = "loss",
	  .select =
		  "SELECT reason, :into, name_form(reason), events, unit FROM given.loss WHERE capture_id = :capture "
		  "ORDER BY reason",
	  .add = "INSERT INTO main.loss(capture_id, reason, events, unit) VALUES(?2, ?3, ?4, ?5)" },
};

/* The numbers of what was added: the source may have none, or others. */
static const struct table numbers = {
	.name = "capture",
	.select = "SELECT :capture, :into",
	.add = "UPDATE main.capture SET (process_count, stack_count, sample_count, interval_count) = (SELECT "
	       "count(DISTINCT t.process_id), count(DISTINCT r.stack_id), ifnull(sum(r.samples), 0), ifnull(sum(r.samples) "
	       "FILTER (WHERE k.kind = 'off-cpu'), 0) FROM main.sample_row r JOIN main.thread t USING(thread_id) JOIN "
	       "main.sample_class k USING(class) WHERE r.capture_id = ?2 AND k.role = 'target') WHERE capture_id = ?2",
};

/* ---- what is wanted ---- */

/* Tables of ids: on the disk, if they become large. MAP(was, id): of a row in the source and in the output. */
static const char make_temporary[] =
	"CREATE TEMP TABLE chosen(capture_id INTEGER PRIMARY KEY);"
	"CREATE TEMP TABLE chosen_run(run_id INTEGER PRIMARY KEY, from_at INTEGER, to_at INTEGER);"
	"CREATE TEMP TABLE chosen_frame(frame_id INTEGER PRIMARY KEY);"
	"CREATE TEMP TABLE unnamed(frame_id INTEGER PRIMARY KEY);"
	"CREATE TEMP TABLE chosen_thread(thread_id INTEGER PRIMARY KEY);"
	"CREATE TEMP TABLE chosen_process(process_id INTEGER PRIMARY KEY);"
	"CREATE TEMP TABLE database_map(was INTEGER PRIMARY KEY, id INTEGER);"
	"CREATE TEMP TABLE run_map(was INTEGER PRIMARY KEY, id INTEGER);"
	"CREATE TEMP TABLE rule_map(was INTEGER PRIMARY KEY, id INTEGER);"
	"CREATE TEMP TABLE incident_map(was INTEGER PRIMARY KEY, id INTEGER);"
	"CREATE TEMP TABLE module_map(was INTEGER PRIMARY KEY, id INTEGER);"
	"CREATE TEMP TABLE frame_map(was INTEGER PRIMARY KEY, id INTEGER);"
	"CREATE TEMP TABLE stack_class_map(was INTEGER PRIMARY KEY, id INTEGER);"
	"CREATE TEMP TABLE sample_class_map(was INTEGER PRIMARY KEY, id INTEGER);"
	"CREATE TEMP TABLE process_map(was INTEGER PRIMARY KEY, id INTEGER);"
	"CREATE TEMP TABLE thread_map(was INTEGER PRIMARY KEY, id INTEGER);"
	"CREATE TEMP TABLE stack_map(was INTEGER PRIMARY KEY, id INTEGER)";

static const char drop_temporary[] =
	"DROP TABLE temp.chosen; DROP TABLE temp.chosen_run; DROP TABLE temp.chosen_frame; DROP TABLE temp.unnamed;"
	"DROP TABLE temp.chosen_thread; DROP TABLE temp.chosen_process; DROP TABLE temp.database_map;"
	"DROP TABLE temp.run_map; DROP TABLE temp.rule_map; DROP TABLE temp.module_map; DROP TABLE temp.frame_map;"
	"DROP TABLE temp.incident_map; DROP TABLE temp.stack_class_map; DROP TABLE temp.sample_class_map; DROP TABLE temp.process_map;"
	"DROP TABLE temp.thread_map; DROP TABLE temp.stack_map";

/* The runs of single captures have counters within the captures' span; the last ones come in any case. */
static const char choose_runs_of_captures[] =
	"INSERT INTO chosen_run SELECT run_id, min(began_at), max(ifnull(ended_at, triggered_at)) FROM given.capture "
	"WHERE capture_id IN (SELECT capture_id FROM chosen) GROUP BY run_id;"
	"INSERT OR IGNORE INTO chosen_run(run_id) SELECT run_id FROM given.rule WHERE rule_id IN (SELECT rule_id FROM "
	"given.capture WHERE capture_id IN (SELECT capture_id FROM chosen))";
static const char choose_all_runs[] =
	"INSERT INTO chosen_run SELECT run_id, -0x7fffffffffffffff, 0x7fffffffffffffff FROM given.run";

/* Those that have ended and that the output does not have. */
static const char choose_new_captures[] =
	"INSERT INTO chosen SELECT c.capture_id FROM given.capture c LEFT JOIN run_map m ON m.was = c.run_id "
	"WHERE c.state <> 'recording' AND NOT EXISTS (SELECT 1 FROM main.capture o WHERE o.run_id = m.id AND "
	"o.triggered_at = c.triggered_at AND ifnull(o.recorded_as, o.capture_id) = ifnull(c.recorded_as, c.capture_id))";

static const char choose_processes[] =
	"INSERT INTO chosen_thread SELECT thread_id FROM given.sample_row WHERE capture_id IN (SELECT capture_id FROM chosen) "
	"UNION SELECT thread_id FROM given.wake_row WHERE capture_id IN (SELECT capture_id FROM chosen) "
	"UNION SELECT waker_thread_id FROM given.wake_row WHERE capture_id IN (SELECT capture_id FROM chosen) AND "
	"waker_thread_id IS NOT NULL;"
	"INSERT INTO chosen_process SELECT process_id FROM given.thread WHERE thread_id IN (SELECT thread_id FROM "
	"chosen_thread) UNION SELECT process_id FROM given.thread_state WHERE capture_id IN (SELECT capture_id FROM "
	"chosen) UNION SELECT process_id FROM given.usage WHERE capture_id IN (SELECT capture_id FROM chosen) AND "
	"process_id IS NOT NULL";

/* All functions of one address, or none: a later lookup expects the complete set. */
static const char choose_frames[] =
	"INSERT INTO chosen_frame WITH RECURSIVE up(node_id) AS (SELECT stack_id FROM given.sample_row WHERE capture_id "
	"IN (SELECT capture_id FROM chosen) UNION SELECT stack_id FROM given.thread_state WHERE capture_id IN (SELECT "
	"capture_id FROM chosen) AND stack_id IS NOT NULL UNION SELECT stack_id FROM given.wake_row WHERE capture_id IN "
	"(SELECT capture_id FROM chosen) UNION SELECT waker_stack_id FROM given.wake_row WHERE capture_id IN (SELECT "
	"capture_id FROM chosen) AND waker_stack_id IS NOT NULL UNION SELECT n.parent_id FROM up JOIN given.stack_node n "
	"USING(node_id) WHERE n.parent_id IS NOT NULL) SELECT DISTINCT a.frame_id FROM up JOIN given.stack_node n "
	"USING(node_id), json_each(iif(json_valid(n.frames), n.frames, '[]')) j JOIN given.frame_row f ON f.frame_id = "
	"j.value JOIN given.frame_row a ON a.module_id = f.module_id AND a.offset = f.offset";

/*
 * Functions that got a name in the output, and those that are inlined there: its stacks with such a function had none of
 * these, and hashes may count names.
 */
static const char find_unnamed[] =
	"INSERT INTO unnamed SELECT frame_id FROM main.frame_row WHERE inlined = 0 AND function_offset IS NULL";
static const char find_named[] =
	"SELECT u.frame_id, ifnull(i.frame_id, 0) FROM unnamed u JOIN main.frame_row f USING(frame_id) LEFT JOIN main.frame_row i "
	"ON i.module_id = f.module_id AND i.offset = f.offset AND i.inlined > 0 WHERE f.function_offset IS NOT NULL "
	"ORDER BY u.frame_id, i.inlined";

/* Chooses one capture by its id. */
static int choose_capture(struct transfer *transfer, const char *path, int64_t id)
{
	sqlite3_stmt *statement;
	sqlite3_int64 is_recording = -1;
	int result = sql_prepare(transfer->rows.sql, &statement,
				 "SELECT state = 'recording' FROM given.capture WHERE capture_id = ?");

	if (!result)
		result = sql_run(transfer->rows.sql, statement, &is_recording, "i", id);
	sqlite3_finalize(statement);
	if (result < 0)
		return result;
	if (is_recording) {
		transfer->logged = true;
		if (is_recording < 0)
			log_error("no capture %" PRId64 " in '%s': 'bourdon list' shows all captures", id,
				  path);
		else
			log_error("capture %" PRId64
				  " is still recording: try again when 'bourdon list' says complete",
				  id);
		return -EINVAL;
	}
	result = sql_prepare(transfer->rows.sql, &statement,
			     "INSERT OR IGNORE INTO chosen(capture_id) VALUES(?)");
	if (!result)
		result = sql_run(transfer->rows.sql, statement, NULL, "i", id);
	sqlite3_finalize(statement);
	return result;
}

/* ---- the source ---- */

/* Writes "file:PATH?mode=ro", without what has a meaning in a URI. NULL without memory. */
static char *uri_of(const char *path)
{
	char *uri = malloc(3 * strlen(path) + 32), *to = uri;

	if (!uri)
		return NULL;
	to += sprintf(to, "file:");
	for (; *path; path++)
		to += sprintf(to, strchr("%?#", *path) ? "%%%02x" : "%c", *path);
	strcpy(to, "?mode=ro");
	return uri;
}

static int attach(struct transfer *transfer, const char *path)
{
	_cleanup_free_ char *real = realpath(path, NULL), *uri = real ? uri_of(real) : NULL;
	sqlite3_stmt *statement;
	int result;

	if (!uri) {
		snprintf(transfer->rows.sql->error, sizeof(transfer->rows.sql->error), "%s", strerror(errno));
		return -errno;
	}
	result = sql_prepare(transfer->rows.sql, &statement, "ATTACH ? AS given");
	if (result < 0)
		return result;
	if (sqlite3_bind_text(statement, 1, uri, -1, SQLITE_STATIC) != SQLITE_OK ||
	    sqlite3_step(statement) != SQLITE_DONE)
		result = sql_failed(transfer->rows.sql);
	sqlite3_finalize(statement);
	return result;
}

/* The file may be another one than it was when it was checked. */
static int check_version(struct transfer *transfer)
{
	sqlite3_int64 version = 0;
	int result = sql_run_once(transfer->rows.sql, &version, "PRAGMA given.user_version");

	if (!result && version != SCHEMA_VERSION) {
		snprintf(transfer->rows.sql->error, sizeof(transfer->rows.sql->error),
			 "it was replaced meanwhile");
		return -EINVAL;
	}
	return result;
}

/* ---- the transfer ---- */

static int transfer_shared(struct transfer *transfer)
{
	static const struct table *const tables[] = { &modules, &frames, &stack_classes, &sample_classes };
	int result = sql_execute(transfer->rows.sql, transfer->rows.whole ? find_unnamed : choose_frames);

	for (size_t i = 0; i < ARRAY_SIZE(tables) && !result; i++)
		result = db_rows_transfer(&transfer->rows, tables[i], NULL);
	return result;
}

static int extend_known_stacks(struct transfer *transfer)
{
	_cleanup_free_ struct frame_extension *extensions = NULL;
	uint32_t count = 0, room = 0;
	struct sql *sql = transfer->rows.sql;
	sqlite3_stmt *named;
	uint64_t damaged;
	int result = sql_prepare(sql, &named, find_named), step = SQLITE_DONE;

	while (!result && (step = sqlite3_step(named)) == SQLITE_ROW) {
		if (array_make_room(extensions, count, room, 1U))
			result = -ENOMEM;
		else
			extensions[count++] = (struct frame_extension){ sqlite3_column_int64(named, 0),
									sqlite3_column_int64(named, 1) };
	}
	if (!result && step != SQLITE_DONE)
		result = sql_failed(sql);
	sqlite3_finalize(named);
	if (!result && count)
		result = extend_stacks(sql->db, extensions, count, &damaged);
	return result == -EIO ? sql_failed(sql) : result;
}

static int transfer_owners(struct transfer *transfer)
{
	static const struct table *const tables[] = { &rules, &incidents, &processes, &threads, &cgroups };
	int result = sql_execute(transfer->rows.sql, choose_processes);

	for (size_t i = 0; i < ARRAY_SIZE(tables) && !result; i++)
		result = db_rows_transfer(&transfer->rows, tables[i], NULL);
	return result;
}

static int transfer_capture(struct transfer *transfer, int64_t capture_id)
{
	int result;

	transfer->rows.capture_id = capture_id;
	result = db_rows_transfer(&transfer->rows, &captures, &transfer->rows.into);
	if (!result)
		result = stack_transfer_capture(&transfer->stacks, capture_id);
	for (size_t i = 0; i < ARRAY_SIZE(of_capture) && !result; i++)
		result = db_rows_transfer(&transfer->rows, &of_capture[i], NULL);
	if (!result)
		result = db_rows_transfer(&transfer->rows, &numbers, NULL);
	if (!result)
		transfer->rows.capture_id = 0;
	else if (!*transfer->rows.row)
		snprintf(transfer->rows.row, sizeof(transfer->rows.row), "capture %" PRId64, capture_id);
	return result;
}

static int transfer_captures(struct transfer *transfer, int64_t *ret_count)
{
	sqlite3_stmt *next;
	sqlite3_int64 capture_id = INT64_MIN, before;
	int64_t count = 0;
	int result =
		sql_prepare(transfer->rows.sql, &next,
			    "SELECT capture_id FROM chosen WHERE capture_id > ? ORDER BY capture_id LIMIT 1");

	while (!result) {
		before = capture_id;
		result = sql_run(transfer->rows.sql, next, &capture_id, "i", (int64_t)before);
		if (result < 0 || capture_id == before)
			break;
		result = transfer_capture(transfer, capture_id);
		count++;
	}
	sqlite3_finalize(next);
	*ret_count = count;
	return result;
}

static int count_others(struct transfer *transfer, struct transferred *counts)
{
	sqlite3_int64 all = 0, recording = 0;
	int result = sql_run_once(transfer->rows.sql, &all, "SELECT count(*) FROM given.capture");

	if (!result)
		result = sql_run_once(transfer->rows.sql, &recording,
				      "SELECT count(*) FROM given.capture WHERE state = 'recording'");
	counts->recording = recording;
	counts->known = all - recording - counts->added;
	return result;
}

/* Within a transaction. */
static int transfer_all(struct transfer *transfer, const char *path, const int64_t *ids, int ids_count,
			struct transferred *counts)
{
	int result = check_version(transfer);

	if (!result)
		result = sql_execute(transfer->rows.sql, make_temporary);
	for (int i = 0; i < ids_count && !result; i++)
		result = choose_capture(transfer, path, ids[i]);
	if (!result)
		result = sql_execute(transfer->rows.sql,
				     transfer->rows.whole ? choose_all_runs : choose_runs_of_captures);
	if (!result)
		result = db_rows_transfer(&transfer->rows, &databases, NULL);
	if (!result)
		result = db_rows_transfer(&transfer->rows, &runs, NULL);
	if (!result)
		result = db_rows_transfer(&transfer->rows, &counters, NULL);
	if (!result && transfer->rows.whole)
		result = sql_execute(transfer->rows.sql, choose_new_captures);
	if (!result)
		result = transfer_shared(transfer);
	if (!result)
		result = extend_known_stacks(transfer);
	if (!result)
		result = transfer_owners(transfer);
	if (!result)
		result = stack_transfer_begin(&transfer->stacks, transfer->rows.sql);
	if (!result)
		result = transfer_captures(transfer, &counts->added);
	if (!result && transfer->rows.whole)
		result = activity_transfer(&transfer->rows);
	if (!result)
		result = incidents_settle_where(transfer->rows.sql,
						"incident_id IN (SELECT id FROM incident_map)");
	if (!result)
		result = count_others(transfer, counts);
	stack_transfer_end(&transfer->stacks);
	return result ? result : sql_execute(transfer->rows.sql, drop_temporary);
}

/* Logs what failed, unless that was done. Returns the result. */
static int report_failure(const struct transfer *transfer, const struct db_output *output, const char *path,
			  int result)
{
	if (transfer->logged)
		return result;
	if (result == -ENOSPC || result == -EBUSY)
		return db_output_failed(output, result);
	log_error(
		"cannot take captures from '%s': %s%s%s; 'bourdon --db FILE db check' tells what is wrong with it",
		path, transfer->rows.row, *transfer->rows.row ? ": " : "",
		result == -ENOMEM ? strerror(ENOMEM) : transfer->rows.sql->error);
	return result;
}

int db_transfer(struct db_output *output, const char *path, const char *instead, const int64_t *ids,
		int ids_count, struct transferred *ret_transferred)
{
	struct transfer transfer = { .rows = { .sql = &output->sql, .whole = !ids } };
	struct transferred counts = { 0 };
	sqlite3 *db = output->sql.db;
	int result;

	/* the source's tables are read, never its views */
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	result = db_rows_prepare(&output->sql);
	if (!result)
		result = attach(&transfer, instead ? instead : path);
	if (result < 0)
		return report_failure(&transfer, output, path, result);
	result = sql_execute(&output->sql, "BEGIN IMMEDIATE");
	if (!result) {
		result = transfer_all(&transfer, path, ids, ids_count, &counts);
		/* after the reason was logged: a rollback that fails has another one */
		if (result < 0)
			report_failure(&transfer, output, path, result);
		else if ((result = sql_execute(&output->sql, "COMMIT")) < 0)
			db_output_failed(output, result);
		if (result < 0)
			sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	} else {
		db_output_failed(output, result);
	}
	sqlite3_exec(db, "DETACH given", NULL, NULL, NULL);
	if (!result)
		*ret_transferred = counts;
	return result;
}

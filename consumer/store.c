/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/store.h"

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/version.h"
#include "consumer/schema.h"

#include <inttypes.h>
#include <limits.h>
#include <nettle/sha2.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#define PAGE_BYTES 4096U
#define HEAP_BYTES_MAX (64L << 20)
#define BUSY_RETRY_NS 50000000L
#define LOG_SHARE 4 /* of the bytes a database may have, one in so many is for its write-ahead log */

struct store {
	sqlite3 *db;
	sqlite3_int64 run_id;
	uint64_t log_bytes_max;
	char log_path[PATH_MAX];
	const atomic_uint_fast64_t *give_up_ns;
	char error[256];
	sqlite3_stmt *add_module, *add_frame, *add_stack, *add_stack_frame, *add_process, *add_sample,
		*add_loss, *add_cgroup, *finish_capture;
};

/* ---- SQLite, in our terms ---- */

static int failed(struct store *store)
{
	int code = sqlite3_extended_errcode(store->db);

	snprintf(store->error, sizeof(store->error), "%s (SQLite error %d)", sqlite3_errmsg(store->db), code);
	switch (code & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_NOTADB:
	case SQLITE_CORRUPT:
		return -EUCLEAN;
	case SQLITE_READONLY:
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
		return -EACCES;
	default:
		return -EIO;
	}
}

const char *store_error(const struct store *store)
{
	return store->error;
}

static int execute(struct store *store, const char *sql)
{
	return sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : failed(store);
}

static int prepare(struct store *store, sqlite3_stmt **ret_statement, const char *sql)
{
	if (sqlite3_prepare_v3(store->db, sql, -1, SQLITE_PREPARE_PERSISTENT, ret_statement, NULL) ==
	    SQLITE_OK)
		return 0;
	return failed(store);
}

/*
 * Binds and runs a statement that yields at most one row of at most one number, which *ret_number takes.
 * One letter a parameter: i is int64_t, t is text (NULL is NULL), b is bytes and their size_t.
 */
static int run(struct store *store, sqlite3_stmt *statement, sqlite3_int64 *ret_number, const char *types,
	       ...)
{
	va_list values;
	int code, column = 1, result = 0;

	va_start(values, types);
	for (; *types; types++, column++) {
		if (*types == 'i') {
			sqlite3_bind_int64(statement, column, va_arg(values, int64_t));
		} else if (*types == 't') {
			sqlite3_bind_text(statement, column, va_arg(values, const char *), -1, SQLITE_STATIC);
		} else {
			const void *bytes = va_arg(values, const void *);

			sqlite3_bind_blob(statement, column, bytes, (int)va_arg(values, size_t),
					  SQLITE_STATIC);
		}
	}
	va_end(values);
	code = sqlite3_step(statement);
	if (code == SQLITE_ROW && ret_number)
		*ret_number = sqlite3_column_int64(statement, 0);
	/* a statement with RETURNING has done its work only when it is stepped to its end */
	if (code == SQLITE_ROW)
		code = sqlite3_step(statement);
	if (code != SQLITE_DONE)
		result = failed(store);
	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
	return result;
}

static int run_once(struct store *store, sqlite3_int64 *ret_number, const char *sql)
{
	sqlite3_stmt *statement;
	int result = prepare(store, &statement, sql);

	if (!result)
		result = run(store, statement, ret_number, "");
	sqlite3_finalize(statement);
	return result;
}

/* Whoever holds the lock, the store thread is the one that can wait. */
static int wait_for_lock(void *user, int tries)
{
	const struct timespec pause = { .tv_nsec = BUSY_RETRY_NS };
	const struct store *store = user;
	uint64_t give_up_ns = atomic_load(store->give_up_ns);

	(void)tries;
	if (give_up_ns && clock_monotonic_ns() >= give_up_ns)
		return 0;
	nanosleep(&pause, NULL);
	return 1;
}

/* ---- room ---- */

/*
 * Empties the write-ahead log where no reader needs it. It must not wait for readers: a log that has to
 * stay is looked at before the next capture.
 */
static void trim_log(struct store *store)
{
	sqlite3_busy_handler(store->db, NULL, NULL);
	sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	sqlite3_busy_handler(store->db, wait_for_lock, store);
}

static bool log_is_too_large(struct store *store)
{
	struct stat at;

	if (stat(store->log_path, &at) || (uint64_t)at.st_size <= store->log_bytes_max)
		return false;
	trim_log(store);
	return !stat(store->log_path, &at) && (uint64_t)at.st_size > store->log_bytes_max;
}

/* Removes the oldest capture that has ended and what only it used. -ENOENT when there is none. */
static int evict_oldest(struct store *store)
{
	static const char *const owned[] = { "sample",    "thread_state", "usage",  "pressure",
					     "histogram", "loss",         "capture" };
	sqlite3_int64 oldest = 0;
	int result = run_once(store, &oldest,
			      "SELECT ifnull((SELECT capture_id FROM capture WHERE state <> 'recording'"
			      " ORDER BY triggered_at, capture_id LIMIT 1), 0)");

	if (result < 0)
		return result;
	if (!oldest)
		return -ENOENT;
	result = execute(store, "BEGIN IMMEDIATE");
	for (size_t i = 0; i < ARRAY_SIZE(owned) && !result; i++) {
		char sql[128];

		snprintf(sql, sizeof(sql), "DELETE FROM %s WHERE capture_id = %lld", owned[i], oldest);
		result = execute(store, sql);
	}
	if (!result)
		result = execute(
			store,
			"DELETE FROM stack WHERE stack_id NOT IN (SELECT stack_id FROM sample UNION ALL "
			"SELECT stack_id FROM thread_state WHERE stack_id IS NOT NULL);"
			"DELETE FROM stack_frame WHERE stack_id NOT IN (SELECT stack_id FROM stack);"
			"DELETE FROM frame WHERE frame_id NOT IN (SELECT frame_id FROM stack_frame);"
			"DELETE FROM module WHERE module_id NOT IN (SELECT module_id FROM frame);"
			"DELETE FROM process WHERE process_id NOT IN (SELECT process_id FROM sample UNION "
			"ALL "
			"SELECT process_id FROM thread_state UNION ALL SELECT process_id FROM usage WHERE "
			"process_id IS NOT NULL);"
			"DELETE FROM counter WHERE at < (SELECT ifnull(min(triggered_at), at + 1) FROM "
			"capture);"
			"COMMIT");
	if (result < 0) {
		sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
		return result;
	}
	log_info("the database is full: capture %lld, the oldest, was removed", oldest);
	result = execute(store, "PRAGMA incremental_vacuum");
	trim_log(store);
	return result;
}

/* A smaller limit than the last time's, or another's database: down to size before anything else. */
static int limit_size(struct store *store, uint64_t bytes_max)
{
	sqlite3_int64 used = 0, most = (sqlite3_int64)((bytes_max - store->log_bytes_max) / PAGE_BYTES);
	char sql[96];
	int result;

	do {
		result = run_once(store, &used,
				  "SELECT page_count - freelist_count FROM pragma_page_count, "
				  "pragma_freelist_count");
		if (!result && used <= most)
			break;
		if (!result)
			result = evict_oldest(store);
	} while (!result);
	if (result < 0 && result != -ENOENT)
		return result;
	snprintf(sql, sizeof(sql), "PRAGMA incremental_vacuum; PRAGMA max_page_count = %lld", most);
	return execute(store, sql);
}

/* ---- opening ---- */

static int check_identity(struct store *store)
{
	sqlite3_int64 tables = 0, application = 0, version = 0;
	char sql[256];
	int result = run_once(store, &tables, "SELECT count(*) FROM sqlite_schema");

	if (!result && !tables) {
		/* auto_vacuum has to come before the first table; the log before the schema */
		snprintf(sql, sizeof(sql),
			 "PRAGMA page_size = %u; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;"
			 "BEGIN IMMEDIATE; PRAGMA application_id = %d; PRAGMA user_version = %d",
			 PAGE_BYTES, SCHEMA_APPLICATION_ID, SCHEMA_VERSION);
		result = execute(store, sql);
		if (!result)
			result = execute(store, schema_sql);
		if (!result)
			result = execute(store, "COMMIT");
		return result;
	}
	if (!result)
		result = run_once(store, &application, "PRAGMA application_id");
	if (!result)
		result = run_once(store, &version, "PRAGMA user_version");
	if (!result && application != SCHEMA_APPLICATION_ID) {
		snprintf(store->error, sizeof(store->error), "it is another program's database");
		return -EUCLEAN;
	}
	if (!result && version != SCHEMA_VERSION) {
		snprintf(store->error, sizeof(store->error), "its schema is version %lld, this binary's %d",
			 version, SCHEMA_VERSION);
		return -EUCLEAN;
	}
	return result;
}

static int prepare_all(struct store *store)
{
	const struct {
		sqlite3_stmt **statement;
		const char *sql;
	} statements[] = {
		{ &store->add_module,
		  "INSERT INTO module(path, build_id, version, kind) VALUES(?, nullif(?, ''), ?, ?) "
		  "ON CONFLICT DO UPDATE SET path = path RETURNING module_id" },
		/* a name that was found later serves all captures */
		{ &store->add_frame,
		  "INSERT INTO frame(module_id, offset, function, function_offset) VALUES(?, ?, ?, nullif(?, "
		  "-1)) "
		  "ON CONFLICT DO UPDATE SET "
		  "function = iif(function_offset IS NULL, excluded.function, function), "
		  "function_offset = ifnull(function_offset, excluded.function_offset) RETURNING frame_id" },
		{ &store->add_stack,
		  "INSERT INTO stack(depth, truncated, unwinder, fingerprint) VALUES(?, ?, ?, ?) "
		  "ON CONFLICT DO UPDATE SET depth = depth RETURNING stack_id" },
		{ &store->add_stack_frame,
		  "INSERT OR IGNORE INTO stack_frame(stack_id, position, frame_id) VALUES(?, ?, ?)" },
		{ &store->add_process, "INSERT INTO process(run_id, tgid, started_ns, comm, exe, uid, "
				       "cgroup) VALUES(?, ?, ?, ?, ?, ?, ?) "
				       "ON CONFLICT DO UPDATE SET uid = excluded.uid RETURNING process_id" },
		{ &store->add_sample, "INSERT INTO sample(capture_id, process_id, tid, thread, stack_id, "
				      "kind, stall, second, samples, "
				      "weight_ns) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)" },
		{ &store->add_loss, "INSERT INTO loss(capture_id, reason, events, unit) VALUES(?, ?, ?, ?)" },
		{ &store->add_cgroup, "INSERT OR REPLACE INTO cgroup(cgroup_id, path) VALUES(?, ?)" },
		{ &store->finish_capture, "UPDATE capture SET began_at = ?, ended_at = ?, history_ns = ?, "
					  "state = ? WHERE capture_id = ?" },
	};
	int result = 0;

	for (size_t i = 0; i < ARRAY_SIZE(statements) && !result; i++)
		result = prepare(store, statements[i].statement, statements[i].sql);
	return result;
}

static int open_database(struct store *store, const char *path, uint64_t bytes_max)
{
	int keep_log = 1, result;
	sqlite3_int64 mode;

	sqlite3_hard_heap_limit64(HEAP_BYTES_MAX);
	if (sqlite3_open_v2(path, &store->db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW |
				    SQLITE_OPEN_NOMUTEX,
			    NULL) != SQLITE_OK)
		return failed(store);
	sqlite3_extended_result_codes(store->db, 1);
	sqlite3_busy_handler(store->db, wait_for_lock, store);
	sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	/* readers without write access open a database whose daemon is down only if its log is there */
	sqlite3_file_control(store->db, "main", SQLITE_FCNTL_PERSIST_WAL, &keep_log);
	result = execute(store,
			 "PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -2048;"
			 "PRAGMA cell_size_check = ON; PRAGMA synchronous = FULL; PRAGMA mmap_size = 0");
	if (!result)
		result = check_identity(store);
	if (!result)
		result = run_once(store, &mode, "PRAGMA journal_mode = WAL");
	if (!result)
		result = execute(store, "UPDATE capture SET state = 'interrupted' WHERE state = 'recording'");
	if (!result)
		result = limit_size(store, bytes_max);
	if (!result)
		result = prepare_all(store);
	return result;
}

int store_open(struct store **ret_store, const char *directory, uint64_t bytes_max,
	       const atomic_uint_fast64_t *give_up_ns)
{
	struct store *store = calloc(1, sizeof(*store));
	char path[PATH_MAX - 8];
	int result;

	if (!store)
		return -ENOMEM;
	store->give_up_ns = give_up_ns;
	store->log_bytes_max = bytes_max / LOG_SHARE;
	snprintf(path, sizeof(path), "%s/" DATABASE_FILE, directory);
	snprintf(store->log_path, sizeof(store->log_path), "%s-wal", path);
	result = open_database(store, path, bytes_max);
	if (result < 0) {
		log_error("cannot open the database %s: %s; it must be writable for this user", path,
			  store->error);
		store_close(store);
		return result;
	}
	*ret_store = store;
	return 0;
}

void store_close(struct store *store)
{
	sqlite3_stmt *statement;

	if (!store)
		return;
	while (store->db && (statement = sqlite3_next_stmt(store->db, NULL)))
		sqlite3_finalize(statement);
	sqlite3_close(store->db);
	free(store);
}

/* ---- runs ---- */

int store_next_ids(struct store *store, uint32_t *ret_rule_id, uint32_t *ret_pattern_id)
{
	sqlite3_int64 rule_id = 0, pattern_id = 0;
	int result = run_once(store, &rule_id, "SELECT ifnull(max(rule_id), 0) + 1 FROM rule");

	if (!result)
		result = run_once(store, &pattern_id, "SELECT ifnull(max(pattern_id), 0) + 1 FROM rule");
	if (!result && (rule_id > INT32_MAX || pattern_id > INT32_MAX)) {
		snprintf(store->error, sizeof(store->error), "its rule ids are used up");
		return -EUCLEAN;
	}
	*ret_rule_id = (uint32_t)rule_id;
	*ret_pattern_id = (uint32_t)pattern_id;
	return result;
}

static int add_rule(struct store *store, sqlite3_stmt *statement, const struct rule *rule)
{
	char comm[ABI_COMM_BYTES + 1];

	snprintf(comm, sizeof(comm), "%s%s", rule->comm.text, rule->comm.prefix ? "*" : "");
	return run(store, statement, NULL, "iitttttiiii", (int64_t)rule->id, (int64_t)store->run_id,
		   rule->name, rule->source, comm, rule->cgroup,
		   rule->watch == WATCH_SYSTEM ? "system" : "cgroup", (int64_t)rule->pattern_id,
		   (int64_t)rule->history_ns, (int64_t)rule->capture_ns, (int64_t)rule->cooldown_ns);
}

static int add_rules(struct store *store, const struct rule_set *rules)
{
	sqlite3_stmt *statement;
	int result =
		prepare(store, &statement,
			"INSERT INTO rule(rule_id, run_id, rule, source, comm, cgroup, watch, pattern_id, "
			"history_ns, capture_ns, cooldown_ns) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");

	for (size_t i = 0; i < rules->count && !result; i++)
		result = add_rule(store, statement, &rules->rules[i]);
	sqlite3_finalize(statement);
	return result;
}

static int add_run(struct store *store, const struct manifest *manifest)
{
	char host[256] = "";
	sqlite3_stmt *statement;
	int result = prepare(store, &statement,
			     "INSERT INTO run(started_at, version, abi, kernel, hostname, cpus, hz) "
			     "VALUES(?, ?, ?, ?, ?, ?, ?) RETURNING run_id");

	gethostname(host, sizeof(host) - 1);
	if (!result)
		result = run(store, statement, &store->run_id, "itittii", clock_wall_ns(), BOURDON_VERSION,
			     (int64_t)manifest->abi, manifest->kernel, host, (int64_t)manifest->cpus,
			     (int64_t)manifest->hz);
	sqlite3_finalize(statement);
	return result;
}

/* Ends the transaction that `result` is the outcome of: all of it, or nothing. */
static int finish(struct store *store, int result)
{
	if (!result)
		result = execute(store, "COMMIT");
	if (result < 0)
		sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
	return result;
}

int store_begin_run(struct store *store, const struct manifest *manifest, const struct rule_set *rules)
{
	int result = execute(store, "BEGIN IMMEDIATE");

	if (result < 0)
		return result;
	result = add_run(store, manifest);
	if (!result)
		result = add_rules(store, rules);
	return finish(store, result);
}

int store_end_run(struct store *store)
{
	sqlite3_stmt *statement;
	int result = prepare(store, &statement, "UPDATE run SET ended_at = ? WHERE run_id = ?");

	if (!result)
		result = run(store, statement, NULL, "ii", clock_wall_ns(), (int64_t)store->run_id);
	sqlite3_finalize(statement);
	if (!result)
		trim_log(store);
	return result;
}

int store_add_counters(struct store *store, const uint64_t values[COUNTERS])
{
	sqlite3_stmt *statement;
	int64_t at = clock_wall_ns();
	int result = execute(store, "BEGIN IMMEDIATE");

	if (result < 0)
		return result;
	result =
		prepare(store, &statement, "INSERT INTO counter(run_id, at, name, value) VALUES(?, ?, ?, ?)");
	for (size_t i = 0; i < COUNTERS && !result; i++)
		result = run(store, statement, NULL, "iiti", (int64_t)store->run_id, at, counter_names[i],
			     (int64_t)values[i]);
	sqlite3_finalize(statement);
	return finish(store, result);
}

/* ---- captures ---- */

int store_begin_capture(struct store *store, const struct capture_cause *cause, uint64_t history_ns,
			int64_t *ret_capture_id)
{
	sqlite3_stmt *statement;
	sqlite3_int64 capture_id = 0;
	int result =
		prepare(store, &statement,
			"INSERT INTO capture(run_id, rule_id, rule, resource, kind, stall_us, window_us, "
			"trigger_mode, cgroup, triggered_at, began_at, history_ns, state, observed_us, hz) "
			"VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'recording', ?, ?) RETURNING capture_id");

	if (!result)
		result = run(store, statement, &capture_id, "iitttiittiiiii", (int64_t)store->run_id,
			     (int64_t)cause->rule_id, cause->rule,
			     psi_resource_names[cause->trigger.resource], psi_kind_names[cause->trigger.kind],
			     (int64_t)cause->trigger.stall_us, (int64_t)cause->trigger.window_us,
			     trigger_mode_names[cause->mode], cause->cgroup, cause->triggered_at,
			     cause->triggered_at - (int64_t)history_ns, (int64_t)history_ns,
			     (int64_t)cause->observed_us, (int64_t)cause->hz);
	sqlite3_finalize(statement);
	if (!result)
		*ret_capture_id = capture_id;
	return result;
}

/* One capture on its way into the database: what each thing's row id is. */
struct writing {
	struct store *store;
	const struct capture *capture;
	const struct resolved *resolved;
	const struct mappings *mappings;
	sqlite3_int64 capture_id;
	sqlite3_int64 *modules, *frames, *stacks, *processes;
};

static int write_frames(struct writing *writing)
{
	const struct resolved *resolved = writing->resolved;
	struct store *store = writing->store;
	int result = 0;

	for (uint32_t i = 0; i < resolved->modules_count && !result; i++) {
		const struct resolved_module *module = &resolved->modules[i];

		result = run(store, store->add_module, &writing->modules[i], "tttt", module->path,
			     module->build_id, module->version, module_kind_names[module->kind]);
	}
	for (uint32_t i = 0; i < resolved->frames_count && !result; i++) {
		const struct resolved_frame *frame = &resolved->frames[i];

		result = run(store, store->add_frame, &writing->frames[i], "iiti",
			     (int64_t)writing->modules[frame->module], frame->offset, frame->function,
			     frame->function_offset);
	}
	return result;
}

static const char *unwinder_name(const struct stack *stack)
{
	return stack->unwinder == UNWINDER_FRAME_POINTER ? "frame-pointer"
	       : stack->unwinder == UNWINDER_EH_FRAME    ? "eh-frame"
							 : "none";
}

static int write_stack(struct writing *writing, uint32_t position)
{
	const struct stack *stack = &writing->capture->stacks.stacks[position];
	uint32_t depth = (uint32_t)stack->kernel_depth + stack->user_depth;
	const uint32_t *frames = writing->resolved->of_stack_frame + stack->first;
	struct store *store = writing->store;
	uint8_t digest[SHA256_DIGEST_SIZE], kind[2] = { stack->unwinder, stack->truncated };
	struct sha256_ctx context;
	int result;

	/* half of a SHA-256: what a hostile process puts on its stack cannot pass for another's */
	sha256_init(&context);
	sha256_update(&context, sizeof(kind), kind);
	for (uint32_t i = 0; i < depth; i++)
		sha256_update(&context, sizeof(sqlite3_int64), (const uint8_t *)&writing->frames[frames[i]]);
	sha256_digest(&context, sizeof(digest), digest);
	result = run(store, store->add_stack, &writing->stacks[position], "iitb", (int64_t)depth,
		     (int64_t)stack->truncated, unwinder_name(stack), digest, sizeof(digest) / 2);
	for (uint32_t i = 0; i < depth && !result; i++)
		result = run(store, store->add_stack_frame, NULL, "iii", (int64_t)writing->stacks[position],
			     (int64_t)i, (int64_t)writing->frames[frames[i]]);
	return result;
}

static int write_process(struct writing *writing, uint32_t position)
{
	const struct capture_process *process = &writing->capture->processes[position];
	struct store *store = writing->store;
	int result = 0;

	if (!process->included)
		return 0;
	if (process->cgroup)
		result = run(store, store->add_cgroup, NULL, "it", (int64_t)process->cgroup_id,
			     process->cgroup);
	if (!result)
		result = run(store, store->add_process, &writing->processes[position], "iiittit",
			     (int64_t)store->run_id, (int64_t)process->tgid, (int64_t)process->started_ns,
			     process->comm,
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
	struct store *store = writing->store;
	int result = 0;

	for (uint32_t i = 0; i < capture->rows_count && !result; i++) {
		const struct capture_row *row = &capture->rows[i];

		result = run(store, store->add_sample, NULL, "iiitittiii", (int64_t)writing->capture_id,
			     (int64_t)writing->processes[row->process], (int64_t)row->tid, row->thread,
			     (int64_t)writing->stacks[row->stack],
			     row->kind == SAMPLE_ON_CPU ? "on-cpu" : "off-cpu", stall_name(row->stall),
			     (int64_t)row->second, (int64_t)row->samples, (int64_t)row->weight_ns);
	}
	for (size_t i = 0; i < LOSS_REASONS && !result; i++)
		result = run(store, store->add_loss, NULL, "itit", (int64_t)writing->capture_id,
			     loss_reasons[i].name,
			     (int64_t)(i == LOSS_UNRESOLVED_FRAMES ? writing->resolved->unresolved
								   : capture->losses[i]),
			     loss_reasons[i].unit);
	return result;
}

static int write_capture(struct writing *writing)
{
	const struct capture *capture = writing->capture;
	const struct capture_cause *cause = &capture->cause;
	uint64_t history_ns = capture_history_ns(capture);
	int result = 0;

	writing->capture_id = capture->capture_id;
	if (!writing->capture_id)
		result = store_begin_capture(writing->store, cause, history_ns,
					     (int64_t *)&writing->capture_id);
	if (!result)
		result = write_frames(writing);
	for (uint32_t i = 0; i < capture->stacks.count && !result; i++)
		result = write_stack(writing, i);
	for (uint32_t i = 0; i < capture->processes_count && !result; i++)
		result = write_process(writing, i);
	if (!result)
		result = write_rows(writing);
	if (!result)
		result = run(writing->store, writing->store->finish_capture, NULL, "iiiti",
			     cause->triggered_at - (int64_t)history_ns,
			     cause->triggered_at + (int64_t)(capture->ended_ns - cause->triggered_ns),
			     (int64_t)history_ns, capture->interrupted ? "interrupted" : "complete",
			     (int64_t)writing->capture_id);
	return result;
}

/*
 * SQLite says "full" of a full disk, too; what somebody else filled no eviction of ours mends. Near its own
 * limit it is the limit, and what is evicted makes room within the file.
 */
static bool eviction_helps(struct store *store)
{
	sqlite3_int64 pages = 0, most = 0;
	struct statvfs at;

	if (run_once(store, &pages, "PRAGMA page_count") || run_once(store, &most, "PRAGMA max_page_count"))
		return false;
	if (pages >= most / 8 * 7)
		return true;
	return !statvfs(store->log_path, &at) && (uint64_t)at.f_bavail * at.f_frsize > store->log_bytes_max;
}

static int commit(struct writing *writing)
{
	struct store *store = writing->store;

	for (;;) {
		int result;

		if (log_is_too_large(store)) {
			snprintf(store->error, sizeof(store->error),
				 "a reader holds on to an old state of it, and its log may not grow further");
			return -EBUSY;
		}
		result = execute(store, "BEGIN IMMEDIATE");
		if (!result)
			result = finish(store, write_capture(writing));
		if (!result) {
			trim_log(store);
			return 0;
		}
		if (result != -ENOSPC || !eviction_helps(store))
			return result;
		if (evict_oldest(store))
			return -ENOSPC;
	}
}

int store_commit_capture(struct store *store, const struct capture *capture, const struct resolved *resolved,
			 const struct mappings *mappings)
{
	size_t ids = (size_t)resolved->modules_count + resolved->frames_count + capture->stacks.count +
		     capture->processes_count;
	_cleanup_free_ sqlite3_int64 *rows = calloc(ids + 1, sizeof(*rows));
	struct writing writing = { store, capture, resolved, mappings, 0, rows, NULL, NULL, NULL };

	if (!rows)
		return -ENOMEM;
	writing.frames = writing.modules + resolved->modules_count;
	writing.stacks = writing.frames + resolved->frames_count;
	writing.processes = writing.stacks + capture->stacks.count;
	return commit(&writing);
}

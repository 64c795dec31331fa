/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/store/store.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/version.h"
#include "common/store/incidents.h"
#include "common/store/migrate.h"
#include "common/store/schema.h"
#include "common/system/log.h"
#include "consumer/store/store_activity.h"
#include "consumer/store/store_capture.h"
#include "consumer/store/store_capture_size.h"
#include "consumer/store/store_frames.h"
#include "consumer/store/store_run.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>

#define HEAP_BYTES_MAX (64L << 20)

struct store {
	struct sql sql;
	struct capture_statements statements;
	struct activity_statements activity;
	sqlite3_stmt *find_frames;
	sqlite3_int64 run_id;
	const char *machine;
	const struct clock *clock;
	char host[256]; /* read at the start: the confined daemon cannot ask for it */
	struct store_room room;
	int lock_fd;
	bool is_outdated;
};

const char *store_error(const struct store *store)
{
	return store->sql.error;
}

int store_expire(struct store *store, uint64_t *ret_next_ns)
{
	*ret_next_ns = 0;
	return store->is_outdated ? 0 : store_room_expire(&store->room, ret_next_ns);
}

int store_limit(struct store *store, const struct store_limits *limits)
{
	store_room_set_limits(&store->room, limits);
	return store_room_shrink(&store->room);
}

/* ---- opening ---- */

static int check_identity(struct store *store)
{
	sqlite3_int64 tables = 0, application = 0, version = 0;
	char sql[256];
	int result = sql_run_once(&store->sql, &tables, "SELECT count(*) FROM sqlite_schema", "");

	if (!result && !tables) {
		/*
		 * auto_vacuum must be set before the first table is made, the journal mode before the schema
		 */
		snprintf(sql, sizeof(sql),
			 "PRAGMA page_size = %u; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;"
			 "BEGIN IMMEDIATE; PRAGMA application_id = %d; PRAGMA user_version = %d",
			 STORE_PAGE_BYTES, SCHEMA_APPLICATION_ID, SCHEMA_VERSION);
		result = sql_execute(&store->sql, sql);
		if (!result)
			result = sql_execute(&store->sql, schema_sql);
		if (!result)
			result = sql_execute(&store->sql, "COMMIT");
		return result;
	}
	if (!result)
		result = sql_run_once(&store->sql, &application, "PRAGMA application_id", "");
	if (!result)
		result = sql_run_once(&store->sql, &version, "PRAGMA user_version", "");
	if (!result && application != SCHEMA_APPLICATION_ID) {
		snprintf(store->sql.error, sizeof(store->sql.error), "it is another program's database");
		return -EUCLEAN;
	}
	if (!result && version > SCHEMA_VERSION) {
		snprintf(store->sql.error, sizeof(store->sql.error),
			 "its schema has version %lld, but bourdond %s writes version %d", version,
			 BOURDON_VERSION, SCHEMA_VERSION);
		return -EPROTO;
	}
	if (!result && version < SCHEMA_OLDEST) {
		snprintf(store->sql.error, sizeof(store->sql.error),
			 "its schema has version %lld, but bourdond %s migrates none before version %d",
			 version, BOURDON_VERSION, SCHEMA_OLDEST);
		return -EUCLEAN;
	}
	store->is_outdated = version < SCHEMA_VERSION;
	return result;
}

/* What a database of this schema needs before the first capture is written. */
static int prepare_database(struct store *store)
{
	int result = sql_execute(&store->sql,
				 "UPDATE capture SET state = 'interrupted' WHERE state = 'recording'");

	if (!result)
		/* of those that were recorded when the daemon ended, and those that were just migrated */
		result = incidents_settle_where(&store->sql, "ended_at IS NULL OR verdict IS NULL");
	if (!result)
		result = store_room_shrink(&store->room);
	if (!result)
		result = store_stacks_prepare(&store->sql, &store->statements.stacks);
	if (!result)
		result = store_activity_prepare(&store->sql, &store->activity);
	if (!result)
		result = store_frames_prepare(&store->sql, &store->find_frames);
	return result;
}

static int open_database(struct store *store, const char *path)
{
	int keep_log = 1, result;
	sqlite3_int64 mode;

	sqlite3_hard_heap_limit64(HEAP_BYTES_MAX);
	result = sql_open(&store->sql, path);
	if (result < 0)
		return result;
	sqlite3_db_config(store->sql.db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	/*
	 * keep the log file: without it, a reader without write access cannot open the database of a stopped
	 * daemon
	 */
	sqlite3_file_control(store->sql.db, "main", SQLITE_FCNTL_PERSIST_WAL, &keep_log);
	result = sql_execute(
		&store->sql,
		"PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -768;"
		"PRAGMA cell_size_check = ON; PRAGMA synchronous = FULL; PRAGMA mmap_size = 0");
	if (!result)
		result = check_identity(store);
	if (!result)
		result = sql_run_once(&store->sql, &mode, "PRAGMA journal_mode = WAL", "");
	if (!result && !store->is_outdated)
		result = prepare_database(store);
	return result;
}

bool store_is_outdated(const struct store *store)
{
	return store->is_outdated;
}

int store_migrate(struct store *store, store_pause pause, void *user)
{
	int result = migrate_database(&store->sql, &schema_present, pause, user);

	if (!result)
		result = prepare_database(store);
	if (!result) {
		store->is_outdated = false;
		store_room_trim_log(&store->room);
	}
	return result;
}

/*
 * Locks the state directory until the process ends: two daemons would mark each other's captures as
 * interrupted.
 */
static int lock_directory(struct store *store, const char *directory)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/" STORE_LOCK_FILE, directory);
	store->lock_fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (store->lock_fd < 0 || flock(store->lock_fd, LOCK_EX | LOCK_NB)) {
		int result = -errno;

		snprintf(store->sql.error, sizeof(store->sql.error), STORE_LOCK_FILE ": %s",
			 result == -EWOULDBLOCK ? "another bourdond uses it" : strerror(-result));
		return result;
	}
	return 0;
}

int store_open(struct store **ret_store, const char *directory, const struct store_limits *limits,
	       const char *machine, const struct clock *clock, const atomic_uint_fast64_t *give_up_ns)
{
	struct store *store = calloc(1, sizeof(*store));
	_cleanup_free_ char *real = NULL;
	char path[PATH_MAX - 8];
	int result;

	if (!store)
		return -ENOMEM;
	store->lock_fd = -EBADF;
	store->sql.give_up_ns = give_up_ns;
	store->machine = machine;
	store->clock = clock;
	store->room = (struct store_room){ .sql = &store->sql, .activity = &store->activity, .clock = clock };
	gethostname(store->host, sizeof(store->host) - 1);
	store_room_set_limits(&store->room, limits);
	/* SQLITE_OPEN_NOFOLLOW accepts no symbolic link in any part of the path */
	real = realpath(directory, NULL);
	result = real ? 0 : -errno;
	snprintf(path, sizeof(path), "%s/" DATABASE_FILE, real ? real : directory);
	snprintf(store->room.log_path, sizeof(store->room.log_path), "%s-wal", path);
	if (result < 0)
		snprintf(store->sql.error, sizeof(store->sql.error), "%s", strerror(-result));
	else
		result = lock_directory(store, real);
	if (!result)
		result = open_database(store, path);
	if (result < 0) {
		log_error(
			"cannot open the database %s: %s; %s", path, store->sql.error,
			result == -EPROTO
				? "install the newer bourdon that wrote it, or move it elsewhere, and bourdond creates a new one"
			: result == -EUCLEAN
				? "move it elsewhere, and bourdond creates a new one"
				: "check that this user can write it, and that no other bourdond runs");
		store_close(store);
		return result;
	}
	*ret_store = store;
	return 0;
}

void store_close(struct store *store)
{
	if (!store)
		return;
	store_activity_forget(&store->activity);
	sql_close(&store->sql);
	cleanup_close(&store->lock_fd);
	free(store);
}

/* ---- runs ---- */

int store_next_ids(struct store *store, struct rule_ids *ret_ids)
{
	sqlite3_int64 rule_id = 0, pattern_id = 0;
	int result = sql_run_once(&store->sql, &rule_id, "SELECT ifnull(max(rule_id), 0) + 1 FROM rule", "");

	if (!result)
		result = sql_run_once(&store->sql, &pattern_id,
				      "SELECT ifnull(max(pattern_id), 0) + 1 FROM rule", "");
	if (!result && (rule_id > INT32_MAX || pattern_id > INT32_MAX)) {
		snprintf(store->sql.error, sizeof(store->sql.error), "its rule ids are exhausted");
		return -EUCLEAN;
	}
	*ret_ids = (struct rule_ids){ (uint32_t)rule_id, (uint32_t)pattern_id };
	return result;
}

/* An older schema must not be written. */
static int check_migrated(struct store *store)
{
	if (!store->is_outdated)
		return 0;
	snprintf(store->sql.error, sizeof(store->sql.error), "it is not yet migrated to schema version %d",
		 SCHEMA_VERSION);
	return -EBUSY;
}

int store_begin_run(struct store *store, const struct manifest *manifest, const struct policy *policy,
		    const struct rule_set *rules)
{
	int result;

	do {
		result = sql_execute(&store->sql, "BEGIN IMMEDIATE");
		if (result < 0)
			break;
		result =
			store_run_write(&store->sql,
					&(struct stored_run){ clock_wall_now_ns(store->clock), store->machine,
							      store->host, manifest, policy },
					&store->run_id);
		if (!result)
			result = store_rules_write(&store->sql, store->run_id, rules, 0);
		result = sql_finish(&store->sql, result);
	} while (store_room_made(&store->room, result));
	return result;
}

int store_add_rules(struct store *store, const struct rule_set *rules, uint32_t first_id)
{
	int result = check_migrated(store);

	if (result < 0)
		return result;
	do {
		result = sql_execute(&store->sql, "BEGIN IMMEDIATE");
		if (result < 0)
			break;
		result = sql_finish(&store->sql,
				    store_rules_write(&store->sql, store->run_id, rules, first_id));
	} while (store_room_made(&store->room, result));
	return result;
}

int store_end_run(struct store *store)
{
	int result = sql_run_once(&store->sql, NULL, "UPDATE run SET ended_at = ? WHERE run_id = ?", "ii",
				  clock_wall_now_ns(store->clock), (int64_t)store->run_id);

	if (!result)
		store_room_trim_log(&store->room);
	return result;
}

int store_add_counters(struct store *store, const char *const *names, const uint64_t *values, size_t count)
{
	sqlite3_stmt *statement = NULL;
	int64_t at = clock_wall_now_ns(store->clock);
	int result = sql_execute(&store->sql, "BEGIN IMMEDIATE");

	if (result < 0)
		return result;
	for (size_t i = 0; i < count && !result; i++)
		result = sql_insert(&store->sql, &statement, "counter", NULL, NULL,
				    SQL_COLUMNS(SQL_NUMBER(run_id, store->run_id), SQL_NUMBER(at, at),
						SQL_TEXT(name, names[i]), SQL_NUMBER(value, values[i])));
	sqlite3_finalize(statement);
	return sql_finish(&store->sql, result);
}

/* ---- captures ---- */

int store_begin_capture(struct store *store, const struct capture_trigger *trigger, uint64_t history_ns,
			int64_t *ret_capture_id)
{
	int64_t capture_id = 0;
	int result = check_migrated(store);

	if (!result)
		result = sql_execute(&store->sql, "BEGIN IMMEDIATE");
	if (!result)
		result = sql_finish(&store->sql, store_capture_announce(&store->sql, store->run_id, trigger,
									history_ns, &capture_id));
	if (!result)
		*ret_capture_id = capture_id;
	return result;
}

int store_give_up_capture(struct store *store, int64_t capture_id)
{
	int result = sql_execute(&store->sql, "BEGIN IMMEDIATE");

	if (result < 0)
		return result;
	result = sql_run_once(&store->sql, NULL,
			      "UPDATE capture SET state = 'interrupted' WHERE capture_id = ?", "i",
			      capture_id);
	if (!result)
		result = incidents_settle(&store->sql, capture_id);
	return sql_finish(&store->sql, result);
}

static int find_known(void *user, const char *path, const char *build_id, const char *version, int64_t offset,
		      frame_name_add add, void *adder)
{
	struct store *store = user;

	if (store->is_outdated)
		return -ENOENT;
	return store_frames_find(store->find_frames, path, build_id, version, offset, add, adder);
}

struct known_frames store_known_frames(struct store *store)
{
	return (struct known_frames){ .find = find_known, .user = store };
}

int store_commit_capture(struct store *store, const struct capture *capture, const struct resolved *resolved,
			 const struct mappings *mappings, int64_t *ret_capture_id,
			 struct stored_verdict *ret_verdict)
{
	int migrated = check_migrated(store);

	if (migrated < 0)
		return migrated;
	/* no capture is worth all captures before it, in particular one that a hostile process inflated */
	if (store_capture_bytes(capture, resolved) > store->room.database_bytes_max / 3) {
		snprintf(
			store->sql.error, sizeof(store->sql.error),
			"its %u rows and %u stacks would take more than a third of the database; raise [database] max_size",
			capture->rows_count, capture->stacks.count);
		return -EFBIG;
	}
	for (;;) {
		int64_t capture_id = 0;
		int result = store_room_check_log(&store->room);

		if (result < 0)
			return result;
		result = sql_execute(&store->sql, "BEGIN IMMEDIATE");
		if (!result)
			result = sql_finish(&store->sql,
					    store_capture_write(&store->sql, &store->statements,
								store->run_id, capture, resolved, mappings,
								&capture_id, ret_verdict));
		if (!result) {
			store_room_trim_log(&store->room);
			*ret_capture_id = capture_id;
			return 0;
		}
		if (result != -ENOSPC || !store_room_eviction_helps(&store->room))
			return result;
		result = store_room_evict(&store->room, !capture->trigger.asking);
		if (result == -ENOENT && capture->trigger.asking) {
			snprintf(
				store->sql.error, sizeof(store->sql.error),
				"only the newest captures of rules could make room; raise [database] max_size");
			return -EFBIG;
		}
		if (result < 0)
			return -ENOSPC;
	}
}

/* ---- baselines ---- */

static int write_baseline(struct store *store, const struct capture *baseline,
			  const struct resolved *resolved, const struct mappings *mappings)
{
	struct stored_verdict none;
	int64_t capture_id;
	int result = sql_execute(&store->sql, "BEGIN IMMEDIATE");

	if (result < 0)
		return result;
	return sql_finish(&store->sql, store_capture_write(&store->sql, &store->statements, store->run_id,
							   baseline, resolved, mappings, &capture_id, &none));
}

int store_commit_baseline(struct store *store, const struct capture *baseline,
			  const struct resolved *resolved, const struct mappings *mappings)
{
	int result = check_migrated(store), synchronous;

	if (!result && store_capture_bytes(baseline, resolved) > store->room.baseline_bytes_max) {
		snprintf(store->sql.error, sizeof(store->sql.error),
			 "it would take more than an eighth of [database] max_size");
		result = -EFBIG;
	}
	if (!result)
		result = store_room_check_log(&store->room);
	if (result < 0)
		return result;
	sql_wait_for_locks(&store->sql, false);
	synchronous = sql_execute(&store->sql, "PRAGMA synchronous = NORMAL");
	result = synchronous < 0 ? synchronous : write_baseline(store, baseline, resolved, mappings);
	/* in place of older ones, the rule's last one at the worst; never in place of a capture */
	while (result == -ENOSPC && store_room_eviction_helps(&store->room)) {
		if (store_room_evict_baselines(&store->room) < 0)
			break;
		result = write_baseline(store, baseline, resolved, mappings);
	}
	if (!result)
		result = store_room_limit_baselines(&store->room);
	sql_execute(&store->sql, "PRAGMA synchronous = FULL");
	sql_wait_for_locks(&store->sql, true);
	return result;
}

/* ---- activity ---- */

static int write_activity(struct store *store, struct activity_rows *rows)
{
	uint64_t bytes = 0;
	int result = sql_execute(&store->sql, "BEGIN IMMEDIATE");

	if (result < 0)
		return result;
	result = sql_finish(&store->sql,
			    store_activity_write(&store->sql, &store->activity, store->run_id, rows, &bytes));
	if (result < 0)
		store_activity_forget(&store->activity);
	else
		store_activity_save(&store->activity, bytes);
	return result;
}

int store_add_activity(struct store *store, struct activity_minute *minute,
		       const struct kernel_symbols *symbols)
{
	struct activity_rows rows = { 0 };
	int result = check_migrated(store);

	if (!result)
		result = store_room_check_log(&store->room);
	if (result < 0)
		return result;
	result = activity_rows_make(&rows, minute, symbols);
	if (result < 0) {
		snprintf(store->sql.error, sizeof(store->sql.error), "%s", strerror(-result));
	} else {
		do
			result = write_activity(store, &rows);
		while (store_room_made(&store->room, result));
	}
	activity_rows_free(&rows);
	return result;
}

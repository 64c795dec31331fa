/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/store/store.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/version.h"
#include "common/policy/policy.h"
#include "common/store/incidents.h"
#include "common/store/migrate.h"
#include "common/store/retention.h"
#include "common/store/schema.h"
#include "common/system/log.h"
#include "common/text/plural.h"
#include "consumer/store/activity_retention.h"
#include "consumer/store/store_activity.h"
#include "consumer/store/store_capture.h"
#include "consumer/store/store_frames.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#define HEAP_BYTES_MAX (64L << 20)
/*
 * Shares of the size limit, in eighths: for the database file, and for its write-ahead log when a commit
 * begins. The remaining two eighths are for what that commit adds to the log.
 */
#define FILE_EIGHTHS 5
#define LOG_EIGHTHS 1

/* Of the size limit: while activity takes more, it goes before captures. */
#define ACTIVITY_SHARE 4

/* Of the size limit: baselines take no more, so that captures keep the rest. */
#define BASELINE_SHARE 8

/*
 * Removing baselines takes a pass over the database, and one gets too old each hour: they go together, at most this part of
 * their age later.
 */
#define BASELINE_LATE_SHARE 16

/* Of a row of samples of a busy host with all that belongs to it, as measured: docs/SCHEMA.md. */
#define BASELINE_ROW_BYTES 128U

struct store {
	struct sql sql;
	struct capture_statements statements;
	struct activity_statements activity;
	sqlite3_stmt *find_frames;
	sqlite3_int64 run_id;
	const char *machine;
	const struct clock *clock;
	char host[256]; /* read at the start: the confined daemon cannot ask for it */
	uint64_t database_bytes_max, log_bytes_max;
	uint64_t activity_bytes_max, baseline_bytes_max;
	uint64_t age_ns_max, activity_age_ns_max, baseline_age_ns_max; /* 0: none */
	char log_path[PATH_MAX];
	int lock_fd;
	bool is_outdated;
};

const char *store_error(const struct store *store)
{
	return store->sql.error;
}

/* ---- room ---- */

/*
 * Empties the write-ahead log if no reader needs it. Does not wait for readers: a log that must stay is
 * checked again before the next capture is written.
 */
static void trim_log(struct store *store)
{
	sql_wait_for_locks(&store->sql, false);
	sqlite3_wal_checkpoint_v2(store->sql.db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	sql_wait_for_locks(&store->sql, true);
}

static bool log_is_too_large(struct store *store)
{
	struct stat at;

	if (stat(store->log_path, &at) || (uint64_t)at.st_size <= store->log_bytes_max)
		return false;
	trim_log(store);
	return !stat(store->log_path, &at) && (uint64_t)at.st_size > store->log_bytes_max;
}

static void log_removed(const char *why, const struct retention_removed *removed)
{
	if (removed->captures == 1)
		log_info("%s: capture %" PRId64 " was removed", why, removed->oldest);
	else if (removed->captures)
		log_info("%s: %u captures, from %" PRId64 " to %" PRId64 ", were removed", why,
			 removed->captures, removed->oldest, removed->newest);
}

static void log_removed_minutes(const char *why, uint32_t minutes)
{
	if (minutes)
		log_info("%s: the %u oldest %s of activity %s removed", why, minutes,
			 plural(minutes, "minute", "minutes"), plural(minutes, "was", "were"));
}

/*
 * Removes captures that have ended, but not the newest of each rule unless `last` says so. Returns -ENOENT if there is none.
 */
static int evict_captures(struct store *store, bool last)
{
	struct retention_removed removed;
	int result = retention_evict(&store->sql, last, &removed);

	if (result < 0)
		return result;
	log_removed("the database is full", &removed);
	return removed.captures ? 0 : -ENOENT;
}

/* Removes the oldest minutes of activity. Returns -ENOENT if there is none. */
static int evict_activity(struct store *store)
{
	uint32_t minutes;
	int result = activity_retention_evict(&store->sql, &minutes);

	if (result < 0)
		return result;
	log_removed_minutes("the database is full", minutes);
	store_activity_forget(&store->activity);
	return minutes ? 0 : -ENOENT;
}

/*
 * Removes the oldest baselines, but not the newest of each rule unless `last` says so: a full database still has one to
 * compare with. Returns -ENOENT if there is none.
 */
static int evict_baselines(struct store *store, bool last)
{
	struct retention_removed removed;
	int result = retention_evict_baselines(&store->sql, last, &removed);

	return result < 0 ? result : removed.captures ? 0 : -ENOENT;
}

/*
 * Removes what is oldest; baselines before captures. Without `last`, the newest captures and baselines of rules stay, and
 * activity within its share. Returns -ENOENT if there is nothing.
 */
static int evict_oldest(struct store *store, bool last)
{
	uint64_t activity_bytes;
	int result = activity_retention_bytes(&store->sql, &activity_bytes);

	if (!result && activity_bytes > store->activity_bytes_max) {
		result = evict_activity(store);
	} else if (!result) {
		result = evict_baselines(store, false);
		if (result == -ENOENT)
			result = evict_captures(store, last);
		if (result == -ENOENT && last)
			result = evict_baselines(store, true);
		if (result == -ENOENT && last)
			result = evict_activity(store);
	}
	if (!result)
		trim_log(store);
	return result;
}

/* Stores when the oldest of the remaining captures was triggered; INT64_MAX: there is none. */
static int expire_captures(struct store *store, int64_t before_at, int64_t *ret_oldest_at)
{
	struct retention_removed removed = { 0 };
	int result = retention_oldest(&store->sql, RETENTION_OF_ALL, ret_oldest_at);

	if (result < 0 || *ret_oldest_at >= before_at)
		return result;
	result = retention_expire(&store->sql, RETENTION_OF_ALL, before_at, &removed);
	log_removed("older than max_age", &removed);
	if (removed.captures)
		trim_log(store);
	return result < 0 ? result : retention_oldest(&store->sql, RETENTION_OF_ALL, ret_oldest_at);
}

/* The same of baselines, once there is one of before `late_at`. They go without a line: they are many. */
static int expire_baselines(struct store *store, int64_t before_at, int64_t late_at, int64_t *ret_oldest_at)
{
	struct retention_removed removed = { 0 };
	int result = retention_oldest(&store->sql, RETENTION_OF_BASELINES, ret_oldest_at);

	if (result < 0 || *ret_oldest_at >= late_at)
		return result;
	result = retention_expire(&store->sql, RETENTION_OF_BASELINES, before_at, &removed);
	if (removed.captures)
		trim_log(store);
	return result < 0 ? result : retention_oldest(&store->sql, RETENTION_OF_BASELINES, ret_oldest_at);
}

/* The same of minutes of activity. */
static int expire_activity(struct store *store, int64_t before_at, int64_t *ret_oldest_at)
{
	uint32_t minutes = 0;
	int result = activity_retention_oldest(&store->sql, ret_oldest_at);

	if (result < 0 || *ret_oldest_at >= before_at)
		return result;
	result = activity_retention_expire(&store->sql, before_at, &minutes);
	store_activity_forget(&store->activity);
	if (minutes)
		trim_log(store);
	return result < 0 ? result : activity_retention_oldest(&store->sql, ret_oldest_at);
}

/*
 * When what is from `oldest_at` will be older than the limit (CLOCK_MONOTONIC), or `before_ns`, which is earlier. 0 and
 * INT64_MAX: never.
 */
static uint64_t earlier_due_ns(uint64_t before_ns, int64_t oldest_at, int64_t before_at, uint64_t now_ns)
{
	uint64_t due_ns = now_ns + (oldest_at > before_at ? (uint64_t)(oldest_at - before_at) : 0);

	return oldest_at == INT64_MAX || (before_ns && before_ns < due_ns) ? before_ns : due_ns;
}

int store_expire(struct store *store, uint64_t *ret_next_ns)
{
	int64_t now_at = clock_wall_now_ns(store->clock), oldest_at = INT64_MAX, activity_at = INT64_MAX,
		baseline_at = INT64_MAX, before_at = now_at - (int64_t)store->age_ns_max,
		activity_before_at = now_at - (int64_t)store->activity_age_ns_max,
		baseline_before_at = now_at - (int64_t)store->baseline_age_ns_max,
		baseline_late_at =
			baseline_before_at - (int64_t)(store->baseline_age_ns_max / BASELINE_LATE_SHARE);
	uint64_t now_ns = clock_now_ns(store->clock), next_ns = 0;
	int result = 0;

	*ret_next_ns = 0;
	if (store->is_outdated)
		return 0;
	if (store->age_ns_max)
		result = expire_captures(store, before_at, &oldest_at);
	if (!result && store->activity_age_ns_max)
		result = expire_activity(store, activity_before_at, &activity_at);
	if (!result && store->baseline_age_ns_max)
		result = expire_baselines(store, baseline_before_at, baseline_late_at, &baseline_at);
	next_ns = earlier_due_ns(next_ns, oldest_at, before_at, now_ns);
	next_ns = earlier_due_ns(next_ns, activity_at, activity_before_at, now_ns);
	next_ns = earlier_due_ns(next_ns, baseline_at, baseline_late_at, now_ns);
	if (!result)
		*ret_next_ns = next_ns;
	return result;
}

/*
 * SQLite reports "full" for a full disk, too. Removing captures makes room within the file, but does not help
 * if other files fill the disk. A file near its own limit hit that limit.
 */
static bool eviction_helps(struct store *store)
{
	sqlite3_int64 pages = 0, most = 0;
	struct statvfs at;

	if (sql_run_once(&store->sql, &pages, "PRAGMA page_count") ||
	    sql_run_once(&store->sql, &most, "PRAGMA max_page_count"))
		return false;
	if (pages >= most / 8 * 7)
		return true;
	return !statvfs(store->log_path, &at) && (uint64_t)at.f_bavail * at.f_frsize > store->log_bytes_max;
}

static void set_limits(struct store *store, const struct store_limits *limits)
{
	store->log_bytes_max = limits->bytes_max / 8 * LOG_EIGHTHS;
	store->database_bytes_max = limits->bytes_max / 8 * FILE_EIGHTHS;
	store->activity_bytes_max = limits->bytes_max / ACTIVITY_SHARE;
	store->baseline_bytes_max = limits->bytes_max / BASELINE_SHARE;
	store->age_ns_max = limits->age_ns_max;
	store->baseline_age_ns_max = limits->baseline_age_ns_max;
	store->activity_age_ns_max = limits->activity_age_ns_max;
}

/* Shrinks the database to its limit, which may be smaller than at the last start. */
static int limit_size(struct store *store)
{
	sqlite3_int64 used = 0, most = (sqlite3_int64)(store->database_bytes_max / STORE_PAGE_BYTES);
	char sql[96];
	int result;

	do {
		result = sql_run_once(&store->sql, &used,
				      "SELECT page_count - freelist_count FROM pragma_page_count, "
				      "pragma_freelist_count");
		if (!result && used <= most)
			break;
		if (!result)
			result = evict_oldest(store, true);
	} while (!result);
	if (result < 0 && result != -ENOENT)
		return result;
	snprintf(sql, sizeof(sql), "PRAGMA incremental_vacuum; PRAGMA max_page_count = %lld", most);
	return sql_execute(&store->sql, sql);
}

int store_limit(struct store *store, const struct store_limits *limits)
{
	set_limits(store, limits);
	return limit_size(store);
}

/* ---- opening ---- */

static int check_identity(struct store *store)
{
	sqlite3_int64 tables = 0, application = 0, version = 0;
	char sql[256];
	int result = sql_run_once(&store->sql, &tables, "SELECT count(*) FROM sqlite_schema");

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
		result = sql_run_once(&store->sql, &application, "PRAGMA application_id");
	if (!result)
		result = sql_run_once(&store->sql, &version, "PRAGMA user_version");
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
		result = limit_size(store);
	if (!result)
		result = store_capture_prepare(&store->sql, &store->statements);
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
		result = sql_run_once(&store->sql, &mode, "PRAGMA journal_mode = WAL");
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
		trim_log(store);
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
	gethostname(store->host, sizeof(store->host) - 1);
	set_limits(store, limits);
	/* SQLITE_OPEN_NOFOLLOW accepts no symbolic link in any part of the path */
	real = realpath(directory, NULL);
	result = real ? 0 : -errno;
	snprintf(path, sizeof(path), "%s/" DATABASE_FILE, real ? real : directory);
	snprintf(store->log_path, sizeof(store->log_path), "%s-wal", path);
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
	int result = sql_run_once(&store->sql, &rule_id, "SELECT ifnull(max(rule_id), 0) + 1 FROM rule");

	if (!result)
		result = sql_run_once(&store->sql, &pattern_id,
				      "SELECT ifnull(max(pattern_id), 0) + 1 FROM rule");
	if (!result && (rule_id > INT32_MAX || pattern_id > INT32_MAX)) {
		snprintf(store->sql.error, sizeof(store->sql.error), "its rule ids are exhausted");
		return -EUCLEAN;
	}
	*ret_ids = (struct rule_ids){ (uint32_t)rule_id, (uint32_t)pattern_id };
	return result;
}

/* Returns the thresholds as a JSON array, which the caller frees; NULL without memory. */
static char *triggers_text(const struct rule *rule)
{
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);
	bool complete;

	if (!stream)
		return NULL;
	for (size_t i = 0; i < rule->triggers_count; i++) {
		const struct trigger *trigger = &rule->triggers[i];

		fprintf(stream,
			"%s{\"resource\":\"%s\",\"kind\":\"%s\",\"stall_us\":%" PRIu64
			",\"window_us\":%" PRIu64 "}",
			i ? "," : "[", psi_resource_names[trigger->resource], psi_kind_names[trigger->kind],
			trigger->stall_us, trigger->window_us);
	}
	if (rule->on_kill)
		fprintf(stream, "%s{\"on_kill\":true}", rule->triggers_count ? "," : "[");
	fputs(rule->triggers_count || rule->on_kill ? "]" : "[]", stream);
	complete = !ferror(stream);
	if (!fclose(stream) && complete)
		return text;
	free(text);
	return NULL;
}

static int add_rule(struct store *store, sqlite3_stmt **statement, const struct rule *rule)
{
	_cleanup_free_ char *triggers = triggers_text(rule);
	char comm[ABI_COMM_BYTES + 1];

	if (!triggers)
		return -ENOMEM;
	snprintf(comm, sizeof(comm), "%s%s", rule->comm.text, rule->comm.prefix ? "*" : "");
	return sql_insert(
		&store->sql, statement, "rule", NULL, NULL,
		SQL_COLUMNS(SQL_NUMBER(rule_id, rule->id), SQL_NUMBER(run_id, store->run_id),
			    SQL_TEXT(rule, rule->name), SQL_TEXT(source, rule->source), SQL_TEXT(comm, comm),
			    SQL_TEXT(cgroup, rule->cgroup), SQL_TEXT(unit, rule->unit),
			    SQL_TEXT(watch, rule_watch_names[rule->watch]),
			    SQL_NUMBER(pattern_id, rule->pattern_id),
			    SQL_NUMBER(history_ns, rule->history_ns),
			    SQL_NUMBER(capture_ns, rule->capture_ns),
			    SQL_NUMBER(cooldown_ns, rule->cooldown_ns), SQL_TEXT(triggers, triggers)));
}

static int add_rules(struct store *store, const struct rule_set *rules, uint32_t first_id)
{
	sqlite3_stmt *statement = NULL;
	int result = 0;

	for (size_t i = 0; i < rules->count && !result; i++)
		if (rules->rules[i].id >= first_id)
			result = add_rule(store, &statement, &rules->rules[i]);
	sqlite3_finalize(statement);
	return result;
}

/* Returns the names of the links as a JSON array, which the caller frees; NULL without memory. */
static char *attachments_text(const struct manifest *manifest)
{
	/* a name of at least one byte and a blank become at most a name, two quotes and a comma */
	char *text = malloc(2 * strlen(manifest->attached) + 4), *to = text;

	if (!text)
		return NULL;
	*to++ = '[';
	for (const char *at = manifest->attached; *at;) {
		size_t bytes = strcspn(at, " ");

		if (bytes)
			to += sprintf(to, "%s\"%.*s\"", to[-1] == '[' ? "" : ",", (int)bytes, at);
		at += bytes + (at[bytes] == ' ');
	}
	strcpy(to, "]");
	return text;
}

/*
 * Finds or adds the row of this database. One that another machine began gets another row: it may be a copy. The
 * machine of a database that was migrated is not known yet.
 */
static int find_database(struct store *store, sqlite3_int64 *ret_database_id)
{
	sqlite3_stmt *claim = NULL, *find = NULL, *add = NULL;
	int result = sql_prepare(
		&store->sql, &find,
		"SELECT database_id FROM database WHERE machine IS ? ORDER BY database_id LIMIT 1");

	if (!result)
		result =
			sql_prepare(&store->sql, &add,
				    "INSERT INTO database(id, machine) VALUES(lower(hex(randomblob(16))), ?) "
				    "RETURNING database_id");
	if (!result)
		result = sql_prepare(
			&store->sql, &claim,
			"UPDATE database SET machine = ? WHERE machine IS NULL AND (SELECT count(*) FROM "
			"database) = 1");
	*ret_database_id = 0;
	if (!result)
		result = sql_run(&store->sql, claim, NULL, "t", store->machine);
	if (!result)
		result = sql_run(&store->sql, find, ret_database_id, "t", store->machine);
	if (!result && !*ret_database_id)
		result = sql_run(&store->sql, add, ret_database_id, "t", store->machine);
	sqlite3_finalize(claim);
	sqlite3_finalize(find);
	sqlite3_finalize(add);
	return result;
}

static int add_run(struct store *store, const struct manifest *manifest, const struct policy *policy)
{
	_cleanup_free_ char *attachments = attachments_text(manifest);
	char allowed[POLICY_TEXT_BYTES];
	sqlite3_int64 database_id;
	sqlite3_stmt *statement = NULL;
	int result = find_database(store, &database_id);

	policy_describe(policy, allowed);
	if (!result)
		result = sql_insert(
			&store->sql, &statement, "run", NULL, &store->run_id,
			SQL_COLUMNS(SQL_NUMBER(started_at, clock_wall_now_ns(store->clock)),
				    SQL_TEXT(version, BOURDON_VERSION), SQL_NUMBER(abi, manifest->abi),
				    SQL_TEXT(kernel, manifest->kernel), SQL_TEXT(hostname, store->host),
				    SQL_NUMBER(cpus, manifest->cpus), SQL_NUMBER(hz, manifest->hz),
				    SQL_TEXT(policy, *allowed ? allowed : NULL),
				    SQL_TEXT(object_sha256,
					     *manifest->object_sha256 ? manifest->object_sha256 : NULL),
				    SQL_TEXT(attachments, attachments),
				    SQL_NUMBER(ring_bytes,
					       (int64_t)manifest->slots_per_cpu * manifest->slot_bytes),
				    SQL_NUMBER(database_id, database_id)));
	sqlite3_finalize(statement);
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

/* Call it after a transaction that found the database full. Returns true if there is room to try again. */
static bool made_room(struct store *store, int result)
{
	return result == -ENOSPC && eviction_helps(store) && !evict_oldest(store, true);
}

int store_begin_run(struct store *store, const struct manifest *manifest, const struct policy *policy,
		    const struct rule_set *rules)
{
	int result;

	do {
		result = sql_execute(&store->sql, "BEGIN IMMEDIATE");
		if (result < 0)
			break;
		result = add_run(store, manifest, policy);
		if (!result)
			result = add_rules(store, rules, 0);
		result = sql_finish(&store->sql, result);
	} while (made_room(store, result));
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
		result = sql_finish(&store->sql, add_rules(store, rules, first_id));
	} while (made_room(store, result));
	return result;
}

int store_end_run(struct store *store)
{
	sqlite3_stmt *statement;
	int result = sql_prepare(&store->sql, &statement, "UPDATE run SET ended_at = ? WHERE run_id = ?");

	if (!result)
		result = sql_run(&store->sql, statement, NULL, "ii", clock_wall_now_ns(store->clock),
				 (int64_t)store->run_id);
	sqlite3_finalize(statement);
	if (!result)
		trim_log(store);
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
	sqlite3_stmt *statement;
	int result = sql_execute(&store->sql, "BEGIN IMMEDIATE");

	if (result < 0)
		return result;
	result = sql_prepare(&store->sql, &statement,
			     "UPDATE capture SET state = 'interrupted' WHERE capture_id = ?");
	if (!result)
		result = sql_run(&store->sql, statement, NULL, "i", capture_id);
	sqlite3_finalize(statement);
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

/* A log that a reader keeps must not grow without end. */
static int check_log(struct store *store)
{
	if (!log_is_too_large(store))
		return 0;
	snprintf(
		store->sql.error, sizeof(store->sql.error),
		"a reader keeps an old transaction open, so the write-ahead log cannot be emptied; end that reader");
	return -EBUSY;
}

int store_commit_capture(struct store *store, const struct capture *capture, const struct resolved *resolved,
			 const struct mappings *mappings, int64_t *ret_capture_id,
			 struct stored_verdict *ret_verdict)
{
	int migrated = check_migrated(store);

	if (migrated < 0)
		return migrated;
	/* no capture is worth all captures before it, in particular one that a hostile process inflated */
	if (store_capture_bytes(capture, resolved) > store->database_bytes_max / 3) {
		snprintf(
			store->sql.error, sizeof(store->sql.error),
			"its %u rows and %u stacks would take more than a third of the database; raise [database] max_size",
			capture->rows_count, capture->stacks.count);
		return -EFBIG;
	}
	for (;;) {
		int64_t capture_id = 0;
		int result = check_log(store);

		if (result < 0)
			return result;
		result = sql_execute(&store->sql, "BEGIN IMMEDIATE");
		if (!result)
			result = sql_finish(&store->sql,
					    store_capture_write(&store->sql, &store->statements,
								store->run_id, capture, resolved, mappings,
								&capture_id, ret_verdict));
		if (!result) {
			trim_log(store);
			*ret_capture_id = capture_id;
			return 0;
		}
		if (result != -ENOSPC || !eviction_helps(store))
			return result;
		result = evict_oldest(store, !capture->trigger.asking);
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

static int baseline_bytes(struct store *store, uint64_t *ret_bytes)
{
	sqlite3_int64 rows = 0;
	int result = sql_run_once(&store->sql, &rows,
				  "SELECT count(*) FROM capture c CROSS JOIN sample_row s USING(capture_id) "
				  "WHERE c.trigger_mode = 'baseline'");

	*ret_bytes = (uint64_t)rows * BASELINE_ROW_BYTES;
	return result;
}

/* Removes the oldest baselines while they take more than their share. */
static int limit_baselines(struct store *store)
{
	uint64_t bytes;
	int result;

	while (!(result = baseline_bytes(store, &bytes)) && bytes > store->baseline_bytes_max) {
		result = evict_baselines(store, false);
		if (result == -ENOENT)
			result = evict_baselines(store, true);
		if (result < 0)
			break;
	}
	return result == -ENOENT ? 0 : result;
}

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

	if (!result && store_capture_bytes(baseline, resolved) > store->baseline_bytes_max) {
		snprintf(store->sql.error, sizeof(store->sql.error),
			 "it would take more than an eighth of [database] max_size");
		result = -EFBIG;
	}
	if (!result)
		result = check_log(store);
	if (result < 0)
		return result;
	sql_wait_for_locks(&store->sql, false);
	synchronous = sql_execute(&store->sql, "PRAGMA synchronous = NORMAL");
	result = synchronous < 0 ? synchronous : write_baseline(store, baseline, resolved, mappings);
	/* in place of older ones, the rule's last one at the worst; never in place of a capture */
	while (result == -ENOSPC && eviction_helps(store)) {
		int evicted = evict_baselines(store, false);

		if (evicted == -ENOENT)
			evicted = evict_baselines(store, true);
		if (evicted < 0)
			break;
		result = write_baseline(store, baseline, resolved, mappings);
	}
	if (!result)
		result = limit_baselines(store);
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
		result = check_log(store);
	if (result < 0)
		return result;
	result = activity_rows_make(&rows, minute, symbols);
	if (result < 0) {
		snprintf(store->sql.error, sizeof(store->sql.error), "%s", strerror(-result));
	} else {
		do
			result = write_activity(store, &rows);
		while (made_room(store, result));
	}
	activity_rows_free(&rows);
	return result;
}

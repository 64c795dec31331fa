/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * db compact: removes what no capture refers to, writes the database anew without gaps, and empties its log. The daemon
 * may run meanwhile: it waits for its turn to write.
 */
#include "common/base/cleanup.h"
#include "common/store/incidents.h"
#include "common/store/retention.h"
#include "common/store/stack_tree.h"
#include "common/system/files.h"
#include "common/system/log.h"
#include "common/text/escape.h"
#include "report/context/subcommand.h"
#include "report/model/query.h"
#include "report/text/format.h"

#include <fcntl.h>
#include <string.h>

/* ---- who has locked it ---- */

/* The locks of a -shm file: for writing, for checkpoints, for recovery, and of readers (wal.c of SQLite). */
#define LOG_LOCKS 120
#define LOG_LOCKS_COUNT 8
/* The locks of a database without a log (os.h of SQLite). */
#define FILE_LOCKS 0x40000000
#define FILE_LOCKS_COUNT 512

/* A process that has a lock in this range of the file; 0: none is known. */
static pid_t find_holder(const char *path, const char *ending, off_t start, off_t count)
{
	_cleanup_free_ char *file = NULL;
	_cleanup_close_ int fd = -EBADF;
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = count };

	if (asprintf(&file, "%s%s", path, ending) < 0) {
		file = NULL;
		return 0;
	}
	fd = open(file, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd >= 0 && !fcntl(fd, F_GETLK, &lock) && lock.l_type != F_UNLCK && lock.l_pid > 0 ? lock.l_pid
												 : 0;
}

/*
 * Writes "process 4711 (sqlite3)". The caller has closed the database: to close any descriptor of a file drops all locks
 * that this process has on it (fcntl(2)).
 */
static const char *name_holder(const char *path, char *into, size_t into_bytes)
{
	pid_t pid = find_holder(path, "-shm", LOG_LOCKS, LOG_LOCKS_COUNT);
	_cleanup_free_ char *comm = NULL;
	char file[64];
	size_t bytes;

	if (!pid)
		pid = find_holder(path, "", FILE_LOCKS, FILE_LOCKS_COUNT);
	snprintf(file, sizeof(file), "/proc/%d/comm", pid);
	if (!pid)
		snprintf(into, into_bytes, "another process");
	else if (file_read_text(AT_FDCWD, file, 64, &comm, &bytes) < 0)
		snprintf(into, into_bytes, "process %d", pid);
	else
		snprintf(into, into_bytes, "process %d (%.*s)", pid, (int)strcspn(comm, "\n"), comm);
	return into;
}

/* ---- compaction ---- */

/*
 * Begins the transaction that removes what no capture refers to, and chooses the frames; retention's statements do the
 * rest. The functions of one address stay or go together. The counters of the newest run stay: the daemon may be in it.
 */
static const char begin_removing[] =
	"BEGIN IMMEDIATE;"
	"UPDATE stack_node SET class = NULL, depth = NULL, hash = NULL WHERE class IS NOT NULL AND node_id NOT IN "
	"(SELECT stack_id FROM sample_row UNION ALL SELECT stack_id FROM thread_state WHERE stack_id IS NOT NULL UNION ALL "
	"SELECT stack_id FROM wake_row UNION ALL SELECT waker_stack_id FROM wake_row WHERE waker_stack_id IS NOT NULL UNION ALL "
	"SELECT stack_id FROM growth_row);"
	"WITH RECURSIVE used(node_id) AS (SELECT node_id FROM stack_node WHERE class IS NOT NULL UNION SELECT "
	"n.parent_id FROM used JOIN stack_node n USING(node_id) WHERE n.parent_id IS NOT NULL) "
	"DELETE FROM stack_node WHERE node_id NOT IN (SELECT node_id FROM used);"
	"DELETE FROM stack_class WHERE class NOT IN (SELECT class FROM stack_node WHERE class IS NOT NULL);"
	"CREATE TEMP TABLE part AS SELECT frame_id FROM frame WHERE (module_id, offset) NOT IN (SELECT module_id, offset "
	"FROM stack_node, json_each(" NODE_FRAMES ") j JOIN frame ON frame_id = j.value)";
static const char remove_counters[] =
	"DROP TABLE temp.part;"
	"DELETE FROM counter WHERE run_id <> (SELECT max(run_id) FROM run) AND run_id NOT IN (SELECT run_id FROM "
	"capture UNION SELECT run_id FROM activity_minute)";

/* Of the database and its log. */
static uint64_t bytes_of(const char *path)
{
	_cleanup_free_ char *log = NULL;
	struct stat at;
	uint64_t bytes = stat(path, &at) ? 0 : (uint64_t)at.st_size;

	if (asprintf(&log, "%s-wal", path) < 0)
		log = NULL;
	return bytes + (log && !stat(log, &at) ? (uint64_t)at.st_size : 0);
}

/* Moves the log's content to the database, and the log becomes empty. Returns an error code of SQLite. */
static int empty_log(struct database *database)
{
	return sqlite3_wal_checkpoint_v2(database->sqlite, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
}

/* Returns an error code of SQLite, with its message in `error`. */
static int run_statements(struct database *database, const char *statements, char *error, size_t error_bytes)
{
	int code = sqlite3_exec(database->sqlite, statements, NULL, NULL, NULL);

	if (code != SQLITE_OK) {
		snprintf(error, error_bytes, "%s", sqlite3_errmsg(database->sqlite));
		sqlite3_exec(database->sqlite, "ROLLBACK", NULL, NULL, NULL);
		empty_log(database); /* it may have grown for nothing */
	}
	return code;
}

/* Closes the database, and logs why it cannot be compacted. */
static void report_failure(struct database *database, int code, const char *error)
{
	char holder[96];

	sqlite3_close(database->sqlite);
	database->sqlite = NULL;
	if ((code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED)
		log_error("cannot compact '%s': %s has locked it; try again when that has ended",
			  database->path, name_holder(database->path, holder, sizeof(holder)));
	else if ((code & 0xff) == SQLITE_FULL)
		log_error(
			"cannot compact '%s': %s; nothing is lost: make room for two copies of it, one below /var/tmp or TMPDIR",
			database->path, error);
	else
		log_error("cannot compact '%s': %s; 'bourdon db check' tells what is wrong with it",
			  database->path, error);
}

static void report_sizes(const struct report *report, uint64_t before, uint64_t after)
{
	char from[32], to[32], name[FORMAT_BYTES];

	fprintf(report->out, "%s: %s before, %s now\n",
		escape_terminal(report->database->path, name, sizeof(name)),
		format_size((double)before, from, sizeof(from)), format_size((double)after, to, sizeof(to)));
}

static const struct command_option options[] = { { "db", "FILE", DB_HELP, SHARED(db) } };

static int db_compact_main(struct report *report, int count, char **arguments)
{
	struct shared_words words = { 0 };
	struct database *database = report->database;
	char error[256] = "", holder[96];
	const char *const steps[] = { "PRAGMA temp_store = FILE",
				      begin_removing,
				      retention_frames_sql,
				      incidents_shrink_sql,
				      remove_counters,
				      retention_unused_sql,
				      "COMMIT",
				      "VACUUM" };
	int code = SQLITE_OK;
	uint64_t before;
	int status = subcommand_parse(report, &db_compact_subcommand, count, arguments, &words);

	if (status != OPTIONS_RUN)
		return status;
	if (database_open_to_write(database->path, database) < 0)
		return EXIT_FAILED;
	before = bytes_of(database->path);
	for (size_t i = 0; i < ARRAY_SIZE(steps) && code == SQLITE_OK; i++)
		code = run_statements(database, steps[i], error, sizeof(error));
	if (code != SQLITE_OK) {
		report_failure(database, code, error);
		return EXIT_FAILED;
	}
	code = empty_log(database);
	sqlite3_close(database->sqlite);
	database->sqlite = NULL;
	report_sizes(report, before, bytes_of(database->path));
	report->unwell = code != SQLITE_OK;
	if (code != SQLITE_OK)
		log_error(
			"the log of '%s' cannot be emptied: %s reads an older state of it; it becomes empty after that has ended",
			database->path, name_holder(database->path, holder, sizeof(holder)));
	return status;
}

SUBCOMMAND(
	db_compact, "db compact", "", "give unused space back to the file system",
	"Removes what no capture refers to, and gives unused space back to the file system. The daemon may\n"
	"run meanwhile. The file system needs room for two more copies of the database.",
	"bourdon db compact");

/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/model/database.h"

#include "common/base/version.h"
#include "common/sql/sql_files.h"
#include "common/store/schema.h"
#include "common/system/log.h"
#include "report/model/older_schema.h"
#include "report/model/owner.h"

#include <stdarg.h>
#include <string.h>

#define BUSY_TIMEOUT_MS 5000

/* The largest value that is read. The largest values that bourdond writes are much smaller. */
#define VALUE_BYTES_MAX (16 << 20)

static const char *advice_on_opening(int system_errno)
{
	if (system_errno == ENOENT)
		return "start bourdond, or name another file with --db";
	if (system_errno == SQL_FILES_IS_FIFO)
		return "name a file that bourdond wrote with --db";
	return "become a member of the group that owns it, or read a copy with its -wal and -shm files";
}

static const char *advice(const struct database *database)
{
	switch (sqlite3_errcode(database->sqlite)) {
	case SQLITE_CANTOPEN:
		return advice_on_opening(sqlite3_system_errno(database->sqlite));
	case SQLITE_READONLY: /* a read-only database in WAL mode whose -wal and -shm files are missing */
		return "its -wal and -shm files are missing; read a copy in a directory that you may write";
	case SQLITE_PROTOCOL: /* bourdond was killed between its log's header and the first frame, and we may not write */
		return "its log has no content yet; start bourdond, or read a copy in a directory that you may write";
	case SQLITE_BUSY:
		return "another process has locked it; try again";
	case SQLITE_NOTADB:
		return "name a file that bourdond wrote with --db";
	case SQLITE_CORRUPT:
		return "it is damaged; save what is left with sqlite3's .recover";
	case SQLITE_IOERR:
		return "check the disk, and that it is a file";
	default:
		return "it does not have bourdon's tables; name another file with --db";
	}
}

static void __attribute__((format(printf, 2, 3)))
report_problem(struct database *database, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(database->problem, sizeof(database->problem), format, arguments);
	va_end(arguments);
	if (!database->quiet)
		log_error("%s", database->problem);
}

void database_fail(struct database *database)
{
	int code = sqlite3_errcode(database->sqlite), system_errno = sqlite3_system_errno(database->sqlite);
	bool is_system = system_errno && (code == SQLITE_CANTOPEN || code == SQLITE_IOERR);
	char as_user[64] = "";

	if (database->failed)
		return;
	database->failed = true;
	if (owner_was_root())
		snprintf(as_user, sizeof(as_user), " as user %u, who may have written it", geteuid());
	report_problem(database, "cannot read '%s'%s: %s: %s", database->path, as_user,
		       !is_system                          ? sqlite3_errmsg(database->sqlite)
		       : system_errno == SQL_FILES_IS_FIFO ? "it or a file beside it is a FIFO"
							   : strerror(system_errno),
		       advice(database));
}

/* Returns 0; or -EIO, and the reason was logged. */
static int read_pragma(struct database *database, const char *statement, long long *ret_value)
{
	sqlite3_stmt *prepared = NULL;
	int result = 0;

	if (sqlite3_prepare_v2(database->sqlite, statement, -1, &prepared, NULL) == SQLITE_OK &&
	    sqlite3_step(prepared) == SQLITE_ROW) {
		*ret_value = sqlite3_column_int64(prepared, 0);
	} else {
		database_fail(database);
		result = -EIO;
	}
	sqlite3_finalize(prepared);
	return result;
}

/* The version of bourdond that wrote the database last; "" if it does not tell, or is this one. */
static void read_writer(struct database *database, char *ret_writer, size_t bytes)
{
	sqlite3_stmt *statement = NULL;
	const char *text = NULL;

	*ret_writer = '\0';
	if (sqlite3_prepare_v2(database->sqlite, "SELECT version FROM run ORDER BY run_id DESC LIMIT 1", -1,
			       &statement, NULL) == SQLITE_OK &&
	    sqlite3_step(statement) == SQLITE_ROW)
		text = (const char *)sqlite3_column_text(statement, 0);
	if (text && *text && strlen(text) < bytes && strcmp(text, BOURDON_VERSION) != 0 &&
	    text[strspn(text, "0123456789.+~-abcdefghijklmnopqrstuvwxyz")] == '\0')
		strcpy(ret_writer, text);
	sqlite3_finalize(statement);
}

static void refuse_newer(struct database *database)
{
	char writer[32], remedy[128] = "install a newer bourdon, that of the bourdond that wrote it";

	read_writer(database, writer, sizeof(writer));
	if (*writer)
		snprintf(remedy, sizeof(remedy), "install bourdon %s or newer", writer);
	report_problem(database, "'%s' has schema version %d, and bourdon %s reads none after version %d: %s",
		       database->path, database->version, BOURDON_VERSION, SCHEMA_VERSION, remedy);
}

static void refuse_older(struct database *database)
{
	report_problem(
		database,
		"'%s' has schema version %d, and bourdon %s reads none before version %d: move it elsewhere; only the bourdon that wrote it reads it",
		database->path, database->version, BOURDON_VERSION, SCHEMA_OLDEST);
}

/*
 * Checks that bourdon wrote the database, in a schema version that this build reads. Returns 0; or -EIO or
 * -EPROTO, and the reason was logged.
 */
static int check_identity(struct database *database)
{
	long long application, version;

	if (read_pragma(database, "PRAGMA application_id", &application) < 0 ||
	    read_pragma(database, "PRAGMA user_version", &version) < 0)
		return -EIO;
	if (application != SCHEMA_APPLICATION_ID) {
		report_problem(
			database,
			"'%s' is a database, but not bourdon's: name a file that bourdond wrote with --db",
			database->path);
		return -EPROTO;
	}
	database->version = (int)version;
	if (version >= SCHEMA_OLDEST && version <= SCHEMA_VERSION)
		return 0;
	(version > SCHEMA_VERSION ? refuse_newer : refuse_older)(database);
	return -EPROTO;
}

static int read_older(struct database *database)
{
	int result = older_schema_read(database->sqlite, &schema_present);

	if (result == -ENOMEM)
		report_problem(database, "cannot read '%s': %s", database->path, strerror(ENOMEM));
	else if (result < 0)
		database_fail(database);
	return result < 0 ? -EIO : 0;
}

/*
 * The first statement within the transaction decides which commit of the daemon it sees. So the version that was
 * checked remains the one that is read, even if a daemon migrates the database meanwhile.
 */
static int begin_reading(struct database *database)
{
	int error = database_execute(database, "BEGIN");

	if (!error)
		error = check_identity(database);
	if (!error && database->version < SCHEMA_VERSION)
		error = read_older(database);
	return error ? error : database_execute(database, "PRAGMA query_only = ON");
}

static int begin_writing(struct database *database)
{
	int keep_log = 1, error;

	/*
	 * Without its log, a reader without write access could not open the database of a stopped daemon. It stays, and
	 * with a limit it is empty.
	 */
	sqlite3_file_control(database->sqlite, "main", SQLITE_FCNTL_PERSIST_WAL, &keep_log);
	error = database_execute(database, "PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 0");
	if (!error)
		error = check_identity(database);
	if (error || database->version == SCHEMA_VERSION)
		return error;
	report_problem(
		database,
		"'%s' has schema version %d, and bourdon %s writes version %d: start bourdond once, which converts it, or write a copy with 'bourdon db merge NEW %s'",
		database->path, database->version, BOURDON_VERSION, SCHEMA_VERSION, database->path);
	return -EPROTO;
}

void database_protect(sqlite3 *sqlite)
{
	sqlite3_limit(sqlite, SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX);
	sqlite3_db_config(sqlite, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(sqlite, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
}

static int open_file(struct database *database, int flags)
{
	_cleanup_free_ char *real = NULL;
	int error = owner_become_of(database->path, &real);

	if (error < 0) {
		if (error != -EPERM)
			report_problem(database, "cannot read '%s': %s: %s", database->path, strerror(-error),
				       advice_on_opening(-error));
		return -EIO;
	}
	if (sqlite3_open_v2(real ? real : database->path, &database->sqlite,
			    real ? flags | SQLITE_OPEN_NOFOLLOW : flags, NULL) != SQLITE_OK) {
		database_fail(database);
		return -EIO;
	}
	sqlite3_busy_timeout(database->sqlite, BUSY_TIMEOUT_MS);
	database_protect(database->sqlite);
	return database_execute(database, "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON");
}

static int open_checked(const char *path, int flags, int (*begin)(struct database *database),
			struct database *ret_database)
{
	_cleanup_database_ struct database database = { .path = path, .quiet = ret_database->quiet };
	int error = open_file(&database, flags);

	if (!error)
		error = begin(&database);
	if (error < 0) {
		snprintf(ret_database->problem, sizeof(ret_database->problem), "%s", database.problem);
		return error;
	}
	*ret_database = database;
	database.sqlite = NULL;
	return 0;
}

int database_open(const char *path, struct database *ret_database)
{
	return open_checked(path, SQLITE_OPEN_READONLY, begin_reading, ret_database);
}

int database_open_to_write(const char *path, struct database *ret_database)
{
	int error = open_checked(path, SQLITE_OPEN_READWRITE, begin_writing, ret_database);

	/* SQLite falls back to reading where it may not write */
	if (error || !sqlite3_db_readonly(ret_database->sqlite, "main"))
		return error;
	report_problem(ret_database,
		       "cannot write '%s': become the user who owns it, or name a copy with --db", path);
	return -EACCES;
}

int database_execute(struct database *database, const char *statements)
{
	if (sqlite3_exec(database->sqlite, statements, NULL, NULL, NULL) == SQLITE_OK)
		return 0;
	database_fail(database);
	return -EIO;
}

void database_close(struct database *database)
{
	sqlite3_close(database->sqlite);
}

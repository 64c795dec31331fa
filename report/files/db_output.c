/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/files/db_output.h"

#include "common/store/schema.h"
#include "common/system/log.h"
#include "report/context/output_file.h"
#include "report/model/owner.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define BUSY_TIMEOUT_MS 5000
/* Of pages, in memory: a merge changes pages all over the tree of stacks. */
#define CACHE_KIB "32768"

/* ---- the file ---- */

/* Logs why OUT cannot be written. Returns -error. */
static int refuse_file(const char *path, int error)
{
	char as_user[64] = "";

	if (owner_was_root())
		snprintf(as_user, sizeof(as_user), " as user %u, who owns the database that is read",
			 geteuid());
	return log_failed(-error, "cannot write '%s'%s: %s; %s", path, as_user, strerror(error),
			  error == EEXIST ? "name a file that does not exist"
			  : error == EACCES || error == EPERM || error == EROFS
				  ? "name a file in a directory that this user may write, such as /var/tmp"
			  : error == ENOSPC || error == EDQUOT
				  ? "make room, or name a file on another file system"
				  : "name another file");
}

/* Splits the path, which need not exist, and resolves its directory: SQLITE_OPEN_NOFOLLOW accepts no symbolic link. */
static char *resolve(const char *path)
{
	_cleanup_free_ char *copy = strdup(path), *directory = NULL;
	char *slash = copy ? strrchr(copy, '/') : NULL, *resolved = NULL;
	const char *name = slash ? slash + 1 : copy;

	if (!copy)
		return NULL;
	if (!*name) {
		errno = EISDIR;
		return NULL;
	}
	if (slash)
		*slash = '\0';
	directory = realpath(!slash ? "." : *copy ? copy : "/", NULL);
	if (!directory || asprintf(&resolved, "%s/%s", directory[1] ? directory : "", name) < 0)
		return NULL;
	return resolved;
}

static int open_sql(struct db_output *output, const char *path)
{
	struct sql *sql = &output->sql;
	int result = 0;

	if (sqlite3_open_v2(path, &sql->db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_URI |
				    SQLITE_OPEN_NOMUTEX,
			    NULL) != SQLITE_OK)
		return sql_failed(sql);
	sqlite3_extended_result_codes(sql->db, 1);
	sqlite3_busy_timeout(sql->db, BUSY_TIMEOUT_MS);
	database_protect(sql->db);
	result = sql_execute(sql, "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;"
				  "PRAGMA cache_size = -" CACHE_KIB);
	/* a new file that is not whole after a crash has another name */
	if (!result && output->is_new)
		result = sql_execute(sql, "PRAGMA synchronous = OFF");
	return result;
}

int db_output_failed(const struct db_output *output, int result)
{
	return log_failed(
		result, "cannot write '%s': %s; %s", output->path, output->sql.error,
		result == -ENOSPC ? "make room, or name a file on another file system"
		: result == -EBUSY
			? "another process has locked it; try again"
			: "check the disk, and that this user may write the file and its directory");
}

/* Root is here only if nobody else could have written what is copied; then nobody else may redirect the copy either. */
static int judge_place(const struct db_output *output)
{
	_cleanup_free_ char *place =
		strndup(output->final, (size_t)(strrchr(output->final, '/') - output->final) + 1);
	_cleanup_close_ int fd = -EBADF;

	if (geteuid())
		return 0;
	fd = place ? open(place, O_PATH | O_DIRECTORY | O_CLOEXEC) : -EBADF;
	return fd < 0 ? refuse_file(output->path, place ? errno : ENOMEM)
		      : output_file_judge_directory(fd, output->path);
}

int db_output_make(struct db_output *output, const char *path)
{
	_cleanup_close_ int fd = -EBADF;
	struct stat at;
	int result;

	*output = (struct db_output){ .path = path, .is_new = true };
	if (!lstat(path, &at))
		return refuse_file(path, EEXIST);
	output->final = resolve(path);
	if (!output->final)
		return refuse_file(path, errno);
	result = judge_place(output);
	if (result < 0)
		return result;
	if (asprintf(&output->unfinished, "%s.unfinished-%d", output->final, getpid()) < 0) {
		output->unfinished = NULL;
		return refuse_file(path, ENOMEM);
	}
	fd = open(output->unfinished, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0) {
		int error = errno;

		free(output->unfinished);
		output->unfinished = NULL; /* another process's */
		return refuse_file(path, error);
	}
	cleanup_close(&fd); /* closed later, it would take SQLite's locks along (fcntl(2)) */
	result = open_sql(output, output->unfinished);
	return result < 0 ? db_output_failed(output, result) : 0;
}

int db_output_make_tables(struct db_output *output)
{
	char identity[128];
	int result;

	/* as the daemon makes it, but one file, without a log: it may be read where nothing can be written */
	snprintf(identity, sizeof(identity), "PRAGMA application_id = %d; PRAGMA user_version = %d",
		 SCHEMA_APPLICATION_ID, SCHEMA_VERSION);
	result = sql_execute(&output->sql,
			     "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = DELETE; BEGIN");
	if (!result)
		result = sql_execute(&output->sql, identity);
	if (!result)
		result = sql_execute(&output->sql, schema_sql);
	if (!result)
		result = sql_execute(&output->sql, "COMMIT");
	return result < 0 ? db_output_failed(output, result) : 0;
}

int db_output_copy(struct db_output *output, struct database *database)
{
	sqlite3_backup *backup = sqlite3_backup_init(output->sql.db, "main", database->sqlite, "main");
	int code, result;

	if (!backup)
		return db_output_failed(output, sql_failed(&output->sql));
	sqlite3_backup_step(backup, -1);
	code = sqlite3_backup_finish(backup);
	if (code != SQLITE_OK) {
		result = sql_failed(&output->sql);
		if (sqlite3_errcode(database->sqlite) != code || result == -ENOSPC)
			return db_output_failed(output, result);
		database_fail(database);
		return -EIO;
	}
	/* the copied header says that there is a log */
	result = sql_execute(&output->sql, "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE");
	return result < 0 ? db_output_failed(output, result) : 0;
}

int db_output_open(struct db_output *output, const char *path)
{
	_cleanup_database_ struct database database = { 0 };
	int result;

	*output = (struct db_output){ .path = path };
	/* opened twice: the first time for the checks, and their messages */
	result = database_open_to_write(path, &database);
	if (result < 0)
		return result;
	output->final = realpath(path, NULL);
	if (!output->final)
		return refuse_file(path, errno);
	result = open_sql(output, output->final);
	return result < 0 ? db_output_failed(output, result) : 0;
}

/* ---- its end ---- */

/* Syncs a file or a directory. Returns 0 or -errno. */
static int sync_path(const char *path, int flags)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | flags);

	return fd < 0 || fsync(fd) ? -errno : 0;
}

/* Renames the file unless the new name exists. Some file systems know only link(2), which does not replace either. */
static int rename_new(const char *from, const char *to)
{
	if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL || link(from, to))
		return -errno;
	unlink(from);
	return 0;
}

int db_output_finish(struct db_output *output)
{
	char *slash;
	int result;

	sql_close(&output->sql);
	if (!output->is_new)
		return 0;
	result = sync_path(output->unfinished, 0);
	if (!result)
		result = rename_new(output->unfinished, output->final);
	if (result < 0)
		return refuse_file(output->path, -result);
	free(output->unfinished);
	output->unfinished = NULL;
	slash = strrchr(output->final, '/');
	slash[slash == output->final] = '\0';
	result = sync_path(output->final, O_DIRECTORY);
	return result < 0 ? refuse_file(output->path, -result) : 0;
}

void db_output_end(struct db_output *output)
{
	static const char *const endings[] = { "", "-journal", "-wal", "-shm" };

	sql_close(&output->sql);
	for (size_t i = 0; i < ARRAY_SIZE(endings) && output->unfinished; i++) {
		_cleanup_free_ char *path = NULL;

		if (asprintf(&path, "%s%s", output->unfinished, endings[i]) >= 0)
			unlink(path);
	}
	free(output->unfinished);
	free(output->final);
	*output = (struct db_output){ 0 };
}

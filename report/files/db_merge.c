/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * db merge: the captures of several hosts' databases in one. What they share, such as the functions of a library and
 * the stacks through it, is stored once; what the database has already is not added again.
 */
#include "common/base/cleanup.h"
#include "common/store/schema.h"
#include "common/system/log.h"
#include "common/text/escape.h"
#include "common/text/plural.h"
#include "report/context/subcommand.h"
#include "report/files/db_older.h"
#include "report/files/db_transfer.h"
#include "report/model/owner.h"
#include "report/text/format.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

/* ---- whose files they are ---- */

struct owner {
	uid_t uid;
	gid_t gid;
	const char *path; /* a file that this user may have written; NULL: only root may have written any */
};

/* Returns 0; or -errno, and the reason was logged. */
static int add_owner(struct owner *owner, const char *path)
{
	_cleanup_free_ char *real = realpath(path, NULL);
	uid_t uid = OWNER_NOBODY;
	gid_t gid = OWNER_NOBODY;
	int result = real ? owner_find(real, &uid, &gid) : -errno;

	if (result < 0)
		return log_failed(result, "cannot read '%s': %s", path, strerror(-result));
	if (!uid || (owner->path && owner->uid == uid))
		return 0;
	if (owner->path)
		return log_failed(
			-EPERM,
			"'%s' belongs to user %u and '%s' to user %u: run bourdon as a user who may read both",
			owner->path, owner->uid, path, uid);
	*owner = (struct owner){ uid, gid, path };
	return 0;
}

/* Root becomes the one user who may have written the files. Returns 0; or -errno, and the reason was logged. */
static int drop_root(const char *out, char **files, int files_count)
{
	struct owner owner = { 0 };
	int result = access(out, F_OK) ? 0 : add_owner(&owner, out);

	for (int i = 0; i < files_count && !result; i++)
		result = add_owner(&owner, files[i]);
	return !result && owner.path ? owner_become(owner.uid, owner.gid) : result;
}

/* ---- the output ---- */

/*
 * A daemon's own database is refused: it counts its rules itself. While the lock is held, no daemon starts. Returns 0;
 * or -errno, and the reason was logged.
 */
static int lock_out_daemon(const struct db_output *output, int *ret_lock)
{
	char *slash = strrchr(output->final, '/');
	_cleanup_free_ char *path = NULL;
	_cleanup_close_ int fd = -EBADF;

	if (strcmp(slash + 1, DATABASE_FILE) != 0)
		return 0;
	if (asprintf(&path, "%.*s/" STORE_LOCK_FILE, (int)(slash - output->final), output->final) < 0) {
		path = NULL;
		return log_failed(-ENOMEM, "out of memory");
	}
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB)) {
		*ret_lock = TAKE_FD(fd);
		return 0;
	}
	if (errno == EWOULDBLOCK)
		log_error(
			"a running bourdond writes to '%s': merge into a copy of it, made by 'bourdon db copy'",
			output->path);
	else
		log_error("cannot lock '%s': %s", path, strerror(errno));
	return -EBUSY;
}

static int open_output(struct db_output *output, const char *path, int *ret_lock)
{
	int result;

	if (access(path, F_OK) && errno == ENOENT) {
		result = db_output_make(output, path);
		return result < 0 ? result : db_output_make_tables(output);
	}
	result = db_output_open(output, path);
	return result < 0 ? result : lock_out_daemon(output, ret_lock);
}

/* ---- the files ---- */

static bool is_output(const struct db_output *output, const char *path)
{
	struct stat one, other;

	return !stat(path, &one) && !stat(output->final, &other) && one.st_dev == other.st_dev &&
	       one.st_ino == other.st_ino;
}

/* Returns 0; or -errno, and the reason was logged. */
static int merge_file(const struct report *report, struct db_output *output, const char *path)
{
	_cleanup_db_output_ struct db_output converted = { 0 };
	struct transferred counts;
	char name[FORMAT_BYTES];
	int result;

	if (is_output(output, path))
		return log_failed(-EINVAL, "'%s' is the database that is merged into: do not name it twice",
				  path);
	{
		/* opened for the checks, and their messages */
		_cleanup_database_ struct database database = { 0 };

		result = database_open(path, &database);
		if (!result && database.version != SCHEMA_VERSION)
			result = db_older_convert(&converted, &database, output->path);
	}
	if (!result)
		result = db_transfer(output, path, converted.unfinished, NULL, 0, &counts);
	if (result < 0)
		return result;
	fprintf(report->out, "%s: %" PRId64 " %s added", escape_terminal(path, name, sizeof(name)),
		counts.added, plural((uint64_t)counts.added, "capture", "captures"));
	if (counts.known)
		fprintf(report->out, ", %" PRId64 " known before", counts.known);
	if (counts.recording)
		fprintf(report->out, ", %" PRId64 " left out, still recording", counts.recording);
	fputc('\n', report->out);
	return 0;
}

static const struct command_option options[] = { { "db", "FILE", DB_UNREAD_HELP, SHARED(db) } };

static int db_merge_main(struct report *report, int count, char **arguments)
{
	struct shared_words words = { 0 };
	_cleanup_db_output_ struct db_output output = { 0 };
	_cleanup_close_ int lock = -EBADF;
	char **files, bytes[32], name[FORMAT_BYTES];
	int files_count, merged = 0, result = 0;
	struct stat at;
	int status = subcommand_parse(report, &db_merge_subcommand, count, arguments, &words);

	if (status != OPTIONS_RUN)
		return status;
	files = report->operands + 1;
	files_count = report->operands_count - 1;
	if ((!geteuid() && drop_root(report->operands[0], files, files_count) < 0) ||
	    open_output(&output, report->operands[0], &lock) < 0)
		return EXIT_FAILED;
	/* a file that cannot be merged keeps no other one out, unless the output is at fault */
	for (int i = 0; i < files_count && result != -ENOSPC && result != -EBUSY; i++) {
		result = merge_file(report, &output, files[i]);
		merged += !result;
	}
	if (!merged || db_output_finish(&output) < 0)
		return EXIT_FAILED;
	if (merged < files_count)
		log_error("%d of %d files were not merged", files_count - merged, files_count);
	fprintf(report->out, "%s: %s\n", escape_terminal(report->operands[0], name, sizeof(name)),
		format_size(stat(report->operands[0], &at) ? 0 : (double)at.st_size, bytes, sizeof(bytes)));
	report->unwell = merged < files_count;
	return status;
}

SUBCOMMAND(
	db_merge, "db merge", "OUT FILE...", "add the captures of other databases to a database",
	"Adds all captures of each FILE to OUT, which is created if it does not exist. What OUT already has\n"
	"is not added again. A capture whose ID is in use gets the next free one; capture.recorded_as has\n"
	"the ID that it had where it was recorded.",
	"bourdon db merge fleet.db host-a.db host-b.db", .operands_least = 2, .operands_most = INT_MAX);

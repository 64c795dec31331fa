/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/context/output_file.h"

#include "common/system/files.h"
#include "common/system/log.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define BUFFER_BYTES (256UL << 10)

/* Logs why the file cannot be written. Returns -error. */
static int refuse_file(const char *path, int error)
{
	return log_failed(-error, "cannot write '%s': %s; %s", path, strerror(error),
			  error == EACCES || error == EPERM || error == EROFS
				  ? "name a file in a directory that you may write to, such as /var/tmp"
			  : error == ENOSPC || error == EDQUOT
				  ? "make room, or name a file on another file system"
				  : "name another file");
}

/* ---- where root writes ---- */

/* `why` says what root does not do there. */
static int refuse_directory(const char *path, int directory, const char *why)
{
	char link[32], name[PATH_MAX];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", directory);
	length = readlink(link, name, sizeof(name));
	return log_failed(
		-EPERM,
		"cannot write '%s': users other than root may change the directory '%.*s', and root %s; name a file elsewhere, such as in /root, or redirect the output: > FILE",
		path, (int)(length > 0 ? length : 0), name, why);
}

/* Returns the directory, this one or one above it, that users other than root may change; -ENOENT: there is none; or -errno. */
static int find_foreign(int directory)
{
	_cleanup_close_ int at = fcntl(directory, F_DUPFD_CLOEXEC, 0);
	struct stat here, below = { 0 };

	for (;;) {
		int above;

		if (at < 0 || fstat(at, &here))
			return -errno;
		if (here.st_dev == below.st_dev && here.st_ino == below.st_ino)
			return -ENOENT; /* ".." of the root is itself */
		if (here.st_uid || (!file_is_roots_alone(&here) && !(here.st_mode & S_ISVTX)))
			return TAKE_FD(at);
		above = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		cleanup_close(&at);
		at = above;
		below = here;
	}
}

int output_file_judge_directory(int directory, const char *path)
{
	_cleanup_close_ int foreign = find_foreign(directory);

	return foreign == -ENOENT ? 0
	       : foreign < 0      ? refuse_file(path, -foreign)
			     : refuse_directory(path, foreign, "writes no database below such a directory");
}

/* Whether the path of the directory has no link in it, which could be changed to lead elsewhere. */
static bool is_straight(int directory, const char *place)
{
	const struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
				      .resolve = RESOLVE_NO_SYMLINKS };
	_cleanup_close_ int fd = (int)syscall(SYS_openat2, AT_FDCWD, place, &how, sizeof(how));
	struct stat at, same;

	return fd >= 0 && !fstat(fd, &at) && !fstat(directory, &same) && at.st_dev == same.st_dev &&
	       at.st_ino == same.st_ino;
}

static int judge_one(struct output_file *output, const char *place, int directory)
{
	_cleanup_close_ int foreign = find_foreign(directory);

	if (foreign < 0)
		return foreign == -ENOENT ? 0 : refuse_file(output->path, -foreign);
	output->is_foreign = true;
	return is_straight(output->directory, place)
		       ? 0
		       : refuse_directory(output->path, foreign, "follows no link there");
}

/* Judges the directory, and each that its path leads through, where another user may have changed a link. */
static int judge_place(struct output_file *output, const char *place)
{
	int result = judge_one(output, place, output->directory);

	for (const char *slash = strchr(place, '/'); slash && !result; slash = strchr(slash + 1, '/')) {
		_cleanup_free_ char *before = strndup(place, (size_t)(slash - place + 1));
		_cleanup_close_ int at = before ? open(before, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

		result = at < 0 ? refuse_file(output->path, errno) : judge_one(output, place, at);
	}
	return result;
}

/* In a directory such as /tmp, a link, a FIFO or a device of somebody else may lead anywhere, or never be read. */
static bool is_trap(const struct output_file *output, const struct stat *entry)
{
	struct stat at;

	return output->is_foreign ||
	       (!geteuid() && entry->st_uid && (fstat(output->directory, &at) || !file_is_roots_alone(&at)));
}

/* ---- the file ---- */

/* What is no regular file is opened as it is. Returns the descriptor; or -errno, and the reason was logged. */
static int open_other(const struct output_file *output)
{
	_cleanup_close_ int fd = openat(output->directory, output->name, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	struct stat at;

	if (fd < 0 || fstat(fd, &at))
		return refuse_file(output->path, errno);
	if (!S_ISBLK(at.st_mode))
		return TAKE_FD(fd);
	return log_failed(-ENOTSUP, "cannot write '%s': it is a disk; name a file", output->path);
}

static int open_unfinished(struct output_file *output)
{
	int fd;

	if (asprintf(&output->unfinished, "%s.unfinished-%d", output->name, getpid()) < 0) {
		output->unfinished = NULL;
		return refuse_file(output->path, ENOMEM);
	}
	fd = openat(output->directory, output->unfinished,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	fd = refuse_file(output->path, errno);
	free(TAKE_PTR(output->unfinished)); /* another process's */
	return fd;
}

/* Returns a descriptor for writing; or -errno, and the reason was logged. */
static int open_output(struct output_file *output)
{
	struct stat entry, at;

	if (fstatat(output->directory, output->name, &entry, AT_SYMLINK_NOFOLLOW) || S_ISREG(entry.st_mode))
		return open_unfinished(output);
	if (is_trap(output, &entry))
		return log_failed(
			-EPERM,
			"cannot write '%s': it is no regular file, and users other than root may change where it leads; name another file",
			output->path);
	if (fstatat(output->directory, output->name, &at, 0) || S_ISREG(at.st_mode))
		return open_unfinished(output); /* in place of the link */
	return open_other(output);
}

int output_file_make(struct output_file *output, const char *path)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *place =
		slash == path ? strdup("/") : strndup(slash ? path : ".", slash ? (size_t)(slash - path) : 1);
	_cleanup_close_ int fd = -EBADF;
	int result;

	*output = (struct output_file){ .path = path, .name = slash ? slash + 1 : path };
	if (!place)
		return refuse_file(path, ENOMEM);
	if (!*output->name)
		return refuse_file(path, EISDIR);
	fd = open(place, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return refuse_file(path, errno);
	output->directory = TAKE_FD(fd);
	result = geteuid() ? 0 : judge_place(output, place);
	if (result < 0)
		return result;
	fd = open_output(output);
	if (fd < 0)
		return fd;
	output->file = fdopen(fd, "w");
	if (!output->file)
		return refuse_file(path, errno);
	TAKE_FD(fd);
	setvbuf(output->file, NULL, _IOFBF, BUFFER_BYTES);
	return 0;
}

int output_file_finish(struct output_file *output)
{
	bool failed = fflush(output->file) || ferror(output->file);
	int error = errno;

	if (!failed && output->unfinished && fsync(fileno(output->file)) && errno != EINVAL) {
		failed = true;
		error = errno;
	}
	if (failed)
		return refuse_file(output->path, error);
	if (output->unfinished &&
	    renameat(output->directory, output->unfinished, output->directory, output->name))
		return refuse_file(output->path, errno);
	free(output->unfinished);
	output->unfinished = NULL;
	return 0;
}

void output_file_end(struct output_file *output)
{
	if (output->file)
		fclose(output->file);
	if (output->unfinished)
		unlinkat(output->directory, output->unfinished, 0);
	free(output->unfinished);
	if (output->directory > 0)
		close(output->directory);
	*output = (struct output_file){ 0 };
}

/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbols/mapped_files.h"

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/log.h"
#include "consumer/symbols/file_grant.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/sysmacros.h>

#define CALL_PATIENCE_NS (3 * CLOCK_SECOND_NS)
#define PAUSE_NS (30 * CLOCK_SECOND_NS) /* before a helper that is absent or failed is asked again */
/* The first process asked about may have ended; try that many. */
#define USERS_ASKED_MAX 3

/* ---- bourdon-grant ---- */

static bool may_ask(const struct mapped_files *files)
{
	return files->grant_socket && clock_monotonic_ns() >= files->pause_until_ns;
}

/* Anything but a refusal of this one file pauses further requests. */
static void note_failure(struct mapped_files *files, int error)
{
	files->pause_until_ns = clock_monotonic_ns() + PAUSE_NS;
	if (!files->absent)
		log_info(
			"bourdon-grant at %s gives no files: %s; functions in deleted or unreadable files get no names",
			files->grant_socket, error == -EPERM ? GRANT_NO_FILES : strerror(-error));
	files->absent = true;
}

/*
 * Returns the descriptor or -errno: -EACCES if only this file is refused; -ETIMEDOUT if perhaps only this
 * file hangs (the process may hang); -EAGAIN if the deadline is too near.
 */
static int ask(struct mapped_files *files, const struct grant_request *request, uint64_t deadline_ns)
{
	uint64_t now_ns = clock_monotonic_ns(), patience_ns = now_ns + CALL_PATIENCE_NS;
	bool hurried = deadline_ns < patience_ns;
	int fd;

	if (now_ns >= deadline_ns)
		return -EAGAIN;
	files->asked = true;
	fd = file_grant_ask(files->grant_socket, request, hurried ? deadline_ns : patience_ns);
	if (fd == -EAGAIN || (hurried && fd == -ETIMEDOUT))
		return -EAGAIN;
	own_count(files->own_counters, fd < 0 ? OWN_FILES_REFUSED : OWN_FILES_GRANTED);
	if (fd >= 0 || fd == -EACCES)
		files->absent = false;
	else
		note_failure(files, fd);
	return fd;
}

/* ---- mapped files ---- */

/*
 * A mapped file is identified by its inode. On overlayfs and btrfs, stat(2) reports another device than the
 * kernel records, so the device is compared only for files opened by path; /proc/PID/map_files leads to the
 * mapped file anyway.
 */
static int check_mapped(int fd, const struct mapped_file *file, bool by_path, struct stat *ret_at)
{
	struct stat at;

	if (fstat(fd, &at))
		return -errno;
	if (!S_ISREG(at.st_mode) || at.st_ino != file->inode ||
	    (by_path && at.st_dev != makedev(file->device_major, file->device_minor)))
		return -ESTALE;
	*ret_at = at;
	return 0;
}

static int open_by_path(const struct mapped_file *file, struct stat *ret_at)
{
	_cleanup_close_ int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	int result = fd < 0 ? -errno : check_mapped(fd, file, true, ret_at);

	return result < 0 ? result : TAKE_FD(fd);
}

static int open_by_grant(struct mapped_files *files, const struct mapping_user *process,
			 const struct mapped_file *file, uint64_t deadline_ns, struct stat *ret_at)
{
	const struct grant_request request = { .kind = GRANT_ELF,
					       .tgid = process->tgid,
					       .started_ns = process->started_ns,
					       .begins = process->begins };
	_cleanup_close_ int fd = ask(files, &request, deadline_ns);
	/* the mapping may have been replaced meanwhile */
	int result = fd < 0 ? fd : check_mapped(fd, file, false, ret_at);

	return result < 0 ? result : TAKE_FD(fd);
}

/* After a refusal, asks for a file again only when a younger process maps it. */
static int open_by_grants(struct mapped_files *files, const struct mappings *mappings,
			  struct mapped_file *file, uint64_t deadline_ns, struct stat *ret_at)
{
	struct mapping_user process = { .started_ns = UINT64_MAX };
	uint64_t refused_ns = file->refused_ns;
	int fd = -ESTALE;

	for (int i = 0; i < USERS_ASKED_MAX && may_ask(files) &&
			mappings_find_user(mappings, file, process.started_ns, &process) &&
			process.started_ns > file->refused_ns;
	     i++) {
		fd = open_by_grant(files, &process, file, deadline_ns, ret_at);
		if (fd != -EACCES && fd != -ESTALE && fd != -ETIMEDOUT)
			return fd;
		if (process.started_ns > refused_ns)
			refused_ns = process.started_ns;
	}
	file->refused_ns = refused_ns;
	return fd;
}

int mapped_files_open(struct mapped_files *files, const struct mappings *mappings, struct mapped_file *file,
		      uint64_t deadline_ns, struct stat *ret_at)
{
	int fd = open_by_path(file, ret_at);

	files->asked = false;
	return fd >= 0 ? fd : open_by_grants(files, mappings, file, deadline_ns, ret_at);
}

/* ---- perf maps ---- */

int mapped_files_ask_perf_map(struct mapped_files *files, uint32_t tgid, uint64_t started_ns,
			      uint64_t deadline_ns)
{
	const struct grant_request request = { .kind = GRANT_PERF_MAP,
					       .tgid = tgid,
					       .started_ns = started_ns };

	return may_ask(files) ? ask(files, &request, deadline_ns) : -ENOENT;
}

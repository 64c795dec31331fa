/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbols/mapped_files.h"

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/log.h"
#include "consumer/symbols/file_grant.h"
#include "consumer/watch/grant_client.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/sysmacros.h>

#define CALL_PATIENCE_NS (3 * CLOCK_SECOND_NS)
#define PAUSE_NS (30 * CLOCK_SECOND_NS) /* before a helper that is absent or failed is asked again */
/* The first process asked about may have ended; try that many. */
#define USERS_ASKED_MAX 3
/* Requests of one process that were put off before the log names it. */
#define DEFERRED_LOGGED 100U

/* ---- bourdon-grant ---- */

static bool may_ask(const struct mapped_files *files)
{
	return files->grant_socket && clock_monotonic_ns() >= files->pause_until_ns;
}

/* Because bourdon-grant was asked too often, and not because it failed. */
static bool is_pausing(const struct mapped_files *files)
{
	return files->busy_pause_ns && clock_monotonic_ns() < files->pause_until_ns;
}

static bool take(struct mapped_files *files, uint32_t tgid, uint64_t started_ns)
{
	if (grant_shares_take(&files->shares, tgid, started_ns, clock_monotonic_ns()))
		return true;
	if (grant_shares_put_off(&files->shares) == DEFERRED_LOGGED && log_allowed(&files->deferred_limit, 1))
		log_info(
			"process %u has more files that only bourdon-grant can open than it is asked for at once: %u a second, until then without names and unwind tables",
			tgid, GRANT_SHARE.per_second);
	return false;
}

/* Anything but a refusal of this one file pauses further requests. */
static void note_failure(struct mapped_files *files, int error)
{
	files->busy_pause_ns = error == -EBUSY ? grant_client_pause_ns(files->busy_pause_ns) : 0;
	files->pause_until_ns =
		clock_monotonic_ns() + (files->busy_pause_ns ? files->busy_pause_ns : PAUSE_NS);
	if (error == -EBUSY)
		return;
	if (!files->absent)
		log_info(
			"bourdon-grant at %s gives no files: %s; functions in deleted or unreadable files get no names",
			files->grant_socket, error == -EPERM ? GRANT_NO_FILES : strerror(-error));
	files->absent = true;
}

/*
 * Returns the descriptor or -errno: -EACCES if only this file is refused; -ETIMEDOUT if perhaps only this
 * file hangs (the process may hang); -EAGAIN if the deadline is too near; -EBUSY if bourdon-grant was asked too
 * often.
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
	if (fd == -EBUSY) {
		note_failure(files, fd);
		return fd;
	}
	own_count(files->own_counters, fd < 0 ? OWN_FILES_REFUSED : OWN_FILES_GRANTED);
	if (fd >= 0 || fd == -EACCES) {
		files->absent = false;
		files->busy_pause_ns = 0;
	} else {
		note_failure(files, fd);
	}
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

/*
 * After a refusal, asks for a file again only when a younger process maps it. A process whose requests are put
 * off does not keep an older one from the file.
 */
static int open_by_grants(struct mapped_files *files, const struct mappings *mappings,
			  struct mapped_file *file, uint64_t deadline_ns, struct stat *ret_at)
{
	struct mapping_user process = { .started_ns = UINT64_MAX };
	uint64_t refused_ns = file->refused_ns;
	bool is_put_off = false;
	int fd = -ESTALE;

	for (int i = 0; i < USERS_ASKED_MAX && may_ask(files) &&
			mappings_find_user(mappings, file, process.started_ns, &process) &&
			process.started_ns > file->refused_ns;
	     i++) {
		if (!take(files, process.tgid, process.started_ns)) {
			is_put_off = true;
			continue;
		}
		fd = open_by_grant(files, &process, file, deadline_ns, ret_at);
		if (fd != -EACCES && fd != -ESTALE && fd != -ETIMEDOUT)
			return fd;
		if (process.started_ns > refused_ns)
			refused_ns = process.started_ns;
	}
	if (is_put_off || is_pausing(files))
		return -EBUSY;
	file->refused_ns = refused_ns;
	return fd;
}

int mapped_files_open(struct mapped_files *files, const struct mappings *mappings, struct mapped_file *file,
		      uint64_t deadline_ns, struct stat *ret_at)
{
	int fd = open_by_path(file, ret_at);

	files->asked = false;
	if (fd < 0)
		fd = open_by_grants(files, mappings, file, deadline_ns, ret_at);
	if (fd == -EBUSY && !file->is_put_off)
		own_count(files->own_counters, OWN_FILES_DEFERRED);
	file->is_put_off = fd == -EBUSY;
	return fd;
}

bool mapped_files_must_wait(const struct mapped_files *files)
{
	return is_pausing(files) || grant_shares_are_spent(&files->shares, clock_monotonic_ns());
}

/* ---- perf maps ---- */

int mapped_files_ask_perf_map(struct mapped_files *files, uint32_t tgid, uint64_t started_ns,
			      uint64_t deadline_ns)
{
	const struct grant_request request = { .kind = GRANT_PERF_MAP,
					       .tgid = tgid,
					       .started_ns = started_ns };

	if (!may_ask(files))
		return is_pausing(files) ? -EBUSY : -ENOENT;
	return take(files, tgid, started_ns) ? ask(files, &request, deadline_ns) : -EBUSY;
}

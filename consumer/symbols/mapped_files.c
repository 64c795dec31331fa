/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbols/mapped_files.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/system/log.h"
#include "consumer/symbols/file_grant.h"
#include "consumer/watch/grant_client.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/sysmacros.h>

#define CALL_PATIENCE_NS (3 * CLOCK_SECOND_NS)
/* A request that took so long hangs, even if the deadline ends it. Others take milliseconds. */
#define HUNG_NS CLOCK_SECOND_NS
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

static bool take(struct mapped_files *files, const struct grant_target *target)
{
	if (grant_shares_take(&files->shares, target, clock_monotonic_ns()))
		return true;
	if (grant_shares_put_off(&files->shares) == DEFERRED_LOGGED && log_allowed(&files->deferred_limit, 1))
		log_info(
			"process %u has more files that only bourdon-grant can open than it is asked for at once: %u a second, until then without names and unwind tables",
			target->tgid, GRANT_SHARE.per_second);
	return false;
}

/*
 * Most likely the request hangs on its target, which may hold its mmap lock or have its files on a file system that
 * does not answer. So only this target pauses, and perhaps its user. A host without CPU time looks the same, but
 * not for long.
 */
static void note_hung(struct mapped_files *files, const struct grant_target *target)
{
	grant_shares_note_hung(&files->shares, clock_monotonic_ns());
	if (log_allowed(&files->hung_limit, 1))
		log_warning(
			"bourdon-grant did not answer for a file of process %u of uid %u: it is asked again in 1 to 32 s, until then without names and unwind tables",
			target->tgid, target->uid);
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
 * Returns the descriptor or -errno: -EACCES if only this file is refused; -EAGAIN if the deadline is too near;
 * -EBUSY if the target or bourdon-grant has to be left alone for a while. The target is the one that was last
 * taken.
 */
static int ask(struct mapped_files *files, const struct grant_request *request,
	       const struct grant_target *target, uint64_t deadline_ns)
{
	uint64_t began_ns = clock_monotonic_ns(), patience_ns = began_ns + CALL_PATIENCE_NS;
	int fd;

	if (began_ns >= deadline_ns)
		return -EAGAIN;
	files->asked = true;
	fd = file_grant_ask(files->grant_socket, request,
			    deadline_ns < patience_ns ? deadline_ns : patience_ns);
	if (fd == -ETIMEDOUT) {
		if (clock_monotonic_ns() < began_ns + HUNG_NS)
			return -EAGAIN;
		own_count(files->own_counters, OWN_FILES_REFUSED);
		note_hung(files, target);
		return -EBUSY;
	}
	if (fd == -EAGAIN) /* the backlog is full: others' requests hang */
		fd = -EBUSY;
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

/* Returns -EBUSY if the request has to wait. */
static int open_by_grant(struct mapped_files *files, const struct mapping_user *process,
			 const struct mapped_file *file, uint64_t deadline_ns, struct stat *ret_at)
{
	const struct grant_request request = { .kind = GRANT_ELF,
					       .tgid = process->tgid,
					       .started_ns = process->started_ns,
					       .begins = process->begins };
	const struct grant_target target = { process->tgid, process->uid, process->started_ns };
	_cleanup_close_ int fd = take(files, &target) ? ask(files, &request, &target, deadline_ns) : -EBUSY;
	/* the mapping may have been replaced meanwhile */
	int result = fd < 0 ? fd : check_mapped(fd, file, false, ret_at);

	return result < 0 ? result : TAKE_FD(fd);
}

/*
 * After a refusal, asks for a file again only when a younger process maps it. A process whose requests have to
 * wait does not keep an older one from the file.
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
		fd = open_by_grant(files, &process, file, deadline_ns, ret_at);
		if (fd == -EBUSY) {
			is_put_off = true;
			continue;
		}
		if (fd != -EACCES && fd != -ESTALE)
			return fd;
		if (process.started_ns > refused_ns)
			refused_ns = process.started_ns;
	}
	if (is_put_off || is_pausing(files))
		return -EBUSY;
	file->refused_ns = refused_ns;
	return fd;
}

static int open_held(const struct mapped_files *files, const struct mapped_file *file, struct stat *ret_at)
{
	_cleanup_close_ int fd = held_files_open(files->held, file);
	int result = fd < 0 ? fd : check_mapped(fd, file, false, ret_at);

	return result < 0 ? result : TAKE_FD(fd);
}

int mapped_files_open(struct mapped_files *files, const struct mappings *mappings, struct mapped_file *file,
		      uint64_t deadline_ns, struct stat *ret_at)
{
	int fd = open_by_path(file, ret_at);
	bool is_granted = false;

	files->asked = false;
	if (fd < 0 && files->held)
		fd = open_held(files, file, ret_at);
	if (fd < 0) {
		fd = open_by_grants(files, mappings, file, deadline_ns, ret_at);
		is_granted = true;
	}
	if (fd >= 0 && files->held)
		held_files_add(files->held, file, fd, is_granted);
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

int mapped_files_ask_perf_map(struct mapped_files *files, const struct grant_target *target,
			      uint64_t deadline_ns)
{
	const struct grant_request request = { .kind = GRANT_PERF_MAP,
					       .tgid = target->tgid,
					       .started_ns = target->started_ns };

	if (!may_ask(files))
		return is_pausing(files) ? -EBUSY : -ENOENT;
	return take(files, target) ? ask(files, &request, target, deadline_ns) : -EBUSY;
}

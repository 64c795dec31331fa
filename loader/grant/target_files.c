/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/grant/target_files.h"

#include "common/abi/targets.h"
#include "common/base/cleanup.h"
#include "common/policy/policy_denial.h"
#include "loader/grant/grant_pins.h"
#include "loader/grant/process_access.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

/* ---- may this process's file be handed out? ---- */

/* The programs sample it: it is a target, or a bystander that was sampled often. */
static const char *check_sampled(const char *pin_dir, const struct grant_request *request)
{
	struct target target;
	struct bystander bystander;
	int result = grant_pins_look_up(pin_dir, PIN_TARGETS, &request->tgid, &target, sizeof(target));

	if (!result && target.started_ns == request->started_ns)
		return NULL;
	if (!result || result == -ESRCH)
		result = grant_pins_look_up(pin_dir, PIN_BYSTANDERS, &request->tgid, &bystander,
					    sizeof(bystander));
	if (result == -ESRCH ||
	    (!result && (bystander.started_ns != request->started_ns || bystander.samples < BYSTANDER_OFTEN)))
		return "not a target";
	if (result == -ENOENT)
		return "not a target: nothing is loaded";
	return result < 0 ? strerror(-result) : NULL;
}

/*
 * No file in /proc tells of a process of root whether it is dumpable. The programs know it, so they are asked
 * to decide again.
 */
static const char *check_undumpable(const char *pin_dir, const struct grant_request *request)
{
	int result = grant_pins_walk(pin_dir);

	if (result < 0)
		return strerror(-result);
	return check_sampled(pin_dir, request) ? "root's policy denies this process, or no rule names it now"
					       : NULL;
}

/*
 * A process was not denied when it was sampled, and the programs drop a denied one only when it next runs.
 * Policy is checked again here, because the process may have changed its uid or comm since.
 */
static const char *check_denial(const char *pin_dir, const struct grant_request *request,
				const struct process_access *process)
{
	const __u32 zero = 0;
	struct process_status status;
	char comm[ABI_COMM_BYTES];
	struct policy policy;
	int result = grant_pins_look_up(pin_dir, PIN_POLICY, &zero, &policy, sizeof(policy));
	const char *refusal = result < 0 ? strerror(-result) : process_access_status(process, &status);
	bool denied;

	if (!refusal)
		refusal = process_access_comm(process, comm);
	if (refusal)
		return refusal;
	denied = policy_denies_comm(&policy, comm);
	for (size_t i = 0; i < PROCESS_UIDS; i++)
		denied |= policy_denies_uid(&policy, status.uids[i]);
	if (denied)
		return "root's policy denies this process";
	return policy.deny_undumpable ? check_undumpable(pin_dir, request) : NULL;
}

static const char *open_target(const char *pin_dir, const struct grant_request *request,
			       struct process_access *ret_process)
{
	const char *refusal = process_access_open(request->tgid, request->started_ns, ret_process);

	if (!refusal)
		refusal = check_sampled(pin_dir, request);
	return refusal ? refusal : check_denial(pin_dir, request, ret_process);
}

/* ---- opening a path without side effects ---- */

/*
 * Opening a device may act on it, and opening a FIFO may block. So the path is opened with O_PATH first, and
 * for reading only once it is known to be a regular file.
 */
static const char *check_regular(int place_fd, struct stat *ret_at)
{
	if (fstat(place_fd, ret_at))
		return strerror(errno);
	return S_ISREG(ret_at->st_mode) ? NULL : "not a regular file";
}

/* without O_NONBLOCK, open(2) waits for the holder of a lease on the file */
static const char *open_place(int place_fd, int *ret_fd)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", place_fd);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return strerror(errno);
	*ret_fd = fd;
	return NULL;
}

/* ---- ELF files ---- */

static const char *check_elf(int fd)
{
	char magic[SELFMAG];

	return pread(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) && !memcmp(magic, ELFMAG, SELFMAG)
		       ? NULL
		       : "not an ELF file";
}

/*
 * Through /proc/PID/map_files, which leads to the mapped file itself, even when its path was deleted or
 * replaced (proc(5)).
 */
static const char *open_mapped(const struct process_access *process, const struct process_mapping *mapping,
			       int *ret_fd)
{
	_cleanup_close_ int place_fd = -EBADF, fd = -EBADF;
	const char *refusal;
	char path[64];
	struct stat at;

	snprintf(path, sizeof(path), "map_files/%" PRIx64 "-%" PRIx64, mapping->begins, mapping->ends);
	place_fd = openat(process->directory_fd, path, O_PATH | O_CLOEXEC);
	if (place_fd < 0)
		return errno == ENOENT ? "no file is mapped there" : strerror(errno);
	refusal = check_regular(place_fd, &at);
	if (!refusal)
		refusal = open_place(place_fd, &fd);
	if (!refusal)
		refusal = check_elf(fd);
	if (!refusal)
		*ret_fd = TAKE_FD(fd);
	return refusal;
}

static const char *open_elf(const struct process_access *process, uint64_t begins, int *ret_fd)
{
	struct process_mapping mapping;
	const char *refusal = process_access_find_mapping(process, begins, &mapping);

	return refusal ? refusal : open_mapped(process, &mapping, ret_fd);
}

/* ---- perf maps ---- */

static int open_below(int directory_fd, const char *name, int flags)
{
	int fd = openat(directory_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC | flags);

	return fd < 0 ? -errno : fd;
}

/* STATX_MNT_ID: Linux 5.8. */
static int find_mount(int fd, uint64_t *ret_mount)
{
	struct statx at;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &at))
		return -errno;
	*ret_mount = at.stx_mnt_id;
	return at.stx_mask & STATX_MNT_ID ? 0 : -ENOTSUP;
}

/* With O_PATH and O_NOFOLLOW a symbolic link is opened itself, and not refused. */
static int check_place(int tmp_fd, int place_fd)
{
	uint64_t of_tmp = 0, of_place = 0;
	struct stat at;
	int result = find_mount(tmp_fd, &of_tmp);

	if (!result)
		result = find_mount(place_fd, &of_place);
	if (result < 0)
		return result;
	if (of_tmp != of_place)
		return -EXDEV;
	if (fstat(place_fd, &at))
		return -errno;
	return S_ISLNK(at.st_mode) ? -ELOOP : 0;
}

/*
 * /tmp/perf-ID.map in the process's own mount namespace, one component at a time, so that no path is followed.
 * The process may have mounted anything there, but nothing may be mounted over the file itself.
 */
static int find_perf_map(const struct process_access *process, uint32_t id)
{
	_cleanup_close_ int root_fd = -EBADF, tmp_fd = -EBADF, place_fd = -EBADF;
	char name[32];
	int result;

	root_fd = openat(process->directory_fd, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root_fd < 0)
		return -errno;
	tmp_fd = open_below(root_fd, "tmp", O_DIRECTORY);
	if (tmp_fd < 0)
		return tmp_fd;
	snprintf(name, sizeof(name), "perf-%" PRIu32 ".map", id);
	place_fd = open_below(tmp_fd, name, 0);
	if (place_fd < 0)
		return place_fd;
	result = check_place(tmp_fd, place_fd);
	return result < 0 ? result : TAKE_FD(place_fd);
}

/*
 * The file may belong to root: an attaching agent runs as root. A mount or a hard link may also make another
 * file of root appear here, so a file of root must be readable for everybody.
 */
static const char *check_perf_map(const struct stat *at, uid_t uid)
{
	if (at->st_uid != uid && (at->st_uid || !(at->st_mode & S_IROTH)))
		return "the perf map belongs to another user";
	if (at->st_mode & (S_IWGRP | S_IWOTH))
		return "others may write the perf map";
	if (at->st_nlink != 1)
		return "the perf map has more than one link";
	return at->st_size > (off_t)PERF_MAP_BYTES_MAX ? "the perf map is larger than 64 MiB" : NULL;
}

static const char *explain_perf_map(int error)
{
	switch (error) {
	case -ENOENT:
		return "the process has no perf map";
	case -ELOOP:
	case -EXDEV:
	case -ENOTDIR:
		return "the perf map is behind a symbolic link or a mount";
	default:
		return strerror(-error);
	}
}

static const char *open_perf_map(const struct process_access *process, int *ret_fd)
{
	_cleanup_close_ int place_fd = -EBADF;
	struct process_status status;
	const char *refusal = process_access_status(process, &status);
	struct stat at;

	if (refusal)
		return refusal;
	place_fd = find_perf_map(process, status.innermost_id);
	if (place_fd < 0)
		return explain_perf_map(place_fd);
	refusal = check_regular(place_fd, &at);
	if (!refusal)
		refusal = check_perf_map(&at, status.uids[PROCESS_EFFECTIVE]);
	return refusal ? refusal : open_place(place_fd, ret_fd);
}

/* ---- either ---- */

/*
 * Passes the file on only if the process is still alive, so that the mapping was this process's, and only if
 * policy still allows it: an exec may have changed the uid or the comm meanwhile.
 */
const char *target_files_open(const char *pin_dir, const struct grant_request *request, int *ret_fd)
{
	_cleanup_(process_access_close) struct process_access process;
	const char *refusal = open_target(pin_dir, request, &process);
	_cleanup_close_ int fd = -EBADF;

	if (!refusal)
		refusal = request->kind == GRANT_ELF ? open_elf(&process, request->begins, &fd)
						     : open_perf_map(&process, &fd);
	if (!refusal)
		refusal = check_denial(pin_dir, request, &process);
	if (!refusal)
		refusal = process_access_check(&process);
	if (!refusal)
		*ret_fd = TAKE_FD(fd);
	return refusal;
}

/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/health/confinement.h"

#include "common/base/cleanup.h"
#include "common/store/schema.h"
#include "common/system/files.h"
#include "common/system/options.h"
#include "common/text/plural.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>

static const char start_it[] = "start bourdond";

/* ---- finding the daemon ---- */

struct lock_file {
	unsigned int major, minor; /* of the file system, as /proc/locks names it */
	ino_t inode;
	uid_t owner;
};

/*
 * The device of the mount that holds the file, from a line such as "36 35 98:0 /mnt1 /mnt2 rw ..." (proc(5)).
 * btrfs reports another one in stat(2).
 */
static bool find_device(const struct machine *machine, unsigned long long mount, struct lock_file *lock)
{
	_cleanup_free_ char *mounts = NULL;
	unsigned int major, minor;
	unsigned long long id;
	size_t bytes;

	if (file_read_text(machine->root_fd, "proc/self/mountinfo", 16 << 20, &mounts, &bytes))
		return false;
	for (const char *line = mounts; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (sscanf(line, "%llu %*u %u:%u", &id, &major, &minor) != 3 || id != mount)
			continue;
		lock->major = major;
		lock->minor = minor;
		return true;
	}
	return false;
}

/* 0 or -errno. */
static int find_lock_file(const struct machine *machine, const char *state_dir, struct lock_file *ret_lock)
{
	_cleanup_free_ char *path = NULL;
	struct statx at;

	if (asprintf(&path, "%s/" STORE_LOCK_FILE, state_dir) < 0)
		return -ENOMEM;
	if (statx(AT_FDCWD, path, 0, STATX_BASIC_STATS | STATX_MNT_ID, &at))
		return -errno;
	*ret_lock = (struct lock_file){ at.stx_dev_major, at.stx_dev_minor, at.stx_ino, at.stx_uid };
	if (at.stx_mask & STATX_MNT_ID)
		find_device(machine, at.stx_mnt_id, ret_lock);
	return 0;
}

/* A line is "1: FLOCK ADVISORY WRITE 1234 08:01:5678 0 EOF" (proc(5)). 0: none. */
static pid_t find_holder(const char *locks, const struct lock_file *lock)
{
	for (const char *line = locks; line; line = strchr(line, '\n')) {
		unsigned long long inode;
		unsigned int major, minor;
		int pid;

		line += *line == '\n';
		if (sscanf(line, "%*u: FLOCK %*s WRITE %d %x:%x:%llu", &pid, &major, &minor, &inode) == 4 &&
		    major == lock->major && minor == lock->minor && inode == lock->inode && pid > 0)
			return pid;
	}
	return 0;
}

/* The rest of the line that begins with `key`, or NULL. */
static const char *field(const char *text, const char *key)
{
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, key, strlen(key)))
			return line + strlen(key) + strspn(line + strlen(key), " \t");
	}
	return NULL;
}

static unsigned long number_of(const char *text, const char *key, int base, unsigned long missing)
{
	const char *value = field(text, key);

	return value ? strtoul(value, NULL, base) : missing;
}

static bool runs_as(const struct machine *machine, pid_t pid, uid_t uid)
{
	_cleanup_free_ char *status = NULL;
	char path[64];
	size_t bytes;

	snprintf(path, sizeof(path), "proc/%d/status", pid);
	return !file_read_text(machine->root_fd, path, 65536, &status, &bytes) &&
	       number_of(status, "Uid:", 10, UINT_MAX) == uid;
}

/* As confinement_find_daemon(). *ret_stranger: a process of another user that holds the lock, or 0. */
static pid_t find_daemon(const struct machine *machine, const char *state_dir, pid_t *ret_stranger)
{
	_cleanup_free_ char *locks = NULL;
	struct lock_file lock = { 0 };
	int result = find_lock_file(machine, state_dir, &lock);
	size_t bytes;
	pid_t pid;

	*ret_stranger = 0;
	if (result == -ENOENT)
		return 0;
	if (!result)
		result = file_read_text(machine->root_fd, "proc/locks", 16 << 20, &locks, &bytes);
	if (result < 0)
		return result;
	pid = find_holder(locks, &lock);
	if (!pid || runs_as(machine, pid, lock.owner))
		return pid;
	*ret_stranger = pid;
	return 0;
}

pid_t confinement_find_daemon(const struct machine *machine, const char *state_dir)
{
	pid_t stranger;

	return find_daemon(machine, state_dir, &stranger);
}

/* ---- judging the threads ---- */

struct judgement {
	unsigned int threads, processes;
	unsigned int uid;
	unsigned long locked_kib;
	char wrong[160]; /* empty: none found */
};

static const char *judge_status(const char *status)
{
	static const char *const sets[] = { "CapInh:", "CapPrm:", "CapEff:", "CapAmb:" };
	const char *uids = field(status, "Uid:");
	unsigned int uid[4];

	if (!uids || sscanf(uids, "%u %u %u %u", &uid[0], &uid[1], &uid[2], &uid[3]) != 4 || !uid[0] ||
	    !uid[1] || !uid[2] || !uid[3])
		return "is root";
	for (size_t i = 0; i < ARRAY_SIZE(sets); i++)
		if (number_of(status, sets[i], 16, 1))
			return "has capabilities";
	if (number_of(status, "NoNewPrivs:", 10, 0) != 1)
		return "may gain privileges";
	if (number_of(status, "Seccomp:", 10, 0) != 2)
		return "has no system-call filter";
	return NULL;
}

static void judge_process(const struct machine *machine, pid_t pid, struct judgement *judgement)
{
	char directory[64];
	_cleanup_dir_ DIR *threads = NULL;
	struct dirent *entry;
	int fd;

	snprintf(directory, sizeof(directory), "proc/%d/task", pid);
	fd = openat(machine->root_fd, directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	threads = fd < 0 ? NULL : fdopendir(fd);
	judgement->processes += threads != NULL;
	while (threads && (entry = readdir(threads))) {
		_cleanup_free_ char *status = NULL;
		char path[64];
		const char *wrong;
		size_t bytes;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%.20s/status", entry->d_name);
		if (file_read_text(dirfd(threads), path, 65536, &status, &bytes))
			continue; /* the thread has ended */
		judgement->threads++;
		judgement->uid = (unsigned int)number_of(status, "Uid:", 10, 0);
		if (number_of(status, "VmLck:", 10, 0) > judgement->locked_kib)
			judgement->locked_kib = number_of(status, "VmLck:", 10, 0);
		wrong = judge_status(status);
		if (wrong && !judgement->wrong[0])
			snprintf(judgement->wrong, sizeof(judgement->wrong), "thread %.20s of process %d %s",
				 entry->d_name, pid, wrong);
	}
}

static bool is_child(const struct machine *machine, const char *process, pid_t parent)
{
	_cleanup_free_ char *status = NULL;
	char path[64];
	size_t bytes;

	snprintf(path, sizeof(path), "proc/%.20s/status", process);
	return !file_read_text(machine->root_fd, path, 65536, &status, &bytes) &&
	       number_of(status, "PPid:", 10, 0) == (unsigned long)parent;
}

/*
 * Checks a process and its descendants: the daemon, the spawner, the symbolizers. `depth` ends the recursion
 * in a tree that changes meanwhile.
 */
static void judge_family(const struct machine *machine, pid_t pid, int depth, struct judgement *judgement)
{
	int fd = openat(machine->root_fd, "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_dir_ DIR *processes = fd < 0 ? NULL : fdopendir(fd);
	unsigned long long child;
	struct dirent *entry;

	judge_process(machine, pid, judgement);
	while (processes && depth && (entry = readdir(processes)))
		if (!options_number(entry->d_name, 1, INT_MAX, &child) &&
		    is_child(machine, entry->d_name, pid))
			judge_family(machine, (pid_t)child, depth - 1, judgement);
}

void confinement_check(const struct machine *machine, const char *state_dir, struct findings *findings)
{
	pid_t stranger, pid = find_daemon(machine, state_dir, &stranger);
	struct judgement judgement = { 0 };

	if (pid < 0) {
		findings_add(findings, GRADE_UNKNOWN, "daemon", "become a member of its group", "%s: %s",
			     state_dir, strerror(-pid));
		return;
	}
	if (stranger) {
		findings_add(findings, GRADE_FAILED, "daemon", "end it, and start bourdond",
			     "process %d holds the lock of the database in %s, but is not of its owner",
			     stranger, state_dir);
		return;
	}
	if (!pid) {
		findings_add(findings, GRADE_FAILED, "daemon", start_it, "no bourdond has its database in %s",
			     state_dir);
		return;
	}
	findings_ok(findings, "daemon", "process %d", pid);
	judge_family(machine, pid, 2, &judgement);
	if (judgement.wrong[0] || !judgement.threads)
		findings_add(findings, GRADE_FAILED, "confinement", "stop it, and check how it was started",
			     "%s", judgement.threads ? judgement.wrong : "cannot read its threads in /proc");
	else
		findings_ok(findings, "confinement",
			    "%u %s of %u %s: uid %u, no capability, no new privileges, seccomp",
			    judgement.threads, plural(judgement.threads, "thread", "threads"),
			    judgement.processes, plural(judgement.processes, "process", "processes"),
			    judgement.uid);
	if (judgement.locked_kib)
		findings_ok(findings, "locked memory", "%lu KiB", judgement.locked_kib);
	else
		findings_add(
			findings, GRADE_WARNING, "locked memory",
			"LimitMEMLOCK=128M in its unit; without a unit, 'ulimit -l 131072' before it starts",
			"none: when memory is short, bourdond can be paged out and lose samples");
}

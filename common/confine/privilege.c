/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/confine/privilege.h"

#include "common/base/cleanup.h"
#include "common/system/files.h"
#include "common/system/log.h"

#include <cap-ng.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Enough for all that the consumer ever maps but rings: with less, a later mapping would fail for its size.
 */
#define LOCKED_BYTES_ENOUGH (128UL << 20)
#define STACK_BYTES_NEEDED (256UL << 10)

const char *const locked_memory_names[] = {
	[LOCKED_NONE] = "none",
	[LOCKED_PRESENT] = "present",
	[LOCKED_ALL] = "all",
};

/* The group that root gave the pins to, which is not that of the database. Returns how many groups it stores. */
static size_t find_pins_group(const char *pin_dir, gid_t own, gid_t *ret_gid)
{
	struct stat at;

	if (stat(pin_dir, &at) || !file_is_roots_alone(&at) || !at.st_gid || at.st_gid == own)
		return 0;
	*ret_gid = at.st_gid;
	return 1;
}

int privilege_become(const char *user, const char *group, const char *pin_dir)
{
	uid_t uid;
	gid_t gid, pins_gid;
	int result;

	if (geteuid())
		return 0;
	result = account_user(user, &uid, &gid);
	if (!result)
		result = account_group(group, &gid);
	if (result < 0)
		return log_failed(
			result,
			"user %s or group %s: %s; create them, or name others with --user and --group", user,
			group, result == -ENOENT ? "no such account" : strerror(-result));
	if (!uid)
		return log_failed(-EINVAL, "user %s is root: name an unprivileged user with --user", user);
	capng_clear(CAPNG_SELECT_BOTH);
	capng_updatev(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, CAP_DAC_READ_SEARCH, CAP_IPC_LOCK, -1);
	if (setgroups(find_pins_group(pin_dir, gid, &pins_gid), &pins_gid))
		return log_failed(-EPERM, "cannot become a member of the pins' group: %s", strerror(errno));
	result = capng_change_id((int)uid, (int)gid, CAPNG_CLEAR_BOUNDING);
	if (result)
		return log_failed(-EPERM, "cannot become user %s, group %s: libcap-ng error %d", user, group,
				  result);
	return 0;
}

void privilege_raise_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE,
		  &limit); /* the soft one still holds otherwise, and says so when it is reached */
}

/* A locked stack that has to grow beyond RLIMIT_MEMLOCK is a SIGSEGV: grow it first. */
static void grow_stack(void)
{
	volatile char space[STACK_BYTES_NEEDED];

	for (size_t i = 0; i < sizeof(space); i += 4096)
		space[i] = 0;
}

bool privilege_lock_present(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_MEMLOCK, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_MEMLOCK, &limit);
	}
	grow_stack();
	if (!mlockall(MCL_CURRENT | MCL_ONFAULT))
		return true;
	log_warning("memory is not locked, so a thrashing host may stall bourdond: %s (RLIMIT_MEMLOCK); %s",
		    strerror(errno), LOCKED_MEMORY_REMEDY);
	return false;
}

bool privilege_lock_future(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur < LOCKED_BYTES_ENOUGH) {
		log_info("only memory mapped at the start is locked: RLIMIT_MEMLOCK is below %lu MiB; %s",
			 LOCKED_BYTES_ENOUGH >> 20, LOCKED_MEMORY_REMEDY);
		return false;
	}
	if (!mlockall(MCL_FUTURE | MCL_ONFAULT)) /* leaves as it is what is locked already */
		return true;
	log_warning("only memory mapped at the start is locked: %s", strerror(errno));
	return false;
}

/* A process that has become another user does not own its files in /proc until it may be looked into. */
void privilege_offer_to_die(void)
{
	static const char most[] = "1000";
	_cleanup_close_ int fd = -EBADF;

	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, most, strlen(most)) < 0)
		log_warning("cannot set oom_score_adj: %s; the OOM killer may choose bourdond first",
			    strerror(errno));
}

int privilege_drop_all(void)
{
	capng_clear(CAPNG_SELECT_ALL);
	/* without CAP_SETPCAP the bounding set stays; no_new_privs makes it mean nothing */
	if (capng_apply(CAPNG_SELECT_CAPS) || prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0))
		return log_failed(-EPERM, "cannot drop capabilities: %s", strerror(errno));
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return log_failed(-EPERM, "cannot set no_new_privs: %s", strerror(errno));
	/*
	 * another process of this user may not look into it, and no core has what it knows of other processes
	 */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		return log_failed(-EPERM, "prctl(PR_SET_DUMPABLE, 0): %s", strerror(errno));
	if (!geteuid() || !getuid())
		return log_failed(-EPERM, "still root: refusing to run");
	return 0;
}

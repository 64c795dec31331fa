/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that the doctor finds the daemon by its lock, and that one thread of one child with too little
 * confinement decides the verdict. A directory stands for /proc.
 */
#include "common/base/cleanup.h"
#include "common/store/schema.h"
#include "report/health/confinement.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define STATUS(parent, uids, effective, ambient, new_privs, seccomp)                                         \
	"Name:\tbourdond\nPPid:\t" parent "\nUid:\t" uids                                                    \
	"\nVmLck:\t    512 kB\nCapInh:\t0000000000000000\n"                                                  \
	"CapPrm:\t0000000000000000\nCapEff:\t" effective "\nCapBnd:\t000001ffffffffff\nCapAmb:\t" ambient    \
	"\nNoNewPrivs:\t" new_privs "\nSeccomp:\t" seccomp "\nSeccomp_filters:\t1\n"
#define NONE "0000000000000000"
#define NOBODY "65534\t65534\t65534\t65534"
#define CONFINED(parent) STATUS(parent, NOBODY, NONE, NONE, "1", "2")

struct confinement_case {
	const char *what, *status; /* of the second thread of the child */
	enum grade grade;
	const char *found;
};

static const struct confinement_case confinement_cases[] = {
	{ "all is well", CONFINED("700"), GRADE_OK, "4 threads of 2 processes: uid 65534" },
	{ "root", STATUS("700", "0\t0\t0\t0", NONE, NONE, "1", "2"), GRADE_FAILED,
	  "thread 703 of process 702 is root" },
	{ "root in one of four ways", STATUS("700", "65534\t65534\t0\t65534", NONE, NONE, "1", "2"),
	  GRADE_FAILED, "is root" },
	{ "a capability", STATUS("700", NOBODY, "0000000000000004", NONE, "1", "2"), GRADE_FAILED,
	  "has capabilities" },
	{ "an ambient one", STATUS("700", NOBODY, NONE, "0000000000000004", "1", "2"), GRADE_FAILED,
	  "has capabilities" },
	{ "new privileges", STATUS("700", NOBODY, NONE, NONE, "0", "2"), GRADE_FAILED, "gain privileges" },
	{ "no filter", STATUS("700", NOBODY, NONE, NONE, "1", "0"), GRADE_FAILED, "no system-call filter" },
	{ "no status at all", "", GRADE_FAILED, "is root" },
};

/*
 * A daemon 700, which holds the lock of `root`/state, and its child 702; both have two threads. Process 59
 * holds a lock with the same inode number on another device. The lock file belongs to nobody (65534).
 */
static struct machine make_machine(const char *root, const char *last_status, const char *daemon_status)
{
	_cleanup_free_ char *lock = path_join(root, "state/" STORE_LOCK_FILE);
	struct machine machine = { .root_fd = -EBADF };
	char locks[512], mounts[256];
	unsigned long long inode;
	struct statx at;

	file_put_below(root, "state/" STORE_LOCK_FILE, "");
	ck_assert_int_eq(geteuid() ? 0 : chown(lock, 65534, (gid_t)-1), 0); /* another user's than root's */
	ck_assert_int_eq(statx(AT_FDCWD, lock, 0, STATX_BASIC_STATS | STATX_MNT_ID, &at), 0);
	inode = at.stx_ino;
	/* as for btrfs: a device that stat(2) does not name */
	snprintf(mounts, sizeof(mounts),
		 "1%llu 1 0:30 / /x rw - tmpfs x rw\n%llu 1 0:31 / / rw - btrfs x rw\n",
		 (unsigned long long)at.stx_mnt_id, (unsigned long long)at.stx_mnt_id);
	file_put_below(root, "proc/self/mountinfo", mounts);
	snprintf(locks, sizeof(locks),
		 "1: POSIX  ADVISORY  READ 55 00:1f:%llu 124 124\n2: FLOCK  ADVISORY  READ 56 00:1f:%llu 0 "
		 "EOF\n"
		 "2: -> FLOCK  ADVISORY  WRITE 58 00:1f:%llu 0 EOF\n3: FLOCK  ADVISORY  WRITE 57 00:1f:1 0 "
		 "EOF\n"
		 "4: FLOCK  ADVISORY  WRITE 59 00:1e:%llu 0 EOF\n"
		 "5: FLOCK  ADVISORY  WRITE 700 00:1f:%llu 0 EOF\n",
		 inode, inode, inode, inode, inode);
	file_put_below(root, "proc/locks", locks);
	file_put_below(root, "proc/59/status", CONFINED("1"));
	file_put_below(root, "proc/700/status", daemon_status);
	file_put_below(root, "proc/700/task/700/status", CONFINED("1"));
	file_put_below(root, "proc/700/task/701/status", CONFINED("1"));
	file_put_below(root, "proc/702/status", CONFINED("700"));
	file_put_below(root, "proc/702/task/702/status", CONFINED("700"));
	file_put_below(root, "proc/702/task/703/status", last_status);
	file_put_below(root, "proc/800/status", STATUS("1", "0\t0\t0\t0", NONE, NONE, "0", "0"));
	file_put_below(root, "proc/800/task/800/status", STATUS("1", "0\t0\t0\t0", NONE, NONE, "0", "0"));
	machine.root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(machine.root_fd, 0);
	return machine;
}

START_TEST(confinement)
{
	SKIP_IF(no_root());
	const struct confinement_case *one = &confinement_cases[_i];
	_cleanup_free_ char *root = directory_make(), *state = path_join(root, "state");
	struct machine machine = make_machine(root, one->status, CONFINED("1"));
	struct findings findings = { 0 };

	ck_assert_int_eq(confinement_find_daemon(&machine, state), 700);
	confinement_check(&machine, state, &findings);
	machine_close(&machine);
	ck_assert_int_eq(finding_find(&findings, "confinement")->grade, one->grade);
	ck_assert_msg(strstr(finding_find(&findings, "confinement")->found, one->found), "%s: %s", one->what,
		      finding_find(&findings, "confinement")->found);
	ck_assert_str_eq(finding_find(&findings, "locked memory")->found, "512 KiB");
}
END_TEST

START_TEST(a_process_of_another_user_that_holds_the_lock_is_not_the_daemon)
{
	SKIP_IF(no_root());
	_cleanup_free_ char *root = directory_make(), *state = path_join(root, "state");
	struct machine machine = make_machine(root, CONFINED("700"),
					      STATUS("1", "1000\t1000\t1000\t1000", NONE, NONE, "1", "2"));
	struct findings findings = { 0 };

	ck_assert_int_eq(confinement_find_daemon(&machine, state), 0);
	confinement_check(&machine, state, &findings);
	machine_close(&machine);
	ck_assert_int_eq(finding_find(&findings, "daemon")->grade, GRADE_FAILED);
	ck_assert(strstr(finding_find(&findings, "daemon")->found, "process 700 holds the lock"));
	ck_assert_uint_eq(findings.count, 1);
}
END_TEST

START_TEST(no_state_directory_is_no_daemon)
{
	_cleanup_free_ char *root = directory_make(), *state = path_join(root, "elsewhere");
	struct machine machine = make_machine(root, CONFINED("700"), CONFINED("1"));

	ck_assert_int_eq(confinement_find_daemon(&machine, state), 0);
	machine_close(&machine);
}
END_TEST

SUITE(confinement)
{
	Suite *suite = suite_create("confinement");
	TCase *tests = tcase_create("confinement");

	tcase_add_loop_test(tests, confinement, 0, ARRAY_SIZE(confinement_cases));
	tcase_add_test(tests, a_process_of_another_user_that_holds_the_lock_is_not_the_daemon);
	tcase_add_test(tests, no_state_directory_is_no_daemon);
	suite_add_tcase(suite, tests);
	return suite;
}

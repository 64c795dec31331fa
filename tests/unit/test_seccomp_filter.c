/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs the compiled system-call policies of x86-64 and aarch64 on made-up calls, without the kernel: what libseccomp
 * makes of each policy judges the same calls alike on both, and kills for all others. test_seccomp.c tests what the
 * kernel does with those of this machine.
 */
#include "common/base/cleanup.h"
#include "common/confine/seccomp.h"
#include "policy/bourdon-grant-aarch64.h"
#include "policy/bourdon-grant-x86_64.h"
#include "policy/bourdon-grant.h"
#include "policy/bourdon-load-aarch64.h"
#include "policy/bourdon-load-x86_64.h"
#include "policy/bourdon-load.h"
#include "policy/bourdond-aarch64.h"
#include "policy/bourdond-x86_64.h"
#include "policy/bourdond.h"
#include "policy/spawner-aarch64.h"
#include "policy/spawner-x86_64.h"
#include "policy/spawner.h"
#include "policy/symbolizer-aarch64.h"
#include "policy/symbolizer-x86_64.h"
#include "policy/symbolizer.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/bpf.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

enum architecture { X86_64, AARCH64, ARCHITECTURES };
static const uint32_t audit_arch[ARCHITECTURES] = { AUDIT_ARCH_X86_64, AUDIT_ARCH_AARCH64 };

enum policy_name { BOURDOND, SPAWNER, SYMBOLIZER, GRANT, LOAD, POLICIES };

static const struct seccomp_policy *const policies[POLICIES][ARCHITECTURES] = {
	[BOURDOND] = { &bourdond_x86_64_policy, &bourdond_aarch64_policy },
	[SPAWNER] = { &spawner_x86_64_policy, &spawner_aarch64_policy },
	[SYMBOLIZER] = { &symbolizer_x86_64_policy, &symbolizer_aarch64_policy },
	[GRANT] = { &bourdon_grant_x86_64_policy, &bourdon_grant_aarch64_policy },
	[LOAD] = { &bourdon_load_x86_64_policy, &bourdon_load_aarch64_policy },
};

static const struct seccomp_policy *const installed[POLICIES] = {
	[BOURDOND] = &bourdond_policy,   [SPAWNER] = &spawner_policy,   [SYMBOLIZER] = &symbolizer_policy,
	[GRANT] = &bourdon_grant_policy, [LOAD] = &bourdon_load_policy,
};

#define KILLED SECCOMP_RET_KILL_PROCESS
#define PASSES SECCOMP_RET_ALLOW
#define FAILS(error) (SECCOMP_RET_ERRNO | (error))
#define X32_BIT 0x40000000U
#define NUMBERS_MOST 2048U /* more calls than any architecture has */
#define NOWHERE (-1)
#define FORK_FLAGS ((uint64_t)CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD) /* as libc's fork() */

/*
 * The numbers of the calls that the policies name, and of others that a policy must not let through: of
 * arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h.
 */
static const struct call {
	const char *name;
	int numbers[ARCHITECTURES];
} calls[] = {
	{ "accept4", { 288, 242 } },
	{ "access", { 21, NOWHERE } },
	{ "add_key", { 248, 217 } },
	{ "bind", { 49, 200 } },
	{ "bpf", { 321, 280 } },
	{ "brk", { 12, 214 } },
	{ "capget", { 125, 90 } },
	{ "capset", { 126, 91 } },
	{ "chmod", { 90, NOWHERE } },
	{ "chown", { 92, NOWHERE } },
	{ "chroot", { 161, 51 } },
	{ "clock_gettime", { 228, 113 } },
	{ "clock_nanosleep", { 230, 115 } },
	{ "clock_settime", { 227, 112 } },
	{ "clone", { 56, 220 } },
	{ "clone3", { 435, 435 } },
	{ "close", { 3, 57 } },
	{ "connect", { 42, 203 } },
	{ "creat", { 85, NOWHERE } },
	{ "delete_module", { 176, 106 } },
	{ "dup3", { 292, 24 } },
	{ "epoll_create1", { 291, 20 } },
	{ "epoll_ctl", { 233, 21 } },
	{ "epoll_pwait", { 281, 22 } },
	{ "epoll_pwait2", { 441, 441 } },
	{ "epoll_wait", { 232, NOWHERE } },
	{ "execve", { 59, 221 } },
	{ "execveat", { 322, 281 } },
	{ "exit", { 60, 93 } },
	{ "exit_group", { 231, 94 } },
	{ "faccessat", { 269, 48 } },
	{ "faccessat2", { 439, 439 } },
	{ "fchmod", { 91, 52 } },
	{ "fchmodat", { 268, 53 } },
	{ "fchown", { 93, 55 } },
	{ "fchownat", { 260, 54 } },
	{ "fcntl", { 72, 25 } },
	{ "fdatasync", { 75, 83 } },
	{ "finit_module", { 313, 273 } },
	{ "flock", { 73, 32 } },
	{ "fork", { 57, NOWHERE } },
	{ "fstat", { 5, 80 } },
	{ "fstatfs", { 138, 44 } },
	{ "fsync", { 74, 82 } },
	{ "ftruncate", { 77, 46 } },
	{ "futex", { 202, 98 } },
	{ "futex_waitv", { 449, 449 } },
	{ "getdents64", { 217, 61 } },
	{ "geteuid", { 107, 175 } },
	{ "getpid", { 39, 172 } },
	{ "getppid", { 110, 173 } },
	{ "getrandom", { 318, 278 } },
	{ "getsockopt", { 55, 209 } },
	{ "gettid", { 186, 178 } },
	{ "gettimeofday", { 96, 169 } },
	{ "getuid", { 102, 174 } },
	{ "init_module", { 175, 105 } },
	{ "inotify_add_watch", { 254, 27 } },
	{ "inotify_rm_watch", { 255, 28 } },
	{ "io_uring_enter", { 426, 426 } },
	{ "io_uring_setup", { 425, 425 } },
	{ "ioctl", { 16, 29 } },
	{ "kexec_load", { 246, 104 } },
	{ "keyctl", { 250, 219 } },
	{ "kill", { 62, 129 } },
	{ "landlock_create_ruleset", { 444, 444 } },
	{ "link", { 86, NOWHERE } },
	{ "linkat", { 265, 37 } },
	{ "listen", { 50, 201 } },
	{ "lseek", { 8, 62 } },
	{ "madvise", { 28, 233 } },
	{ "membarrier", { 324, 283 } },
	{ "memfd_create", { 319, 279 } },
	{ "mkdir", { 83, NOWHERE } },
	{ "mkdirat", { 258, 34 } },
	{ "mknodat", { 259, 33 } },
	{ "mmap", { 9, 222 } },
	{ "mount", { 165, 40 } },
	{ "mprotect", { 10, 226 } },
	{ "mremap", { 25, 216 } },
	{ "munmap", { 11, 215 } },
	{ "name_to_handle_at", { 303, 264 } },
	{ "newfstatat", { 262, 79 } },
	{ "open", { 2, NOWHERE } },
	{ "open_by_handle_at", { 304, 265 } },
	{ "openat", { 257, 56 } },
	{ "openat2", { 437, 437 } },
	{ "perf_event_open", { 298, 241 } },
	{ "personality", { 135, 92 } },
	{ "pidfd_getfd", { 438, 438 } },
	{ "pidfd_open", { 434, 434 } },
	{ "pivot_root", { 155, 41 } },
	{ "poll", { 7, NOWHERE } },
	{ "ppoll", { 271, 73 } },
	{ "prctl", { 157, 167 } },
	{ "pread64", { 17, 67 } },
	{ "prlimit64", { 302, 261 } },
	{ "process_vm_readv", { 310, 270 } },
	{ "process_vm_writev", { 311, 271 } },
	{ "ptrace", { 101, 117 } },
	{ "pwrite64", { 18, 68 } },
	{ "read", { 0, 63 } },
	{ "readlink", { 89, NOWHERE } },
	{ "readlinkat", { 267, 78 } },
	{ "reboot", { 169, 142 } },
	{ "recvmsg", { 47, 212 } },
	{ "rename", { 82, NOWHERE } },
	{ "renameat", { 264, 38 } },
	{ "renameat2", { 316, 276 } },
	{ "restart_syscall", { 219, 128 } },
	{ "rmdir", { 84, NOWHERE } },
	{ "rseq", { 334, 293 } },
	{ "rt_sigprocmask", { 14, 135 } },
	{ "rt_sigreturn", { 15, 139 } },
	{ "sched_getaffinity", { 204, 123 } },
	{ "seccomp", { 317, 277 } },
	{ "sendmsg", { 46, 211 } },
	{ "sendto", { 44, 206 } },
	{ "set_robust_list", { 273, 99 } },
	{ "setgid", { 106, 144 } },
	{ "setns", { 308, 268 } },
	{ "setpriority", { 141, 140 } },
	{ "settimeofday", { 164, 170 } },
	{ "setuid", { 105, 146 } },
	{ "socket", { 41, 198 } },
	{ "socketpair", { 53, 199 } },
	{ "statfs", { 137, 43 } },
	{ "statx", { 332, 291 } },
	{ "swapon", { 167, 224 } },
	{ "symlink", { 88, NOWHERE } },
	{ "symlinkat", { 266, 36 } },
	{ "sysinfo", { 99, 179 } },
	{ "tgkill", { 234, 131 } },
	{ "time", { 201, NOWHERE } },
	{ "timerfd_settime", { 286, 86 } },
	{ "tkill", { 200, 130 } },
	{ "umount2", { 166, 39 } },
	{ "uname", { 63, 160 } },
	{ "unlink", { 87, NOWHERE } },
	{ "unlinkat", { 263, 35 } },
	{ "unshare", { 272, 97 } },
	{ "userfaultfd", { 323, 282 } },
	{ "vfork", { 58, NOWHERE } },
	{ "wait4", { 61, 260 } },
	{ "write", { 1, 64 } },
	{ "writev", { 20, 66 } },
};

static const struct call *find_call(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (!strcmp(calls[i].name, name))
			return &calls[i];
	ck_abort_msg("no call %s in the table", name);
}

/* ---- the kernel's side ---- */

/*
 * As the kernel checks a filter and runs it (kernel/seccomp.c, net/core/filter.c): only words of the call can be
 * loaded, every jump leads forward to an instruction, and each path ends with a return. libseccomp makes no other
 * instructions than these.
 */
static uint32_t evaluate(const struct seccomp_policy *policy, const struct seccomp_data *call)
{
	uint32_t word = 0;

	for (size_t at = 0; at < policy->length; at++) {
		const struct sock_filter *step = &policy->code[at];

		switch (step->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			ck_assert(step->k % 4 == 0 && step->k + 4 <= sizeof(*call));
			memcpy(&word, (const char *)call + step->k, sizeof(word));
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			word &= step->k;
			break;
		case BPF_JMP | BPF_JA:
			ck_assert(step->k < policy->length);
			at += step->k;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
			at += word == step->k ? step->jt : step->jf;
			break;
		case BPF_JMP | BPF_JGT | BPF_K:
			at += word > step->k ? step->jt : step->jf;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			at += word >= step->k ? step->jt : step->jf;
			break;
		case BPF_JMP | BPF_JSET | BPF_K:
			at += word & step->k ? step->jt : step->jf;
			break;
		case BPF_RET | BPF_K:
			return step->k;
		default:
			ck_abort_msg("%s: instruction %zu is %#x", policy->name, at, step->code);
		}
	}
	ck_abort_msg("%s: does not end with a return", policy->name);
}

static uint32_t judge(const struct seccomp_policy *policy, uint32_t arch, uint32_t number,
		      const uint64_t arguments[6])
{
	struct seccomp_data call = { .nr = (int)number, .arch = arch };

	memcpy(call.args, arguments, sizeof(call.args));
	return evaluate(policy, &call);
}

/* ---- a table of calls ---- */

struct judged_call {
	enum policy_name policy;
	const char *call;
	uint64_t arguments[6];
	uint32_t action;
};

static const struct judged_call judged_calls[] = {
	{ BOURDOND, "getpid", { 0 }, PASSES },
	{ BOURDOND, "mmap", { 0, 4096, PROT_READ | PROT_WRITE }, PASSES },
	{ BOURDOND, "mmap", { 0, 4096, PROT_READ | PROT_EXEC }, KILLED },
	{ BOURDOND, "mprotect", { 0, 0, PROT_EXEC }, KILLED },
	{ BOURDOND, "bpf", { BPF_MAP_LOOKUP_ELEM }, PASSES },
	{ BOURDOND, "bpf", { 1ULL << 32 | BPF_MAP_LOOKUP_ELEM }, KILLED },
	{ BOURDOND, "bpf", { BPF_OBJ_GET }, KILLED },
	{ BOURDOND, "bpf", { BPF_PROG_LOAD }, KILLED },
	{ BOURDOND, "bpf", { BPF_MAP_FREEZE }, KILLED },
	{ BOURDOND, "openat", { 0, 0, O_RDONLY }, PASSES },
	{ BOURDOND, "openat", { 0, 0, O_CREAT | O_RDWR, 0644 }, PASSES },
	{ BOURDOND, "openat", { 0, 0, O_CREAT | O_RDWR, S_ISUID | 0755 }, KILLED },
	{ BOURDOND, "openat2", { 0 }, FAILS(ENOSYS) },
	{ BOURDOND, "fchmod", { 0, 0640 }, PASSES },
	{ BOURDOND, "fchmod", { 0, S_ISGID | 0640 }, KILLED },
	{ BOURDOND, "socket", { AF_UNIX, SOCK_STREAM }, PASSES },
	{ BOURDOND, "socket", { AF_INET, SOCK_STREAM }, KILLED },
	{ BOURDOND, "socket", { 1ULL << 32 | AF_UNIX, SOCK_STREAM }, KILLED },
	{ BOURDOND, "fcntl", { 0, F_SETLK }, PASSES },
	{ BOURDOND, "fcntl", { 0, F_SETOWN }, KILLED },
	{ BOURDOND, "getsockopt", { 0, SOL_SOCKET, SO_PEERCRED }, PASSES },
	{ BOURDOND, "getsockopt", { 0, SOL_SOCKET, SO_PEERGROUPS }, PASSES },
	{ BOURDOND, "getsockopt", { 0, SOL_SOCKET, SO_TYPE }, KILLED },
	{ BOURDOND, "tgkill", { 1, 1, SIGABRT }, PASSES },
	{ BOURDOND, "tgkill", { 1, 1, SIGTERM }, KILLED },
	{ BOURDOND, "sched_getaffinity", { 0 }, PASSES },
	{ BOURDOND, "sched_getaffinity", { 1 }, KILLED },
	{ BOURDOND, "clone3", { 0 }, FAILS(ENOSYS) },
	{ BOURDOND, "clone", { SIGCHLD }, KILLED },
	{ BOURDOND, "execve", { 0 }, KILLED },
	{ BOURDOND, "ptrace", { 0 }, KILLED },
	{ SPAWNER, "clone", { FORK_FLAGS }, PASSES },
	{ SPAWNER, "clone", { CLONE_VM | SIGCHLD }, KILLED },
	{ SPAWNER, "clone", { CLONE_NEWUSER | SIGCHLD }, KILLED },
	{ SPAWNER, "socketpair", { AF_UNIX }, PASSES },
	{ SPAWNER, "socketpair", { AF_INET }, KILLED },
	{ SPAWNER, "seccomp", { SECCOMP_SET_MODE_FILTER }, PASSES },
	{ SPAWNER, "seccomp", { SECCOMP_SET_MODE_STRICT }, KILLED },
	{ SPAWNER, "prctl", { PR_SET_NO_NEW_PRIVS }, PASSES },
	{ SPAWNER, "prctl", { PR_SET_DUMPABLE }, KILLED },
	{ SPAWNER, "openat", { 0 }, FAILS(ENOENT) },
	{ SPAWNER, "dup3", { 5, 3, O_CLOEXEC }, PASSES },
	{ SPAWNER, "dup3", { 5, 2, O_CLOEXEC }, KILLED },
	{ SPAWNER, "write", { 3 }, KILLED },
	{ SPAWNER, "execve", { 0 }, KILLED },
	{ SYMBOLIZER, "read", { 0 }, PASSES },
	{ SYMBOLIZER, "openat", { 0 }, FAILS(ENOENT) },
	{ SYMBOLIZER, "mmap", { 0, 0, PROT_WRITE | PROT_EXEC }, KILLED },
	{ SYMBOLIZER, "sendmsg", { 3 }, PASSES },
	{ SYMBOLIZER, "sendmsg", { 2 }, KILLED },
	{ SYMBOLIZER, "write", { 2 }, KILLED },
	{ SYMBOLIZER, "fcntl", { 0, F_GETFD }, PASSES },
	{ SYMBOLIZER, "fcntl", { 0, F_SETFD }, KILLED },
	{ SYMBOLIZER, "tgkill", { 1, 1, SIGABRT }, KILLED },
	{ SYMBOLIZER, "clone", { FORK_FLAGS }, KILLED },
	{ GRANT, "recvmsg", { 0 }, PASSES },
	{ GRANT, "write", { 2 }, PASSES },
	{ GRANT, "write", { 3 }, KILLED },
	{ GRANT, "close", { 15 }, PASSES },
	{ GRANT, "close", { 16 }, KILLED },
	{ GRANT, "bpf", { BPF_OBJ_GET }, PASSES },
	{ GRANT, "bpf", { BPF_MAP_UPDATE_ELEM }, KILLED },
	{ GRANT, "openat", { 0, 0, O_RDONLY }, PASSES },
	{ GRANT, "openat", { 0, 0, O_CREAT }, KILLED },
	{ GRANT, "rt_sigprocmask", { 0 }, FAILS(EPERM) },
	{ GRANT, "socket", { AF_UNIX, SOCK_STREAM }, KILLED },
	{ GRANT, "connect", { 0 }, KILLED },
	{ LOAD, "bpf", { BPF_PROG_LOAD }, PASSES },
	{ LOAD, "bpf", { BPF_PROG_ATTACH }, KILLED },
	{ LOAD, "mount", { 0, 0, 0, MS_NODEV | MS_NOEXEC | MS_NOSUID }, PASSES },
	{ LOAD, "mount", { 0, 0, 0, MS_NODEV }, KILLED },
	{ LOAD, "kill", { 4711, SIGKILL }, PASSES },
	{ LOAD, "kill", { 4711, SIGTERM }, KILLED },
	{ LOAD, "kill", { (uint32_t)-1, SIGKILL }, KILLED },
	{ LOAD, "fchmodat", { 0, 0, S_ISUID | 0755 }, KILLED },
	{ LOAD, "execveat", { 0 }, KILLED },
	{ LOAD, "finit_module", { 0 }, KILLED },
};

START_TEST(call_is_judged_as_the_policy_says)
{
	const struct judged_call *one = &judged_calls[_i];

	for (unsigned int arch = 0; arch < ARCHITECTURES; arch++) {
		const struct seccomp_policy *policy = policies[one->policy][arch];
		int number = find_call(one->call)->numbers[arch];
		uint32_t action;

		ck_assert_int_ne(number, NOWHERE);
		action = judge(policy, audit_arch[arch], (uint32_t)number, one->arguments);
		ck_assert_msg(action == one->action, "%s: %s, arguments %#llx, %#llx, %#llx, %#llx: %#x",
			      policy->name, one->call, (unsigned long long)one->arguments[0],
			      (unsigned long long)one->arguments[1], (unsigned long long)one->arguments[2],
			      (unsigned long long)one->arguments[3], action);
	}
}
END_TEST

/* unlink() is another call on each. */
START_TEST(a_name_is_removed_but_no_directory)
{
	static const uint64_t name[6] = { 0 }, directory[6] = { 0, 0, 0x200 /* AT_REMOVEDIR */ };
	const struct call *unlink = find_call("unlink"), *unlinkat = find_call("unlinkat");

	HOLDS(judge(policies[BOURDOND][X86_64], AUDIT_ARCH_X86_64, (uint32_t)unlink->numbers[X86_64], name) ==
	      PASSES);
	HOLDS(judge(policies[BOURDOND][X86_64], AUDIT_ARCH_X86_64, (uint32_t)unlinkat->numbers[X86_64],
		    name) == KILLED);
	HOLDS(judge(policies[BOURDOND][AARCH64], AUDIT_ARCH_AARCH64, (uint32_t)unlinkat->numbers[AARCH64],
		    name) == PASSES);
	HOLDS(judge(policies[BOURDOND][AARCH64], AUDIT_ARCH_AARCH64, (uint32_t)unlinkat->numbers[AARCH64],
		    directory) == KILLED);
}
END_TEST

/* rename() is another call on each; with flags it could exchange two files. */
START_TEST(a_file_replaces_another)
{
	static const uint64_t names[6] = { 0 };
	const struct call *rename = find_call("rename"), *renameat = find_call("renameat"),
			  *renameat2 = find_call("renameat2");

	HOLDS(judge(policies[BOURDOND][X86_64], AUDIT_ARCH_X86_64, (uint32_t)rename->numbers[X86_64],
		    names) == PASSES);
	HOLDS(judge(policies[BOURDOND][X86_64], AUDIT_ARCH_X86_64, (uint32_t)renameat->numbers[X86_64],
		    names) == KILLED);
	HOLDS(judge(policies[BOURDOND][AARCH64], AUDIT_ARCH_AARCH64, (uint32_t)renameat->numbers[AARCH64],
		    names) == PASSES);
	for (unsigned int arch = 0; arch < ARCHITECTURES; arch++)
		HOLDS(judge(policies[BOURDOND][arch], audit_arch[arch], (uint32_t)renameat2->numbers[arch],
			    names) == KILLED);
	HOLDS(judge(policies[SPAWNER][X86_64], AUDIT_ARCH_X86_64, (uint32_t)rename->numbers[X86_64], names) ==
	      KILLED);
}
END_TEST

/* ---- all calls ---- */

static void roll_arguments(struct dice *dice, uint64_t arguments[6])
{
	for (int i = 0; i < 6; i++) {
		uint64_t kind = dice_below(dice, 8);

		arguments[i] = kind < 4    ? dice_below(dice, 40)
			       : kind == 4 ? 1ULL << dice_below(dice, 64)
			       : kind == 5 ? dice_roll(dice)
			       : kind == 6 ? FORK_FLAGS
					   : 0;
	}
}

#define ROUNDS 300

/* Only calls that one of the two does not have, and what has their place, are judged by different lines of a policy. */
START_TEST(both_architectures_judge_alike)
{
	const struct seccomp_policy *const *both = policies[_i];
	unsigned int passed = 0, failed = 0, killed = 0;
	struct dice dice = dice_new(122);

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		const struct call *call = &calls[i];

		if (call->numbers[AARCH64] == NOWHERE || !strcmp(call->name, "unlinkat") ||
		    !strcmp(call->name, "renameat"))
			continue;
		for (unsigned int round = 0; round < ROUNDS; round++) {
			uint64_t arguments[6];
			uint32_t action;

			roll_arguments(&dice, arguments);
			action = judge(both[X86_64], AUDIT_ARCH_X86_64, (uint32_t)call->numbers[X86_64],
				       arguments);
			if (action != judge(both[AARCH64], AUDIT_ARCH_AARCH64,
					    (uint32_t)call->numbers[AARCH64], arguments))
				ck_abort_msg("%s: %s is judged differently", both[X86_64]->name, call->name);
			passed += action == PASSES;
			killed += action == KILLED;
			failed += (action & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO;
		}
	}
	/* each policy has lines with and without a condition, and does no more than these three */
	ck_assert_uint_gt(passed, 10 * ROUNDS);
	ck_assert_uint_gt(failed, 0);
	ck_assert_uint_gt(killed, 20 * ROUNDS);
	ck_assert_uint_eq((passed + failed + killed) % ROUNDS, 0);
}
END_TEST

static bool is_in_table(unsigned int number, enum architecture arch)
{
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i].numbers[arch] == (int)number)
			return true;
	return false;
}

START_TEST(every_other_call_is_killed)
{
	struct dice dice = dice_new(123);

	for (unsigned int arch = 0; arch < ARCHITECTURES; arch++)
		for (unsigned int number = 0; number < NUMBERS_MOST; number++) {
			uint64_t arguments[6];

			if (is_in_table(number, arch))
				continue;
			roll_arguments(&dice, arguments);
			if (judge(policies[_i][arch], audit_arch[arch], number, arguments) != KILLED)
				ck_abort_msg("%s: call %u is not in calls[]", policies[_i][arch]->name,
					     number);
		}
}
END_TEST

/* A process can change to the 32-bit entry of its kernel, or set the bit of x32, in one instruction. */
START_TEST(every_call_of_another_architecture_is_killed)
{
	static const uint32_t foreign[] = { AUDIT_ARCH_X86_64, AUDIT_ARCH_AARCH64, AUDIT_ARCH_I386,
					    AUDIT_ARCH_ARM,    AUDIT_ARCH_RISCV64, 0 };
	static const uint64_t nothing[6] = { 0 };

	for (unsigned int arch = 0; arch < ARCHITECTURES; arch++)
		for (unsigned int number = 0; number < NUMBERS_MOST; number++) {
			for (size_t i = 0; i < ARRAY_SIZE(foreign); i++)
				HOLDS(foreign[i] == audit_arch[arch] ||
				      judge(policies[_i][arch], foreign[i], number, nothing) == KILLED);
			HOLDS(judge(policies[_i][arch], audit_arch[arch], X32_BIT | number, nothing) ==
			      KILLED);
		}
}
END_TEST

/* The programs contain one of the filters that are tested here. */
START_TEST(the_installed_filter_is_one_of_these)
{
#ifdef __x86_64__
	const struct seccomp_policy *own = policies[_i][X86_64];
#else
	const struct seccomp_policy *own = policies[_i][AARCH64];
#endif

	ck_assert_uint_eq(installed[_i]->length, own->length);
	ck_assert_mem_eq(installed[_i]->code, own->code, own->length * sizeof(*own->code));
}
END_TEST

SUITE(seccomp_filter)
{
	Suite *suite = suite_create("seccomp_filter");
	TCase *filters = tcase_create("filters");

	tcase_add_loop_test(filters, call_is_judged_as_the_policy_says, 0, ARRAY_SIZE(judged_calls));
	tcase_add_test(filters, a_name_is_removed_but_no_directory);
	tcase_add_test(filters, a_file_replaces_another);
	tcase_add_loop_test(filters, both_architectures_judge_alike, 0, POLICIES);
	tcase_add_loop_test(filters, every_other_call_is_killed, 0, POLICIES);
	tcase_add_loop_test(filters, every_call_of_another_architecture_is_killed, 0, POLICIES);
	tcase_add_loop_test(filters, the_installed_filter_is_one_of_these, 0, POLICIES);
	suite_add_tcase(suite, filters);
	return suite;
}

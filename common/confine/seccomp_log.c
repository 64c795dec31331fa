/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The seccomp_install() of `make SECCOMP_LOG=1`, which finds out what a policy lacks. It forbids nothing and is in no
 * other build. The kernel asks a supervisor about every system call of the process and its descendants. The supervisor
 * runs the policy's instructions on the call, as the kernel does in other builds: a call that the policy refuses with an
 * error gets that error; a call that it would kill for is named on stderr, once, and passes.
 *
 * The kernel allows one listener in a chain of filters, so a symbolizer, which its spawner forks under the
 * spawner's listener, cannot have one of its own. A process that has a supervisor already announces a further policy to
 * it, by a seccomp(2) call that the supervisor answers itself; from then on the supervisor runs both policies.
 *
 * The supervisor is forked before the filter is installed. It shares the table of descriptors until it has the
 * listener, because not every policy allows to send one; and it is nobody's child, so that nobody waits for it.
 */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/confine/seccomp.h"
#include "policy/call_names.h"

#include <linux/close_range.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define LISTENER_FD 3
#define PATIENCE_MS 10000

#define PROCESSES_MOST 64 /* with a further policy, at one time */
#define POLICIES_MOST 2

static const char *const call_names[] = { CALL_NAMES };

/* Inherited by fork(): the supervisor of a process is that of its children. */
static bool supervised;

/* Shared memory: under the filter, and without a supervisor yet, no system call can be relied on. */
struct channel {
	atomic_int listener; /* its number; 0: not yet, or negative: there is none */
	atomic_bool taken;   /* the supervisor has it */
};

/* SUPERVISOR: what it has named of a policy. */
struct named {
	const struct seccomp_policy *policy; /* NULL: unused */
	unsigned char calls[(ARRAY_SIZE(call_names) + 7) / 8];
};

/* SUPERVISOR: a process that announced a further policy. */
struct further {
	__u32 process; /* 0: unused */
	const struct seccomp_policy *policy;
};

/* SUPERVISOR: begins with the first policy and zeros. */
struct supervisor {
	const struct seccomp_policy *policy;
	struct named named[POLICIES_MOST];
	struct further further[PROCESSES_MOST];
	unsigned int next; /* of `further`, where none is unused */
};

/* SUPERVISOR: whether this is the first time that the call is to be named of this policy. */
static bool name_now(struct supervisor *supervisor, const struct seccomp_policy *policy, unsigned int number)
{
	struct named *named = supervisor->named;
	unsigned char bit = (unsigned char)(1U << number % 8);

	while (named->policy && named->policy != policy)
		if (++named == supervisor->named + POLICIES_MOST)
			return true;
	named->policy = policy;
	if (number >= ARRAY_SIZE(call_names))
		return true;
	if (named->calls[number / 8] & bit)
		return false;
	named->calls[number / 8] |= bit;
	return true;
}

/* SUPERVISOR: no malloc(), no stdio: other threads may have held their locks when it was forked. */
static void say(struct supervisor *supervisor, const struct seccomp_policy *policy,
		const struct seccomp_notif *call)
{
	unsigned int number = (unsigned int)call->data.nr;
	const char *name = number < ARRAY_SIZE(call_names) && call_names[number] ? call_names[number] : "?";
	const __u64 *arguments = call->data.args;
	char line[256];
	int length;

	if (!name_now(supervisor, policy, number))
		return;
	length = snprintf(
		line, sizeof(line),
		"bourdon: system call %s (%u: %#llx, %#llx, %#llx, %#llx) of process %u is not in policy/%s.seccomp\n",
		name, number, arguments[0], arguments[1], arguments[2], arguments[3], call->pid,
		policy->name);
	if (write(STDERR_FILENO, line, (size_t)length) < 0)
		return; /* nobody hears */
}

/* SUPERVISOR: what the policy does with the call. These are all the instructions that libseccomp makes. */
static __u32 evaluate(const struct seccomp_policy *policy, const struct seccomp_data *call)
{
	__u32 word = 0;

	for (size_t i = 0; i < policy->length; i++) {
		const struct sock_filter *at = &policy->code[i];

		switch (at->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			memcpy(&word, (const char *)call + at->k, sizeof(word));
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			word &= at->k;
			break;
		case BPF_JMP | BPF_JA:
			i += at->k;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
			i += word == at->k ? at->jt : at->jf;
			break;
		case BPF_JMP | BPF_JGT | BPF_K:
			i += word > at->k ? at->jt : at->jf;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			i += word >= at->k ? at->jt : at->jf;
			break;
		case BPF_RET | BPF_K:
			return at->k;
		default:
			return SECCOMP_RET_USER_NOTIF;
		}
	}
	return SECCOMP_RET_USER_NOTIF;
}

/* SUPERVISOR: the error that the policy refuses the call with, or 0 where the call passes. */
static __s32 judge(struct supervisor *supervisor, const struct seccomp_policy *policy,
		   const struct seccomp_notif *call)
{
	__u32 action = evaluate(policy, &call->data);

	if ((action & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO)
		return -(__s32)(action & SECCOMP_RET_DATA);
	if (action != SECCOMP_RET_ALLOW)
		say(supervisor, policy, call);
	return 0;
}

/* SUPERVISOR: the place of a process in `further`, or one that is unused, or that of another process. */
static struct further *find_further(struct supervisor *supervisor, __u32 process)
{
	struct further *unused = NULL;

	for (unsigned int i = 0; i < PROCESSES_MOST; i++) {
		struct further *at = &supervisor->further[i];

		if (at->process == process)
			return at;
		if (!at->process)
			unused = at;
	}
	return unused ? unused : &supervisor->further[supervisor->next++ % PROCESSES_MOST];
}

/* The arguments of a call that announces a policy: seccomp(2) reads three, and the supervisor all five. */
static bool announces(const struct seccomp_data *call)
{
	return call->nr == SYS_seccomp && call->args[0] == SECCOMP_SET_MODE_FILTER && call->args[3] &&
	       call->args[4] == ~call->args[3];
}

static long announce(const struct seccomp_policy *policy)
{
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL, (unsigned long)policy,
		       ~(unsigned long)policy);
}

/* SUPERVISOR: answers one call; a policy's address is the same in every fork of the program. */
static struct seccomp_notif_resp answer(struct supervisor *supervisor, const struct seccomp_notif *call)
{
	struct seccomp_notif_resp answer = { .id = call->id };
	struct further *further = find_further(supervisor, call->pid);

	answer.error = judge(supervisor, supervisor->policy, call);
	if (further->process == call->pid) {
		__s32 error = judge(supervisor, further->policy, call);

		answer.error = error ? error : answer.error;
		if (call->data.nr == SYS_exit_group)
			further->process = 0;
	}
	if (announces(&call->data)) {
		further->process = call->pid;
		memcpy(&further->policy, &call->data.args[3], sizeof(further->policy));
	} else if (!answer.error) {
		answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	}
	return answer;
}

/* SUPERVISOR: until the last process under the filter has ended. */
static void __attribute__((noreturn)) supervise(const struct seccomp_policy *policy, struct channel *channel)
{
	struct pollfd listener = { .fd = LISTENER_FD, .events = POLLIN };
	struct supervisor supervisor = { .policy = policy };
	int fd;

	for (int i = 0; !(fd = atomic_load(&channel->listener)) && i < PATIENCE_MS; i++)
		usleep(1000);
	if (fd <= 0 || unshare(CLONE_FILES))
		_exit(1);
	atomic_store(&channel->taken, true);
	if (dup2(fd, LISTENER_FD) < 0 || syscall(SYS_close_range, LISTENER_FD + 1, ~0U, 0))
		_exit(1);
	while (poll(&listener, 1, -1) > 0 && !(listener.revents & (POLLHUP | POLLERR))) {
		struct seccomp_notif call = { 0 };
		struct seccomp_notif_resp response;

		if (ioctl(LISTENER_FD, SECCOMP_IOCTL_NOTIF_RECV, &call))
			continue; /* the caller has been killed since */
		response = answer(&supervisor, &call);
		if (ioctl(LISTENER_FD, SECCOMP_IOCTL_NOTIF_SEND, &response))
			continue;
	}
	_exit(0);
}

static int start_supervisor(const struct seccomp_policy *policy, struct channel *channel)
{
	pid_t child = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);

	if (child < 0)
		return -errno;
	if (!child) {
		if (!syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0))
			supervise(policy, channel);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	return 0;
}

/* Without a system call: under the filter, each waits for who is awaited here. */
static int await_supervisor(struct channel *channel)
{
	uint64_t deadline_ns = clock_monotonic_ns() + PATIENCE_MS * (CLOCK_SECOND_NS / 1000);

	while (!atomic_load(&channel->taken))
		if (clock_monotonic_ns() > deadline_ns)
			return -ETIMEDOUT;
	return 0;
}

int seccomp_install(const struct seccomp_policy *policy, bool all_threads)
{
	static const struct sock_filter ask = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
	struct sock_fprog program = { .len = 1, .filter = (struct sock_filter *)&ask };
	/* a thread that could not follow would be told by its number, which is a descriptor's here */
	unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER |
			      (all_threads ? SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_TSYNC_ESRCH : 0);
	struct channel *channel;
	long listener = -1;
	int result;

	if (!policy->length || policy->length > BPF_MAXINSNS)
		return -EINVAL;
	if (supervised)
		return announce(policy) ? -errno : 0;
	channel = mmap(NULL, sizeof(*channel), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (channel == MAP_FAILED)
		return -errno;
	result = start_supervisor(policy, channel);
	if (!result) {
		listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
		result = listener < 0 ? (errno == ESRCH ? -EBUSY : -errno) : 0;
		atomic_store(&channel->listener, listener > 0 ? (int)listener : -1);
	}
	if (!result)
		result = await_supervisor(channel);
	if (!result)
		close((int)listener);
	munmap(channel, sizeof(*channel));
	supervised = !result;
	return result;
}

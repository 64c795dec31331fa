/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The seccomp_install() of `make SECCOMP_LOG=1`, which finds out what a policy lacks. A call that it does not
 * name is not fatal: the kernel asks a supervisor, which writes the call's name, once, and lets it pass. It
 * confines nothing, and is in no other build.
 *
 * The supervisor is made before the filter is, or it would have to ask itself. It shares the table of
 * descriptors until it has the listener, for not every policy allows to send one; and it is nobody's child,
 * so that nobody waits for it.
 */
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/seccomp.h"
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

/* A process has one supervisor: a symbolizer, which the spawner forks, stays under its spawner's policy. */
static bool supervised;

/* Shared memory: under the filter, and without a supervisor yet, no system call can be relied on. */
struct channel {
	atomic_int listener; /* its number; 0: not yet, or negative: there is none */
	atomic_bool taken;   /* the supervisor has it */
};

/* SUPERVISOR: no malloc(), no stdio: other threads may have held their locks when it was made. */
static void say(const struct seccomp_policy *policy, const struct seccomp_notif *call)
{
	static unsigned char said[(ARRAY_SIZE(call_names) + 7) / 8];
	unsigned int number = (unsigned int)call->data.nr;
	const char *name = number < ARRAY_SIZE(call_names) && call_names[number] ? call_names[number] : "?";
	const __u64 *arguments = call->data.args;
	char line[256];
	int length;

	if (number < ARRAY_SIZE(call_names) && said[number / 8] & 1U << number % 8)
		return;
	if (number < ARRAY_SIZE(call_names))
		said[number / 8] |= (unsigned char)(1U << number % 8);
	length = snprintf(
		line, sizeof(line),
		"bourdon: system call %s (%u: %#llx, %#llx, %#llx, %#llx) is not in policy/%s.seccomp\n",
		name, number, arguments[0], arguments[1], arguments[2], arguments[3], policy->name);
	if (write(STDERR_FILENO, line, (size_t)length) < 0)
		return; /* nobody hears */
}

/* SUPERVISOR: until the last process under the filter has ended. */
static void __attribute__((noreturn)) supervise(const struct seccomp_policy *policy, struct channel *channel)
{
	struct pollfd listener = { .fd = LISTENER_FD, .events = POLLIN };
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
		struct seccomp_notif_resp answer = { .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };

		if (ioctl(LISTENER_FD, SECCOMP_IOCTL_NOTIF_RECV, &call))
			continue; /* who called has been killed since */
		say(policy, &call);
		answer.id = call.id;
		if (ioctl(LISTENER_FD, SECCOMP_IOCTL_NOTIF_SEND, &answer))
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
	struct sock_fprog program = { .len = (unsigned short)policy->length,
				      .filter = (struct sock_filter *)policy->code };
	/* a thread that could not follow would be told by its number, which is a descriptor's here */
	unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER |
			      (all_threads ? SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_TSYNC_ESRCH : 0);
	struct channel *channel;
	long listener = -1;
	int result;

	if (!policy->length || policy->length > BPF_MAXINSNS)
		return -EINVAL;
	if (supervised)
		return 0;
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

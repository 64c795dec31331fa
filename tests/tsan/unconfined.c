/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Takes the place of common/confine/seccomp.c in the build of `make tsan`, and is in no other. The runtime of ThreadSanitizer
 * makes system calls that no policy lists, and maps terabytes of address space. So the filter allows every call, but is
 * still installed in each thread, as the tests check; and no limit of memory is set.
 */
#include "common/base/cleanup.h"
#include "common/confine/seccomp.h"

#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>

/* Of compiler-rt: ends the runtime's own thread, which has not given up its privileges with the others. */
void __sanitizer_sandbox_on_notify(void *arguments);

static void *nothing(void *argument)
{
	return argument;
}

/* The runtime starts its thread, and learns how to end it, at the first thread: before a process is forked. */
__attribute__((constructor)) static void start_a_thread(void)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, nothing, NULL))
		pthread_join(thread, NULL);
}

int seccomp_install(const struct seccomp_policy *policy, bool all_threads)
{
	static const struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = { .len = 1, .filter = (struct sock_filter *)&allow };
	unsigned long flags = all_threads ? SECCOMP_FILTER_FLAG_TSYNC : 0;
	long result;

	if (!policy->length || policy->length > BPF_MAXINSNS)
		return -EINVAL;
	__sanitizer_sandbox_on_notify(NULL);
	result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
	if (result < 0)
		return -errno;
	return result > 0 ? -EBUSY : 0;
}

/*
 * The program's own definition comes before the C library's. Without instrumentation, because the runtime calls it
 * before it is ready itself.
 */
__attribute__((disable_sanitizer_instrumentation)) int setrlimit(__rlimit_resource_t resource,
								 const struct rlimit *limit)
{
	if (resource == RLIMIT_AS || resource == RLIMIT_DATA)
		return 0;
	return (int)syscall(SYS_prlimit64, 0, resource, limit, NULL);
}

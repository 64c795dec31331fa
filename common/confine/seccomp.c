/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/confine/seccomp.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

int seccomp_install(const struct seccomp_policy *policy, bool all_threads)
{
	/* the kernel only reads the instructions */
	struct sock_fprog program = { .len = (unsigned short)policy->length,
				      .filter = (struct sock_filter *)policy->code };
	unsigned long flags = all_threads ? SECCOMP_FILTER_FLAG_TSYNC : 0;
	long result;

	if (!policy->length || policy->length > BPF_MAXINSNS)
		return -EINVAL;
	result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
	if (result < 0)
		return -errno;
	/* SECCOMP_FILTER_FLAG_TSYNC returns the id of a thread that could not be synchronized */
	return result > 0 ? -EBUSY : 0;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cgroup_flood makes many cgroups and starts a process in each, which renames itself to NAME: a rule that
 * matches NAME gets a target in each of them. The processes sleep until cgroup_flood ends, or end at once.
 */
#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define CGROUPS_MAX 100000

static void __attribute__((noreturn)) live(const char *name, bool ends)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, name);
	if (ends)
		_exit(EXIT_DONE);
	for (;;)
		pause();
}

/* Returns 0 or -errno. */
static int fill(const char *directory, unsigned long long number, const char *name, bool ends)
{
	struct clone_args arguments = { .flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD };
	_cleanup_close_ int fd = -EBADF;
	char path[PATH_MAX];
	long child;

	snprintf(path, sizeof(path), "%s/%llu", directory, number);
	if (mkdir(path, 0755))
		return -errno;
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	arguments.cgroup = (unsigned int)fd;
	child = syscall(SYS_clone3, &arguments, sizeof(arguments));
	if (!child)
		live(name, ends);
	if (child < 0)
		return -errno;
	if (ends)
		waitpid((pid_t)child, NULL, 0);
	return 0;
}

int main(int count, char **words)
{
	const char *number = "100", *directory = NULL, *name = "flood", *ends = NULL;
	const struct option_spec options[] = {
		{ "directory", "D", "make the cgroups there", &directory },
		{ "count", "N", "how many (100)", &number },
		{ "name", "NAME", "the comm of their processes (flood)", &name },
		{ "ends", NULL, "the processes end at once", &ends },
	};
	const struct command_spec command = { "cgroup_flood",
					      "[OPTION...]",
					      "Makes cgroups, each with a process.",
					      "cgroup_flood --directory /sys/fs/cgroup/mine --count 1200",
					      options,
					      ARRAY_SIZE(options) };
	int unexpected, status = options_parse(&command, count, words, &unexpected);
	unsigned long long wanted;

	if (status != OPTIONS_RUN)
		return status;
	if (unexpected || !directory || options_number(number, 1, CGROUPS_MAX, &wanted))
		return EXIT_USAGE;
	log_init("cgroup_flood");
	for (unsigned long long i = 0; i < wanted; i++) {
		int result = fill(directory, i, name, ends);

		if (result < 0) {
			log_error("cannot fill cgroup %llu of %s: %s", i, directory, strerror(-result));
			return EXIT_FAILED;
		}
	}
	printf("ready\n");
	fflush(stdout);
	for (;;)
		pause();
}

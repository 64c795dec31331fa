/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sleepers makes many idle processes in many cgroups, which a consumer has to know and to watch. They are
 * called "sleepers"; their parent renames itself before it is ready. They die with it.
 */
#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static int move_to_cgroup(pid_t pid, const char *cgroup)
{
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
	file = fopen(path, "we");
	if (!file)
		return -errno;
	fprintf(file, "%d\n", pid);
	return fclose(file) ? -errno : 0;
}

/* Returns in the parent only: 0 or -errno. */
static int start_sleeper(const char *cgroup)
{
	pid_t parent = getpid(), child = fork();

	if (child < 0)
		return -errno;
	if (child)
		return move_to_cgroup(child, cgroup);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent) /* the parent may have died before that call */
		pause();
	_exit(EXIT_DONE);
}

int main(int argc, char **argv)
{
	const struct command_spec command = {
		"sleepers",
		"N CGROUP...",
		"Starts N processes in each of the cgroup directories; they sleep.",
		"sleepers 10 /sys/fs/cgroup/a /sys/fs/cgroup/b",
		NULL,
		0
	};
	unsigned long long processes;
	int words, parsed, error = 0;

	log_init(command.program);
	parsed = options_parse(&command, argc, argv, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (words < 2 || options_number(argv[1], 1, 100000, &processes) < 0) {
		log_error("takes 1 to 100000 processes and a cgroup: see --help");
		return EXIT_USAGE;
	}
	for (int i = 2; i <= words && !error; i++)
		for (unsigned long long j = 0; j < processes && !error; j++)
			error = start_sleeper(argv[i]);
	if (error) {
		log_error("cannot start %llu processes in each cgroup: %s", processes, strerror(-error));
		return EXIT_FAILED;
	}
	prctl(PR_SET_NAME, "sleepers-parent");
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}

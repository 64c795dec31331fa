/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * timed runs a command and prints its wall-clock time, its CPU time and its largest memory. The output of the
 * command is discarded, except for its errors.
 */
#include "common/base/clock.h"
#include "common/system/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t microseconds(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000 + (uint64_t)time->tv_usec;
}

/* Returns 0 or -errno; *ret_status is as from wait(2). */
static int run(char **command, int *ret_status, struct rusage *ret_usage)
{
	posix_spawn_file_actions_t actions;
	pid_t child;
	int error = posix_spawn_file_actions_init(&actions);

	if (error)
		return -error;
	error = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	if (!error)
		error = posix_spawnp(&child, command[0], &actions, NULL, command, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (!error && wait4(child, ret_status, 0, ret_usage) != child)
		error = errno;
	return -error;
}

int main(int argc, char **argv)
{
	uint64_t began_ns = clock_monotonic_ns(), ended_ns;
	struct rusage usage = { 0 };
	int error, status = 0;

	log_init("timed");
	if (argc < 2) {
		log_error("expected a command and its arguments");
		return EXIT_USAGE;
	}
	error = run(argv + 1, &status, &usage);
	ended_ns = clock_monotonic_ns();
	if (error) {
		log_error("cannot run '%s': %s", argv[1], strerror(-error));
		return EXIT_FAILED;
	}
	if (status) {
		log_error("'%s' exited with an error", argv[1]);
		return EXIT_FAILED;
	}
	printf("wall_us=%" PRIu64 " cpu_us=%" PRIu64 " peak_rss_kib=%ld\n", (ended_ns - began_ns) / 1000,
	       microseconds(&usage.ru_utime) + microseconds(&usage.ru_stime), usage.ru_maxrss);
	return EXIT_DONE;
}

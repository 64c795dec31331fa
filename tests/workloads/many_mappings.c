/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * many_mappings starts processes with as many executable mappings as the kernel allows
 * (sysctl vm.max_map_count: 65530), of the same page of its own file, so that they do not merge. With --remap they
 * go on to replace them, one after the other. They die with their parent.
 */
#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define PAGE_BYTES 4096U

/* Replaces whatever is mapped there. */
static int map_page(int fd, char *at)
{
	return mmap(at, PAGE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0) == at ? 0 : -errno;
}

static int map_pages(int fd, char *first, unsigned long long count)
{
	int result = 0;

	for (unsigned long long i = 0; i < count && !result; i++)
		result = map_page(fd, first + i * PAGE_BYTES);
	return result;
}

static void __attribute__((noreturn))
attack(pid_t parent, int ready, unsigned long long count, unsigned long long remaps)
{
	_cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	char *first = mmap(NULL, count * PAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int result = fd < 0 || first == MAP_FAILED ? -errno : map_pages(fd, first, count);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (write(ready, &result, sizeof(result)) != sizeof(result) || result < 0)
		_exit(EXIT_FAILED);
	for (unsigned long long i = 0; getppid() == parent; i++) { /* it may have died before prctl() */
		if (!remaps) {
			pause();
			continue;
		}
		map_page(fd, first + i % count * PAGE_BYTES);
		if (i % remaps == remaps - 1)
			usleep(100000);
	}
	_exit(EXIT_DONE);
}

int main(int argc, char **argv)
{
	const char *processes_text = "40", *mappings_text = "60000", *remap_text = NULL;
	const struct option_spec options[] = {
		{ "processes", "N", "processes (40)", &processes_text },
		{ "mappings", "N", "executable mappings of each (60000)", &mappings_text },
		{ "remap", "N", "then replace N of them ten times a second", &remap_text },
	};
	const struct command_spec command = { "many_mappings",
					      "[--processes N] [--mappings N] [--remap N]",
					      "Starts processes with many executable mappings.",
					      "many_mappings --processes 4",
					      options,
					      ARRAY_SIZE(options) };
	unsigned long long processes, mappings, remaps = 0;
	pid_t self = getpid();
	int words, parsed, ends[2], result = 0;

	log_init(command.program);
	parsed = options_parse(&command, argc, argv, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (words || options_number(processes_text, 1, 10000, &processes) ||
	    options_number(mappings_text, 1, 1000000, &mappings) ||
	    (remap_text && options_number(remap_text, 1, 1000000, &remaps))) {
		log_error("takes numbers: see --help");
		return EXIT_USAGE;
	}
	if (pipe2(ends, O_CLOEXEC)) {
		log_error("cannot make a pipe: %s", strerror(errno));
		return EXIT_FAILED;
	}
	for (unsigned long long i = 0; i < processes; i++) {
		pid_t child = fork();

		if (!child)
			attack(self, ends[1], mappings, remaps);
		if (child < 0)
			result = -errno;
	}
	for (unsigned long long i = 0; i < processes && !result; i++)
		if (read(ends[0], &result, sizeof(result)) != sizeof(result))
			result = -EIO;
	if (result < 0) {
		log_error("cannot start %llu processes with %llu mappings: %s", processes, mappings,
			  strerror(-result));
		return EXIT_FAILED;
	}
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fault_storm takes memory and gives it back, page by page, and prints the CPU time of a page fault: bench/parts/growth.sh measures
 * what programs at the kernel's counts of memory add to it.
 */
#include "common/base/clock.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGES 8192U
#define PAGE_BYTES 4096U

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * CLOCK_SECOND_NS + (uint64_t)now.tv_nsec;
}

/* Returns 0 or -errno. */
static int touch_all(void)
{
	char *pages = mmap(NULL, (size_t)PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED || madvise(pages, (size_t)PAGES * PAGE_BYTES, MADV_NOHUGEPAGE))
		return -errno;
	for (size_t i = 0; i < PAGES; i++)
		*(volatile char *)(pages + i * PAGE_BYTES) = 1;
	return munmap(pages, (size_t)PAGES * PAGE_BYTES) ? -errno : 0;
}

int main(int count, char **words)
{
	const struct command_spec command = {
		"fault_storm", "SECONDS", "Prints the CPU time of a page fault.", "fault_storm 5", NULL, 0
	};
	uint64_t faults = 0, began_ns, ended_ns;
	unsigned long long seconds;
	int others, parsed, result = 0;

	log_init(command.program);
	parsed = options_parse(&command, count, words, &others);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (others != 1 || options_number(words[1], 1, 3600, &seconds)) {
		log_error("expected 1 to 3600 seconds: see --help");
		return EXIT_USAGE;
	}
	puts("ready");
	fflush(stdout);
	ended_ns = clock_monotonic_ns() + seconds * CLOCK_SECOND_NS;
	began_ns = cpu_ns();
	for (; clock_monotonic_ns() < ended_ns && !result; faults += PAGES)
		result = touch_all();
	if (result) {
		log_error("cannot take memory: %s", strerror(-result));
		return EXIT_FAILED;
	}
	printf("faults=%" PRIu64 " fault_ns=%.1f\n", faults, (double)(cpu_ns() - began_ns) / (double)faults);
	return EXIT_DONE;
}

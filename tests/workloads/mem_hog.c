/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mem_hog makes memory pressure, and a profile of it has one right answer: burn_memory() touches random pages
 * of a mapped file. Where the cgroup may hold less than the file, most touches are refaults of pages that
 * were used and reclaimed, which the kernel counts as memory stall, with or without swap. Reading a file once
 * stalls on io instead, and growing memory gets the process killed.
 */
#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/system/options.h"
#include "common/text/units.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define FILL_BYTES (1UL << 20)
#define DIRTY_BYTES (16 * FILL_BYTES)
#define SIZE_LEAST FILL_BYTES
#define SIZE_MOST (1UL << 40)

#define EXAMPLE                                                                                              \
	"with a limit of half the size, in a cgroup of its own\n"                                            \
	"  v2:  echo 64M > CGROUP/memory.max; echo $$ > CGROUP/cgroup.procs\n"                               \
	"  v1:  echo 64M > MEMORY_CGROUP/memory.limit_in_bytes; echo $$ > MEMORY_CGROUP/cgroup.procs,\n"     \
	"       and $$ into a v2 CGROUP as well, whose memory.pressure then tells\n"                         \
	"  mem_hog --size 128MiB --file /var/tmp/scratch --seconds 5"

static volatile sig_atomic_t stop; /* set by the signal handler */

struct settings {
	uint64_t size_bytes;
	unsigned long long seconds; /* 0: until a signal */
	const char *path;
};

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

/*
 * The frame that a profile must show: it calls nothing; its page faults are its work. Read-ahead stays on:
 * making room for a whole window at each fault gave three times the memory stall of MADV_RANDOM.
 */
__attribute__((noinline, used)) static unsigned long long burn_memory(const volatile unsigned char *memory,
								      uint64_t pages, uint64_t page_bytes)
{
	uint64_t state = 88172645463325252ULL; /* xorshift64; any seed but 0 */
	unsigned long long touches = 0;

	while (!stop) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		(void)memory[state % pages * page_bytes];
		touches++;
	}
	return touches;
}

/*
 * Allocates real blocks on the disk: pages of a hole are zeros, and no thread would wait for them. They are written out
 * meanwhile: the kernel may kill who fills a small limit with dirty pages. Returns 0 or -errno.
 */
static int fill(int fd, uint64_t size_bytes)
{
	_cleanup_free_ unsigned char *block = malloc(FILL_BYTES);
	uint64_t clean = 0;

	if (!block)
		return -ENOMEM;
	memset(block, 0x5a, FILL_BYTES);
	for (uint64_t done = 0; done < size_bytes && !stop;) {
		uint64_t left = size_bytes - done;
		ssize_t written = write(fd, block, left < FILL_BYTES ? left : FILL_BYTES);

		if (written < 0 && errno != EINTR)
			return -errno;
		done += written > 0 ? (uint64_t)written : 0;
		if (done - clean >= DIRTY_BYTES && !fdatasync(fd))
			clean = done;
	}
	return fsync(fd) && errno != EINTR ? -errno : 0;
}

/*
 * Removes the name of the file as soon as it is open, and closes it once it is mapped. Returns 0 or -errno.
 */
static int map_scratch(const char *path, uint64_t size_bytes, void **ret_memory)
{
	_cleanup_close_ int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	void *memory;
	int error;

	if (fd < 0)
		return -errno;
	unlink(path);
	error = fill(fd, size_bytes);
	if (error)
		return error;
	memory = mmap(NULL, size_bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return -errno;
	*ret_memory = memory;
	return 0;
}

static bool read_size(const char *text, uint64_t page_bytes, uint64_t *ret_bytes)
{
	unsigned long long number = 0;
	uint64_t bytes = 0;

	if (units_size(text, &bytes) < 0 && options_number(text, 0, SIZE_MOST, &number) == 0)
		bytes = number;
	if (bytes < SIZE_LEAST || bytes > SIZE_MOST) {
		log_error("--size takes bytes or 128MiB, 2GiB, from 1MiB to 1024GiB, not '%s'", text);
		return false;
	}
	*ret_bytes = bytes / page_bytes * page_bytes;
	return true;
}

/* Returns OPTIONS_RUN or the exit status. */
static int read_settings(int count, char **arguments, uint64_t page_bytes, struct settings *ret_settings)
{
	const char *size = "128MiB", *seconds = NULL;
	struct settings settings = { .path = "mem_hog.scratch" };
	unsigned long long number = 0;
	const struct option_spec options[] = {
		{ "size", "SIZE", "of the working set, bytes or with a unit (128MiB)", &size },
		{ "file", "PATH", "scratch file, on a disk, gone at once (mem_hog.scratch)", &settings.path },
		{ "seconds", "N", "end by itself (on SIGTERM or SIGINT)", &seconds },
	};
	const struct command_spec command = { "mem_hog",
					      "[--size SIZE] [--file PATH] [--seconds N]",
					      "Touches random pages of a mapped file, in burn_memory().",
					      EXAMPLE,
					      options,
					      ARRAY_SIZE(options) };
	int words, parsed;

	log_init(command.program);
	parsed = options_parse(&command, count, arguments, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (words) {
		log_error("takes no argument, not '%s': see --help", arguments[1]);
		return EXIT_USAGE;
	}
	if (!read_size(size, page_bytes, &settings.size_bytes))
		return EXIT_USAGE;
	if (seconds && options_number(seconds, 1, 86400, &number) < 0) {
		log_error("--seconds takes a number from 1 to 86400, not '%s'", seconds);
		return EXIT_USAGE;
	}
	settings.seconds = number;
	*ret_settings = settings;
	return OPTIONS_RUN;
}

static double wall_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	const struct sigaction action = { .sa_handler = on_signal };
	unsigned long long touches;
	struct settings settings;
	struct rusage usage;
	void *memory = NULL;
	double began;
	int error, parsed;

	parsed = read_settings(argc, argv, page_bytes, &settings);
	if (parsed != OPTIONS_RUN)
		return parsed;
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	error = map_scratch(settings.path, settings.size_bytes, &memory);
	if (error) {
		log_error("cannot fill and map '%s': %s", settings.path, strerror(-error));
		return EXIT_FAILED;
	}
	puts("ready");
	fflush(stdout);
	began = wall_seconds();
	alarm((unsigned int)settings.seconds);
	touches = burn_memory(memory, settings.size_bytes / page_bytes, page_bytes);
	getrusage(RUSAGE_SELF, &usage);
	printf("touches=%llu major_faults=%ld bytes=%llu wall_s=%.3f\n", touches, usage.ru_majflt,
	       (unsigned long long)settings.size_bytes, wall_seconds() - began);
	munmap(memory, settings.size_bytes);
	return EXIT_DONE;
}

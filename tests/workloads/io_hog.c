/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * io_hog makes I/O pressure, and a profile of it has one right answer: each thread waits for the disk below
 * burn_io(). Every write is O_DIRECT|O_SYNC, so that none ends in the page cache.
 */
#define _GNU_SOURCE 1 /* O_DIRECT */

#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FILE_BYTES (64UL << 20)
/*
 * Small enough that the writes wait rather than use bandwidth; large enough that the wait for the disk is long compared with
 * what a wake-up takes in a virtual machine: 50 us of an idle CPU, which count as a wait for the CPU, and 30 us of a busy one,
 * which PSI does not count as I/O and we do (256 KiB wait for 290 us there).
 */
#define BLOCK_BYTES 1048576UL
#define BLOCKS (FILE_BYTES / BLOCK_BYTES)

static volatile sig_atomic_t stop; /* set by the signal handler and by the first thread that fails */

struct settings {
	unsigned long long threads, seconds; /* 0: until a signal */
	const char *path;
};

struct worker {
	pthread_t thread;
	int fd;
	int error;
	unsigned long first, step; /* the blocks of this thread; no two threads write the same one */
	unsigned long long bytes;
};

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

/*
 * pwrite64(2) without libc, whose wrapper keeps no frame pointer: an unwinder by frame pointers would skip
 * the caller, which is the frame that a profile must show. Returns bytes or -errno.
 */
__attribute__((always_inline)) static inline long write_inline(int fd, const void *bytes, size_t length,
							       off_t offset)
{
#if defined(__x86_64__)
	long result = SYS_pwrite64;
	register off_t at __asm__("r10") = offset;

	__asm__ volatile("syscall"
			 : "+a"(result)
			 : "D"((long)fd), "S"(bytes), "d"(length), "r"(at)
			 : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register long result __asm__("x0") = fd;
	register const void *from __asm__("x1") = bytes;
	register size_t count __asm__("x2") = length;
	register off_t at __asm__("x3") = offset;
	register long call __asm__("x8") = SYS_pwrite64;

	__asm__ volatile("svc #0" : "+r"(result) : "r"(from), "r"(count), "r"(at), "r"(call) : "memory");
	return result;
#else
#error "write_inline() lacks this architecture's system call instruction"
#endif
}

/* The user frame that a profile must show. Returns 0 or -errno. */
__attribute__((noinline, used)) static int burn_io(struct worker *worker, const void *block)
{
	unsigned long at = worker->first;

	while (!stop) {
		long written = write_inline(worker->fd, block, BLOCK_BYTES, (off_t)(at * BLOCK_BYTES));

		if (written == -EINTR)
			continue;
		if (written < 0)
			return (int)written;
		worker->bytes += (unsigned long long)written;
		at += worker->step;
		if (at >= BLOCKS)
			at = worker->first;
	}
	return 0;
}

static void *worker_main(void *argument)
{
	struct worker *worker = argument;
	_cleanup_free_ void *block = aligned_alloc(BLOCK_BYTES, BLOCK_BYTES);

	if (block) {
		memset(block, 0x5a, BLOCK_BYTES);
		worker->error = burn_io(worker, block);
	} else {
		worker->error = -ENOMEM;
	}
	if (worker->error)
		stop = 1;
	return NULL;
}

/* The calling thread is the first worker. Returns 0 or the first -errno of any worker. */
static int burn_all(int fd, unsigned long long threads, unsigned long long *ret_bytes)
{
	_cleanup_free_ struct worker *workers = calloc(threads, sizeof(*workers));
	unsigned long long started = 1, bytes = 0;
	int error = 0;

	if (!workers)
		return -ENOMEM;
	for (unsigned long i = 0; i < threads; i++)
		workers[i] = (struct worker){ .fd = fd, .first = i, .step = threads };
	while (started < threads && !error) {
		error = -pthread_create(&workers[started].thread, NULL, worker_main, &workers[started]);
		if (!error)
			started++;
	}
	if (error) {
		stop = 1;
	} else {
		puts("ready");
		fflush(stdout);
		worker_main(&workers[0]);
	}
	for (unsigned long long i = 0; i < started; i++) {
		if (i)
			pthread_join(workers[i].thread, NULL);
		bytes += workers[i].bytes;
		if (!error)
			error = workers[i].error;
	}
	if (!error)
		*ret_bytes = bytes;
	return error;
}

/*
 * Removes the name of the file as soon as it is open, so that no file is left behind. Returns a descriptor or
 * -errno.
 */
static int open_scratch(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_DIRECT | O_SYNC, 0600);
	int error = errno;

	if (fd >= 0 || error == EINVAL) /* a file system without O_DIRECT creates the file all the same */
		unlink(path);
	return fd >= 0 ? fd : -error;
}

static bool read_number(const char *option, const char *text, unsigned long long least,
			unsigned long long most, unsigned long long *ret_number)
{
	if (!text || options_number(text, least, most, ret_number) == 0)
		return true;
	log_error("--%s takes a number from %llu to %llu, not '%s'", option, least, most, text);
	return false;
}

/* Returns OPTIONS_RUN or the exit status. */
static int read_settings(int count, char **arguments, struct settings *ret_settings)
{
	const char *threads = NULL, *seconds = NULL;
	struct settings settings = { .threads = 1, .path = "io_hog.scratch" };
	const struct option_spec options[] = {
		{ "file", "PATH", "scratch file on a disk, 64 MiB, gone at once (io_hog.scratch)",
		  &settings.path },
		{ "threads", "N", "threads that write (1)", &threads },
		{ "seconds", "N", "end by itself (on SIGTERM or SIGINT)", &seconds },
	};
	const struct command_spec command = {
		"io_hog",
		"[--file PATH] [--threads N] [--seconds N]",
		"Waits for the disk, with direct and synchronous writes, in burn_io().",
		"io_hog --file /var/tmp/scratch --threads 2 --seconds 5",
		options,
		ARRAY_SIZE(options)
	};
	int words, parsed;

	log_init(command.program);
	parsed = options_parse(&command, count, arguments, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (words) {
		log_error("takes no argument, not '%s': see --help", arguments[1]);
		return EXIT_USAGE;
	}
	if (!read_number("threads", threads, 1, 4096, &settings.threads) ||
	    !read_number("seconds", seconds, 1, 86400, &settings.seconds))
		return EXIT_USAGE;
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
	const struct sigaction action = { .sa_handler = on_signal };
	_cleanup_close_ int fd = -EBADF;
	unsigned long long bytes;
	struct settings settings;
	double began;
	int error, parsed;

	parsed = read_settings(argc, argv, &settings);
	if (parsed != OPTIONS_RUN)
		return parsed;
	fd = open_scratch(settings.path);
	if (fd < 0) {
		log_error("cannot create '%s': %s%s", settings.path, strerror(-fd),
			  fd == -EINVAL ? " (no O_DIRECT here: name a --file on a disk)" : "");
		return EXIT_FAILED;
	}
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	began = wall_seconds();
	alarm((unsigned int)settings.seconds);
	error = burn_all(fd, settings.threads, &bytes);
	if (error) {
		log_error("cannot write '%s' with %llu threads: %s", settings.path, settings.threads,
			  strerror(-error));
		return EXIT_FAILED;
	}
	printf("bytes=%llu threads=%llu wall_s=%.3f\n", bytes, settings.threads, wall_seconds() - began);
	return EXIT_DONE;
}

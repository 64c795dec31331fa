/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lock_hog waits for a lock, and a profile of the waiting has one right answer: its threads contend for one
 * mutex, and wait for it in the kernel below hold_lock() and nowhere else. It measures the waiting, and
 * prints it at the end.
 */
#define _GNU_SOURCE 1 /* syscall numbers */

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#if !defined(__x86_64__) && !defined(__aarch64__)
#error "futex() lacks this architecture's system call instruction"
#endif

static volatile sig_atomic_t stop; /* set by the signal handler */

/* 0 free, 1 taken, 2 taken and waited for (U. Drepper, Futexes Are Tricky, section 6). */
static unsigned int lock;

struct settings {
	unsigned long long threads, hold_ms, seconds; /* 0: until a signal */
};

struct worker {
	pthread_t thread;
	unsigned long long hold_ns, acquired, waited_ns;
};

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

/*
 * futex(2) without libc, whose wrapper keeps no frame pointer: an unwinder by frame pointers would skip the
 * caller, which is the frame that a profile must show.
 */
__attribute__((always_inline)) static inline long futex(unsigned int *word, int operation, unsigned int value)
{
#if defined(__x86_64__)
	long result = SYS_futex;
	register const void *timeout __asm__("r10") = NULL;

	__asm__ volatile("syscall"
			 : "+a"(result)
			 : "D"(word), "S"((long)operation), "d"((long)value), "r"(timeout)
			 : "rcx", "r11", "memory");
	return result;
#else
	register long result __asm__("x0") = (long)word;
	register long what __asm__("x1") = operation;
	register long number __asm__("x2") = value;
	register const void *timeout __asm__("x3") = NULL;
	register long call __asm__("x8") = SYS_futex;

	__asm__ volatile("svc #0"
			 : "+r"(result)
			 : "r"(what), "r"(number), "r"(timeout), "r"(call)
			 : "memory");
	return result;
#endif
}

static void spin(unsigned long long ns)
{
	uint64_t until_ns = clock_monotonic_ns() + ns;

	while (clock_monotonic_ns() < until_ns)
		;
}

/* The only user frame below which threads wait. */
__attribute__((noinline, used)) static void hold_lock(struct worker *worker)
{
	uint64_t began_ns = clock_monotonic_ns();
	unsigned int seen = 0;

	if (!__atomic_compare_exchange_n(&lock, &seen, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		while (__atomic_exchange_n(&lock, 2, __ATOMIC_ACQUIRE) && !stop)
			futex(&lock, FUTEX_WAIT_PRIVATE, 2);
	worker->waited_ns += clock_monotonic_ns() - began_ns;
	worker->acquired++;
	spin(worker->hold_ns);
	if (__atomic_exchange_n(&lock, 0, __ATOMIC_RELEASE) == 2)
		futex(&lock, FUTEX_WAKE_PRIVATE, 1);
}

static void *worker_main(void *argument)
{
	struct worker *worker = argument;

	while (!stop) {
		hold_lock(worker);
		spin(worker->hold_ns / 2); /* lets another thread have its turn */
	}
	/* whoever waits is woken by who holds it, and sees `stop` */
	return NULL;
}

/* Returns OPTIONS_RUN or the exit status. */
static int read_settings(int count, char **arguments, struct settings *ret_settings)
{
	const char *threads = "4", *hold_ms = "20", *seconds = NULL;
	struct settings settings = { 0 };
	const struct option_spec options[] = {
		{ "threads", "N", "threads that contend (4)", &threads },
		{ "hold", "MS", "how long each holds the lock, in ms (20)", &hold_ms },
		{ "seconds", "N", "end by itself (on SIGTERM or SIGINT)", &seconds },
	};
	const struct command_spec command = { "lock_hog",
					      "[--threads N] [--hold MS] [--seconds N]",
					      "Waits for one mutex with several threads, in hold_lock().",
					      "lock_hog --threads 4 --hold 20 --seconds 5",
					      options,
					      ARRAY_SIZE(options) };
	int words, parsed;

	log_init(command.program);
	parsed = options_parse(&command, count, arguments, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (words || options_number(threads, 2, 1024, &settings.threads) ||
	    options_number(hold_ms, 1, 10000, &settings.hold_ms) ||
	    (seconds && options_number(seconds, 1, 86400, &settings.seconds))) {
		log_error("takes numbers, and no argument: see --help");
		return EXIT_USAGE;
	}
	*ret_settings = settings;
	return OPTIONS_RUN;
}

int main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = on_signal };
	unsigned long long acquired = 0, waited_ns = 0;
	struct settings settings;
	struct worker *workers;
	int parsed = read_settings(argc, argv, &settings);

	if (parsed != OPTIONS_RUN)
		return parsed;
	workers = calloc(settings.threads, sizeof(*workers));
	if (!workers)
		return EXIT_FAILED;
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	alarm((unsigned int)settings.seconds);
	for (unsigned long long i = 0; i < settings.threads; i++) {
		workers[i].hold_ns = settings.hold_ms * 1000000;
		if (pthread_create(&workers[i].thread, NULL, worker_main, &workers[i])) {
			log_error("cannot start thread %llu", i + 1);
			return EXIT_FAILED;
		}
	}
	puts("ready");
	fflush(stdout);
	for (unsigned long long i = 0; i < settings.threads; i++) {
		pthread_join(workers[i].thread, NULL);
		acquired += workers[i].acquired;
		waited_ns += workers[i].waited_ns;
	}
	free(workers);
	printf("acquired=%llu waited_ns=%llu\n", acquired, waited_ns);
	return EXIT_DONE;
}

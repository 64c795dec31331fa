/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * turncoat uses CPU time with two threads, and changes its user when it is told to: on SIGUSR1 its second
 * thread alone (by the system call; the C library would change all threads); on SIGUSR2 the whole process, or
 * with --idle its first thread. With --idle it sleeps instead, and apart from signals only its second thread
 * ever wakes up. With --first-ends its first thread exits; with --undumpable the process then keeps its memory
 * from others.
 */
#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t thread_changes, process_changes, stop;
static volatile uint64_t spins;

struct turncoat {
	uid_t uid;
	bool idle, first_ends, undumpable;
	pid_t second;
};

static void on_signal(int number)
{
	if (number == SIGUSR1)
		thread_changes = true;
	else if (number == SIGUSR2)
		process_changes = true;
	else
		stop = true;
}

static __attribute__((noinline)) void burn_on(void)
{
	for (unsigned int i = 0; i < 1000000; i++)
		spins++;
}

static void pass_time(const struct turncoat *turncoat, bool wakes)
{
	const struct timespec nap = { .tv_sec = wakes ? 0 : 1000, .tv_nsec = wakes ? 20000000 : 0 };

	if (turncoat->idle)
		nanosleep(&nap, NULL);
	else
		burn_on();
}

static bool first_is_zombie(void)
{
	char text[256] = "";
	FILE *stat = fopen("/proc/self/stat", "re");
	const char *state = stat && fgets(text, sizeof(text), stat) ? strrchr(text, ')') : NULL;

	if (stat)
		fclose(stat);
	return state && state[1] == ' ' && state[2] == 'Z';
}

static void outlive_first(const struct turncoat *turncoat)
{
	while (!first_is_zombie())
		sched_yield();
	if (turncoat->undumpable && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		log_error("cannot become undumpable: %s", strerror(errno));
	puts("ready");
	fflush(stdout);
}

static void *burn_second(void *argument)
{
	struct turncoat *turncoat = argument;

	__atomic_store_n(&turncoat->second, gettid(), __ATOMIC_RELEASE);
	if (turncoat->first_ends)
		outlive_first(turncoat);
	while (!stop) {
		pass_time(turncoat, true);
		if (!thread_changes)
			continue;
		thread_changes = false;
		if (syscall(SYS_setresuid, turncoat->uid, turncoat->uid, turncoat->uid))
			log_error("cannot become %u: %s", turncoat->uid, strerror(errno));
		else
			puts("thread changed");
		fflush(stdout);
	}
	return NULL;
}

int main(int count, char **arguments)
{
	const char *uid_text = "65534", *idle = NULL, *first_ends = NULL, *undumpable = NULL;
	const struct option_spec options[] = {
		{ "uid", "N", "who to become (65534)", &uid_text },
		{ "idle", NULL, "sleep", &idle },
		{ "first-ends", NULL, "leave the process to its second thread", &first_ends },
		{ "undumpable", NULL, "with it: keep the memory from others", &undumpable },
	};
	const struct command_spec command = { "turncoat",
					      "[--uid N] [--idle] [--first-ends [--undumpable]]",
					      "Burns CPU time, and becomes somebody else.",
					      "turncoat --uid 1000",
					      options,
					      ARRAY_SIZE(options) };
	const struct sigaction action = { .sa_handler = on_signal };
	/* static: with --first-ends the second thread uses it after main() has ended */
	static struct turncoat turncoat;
	unsigned long long uid;
	int words, parsed;
	pthread_t second;

	log_init(command.program);
	parsed = options_parse(&command, count, arguments, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (options_number(uid_text, 0, UINT32_MAX - 1, &uid) || words) {
		log_error("takes options alone: see --help");
		return EXIT_USAGE;
	}
	turncoat.uid = (uid_t)uid;
	turncoat.idle = idle;
	turncoat.first_ends = first_ends;
	turncoat.undumpable = undumpable;
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (pthread_create(&second, NULL, burn_second, &turncoat))
		return EXIT_FAILED;
	while (!__atomic_load_n(&turncoat.second, __ATOMIC_ACQUIRE))
		sched_yield();
	if (first_ends)
		pthread_exit(NULL);
	printf("ready %d\n", turncoat.second);
	fflush(stdout);
	while (!stop) {
		pass_time(&turncoat, false);
		if (!process_changes)
			continue;
		process_changes = false;
		if (turncoat.idle ? syscall(SYS_setresuid, turncoat.uid, turncoat.uid, turncoat.uid)
				  : setresuid(turncoat.uid, turncoat.uid, turncoat.uid))
			log_error("cannot become %u: %s", turncoat.uid, strerror(errno));
		else
			puts("process changed");
		fflush(stdout);
	}
	pthread_join(second, NULL);
	return EXIT_DONE;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * switcher changes threads some 17,000 times a second on every CPU: two threads pass a byte to and fro, each waits for the other,
 * and computes for a while. Without that there are ten times as many changes, and their cost differs by more from one measurement
 * to the next than stacks take.
 */
#define _GNU_SOURCE 1 /* CPU_SET() */

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORK_NS 50000

struct player {
	int cpu;
	int from, to; /* pipes */
};

static __attribute__((noinline)) void play(const struct player *player)
{
	uint64_t began_ns;
	char ball;

	while (read(player->from, &ball, 1) == 1) {
		began_ns = clock_monotonic_ns();
		while (clock_monotonic_ns() - began_ns < WORK_NS)
			;
		if (write(player->to, &ball, 1) != 1)
			break;
	}
}

static void *run(void *argument)
{
	const struct player *player = argument;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET((unsigned int)player->cpu, &cpus);
	/* on the CPUs that this process may use; elsewhere they meet by chance */
	pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus);
	play(player);
	return NULL;
}

static int make_pair(struct player players[2], int cpu)
{
	int there[2], back[2];
	pthread_t thread;

	if (pipe(there) || pipe(back))
		return -errno;
	players[0] = (struct player){ cpu, back[0], there[1] };
	players[1] = (struct player){ cpu, there[0], back[1] };
	if (pthread_create(&thread, NULL, run, &players[0]) ||
	    pthread_create(&thread, NULL, run, &players[1]))
		return -EAGAIN;
	return write(there[1], "", 1) == 1 ? 0 : -errno;
}

int main(int count, char **arguments)
{
	const struct command_spec command = { "switcher", "",   "Changes threads often, on every CPU.",
					      "switcher", NULL, 0 };
	int words, parsed, cpus = (int)sysconf(_SC_NPROCESSORS_ONLN), result = 0;
	struct player *players;

	log_init(command.program);
	parsed = options_parse(&command, count, arguments, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	players = calloc((size_t)cpus * 2, sizeof(*players));
	for (int i = 0; players && i < cpus && !result; i++)
		result = make_pair(&players[(ptrdiff_t)i * 2], i);
	if (!players || result < 0) {
		log_error("cannot begin: %s", strerror(players ? -result : ENOMEM));
		return EXIT_FAILED;
	}
	puts("ready");
	fflush(stdout);
	pause();
	return EXIT_DONE;
}

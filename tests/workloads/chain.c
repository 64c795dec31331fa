/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * chain has two threads, each with one stack that is the same in each sample: the first executes one
 * instruction for ever, below chain_outer() and chain_inner(); the second sleeps again and again, below
 * chain_sleep(). Built with ONE_MORE, it has one more instruction, before those.
 */
#include "common/base/clock.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define SLEEP_NS 20000000UL

#ifdef ONE_MORE
#define MORE __asm__ volatile("nop")
#else
#define MORE
#endif

__attribute__((noinline)) static void chain_inner(void)
{
	MORE;
	for (;;)
		__asm__ volatile(""); /* a jump to itself */
}

__attribute__((noinline)) static void chain_outer(void)
{
	chain_inner();
	__asm__ volatile(""); /* not a tail call */
}

__attribute__((noinline)) static void chain_sleep(void)
{
	const struct timespec time = clock_timespec(SLEEP_NS);

	MORE;
	for (;;)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

static void *sleeper_main(void *argument)
{
	chain_sleep();
	return argument;
}

int main(void)
{
	pthread_t sleeper;

	if (pthread_create(&sleeper, NULL, sleeper_main, NULL))
		return 1;
	puts("ready");
	fflush(stdout);
	chain_outer();
	return 0;
}

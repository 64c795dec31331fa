/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * run.h owns what the programs with known stacks share: their options, the line that says they are ready, and
 * when to stop.
 */
#ifndef BOURDON_WORKLOADS_UNWIND_RUN_H
#define BOURDON_WORKLOADS_UNWIND_RUN_H

#include <signal.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A function that has a frame of its own in every build, under its own name. */
#ifdef __clang__
#define SOLID __attribute__((noinline, used))
#else
#define SOLID __attribute__((noipa, used))
#endif

/* Behind a call, so that the call does not become a jump. */
#define STAY() __asm__ volatile("")

struct run {
	const char *kind; /* one of the kinds that the program has */
	unsigned long long depth, seconds;
};

extern volatile sig_atomic_t run_over; /* set by the signal handler */

/*
 * Reads the options. `kinds` ends with NULL; the first is the default. Returns OPTIONS_RUN or the exit
 * status.
 */
int run_begin(const char *program, const char *const *kinds, int argc, char **argv, struct run *ret_run);

/* Prints that the program is ready; its seconds begin now. */
void run_ready(const struct run *run);

/* Runs for a moment without a system call, inlined into its caller. */
static inline __attribute__((always_inline)) void run_spin(unsigned int rounds)
{
	unsigned long state = rounds;

	for (unsigned int i = 0; i < rounds; i++) {
		state = state * 6364136223846793005UL + 1442695040888963407UL;
		__asm__ volatile("" : "+r"(state)); /* keeps the compiler from folding the loop */
	}
}

#define RUN_MOMENT 1024U     /* rounds between two looks at run_over */
#define RUN_LONGER 10000000U /* rounds; some ten milliseconds */

#ifdef __cplusplus
}
#endif

#endif

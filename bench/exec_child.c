/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * exec_child is the program that the exec benchmarks execute: statically linked, it exits at once. With an
 * argument it writes its start time (CLOCK_MONOTONIC, eight bytes) to standard output and lives until
 * standard input ends.
 */
#include "common/clock.h"

#include <unistd.h>

int main(int count, char **words)
{
	uint64_t began_ns = clock_monotonic_ns();
	char nothing;

	(void)words;
	if (count == 1)
		return 0;
	return write(STDOUT_FILENO, &began_ns, sizeof(began_ns)) != sizeof(began_ns) ||
	       read(STDIN_FILENO, &nothing, 1);
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * exec_child is the program that the exec benchmarks execute: it is linked statically, does nothing and ends.
 * With an argument it writes the time of its start (CLOCK_MONOTONIC) to standard output as eight bytes, and
 * lives until standard input ends.
 */
#include "common/base/clock.h"

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

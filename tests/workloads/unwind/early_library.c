/* SPDX-License-Identifier: GPL-2.0-only */
/* The library of early.c, which burns CPU time as it is initialized. */
#include "tests/workloads/unwind/run.h"

#include <stdio.h>

int early_never(void);

SOLID int early_never(void)
{
	return 0;
}

SOLID static void early_burn(void)
{
	run_spin(RUN_MOMENT);
	STAY();
}

__attribute__((constructor)) static void early_begin(void)
{
	puts("ready");
	fflush(stdout);
	for (;;)
		early_burn();
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* What lazy.c calls through its procedure linkage table. */
#include "tests/workloads/unwind/run.h"

void lazy_tick(void);

SOLID void lazy_tick(void)
{
	run_spin(4);
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* The library of honest.c. */
#include "tests/workloads/unwind/honest.h"

#include "tests/workloads/unwind/run.h"

SOLID static void honest_burn(const volatile sig_atomic_t *over)
{
	while (!*over)
		run_spin(RUN_MOMENT);
}

SOLID void honest_serve(honest_callback *callback)
{
	char room[200];

	__asm__ volatile("" : : "r"(room) : "memory");
	callback(honest_burn);
	__asm__ volatile("" : : "r"(room) : "memory");
}

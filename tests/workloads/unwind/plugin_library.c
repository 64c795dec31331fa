/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A plugin, in two builds with the same functions, whose frames differ by PLUGIN_ROOM. An unwinder that uses
 * the table of one for the other gets lost. Two more builds differ in the name of the leaf alone.
 */
#include "tests/workloads/unwind/plugin.h"

#include "tests/workloads/unwind/run.h"

#ifndef PLUGIN_ROOM
#define PLUGIN_ROOM 200
#endif

#ifndef PLUGIN_LEAF
#define PLUGIN_LEAF plugin_burn
#endif

SOLID static void PLUGIN_LEAF(void)
{
	char room[PLUGIN_ROOM];

	__asm__ volatile("" : : "r"(room) : "memory");
	run_spin(RUN_LONGER);
	__asm__ volatile("" : : "r"(room) : "memory");
}

SOLID void plugin_enter(plugin_callback *callback)
{
	char room[PLUGIN_ROOM];

	__asm__ volatile("" : : "r"(room) : "memory");
	callback(PLUGIN_LEAF);
	__asm__ volatile("" : : "r"(room) : "memory");
}

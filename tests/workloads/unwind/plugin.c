/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * plugin loads code while it runs. Its stacks are: main program, plugin, main program, and the leaf of the
 * plugin. It loads the plugin anew from time to time; kind `replaced` loads the other build each time, which
 * then has the same addresses as the first. Kind `turns` does that with two that differ in the name of their leaf alone, and
 * prints when each was there: its number, begin and end in ns since 1970.
 */
#include "tests/workloads/unwind/plugin.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/system/log.h"
#include "common/system/options.h"
#include "tests/workloads/unwind/chain.h"
#include "tests/workloads/unwind/run.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define RELOAD_SECONDS 1U
#define REPLACE_SECONDS 5U
#define TURN_SECONDS 2U

static const char *const plugins[] = { "$ORIGIN/unwind_plugin_a.so", "$ORIGIN/unwind_plugin_b.so" },
			 *const turns[] = { "$ORIGIN/unwind_turn_first.so", "$ORIGIN/unwind_turn_other.so" };

SOLID static void call_back(plugin_leaf *leaf)
{
	leaf();
	STAY();
}

/* Returns false, and logs it, where there is no such function. */
SOLID static bool run_plugin(const char *path, unsigned int seconds)
{
	uint64_t until_ns = clock_monotonic_ns() + seconds * CLOCK_SECOND_NS;
	void *plugin = dlopen(path, RTLD_NOW);
	void (*enter)(plugin_callback *) = NULL;

	if (plugin)
		*(void **)&enter = dlsym(plugin, "plugin_enter");
	if (!enter) {
		log_error("cannot load %s: %s", path, dlerror());
		return false;
	}
	while (!run_over && clock_monotonic_ns() < until_ns)
		enter(call_back);
	dlclose(plugin);
	return true;
}

SOLID static void reload(void)
{
	while (!run_over && run_plugin(plugins[0], RELOAD_SECONDS))
		;
}

SOLID static void replace(void)
{
	for (unsigned int i = 0; !run_over && run_plugin(plugins[i % ARRAY_SIZE(plugins)], REPLACE_SECONDS);
	     i++)
		;
}

static uint64_t realtime_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * CLOCK_SECOND_NS + (uint64_t)now.tv_nsec;
}

SOLID static void take_turns(void)
{
	bool runs = true;

	for (unsigned int i = 0; !run_over && runs; i++) {
		uint64_t begin_ns = realtime_ns();

		runs = run_plugin(turns[i % ARRAY_SIZE(turns)], TURN_SECONDS);
		printf("%zu %" PRIu64 " %" PRIu64 "\n", i % ARRAY_SIZE(turns), begin_ns, realtime_ns());
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	const char *const kinds[] = { "reloaded", "replaced", "turns", NULL };
	struct chain chain = { { level_small, level_pushes }, 2, reload };
	struct run run;
	int parsed = run_begin("unwind_plugin", kinds, argc, argv, &run);

	if (parsed != OPTIONS_RUN)
		return parsed;
	if (!strcmp(run.kind, "replaced"))
		chain.leaf = replace;
	if (!strcmp(run.kind, "turns"))
		chain.leaf = take_turns;
	run_ready(&run);
	chain_descend(&chain, run.depth);
	return run_over ? EXIT_DONE : EXIT_FAILED;
}

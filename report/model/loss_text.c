/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/model/loss_text.h"

#include "common/base/cleanup.h"

#include <string.h>

const char *loss_text(const char *reason)
{
	static const struct {
		const char *reason, *text;
	} texts[] = {
		{ "overwritten-slots", "overwritten in the ring before bourdond read them" },
		{ "torn-slots", "overwritten in the ring while bourdond read them" },
		{ "kernel-stack-missing", "the kernel could not read its own stack" },
		{ "user-stack-missing", "the kernel could not read the program's stack" },
		{ "samples-not-taken", "not sampled, because bourdond's heartbeat was too old" },
		{ "stack-truncated", "the stack has more frames than a sample can hold" },
		{ "stack-not-whole",
		  "outermost frames are missing; a new file has no table in its first second" },
		{ "capture-full",
		  "beyond the stacks and rows of one capture, or the memory that captures share" },
		{ "others-full",
		  "samples of others than targets, beyond the limit of one capture for those" },
		{ "growth-lost", "stacks of growing memory, beyond the limit of one capture" },
		{ "wakers-lost",
		  "intervals off CPU of which the thread that ended them, or its stack, found no room" },
		{ "looks-lost",
		  "threads that a look saw, beyond the limit of one capture or of a process not known" },
		{ "targets-full", "not sampled, because the map of target processes was full" },
		{ "events-lost",
		  "process events lost: their ring was full; the next process walk finds the processes" },
		{ "stale-events", "process events for rules that were no longer in force" },
		{ "offcpu-over-budget",
		  "intervals off CPU without a stack: too many per second; their time is counted" },
		{ "program-runs-missed",
		  "runs of in-kernel programs that the kernel left out: one ran on that CPU already" },
		{ "offcpu-joined", "intervals off CPU without a stack, whose time counts with a later one" },
		{ "offcpu-untracked",
		  "threads whose time off CPU is unknown, because a map or memory was full" },
		{ "unknown-process",
		  "samples of a process that bourdond did not know, or whose cgroup it did not know" },
		{ "samples-missing",
		  "samples on CPU that the CPU time used calls for, and that are missing" },
		{ "watch-suppressed", "triggers in the cooldown before this capture" },
		{ "cgroups-unwatched",
		  "cgroups of this rule without a watch, for lack of room: 'bourdon status' says why" },
		{ "cpus-unsampled", "CPUs that came online after bourdon-load ran" },
		{ "frames-unresolved", "distinct frames without a function name" },
		{ "symbolizer-failed",
		  "symbolizers that died, timed out or did not start: names are missing" },
		{ "mappings-cut",
		  "processes with too many executable mappings: code in the rest has no names" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (!strcmp(texts[i].reason, reason))
			return texts[i].text;
	return NULL;
}

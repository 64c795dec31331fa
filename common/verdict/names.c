/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/verdict/verdict.h"

#include "common/base/optional_text.h"

const char *const account_names[ACCOUNTS] = { ACCOUNT_NAMES };

const char *const blame_role_names[BLAME_ROLES] = {
	[ROLE_OWN] = "own",           [ROLE_OTHER] = "other",     [ROLE_KERNEL] = "kernel",
	[ROLE_RECORDER] = "recorder", [ROLE_IRQ] = "irq",         [ROLE_STEAL] = "steal",
	[ROLE_QUOTA] = "quota",       [ROLE_LIMIT] = "limit",     [ROLE_DEVICE] = "device",
	[ROLE_NOBODY] = "nobody",     [ROLE_UNKNOWN] = "unknown",
};

const char *const verdict_kind_names[VERDICT_KINDS] = {
	[VERDICT_NEGLIGIBLE] = "negligible",
	[VERDICT_KILL] = "kill",
	[VERDICT_QUOTA] = "quota",
	[VERDICT_LIMIT] = "limit",
	[VERDICT_STORM] = "storm",
	[VERDICT_OWN_THREADS] = "own threads",
	[VERDICT_CONVOY] = "convoy",
	[VERDICT_LOCK] = "lock",
	[VERDICT_NEIGHBOUR] = "neighbour",
	[VERDICT_NEIGHBOURS] = "neighbours",
	[VERDICT_CROWD] = "crowd",
	[VERDICT_DEVICE] = "device",
	[VERDICT_OWN_IO] = "own I/O",
	[VERDICT_MEMORY_SHORTAGE] = "memory shortage",
	[VERDICT_INTERRUPTS] = "interrupts",
	[VERDICT_STEAL] = "steal",
	[VERDICT_POOL] = "pool",
	[VERDICT_PEER] = "peer",
	[VERDICT_NETWORK] = "network",
	[VERDICT_UNDETERMINED] = "undetermined",
};

const char *verdict_place(const struct verdict_who *who)
{
	return who->unit ? who->unit : who->cgroup;
}

bool verdict_is_same(const struct verdict_who *one, const struct verdict_who *other)
{
	return one->program && optional_text_is_same(one->program, other->program) &&
	       optional_text_is_same(one->unit, other->unit) &&
	       (one->unit || optional_text_is_same(one->cgroup, other->cgroup));
}

/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/waits.h"

#include "common/base/clock.h"

/* Within so much time, WAITS_READINGS readings of the accounts are enough, whatever fires: each takes milliseconds. */
#define WAITS_NS (CLOCK_SECOND_NS / 4)

/* Where the accounts have waits for the resource; none for irq. PSI counts those for pages that are read again as both. */
static uint64_t waited_ns(const struct account_victim *victim, enum psi_resource resource)
{
	switch (resource) {
	case PSI_CPU:
		return victim->ns[ACCOUNT_QUEUED] + victim->ns[ACCOUNT_THROTTLED];
	case PSI_MEMORY:
		return victim->ns[ACCOUNT_MEMORY];
	case PSI_IO:
		return victim->ns[ACCOUNT_IO] + victim->ns[ACCOUNT_MEMORY];
	default:
		return 0;
	}
}

/*
 * The time of all threads of the victims that the scope covers. WATCH_NOT_KNOWN where the accounts are not complete, or have
 * no such victim.
 */
static uint64_t waited_us(const struct accounts *accounts, struct capture_scope *scope,
			  enum psi_resource resource)
{
	const struct accounts_scope of_accounts = capture_scope_of_accounts(scope);
	uint64_t sum_ns = 0;
	bool any = false;

	for (uint32_t i = 0; i < accounts->victims_count; i++) {
		const struct account_victim *victim = &accounts->victims[i];
		const char *cgroup;

		if (!of_accounts.covers(of_accounts.user, victim->comm, victim->cgroup_id, 0, &cgroup))
			continue;
		any = true;
		sum_ns += waited_ns(victim, resource);
	}
	return any && accounts->is_complete && resource <= PSI_IO ? sum_ns / 1000 : WATCH_NOT_KNOWN;
}

static struct capture_scope scope_of_watch(const struct recording_sources *sources, const struct watch *watch)
{
	return (struct capture_scope){ .targets = &sources->tracking->targets,
				       .cgroups = sources->cgroups,
				       .rule = watch->rule,
				       .cgroup = watch->cgroup };
}

static bool covers_all(void *user, const char comm[ABI_COMM_BYTES], uint64_t cgroup_id, uint32_t tgid,
		       const char **ret_cgroup)
{
	(void)user;
	(void)comm;
	(void)cgroup_id;
	(void)tgid;
	*ret_cgroup = NULL;
	return true;
}

/* What all targets waited since then. The caller frees. */
static struct accounts read_waits(const struct recording_sources *sources, uint64_t since_ns, uint64_t now_ns)
{
	const struct accounts_scope all = { .covers = covers_all, .sums_only = true };
	struct accounts waits;

	accounts_begin(&waits, sources->kernel, since_ns, sources->accounts_valid_ns, now_ns);
	accounts_end(&waits, sources->kernel, now_ns, sources->clock, &all);
	return waits;
}

uint64_t waits_at_trigger(struct waits *waits, const struct recording_sources *sources,
			  const struct watch *watch, uint64_t now_ns)
{
	uint64_t window_ns = watch->trigger->window_us * 1000, recent_ns = clock_before(now_ns, WAITS_NS);
	struct capture_scope scope = scope_of_watch(sources, watch);
	struct waits_reading *place = waits->readings;

	for (struct waits_reading *one = waits->readings; one < waits->readings + WAITS_READINGS; one++) {
		if (one->window_ns == window_ns && one->at_ns >= recent_ns)
			return waited_us(&one->accounts, &scope, watch->trigger->resource);
		if (one->at_ns < recent_ns)
			accounts_free(&one->accounts);
		if (one->at_ns < place->at_ns)
			place = one;
	}
	if (place->at_ns >= recent_ns && place->window_ns)
		return WATCH_NOT_KNOWN;
	*place = (struct waits_reading){ read_waits(sources, clock_before(now_ns, window_ns), now_ns),
					 window_ns, now_ns };
	return waited_us(&place->accounts, &scope, watch->trigger->resource);
}

/* What they waited since then, in proportion to the watch's window. */
static uint64_t waited_since(const struct recording_sources *sources, const struct watch *watch,
			     uint64_t since_ns, uint64_t now_ns)
{
	uint64_t window_ns = watch->trigger->window_us * 1000, sum_us;
	struct capture_scope scope = scope_of_watch(sources, watch);
	struct accounts waits = read_waits(sources, since_ns, now_ns);

	sum_us = waited_us(&waits, &scope, watch->trigger->resource);
	accounts_free(&waits);
	if (sum_us == WATCH_NOT_KNOWN || now_ns <= since_ns)
		return sum_us;
	return (uint64_t)((double)sum_us * (double)window_ns / (double)(now_ns - since_ns));
}

void waits_tell(const struct recording *recording, struct watch *watch, uint64_t now_ns)
{
	const struct capture *capture = recording->capture;
	struct capture_scope scope = recording_scope(recording);
	uint64_t since_ns = capture->trigger.triggered_ns, last_ns;

	/* a long wait counts when it ends, so its last window alone may have little of a steady stall */
	watch_note_own(watch, waited_since(recording->sources, watch, since_ns, now_ns));
	last_ns = clock_before(now_ns, watch->trigger->window_us * 1000);
	if (last_ns > since_ns)
		watch_note_own(watch, waited_since(recording->sources, watch, last_ns, now_ns));
	watch_note_end(watch, capture->trigger.observed_us,
		       waited_us(&capture->accounts, &scope, recording->fired->resource), now_ns);
}

void waits_free(struct waits *waits)
{
	for (size_t i = 0; i < WAITS_READINGS; i++)
		accounts_free(&waits->readings[i].accounts);
}

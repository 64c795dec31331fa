/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * expiry.c has what is too old removed from the database, on the worker thread, and knows when to look again.
 *
 * Removing a capture takes a pass over the database, so that captures which get too old soon after each other go
 * together. The wall clock, which tells their age, may jump meanwhile.
 */
#include "consumer/worker/state.h"

#define EXPIRE_GAP_NS_MIN CLOCK_SECOND_NS
#define EXPIRE_GAP_NS_MAX (3600 * CLOCK_SECOND_NS)
#define EXPIRE_GAP_SHARE 128 /* of max_age, or of the age of activity */

void expiry_run(struct worker *worker)
{
	uint64_t now_ns = clock_now_ns(worker->clock), next_ns, gap_ns, activity_age_ns, baseline_age_ns;

	if (store_expire(worker->store, &next_ns)) {
		log_warning(
			"cannot remove captures that are older than max_age, or activity or baselines that are older than keep: %s",
			store_error(worker->store));
		next_ns = now_ns;
	}
	pthread_mutex_lock(&worker->lock);
	gap_ns = worker->reloads.in_force->settings.database_age_ns_max;
	activity_age_ns = worker->reloads.in_force->settings.activity_age_ns_max;
	baseline_age_ns = worker->reloads.in_force->settings.baseline_age_ns_max;
	pthread_mutex_unlock(&worker->lock);
	if (!gap_ns || activity_age_ns < gap_ns)
		gap_ns = activity_age_ns;
	if (baseline_age_ns < gap_ns)
		gap_ns = baseline_age_ns;
	gap_ns /= EXPIRE_GAP_SHARE;
	if (gap_ns < EXPIRE_GAP_NS_MIN)
		gap_ns = EXPIRE_GAP_NS_MIN;
	if (gap_ns > EXPIRE_GAP_NS_MAX)
		gap_ns = EXPIRE_GAP_NS_MAX;
	if (next_ns && next_ns < now_ns + gap_ns)
		next_ns = now_ns + gap_ns;
	if (next_ns > now_ns + EXPIRE_GAP_NS_MAX)
		next_ns = now_ns + EXPIRE_GAP_NS_MAX;
	worker->expire_due_ns = next_ns;
}

void expiry_note_written(struct worker *worker)
{
	if (!worker->expire_due_ns)
		expiry_run(worker);
}

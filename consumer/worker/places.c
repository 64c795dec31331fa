/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * places.c says which captures may be under way or wait, and how much memory each may have (shares.h). All functions run on
 * the draining thread; the worker thread gives a place back in captures.c.
 */
#include "consumer/worker/state.h"

bool worker_has_captures(struct worker *worker)
{
	HOLD_LOCK(&worker->lock);

	return worker->captures.count;
}

static struct capture *capture_of(uint64_t holder)
{
	return (struct capture *)(uintptr_t)holder; /* NOLINT(performance-no-int-to-ptr): capture_holder() */
}

/* Call it with the lock. */
static bool has_room(const struct worker *worker, const struct share_owner *owner, struct capture **ret_loser)
{
	uint64_t loser;
	bool room = shares_allow(&worker->captures, owner, &loser);

	*ret_loser = capture_of(loser);
	return room;
}

bool worker_has_room(struct worker *worker, const struct share_owner *owner, struct capture **ret_loser)
{
	HOLD_LOCK(&worker->lock);

	return has_room(worker, owner, ret_loser);
}

bool worker_begin_capture(struct worker *worker, struct capture *capture, const struct share_owner *owner,
			  struct capture **ret_loser)
{
	HOLD_LOCK(&worker->lock);

	if (!has_room(worker, owner, ret_loser))
		return false;
	baselines_make_way(worker);
	shares_make_way(&worker->captures, capture_holder(*ret_loser));
	shares_take(&worker->captures, owner, capture_holder(capture));
	worker_add_job(worker, (struct job){ .kind = JOB_BEGIN, .capture = capture });
	return true;
}

size_t worker_bytes_left(struct worker *worker, const struct capture *capture)
{
	const struct share_owner *owner = NULL;
	size_t most = WORKER_CAPTURES_BYTES_MAX(worker->kernel->manifest.cpus), held = 0, owned = 0,
	       least = WORKER_RULE_BYTES_LEAST;
	HOLD_LOCK(&worker->lock);

	for (uint32_t i = 0; i < worker->captures.count; i++)
		if (worker->captures.places[i].holder == capture_holder(capture))
			owner = &worker->captures.places[i].owner;
	for (uint32_t i = 0; i < worker->captures.count; i++) {
		const struct share_place *place = &worker->captures.places[i];
		size_t bytes = place->holder == capture_holder(capture)
				       ? 0
				       : capture_bytes(capture_of(place->holder));

		held += bytes;
		owned += owner && share_is_of(&place->owner, owner) ? bytes : 0;
	}
	if (owner && owner->kind == SHARE_OF_USER)
		least = WORKER_USER_BYTES_LEAST;
	least = owned < least ? least - owned : 0;
	return held + least < most ? most - held : least;
}

void worker_commit_capture(struct worker *worker, struct capture *capture)
{
	HOLD_LOCK(&worker->lock);

	shares_fix(&worker->captures, capture_holder(capture));
	worker_add_job(worker, (struct job){ .kind = JOB_COMMIT, .capture = capture });
}

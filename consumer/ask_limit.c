/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/ask_limit.h"

static bool has_room(const struct ask_budget *budget, uint64_t every_ns, uint32_t burst, uint64_t now_ns)
{
	return budget->full_ns <= now_ns || budget->full_ns - now_ns <= (burst - 1) * every_ns;
}

static void charge(struct ask_budget *budget, uint64_t every_ns, uint64_t now_ns)
{
	budget->full_ns = (budget->full_ns > now_ns ? budget->full_ns : now_ns) + every_ns;
}

/* The user's budget; for a new user that which is full soonest, or has been for longest. */
static struct ask_budget *find(struct ask_limit *limit, uint32_t uid)
{
	struct ask_budget *soonest = &limit->users[0];

	for (uint32_t i = 0; i < ASK_USERS; i++) {
		struct ask_budget *budget = &limit->users[i];

		if (budget->full_ns && budget->uid == uid)
			return budget;
		if (budget->full_ns < soonest->full_ns)
			soonest = budget;
	}
	return soonest;
}

bool ask_allowed(struct ask_limit *limit, uint32_t uid, uint64_t now_ns)
{
	struct ask_budget *budget = find(limit, uid), fresh = { .uid = uid };

	if (budget->uid == uid)
		fresh.full_ns = budget->full_ns;
	if (!has_room(&fresh, limit->every_ns, limit->burst, now_ns) ||
	    (uid && !has_room(&limit->all, limit->every_ns / ASK_ALL, limit->burst * ASK_ALL, now_ns)))
		return false;
	charge(&fresh, limit->every_ns, now_ns);
	if (uid)
		charge(&limit->all, limit->every_ns / ASK_ALL, now_ns);
	*budget = fresh;
	return true;
}

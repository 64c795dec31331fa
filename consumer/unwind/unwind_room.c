/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/unwind/unwind_room.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/numbers.h"

#include <stdlib.h>

/* A table that was made so short a time ago has had no chance to be used: it is not measured against others. */
#define YOUNG_NS (20 * CLOCK_SECOND_NS)
#define COUNT_NS (10 * CLOCK_SECOND_NS) /* between two counts of uses */
/* tables make room if all of them together had at most a tenth of all uses */
#define USES_PART 10U

/* Process entries may refer to the table of a file that was needed until the next pass has written them again. */
static void take_room(struct unwind_modules *modules, struct unwind_pass *pass, struct unwind_module *module)
{
	if (module->pass + 1 >= pass->number)
		pass->more |= unwind_space_retire(modules->space, &module->place, pass->number);
	unwind_space_release(modules->space, &module->place);
	module->state = MODULE_NEW;
}

/*
 * Takes the tables that no process needed in this pass or the one before, and, for a target's file, those that no target needed.
 * Returns whether there was one.
 */
static bool take_unneeded(struct unwind_modules *modules, struct unwind_pass *pass, bool for_target)
{
	bool any = false;

	for (uint32_t i = 0; i < modules->modules_count; i++) {
		struct unwind_module *module = modules->modules[i];
		bool is_needed = module->pass + 1 >= pass->number;

		if (module->state != MODULE_READY || !module->place.rows ||
		    (is_needed && (!for_target || module->target_pass + 1 >= pass->number)))
			continue;
		any = true;
		take_room(modules, pass, module);
	}
	return any;
}

/* ---- shares of the room ---- */

/* Whether it counts as the room of one user. */
static bool is_owned(const struct unwind_module *module)
{
	return module->state == MODULE_READY && module->place.rows && !module->is_shared &&
	       !module->was_shared;
}

/* Takes the newest tables that this user alone needs, with so many rows. */
static void take_from(struct unwind_modules *modules, struct unwind_pass *pass, uint32_t uid, uint64_t rows)
{
	uint64_t taken = 0;

	for (uint32_t i = modules->modules_count; i-- && taken < rows;) {
		struct unwind_module *module = modules->modules[i];

		if (!is_owned(module) || module->owner != uid)
			continue;
		taken += module->place.rows;
		take_room(modules, pass, module);
	}
	modules->makes_way = uid;
	modules->makes_way_ns = pass->now_ns + 2 * RETRY_ROOM_NS;
}

/* Counts the rows that each user has alone. */
static void count_rows(const struct unwind_modules *modules, struct user_shares *shares)
{
	for (uint32_t i = 0; i < modules->modules_count; i++) {
		const struct unwind_module *module = modules->modules[i];

		if (is_owned(module))
			user_shares_of(shares, module->owner)->used[0] += module->place.rows;
	}
}

/*
 * Makes room for a user who has less than half of what the one with most has, of files that nobody else needs: that one gives
 * half of the difference. Returns whether there was one.
 */
static bool share_room(struct unwind_modules *modules, struct unwind_pass *pass, uint32_t uid)
{
	struct user_shares shares = { .count = 0 };
	uint32_t most_uid = uid;
	uint64_t most = 0, own;

	count_rows(modules, &shares);
	for (uint32_t i = 0; i < modules->modules_count; i++) {
		uint32_t owner = modules->modules[i]->owner;

		if (user_shares_of(&shares, owner)->used[0] > most) {
			most = user_shares_of(&shares, owner)->used[0];
			most_uid = owner;
		}
	}
	own = user_shares_of(&shares, uid)->used[0];
	user_shares_clear(&shares);
	if (most_uid == uid || own >= most / 2)
		return false;
	take_from(modules, pass, most_uid, (most - own) / 2);
	return true;
}

/* ---- by use ---- */

/* Counts uses anew, if that was not done lately: those of the time before count half. Returns their sum. */
static uint64_t count_uses(struct unwind_modules *modules, uint64_t now_ns)
{
	bool is_due = now_ns - modules->counted_ns >= COUNT_NS;
	uint64_t all = 0;

	for (uint32_t i = 0; i < modules->modules_count; i++) {
		struct unwind_module *module = modules->modules[i];

		if (module->state != MODULE_READY)
			continue;
		if (is_due)
			module->uses = module->uses / 2 + unwind_space_uses(modules->space, &module->place);
		all += module->uses;
	}
	if (is_due)
		modules->counted_ns = now_ns;
	return all;
}

static int compare_uses(const void *a, const void *b)
{
	const struct unwind_module *one = *(const struct unwind_module *const *)a,
				   *other = *(const struct unwind_module *const *)b;

	return COMPARE(one->uses, other->uses);
}

/*
 * Lists the tables that may make room for a file of this user, the least used first: none that other users have alone, unless they
 * have more. Returns their number.
 */
static uint32_t list_candidates(struct unwind_modules *modules, const struct unwind_pass *pass, uint32_t uid,
				struct unwind_module **ret_list)
{
	struct user_shares shares = { .count = 0 };
	uint32_t count = 0;

	count_rows(modules, &shares);
	for (uint32_t i = 0; i < modules->modules_count; i++) {
		struct unwind_module *module = modules->modules[i];

		if (module->state == MODULE_READY && module->place.chunks_count && module->identity.inode &&
		    pass->now_ns - module->made_ns >= YOUNG_NS &&
		    (!is_owned(module) || module->owner == uid ||
		     user_shares_of(&shares, module->owner)->used[0] > user_shares_of(&shares, uid)->used[0]))
			ret_list[count++] = module;
	}
	user_shares_clear(&shares);
	qsort(ret_list, count, sizeof(*ret_list), compare_uses);
	return count;
}

/* The file waits longer each time. */
static void evict(struct unwind_modules *modules, struct unwind_pass *pass, struct unwind_module *module)
{
	uint64_t wait_ns = module->evictions < 4 ? RETRY_NS << module->evictions : RETRY_SLOW_NS;

	take_room(modules, pass, module);
	module->state = MODULE_WITHOUT;
	module->no_room = module->is_evicted = true;
	module->evictions++;
	module->retry_ns = pass->now_ns + (wait_ns < RETRY_SLOW_NS ? wait_ns : RETRY_SLOW_NS);
}

/*
 * Makes room for the file that was refused last of those that are used least. Returns false, and takes none, if what is lacking
 * is used by many.
 */
static bool take_least_used(struct unwind_modules *modules, struct unwind_pass *pass, uint32_t uid)
{
	_cleanup_free_ struct unwind_module **list = calloc(modules->modules_count, sizeof(*list));
	uint64_t all = count_uses(modules, pass->now_ns), uses = 0;
	uint32_t lacked = modules->space->chunks_lacked, chunks = 0, taken = 0, count;

	if (!list || !lacked)
		return false;
	count = list_candidates(modules, pass, uid, list);
	while (chunks < lacked && taken < count) {
		uses += list[taken]->uses;
		chunks += list[taken++]->place.chunks_count;
	}
	if (chunks < lacked || uses > all / USES_PART)
		return false;
	for (uint32_t i = 0; i < taken; i++)
		evict(modules, pass, list[i]);
	return true;
}

bool unwind_room_make(struct unwind_modules *modules, struct unwind_pass *pass,
		      const struct unwind_module *module)
{
	return take_unneeded(modules, pass, !module->is_of_bystander) ||
	       (!module->is_of_bystander &&
		(take_least_used(modules, pass, module->owner) || share_room(modules, pass, module->owner)));
}

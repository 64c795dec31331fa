/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/watch/watch_room.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Bytes of a path that one unit of room pays for. The paths of containers have some 250. */
#define PATH_BYTES_A_UNIT 512U

/*
 * The units of work that all rules may cause in one second: to look at a cgroup takes one (a stat of 2 us), to
 * open a pressure file takes WORK_OPEN. Each rule has an equal part, but enough for a few cgroups.
 */
#define WORK_A_SECOND 8192U
#define WORK_A_RULE_LEAST 64U

void watch_room_init(struct watch_room *room, const struct watch_limits *limits)
{
	*room = (struct watch_room){ .limits = *limits };
}

static void forget_unwatched(struct watch_room *room)
{
	free(room->unwatched);
	room->unwatched = NULL;
	room->unwatched_count = room->unwatched_room = room->cursor = room->refused = 0;
	hash_index_free(&room->index);
}

void watch_room_free(struct watch_room *room)
{
	forget_unwatched(room);
	free(room->shares);
	*room = (struct watch_room){ 0 };
}

/* ---- shares ---- */

uint32_t watch_room_total(const struct watch_room *room)
{
	return room->limits.total < room->limits.descriptors ? room->limits.total : room->limits.descriptors;
}

uint32_t watch_room_cost(const char *cgroup)
{
	return 1 + (cgroup ? (uint32_t)(strlen(cgroup) / PATH_BYTES_A_UNIT) : 0);
}

static uint32_t smaller(uint32_t one, uint32_t other)
{
	return one < other ? one : other;
}

static uint32_t larger(uint32_t one, uint32_t other)
{
	return one > other ? one : other;
}

/* A rule that watches the system needs a watch for each trigger, and never more. The others share the rest. */
static void divide(struct watch_room *room)
{
	const struct rule_set *rules = room->rules;
	uint32_t rest = watch_room_total(room), sharing = 0, part;

	for (size_t i = 0; i < rules->count; i++) {
		if (rules->rules[i].watch != WATCH_SYSTEM) {
			sharing++;
			continue;
		}
		room->shares[i].guaranteed = smaller((uint32_t)rules->rules[i].triggers_count, rest);
		rest -= room->shares[i].guaranteed;
	}
	part = sharing ? smaller(rest / sharing, room->limits.per_rule) : 0;
	for (size_t i = 0; i < rules->count; i++) {
		if (rules->rules[i].watch != WATCH_SYSTEM)
			room->shares[i].guaranteed = part;
		room->committed += room->shares[i].guaranteed;
	}
}

int watch_room_follow(struct watch_room *room, const struct rule_set *rules)
{
	forget_unwatched(room);
	free(room->shares);
	room->rules = NULL;
	room->used = room->committed = 0;
	room->shares = calloc(rules->count + 1, sizeof(*room->shares));
	if (!room->shares)
		return -ENOMEM;
	room->rules = rules;
	divide(room);
	watch_room_tick(room);
	return 0;
}

struct watch_share *watch_room_share(const struct watch_room *room, const struct rule *rule)
{
	const struct rule_set *rules = room->rules;

	if (!rules || rule < rules->rules || rule >= rules->rules + rules->count)
		return NULL;
	return &room->shares[rule - rules->rules];
}

/* The most room that the rule may have now. */
static uint32_t most_of(const struct watch_room *room, const struct rule *rule,
			const struct watch_share *share)
{
	uint32_t total = watch_room_total(room), free = total > room->committed ? total - room->committed : 0;
	uint32_t most = larger(share->used, share->guaranteed) + free;

	return rule->watch == WATCH_SYSTEM ? most : smaller(most, room->limits.per_rule);
}

/* The most room that cgroups of users may have. */
static uint32_t half_of(const struct watch_room *room, const struct rule *rule,
			const struct watch_share *share)
{
	return (most_of(room, rule, share) + 1) / 2;
}

enum watch_obstacle watch_room_obstacle(const struct watch_room *room, const struct rule *rule, uint32_t cost,
					bool by_user)
{
	const struct watch_share *share = watch_room_share(room, rule);
	uint32_t total = watch_room_total(room), most = share ? most_of(room, rule, share) : 0;

	if (share && share->used + cost <= most && room->used + cost <= total)
		return by_user && share->by_users + cost > half_of(room, rule, share) ? OBSTACLE_USERS
										      : OBSTACLE_NONE;
	if (share && rule->watch != WATCH_SYSTEM && share->used + cost > room->limits.per_rule)
		return OBSTACLE_RULE;
	return total < room->limits.total ? OBSTACLE_DESCRIPTORS : OBSTACLE_TOTAL;
}

static void set_used(struct watch_room *room, struct watch_share *share, uint32_t used)
{
	room->committed += larger(used, share->guaranteed) - larger(share->used, share->guaranteed);
	room->used += used - share->used;
	share->used = used;
}

void watch_room_take(struct watch_room *room, const struct rule *rule, uint32_t cost, bool by_user)
{
	struct watch_share *share = watch_room_share(room, rule);

	if (!share)
		return;
	set_used(room, share, share->used + cost);
	share->by_users += by_user ? cost : 0;
}

void watch_room_give(struct watch_room *room, const struct rule *rule, uint32_t cost, bool by_user)
{
	struct watch_share *share = watch_room_share(room, rule);

	if (!share)
		return;
	set_used(room, share, share->used - cost);
	share->by_users -= by_user ? cost : 0;
	room->has_news = true;
}

bool watch_room_is_over(const struct watch_room *room, const struct rule *rule, bool by_user)
{
	const struct watch_share *share = watch_room_share(room, rule);

	if (!share)
		return false;
	if (share->used > share->guaranteed && room->committed > watch_room_total(room))
		return true;
	return share->used > most_of(room, rule, share) ||
	       (by_user && share->by_users > half_of(room, rule, share));
}

void watch_room_explain(const struct watch_room *room, enum watch_obstacle obstacle, char *into, size_t bytes)
{
	switch (obstacle) {
	case OBSTACLE_USERS:
		snprintf(into, bytes,
			 "cgroups that users other than root made take at most half of a rule's watches");
		break;
	case OBSTACLE_RULE:
		snprintf(into, bytes, "the limit [triggers] watches_per_rule = %u is reached",
			 room->limits.per_rule);
		break;
	case OBSTACLE_TOTAL:
		snprintf(into, bytes, "the limit [triggers] watches = %u is reached", room->limits.total);
		break;
	case OBSTACLE_DESCRIPTORS:
		snprintf(into, bytes, "RLIMIT_NOFILE leaves descriptors for %u watches",
			 room->limits.descriptors);
		break;
	case OBSTACLE_NONE:
		snprintf(into, bytes, "%s", "");
		break;
	}
}

const char *watch_room_remedy(enum watch_obstacle obstacle)
{
	return obstacle == OBSTACLE_DESCRIPTORS ? "narrow the rule, or raise LimitNOFILE= (ulimit -n)"
	       : obstacle == OBSTACLE_TOTAL     ? "narrow the rules, or raise [triggers] watches"
						: "narrow the rule, or raise [triggers] watches_per_rule";
}

void watch_room_tick(struct watch_room *room)
{
	uint32_t count = room->rules ? (uint32_t)room->rules->count : 0;

	for (uint32_t i = 0; i < count; i++)
		room->shares[i].work = larger(WORK_A_SECOND / count, WORK_A_RULE_LEAST);
}

/* ---- cgroups that are not watched ---- */

/* Those of one cgroup and rule are one. */
#define KEYS(room) HASH_KEYS_BEFORE((room)->unwatched, walk)

bool watch_room_meet(struct watch_room *room, const struct rule *rule, uint64_t cgroup_id, uint32_t walk)
{
	struct unwatched wanted = { .cgroup_id = cgroup_id };
	uint32_t found;

	if (!room->unwatched_count)
		return false;
	wanted.rule = (uint32_t)(rule - room->rules->rules);
	found = hash_index_find_key(&room->index, KEYS(room), &wanted);
	if (found == HASH_INDEX_NONE)
		return false;
	room->unwatched[found].walk = walk;
	return true;
}

void watch_room_list(struct watch_room *room, const struct rule *rule, uint64_t cgroup_id, uint32_t walk,
		     enum watch_obstacle obstacle)
{
	struct watch_share *share = watch_room_share(room, rule);
	struct unwatched unwatched = { .cgroup_id = cgroup_id,
				       .walk = walk,
				       .refused = obstacle != OBSTACLE_NONE,
				       .by_user = obstacle == OBSTACLE_USERS };

	if (!share || room->unwatched_count == UNWATCHED_MAX ||
	    array_make_room(room->unwatched, room->unwatched_count, room->unwatched_room, 1U))
		return;
	unwatched.rule = (uint32_t)(rule - room->rules->rules);
	room->unwatched[room->unwatched_count] = unwatched;
	if (hash_index_add_key(&room->index, KEYS(room), room->unwatched_count))
		return;
	room->unwatched_count++;
	if (!unwatched.refused) {
		room->has_news = true;
		return;
	}
	share->refused++;
	share->obstacle = obstacle;
	room->refused++;
}

void watch_room_unlist(struct watch_room *room, uint32_t position)
{
	struct unwatched *unwatched = &room->unwatched[position];
	const struct unwatched *last = &room->unwatched[--room->unwatched_count];

	room->shares[unwatched->rule].refused -= unwatched->refused;
	room->refused -= unwatched->refused;
	hash_index_remove_key(&room->index, KEYS(room), position);
	if (unwatched == last)
		return;
	/* the last one is indexed at the gap; removing its old entry first makes room in the index */
	hash_index_remove_key(&room->index, KEYS(room), room->unwatched_count);
	*unwatched = *last;
	hash_index_add_key(&room->index, KEYS(room), position);
}

void watch_room_prune(struct watch_room *room, uint32_t walk)
{
	for (uint32_t i = room->unwatched_count; i-- > 0;)
		if ((int32_t)(room->unwatched[i].walk - walk) < 0)
			watch_room_unlist(room, i);
	if (!room->unwatched_count)
		forget_unwatched(room);
}

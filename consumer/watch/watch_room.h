/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * watch_room.h owns the room for watches: how many each rule may have, and the list of cgroups that are not
 * watched for lack of it. Users make cgroups without end, and each watch takes a descriptor.
 *
 * A watch takes one unit of room, or more if the path of its cgroup is long (watch_room_cost()). Each rule is
 * guaranteed an equal part of all room, so that no rule takes another rule's room; beyond its part it takes
 * what no rule is guaranteed, up to `per_rule`. Within a rule, cgroups that users other than root made take at
 * most half: a user who makes cgroups cannot take the room of the system's services.
 */
#ifndef BOURDON_CONSUMER_WATCH_WATCH_ROOM_H
#define BOURDON_CONSUMER_WATCH_WATCH_ROOM_H

#include "common/base/hash_index.h"
#include "consumer/rules/rules.h"

#include <stdbool.h>
#include <stdint.h>

struct watch_limits {
	uint32_t total;       /* of all rules */
	uint32_t per_rule;    /* of a rule with watch = cgroup */
	uint32_t descriptors; /* how many descriptors watches may take; UINT32_MAX: not known yet */
	uint32_t privileged;  /* kernel triggers that need CAP_SYS_RESOURCE */
};

/* What keeps a cgroup from being watched. */
enum watch_obstacle { OBSTACLE_NONE, OBSTACLE_USERS, OBSTACLE_RULE, OBSTACLE_TOTAL, OBSTACLE_DESCRIPTORS };

/* The room of one rule. */
struct watch_share {
	uint32_t guaranteed, used;
	uint32_t by_users;            /* of `used`: cgroups that users other than root made */
	uint32_t refused;             /* cgroups that found no room and are listed */
	enum watch_obstacle obstacle; /* of the cgroup that was refused last */
	uint32_t work;                /* how much work this rule may still cause until the next second */
};

/* A cgroup that has a target of a rule and is not watched for it. */
struct unwatched {
	uint64_t cgroup_id; /* 0: the whole system */
	uint32_t rule;      /* its position in the set of rules */
	uint32_t walk;      /* number of the last walk that found a target for it */
	bool refused;       /* it found no room; else it waits for the next second */
	bool by_user;       /* it was refused because a user other than root made it */
};

/* The work of opening a pressure file (struct watch_share). To look at a cgroup is the unit. */
#define WORK_OPEN 4U

/*
 * No more cgroups are listed, so that the list takes at most 4 MiB. Those beyond it are not counted; each walk
 * over all processes looks at them again.
 */
#define UNWATCHED_MAX 65536U

struct watch_room {
	struct watch_limits limits;
	const struct rule_set *rules;
	struct watch_share *shares; /* one for each rule */
	uint32_t used;
	uint32_t
		committed; /* each rule counts with its guaranteed room, or with what it uses if that is more */
	uint32_t refused; /* listed cgroups that found no room, of all rules */
	struct unwatched *unwatched;
	uint32_t unwatched_count, unwatched_room;
	uint32_t cursor; /* position of the next listed cgroup to look at */
	struct hash_index index;
	bool has_news; /* room came, or a listed cgroup only waits for the next second */
};

/* Until watch_room_follow(), there is no room. */
void watch_room_init(struct watch_room *room, const struct watch_limits *limits);
void watch_room_free(struct watch_room *room);

/*
 * Divides the room anew between these rules, which outlive it, and empties it and the list. The caller then
 * takes room for the watches that stay. Returns 0 or -ENOMEM: then there is no room.
 */
int watch_room_follow(struct watch_room *room, const struct rule_set *rules);

/* The limit on watches that holds for all rules together. */
uint32_t watch_room_total(const struct watch_room *room);

/* How much room a watch on this cgroup takes; NULL: the whole system. */
uint32_t watch_room_cost(const char *cgroup);

/* The share of a rule, or NULL if the rule is not in force. */
struct watch_share *watch_room_share(const struct watch_room *room, const struct rule *rule);

/* Returns OBSTACLE_NONE if there is so much room for the rule. */
enum watch_obstacle watch_room_obstacle(const struct watch_room *room, const struct rule *rule, uint32_t cost,
					bool by_user);

/* Takes room, without looking at the limits, and gives it back. A rule that is not in force has none. */
void watch_room_take(struct watch_room *room, const struct rule *rule, uint32_t cost, bool by_user);
void watch_room_give(struct watch_room *room, const struct rule *rule, uint32_t cost, bool by_user);

/*
 * True if the rule has more room than its limit, or than what other rules are guaranteed leaves to it; or its
 * cgroups of users more than their half, and the watch is on one of them.
 */
bool watch_room_is_over(const struct watch_room *room, const struct rule *rule, bool by_user);

/* The words for an obstacle, and its remedy; `into` has room for `bytes`. */
void watch_room_explain(const struct watch_room *room, enum watch_obstacle obstacle, char *into,
			size_t bytes);
const char *watch_room_remedy(enum watch_obstacle obstacle);

/* ---- cgroups that are not watched ---- */

/* If the cgroup is listed for the rule, notes the walk and returns true. */
bool watch_room_meet(struct watch_room *room, const struct rule *rule, uint64_t cgroup_id, uint32_t walk);

/* Lists a cgroup that is not listed: refused for the obstacle, or OBSTACLE_NONE: waiting. */
void watch_room_list(struct watch_room *room, const struct rule *rule, uint64_t cgroup_id, uint32_t walk,
		     enum watch_obstacle obstacle);

/* Takes the cgroup at this position off the list; the last one moves there. */
void watch_room_unlist(struct watch_room *room, uint32_t position);

/* Takes those off the list for which no walk since `walk` has found a target. Returns memory. */
void watch_room_prune(struct watch_room *room, uint32_t walk);

/* Every second: gives each rule its work for the next one. */
void watch_room_tick(struct watch_room *room);

#endif

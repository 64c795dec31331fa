/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/watch/watches.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/system/log.h"
#include "common/text/plural.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>

/* While refusals go on, the line about them becomes rare, down to one in this time. */
#define REFUSED_LINE_PAUSE_MAX_NS (64 * CLOCK_SECOND_NS)

int watches_open(struct watches *watches, int epoll, const char *mount, const char *grant_socket,
		 const struct watch_limits *limits, const struct clock *clock)
{
	struct stat at;

	*watches = (struct watches){ .epoll = epoll,
				     .mount = mount,
				     .clock = clock,
				     .grants = { .epoll = epoll, .limits = &watches->space.limits } };
	if (stat(mount, &at))
		return -errno;
	watches->grants.root_id = at.st_ino;
	watch_room_init(&watches->space, limits);
	return watch_grants_open(&watches->grants, grant_socket);
}

void watches_start(struct watches *watches, struct closer *closer)
{
	watches->closer = watches->grants.closer = closer;
}

void watches_limit(struct watches *watches, const struct watch_limits *limits)
{
	watches->space.limits = *limits;
}

/* ---- the table ---- */

struct wanted_watch {
	const struct watches *watches;
	uint64_t cgroup_id;
	const struct trigger *trigger;
};

static uint32_t hash_watch(uint64_t cgroup_id, const struct trigger *trigger)
{
	uint64_t key[2] = { cgroup_id, (uintptr_t)trigger };

	return hash_bytes(key, sizeof(key));
}

static bool is_watch(const void *user, uint32_t position)
{
	const struct wanted_watch *wanted = user;
	const struct watch *watch = wanted->watches->watches[position];

	return watch->trigger == wanted->trigger && watch->cgroup_id == wanted->cgroup_id && !watch->gone;
}

struct watch *watches_find(const struct watches *watches, uint64_t cgroup_id, const struct trigger *trigger)
{
	struct wanted_watch wanted = { watches, cgroup_id, trigger };
	uint32_t found = hash_index_find(&watches->index, hash_watch(cgroup_id, trigger), is_watch, &wanted);

	return found == HASH_INDEX_NONE ? NULL : watches->watches[found];
}

static int rebuild_index(struct watches *watches)
{
	int result = 0;

	hash_index_free(&watches->index);
	for (uint32_t i = 0; i < watches->count && !result; i++)
		result = hash_index_add(
			&watches->index,
			hash_watch(watches->watches[i]->cgroup_id, watches->watches[i]->trigger), i);
	return result;
}

static void free_watch(struct watch *watch)
{
	free(watch->cgroup);
	free(watch->refusal);
	free(watch);
}

void watches_let_go(struct watches *watches, struct watch *watch)
{
	if (watch->gone)
		return;
	watch_grants_forget(&watches->grants, watch);
	watch_close(watch, watches->epoll, watches->closer);
	watch_room_give(&watches->space, watch->rule, watch->cost, watch->by_user);
	watch->gone = watches->any_gone = true;
}

void watches_sweep(struct watches *watches)
{
	uint32_t kept = 0;

	if (!watches->any_gone)
		return;
	for (uint32_t i = 0; i < watches->count; i++) {
		if (watches->watches[i]->gone)
			free_watch(watches->watches[i]);
		else
			watches->watches[kept++] = watches->watches[i];
	}
	watches->count = kept;
	watches->any_gone = false;
	watches->asked = 0;
	if (rebuild_index(watches) < 0)
		log_warning("out of memory: some cgroups will be watched twice");
}

uint32_t watches_live(const struct watches *watches)
{
	uint32_t live = 0;

	for (uint32_t i = 0; i < watches->count; i++)
		live += !watches->watches[i]->gone;
	return live;
}

void watches_close(struct watches *watches)
{
	for (uint32_t i = 0; i < watches->count; i++)
		watches_let_go(watches, watches->watches[i]);
	for (uint32_t i = 0; i < watches->count; i++)
		free_watch(watches->watches[i]);
	free(watches->watches);
	hash_index_free(&watches->index);
	event_watches_free(&watches->kills);
	event_watches_free(&watches->latencies);
	grant_queue_free(watches->grants.queue);
	watch_room_free(&watches->space);
	*watches = (struct watches){ 0 };
}

/* Begins as many calls as may be under way; each answer begins the next. */
static void ask_for_triggers(struct watches *watches, uint64_t now_ns)
{
	for (uint32_t i = 0; i < watches->count && grant_queue_has_room(watches->grants.queue, now_ns); i++)
		if (!watch_grants_ask(&watches->grants, watches->watches[watches->asked++ % watches->count],
				      now_ns))
			return;
}

void watches_answer(struct watches *watches, struct grant_call *call, uint64_t now_ns)
{
	grant_queue_event(watches->grants.queue, call, now_ns);
	ask_for_triggers(watches, now_ns);
}

/* ---- adding ---- */

static bool cgroup_exists(const struct watches *watches, const char *cgroup)
{
	char path[PATH_MAX];
	struct stat at;

	snprintf(path, sizeof(path), "%s%s", watches->mount, cgroup);
	return !stat(path, &at);
}

/* Returns true once a second; counts the other calls in `held`, for the next line. */
static bool may_say(struct watch_line *line, uint64_t now_ns)
{
	if (now_ns < line->next_ns) {
		line->held++;
		return false;
	}
	line->next_ns = now_ns + CLOCK_SECOND_NS;
	return true;
}

static const char *why_it_fails(const struct watches *watches, const struct watch *watch, int error)
{
	if (error == -EOPNOTSUPP)
		return "PSI is off; boot with psi=1";
	/* without that option, kernel/sched/psi.c and kernel/cgroup/cgroup.c make no such file */
	if (error == -ENOENT && watch->trigger->resource == PSI_IRQ &&
	    (!watch->cgroup || cgroup_exists(watches, watch->cgroup)))
		return "this kernel does not count irq pressure: it is built without CONFIG_IRQ_TIME_ACCOUNTING";
	return strerror(-error);
}

static void say_what_fails(struct watches *watches, struct watch *watch, int error)
{
	const char *why = why_it_fails(watches, watch, error);
	struct watch_line *line = &watches->failed_line;

	watch_note_refusal(watch, "%s", why);
	if (!may_say(line, clock_now_ns(watches->clock)))
		return;
	log_warning("rule %s cannot watch %s.%s of %s: %s; %u more such failures since the last such line",
		    watch->rule->name, psi_resource_names[watch->trigger->resource],
		    psi_kind_names[watch->trigger->kind], watch->cgroup ? watch->cgroup : "the system", why,
		    line->held);
	line->held = 0;
}

static int add_watch(struct watches *watches, const struct watch *described)
{
	struct watch *watch;
	int result;

	if (array_make_room(watches->watches, watches->count, watches->room, 1U))
		return -ENOMEM;
	watch = malloc(sizeof(*watch));
	if (!watch)
		return -ENOMEM;
	*watch = *described;
	watch->cgroup = described->cgroup ? strdup(described->cgroup) : NULL;
	if (described->cgroup && !watch->cgroup) {
		free_watch(watch);
		return -ENOMEM;
	}
	result = watch_open(watch, watches->mount, watches->epoll, clock_now_ns(watches->clock));
	if (result < 0 && watch->cgroup && !cgroup_exists(watches, watch->cgroup)) {
		watch_close(watch, watches->epoll, watches->closer);
		free_watch(watch); /* the cgroup was removed meanwhile */
		return 0;
	}
	if (result < 0) {
		/* keep the closed watch, so that new processes do not open and log it again */
		say_what_fails(watches, watch, result);
		watch_close(watch, watches->epoll, watches->closer);
	}
	watches->watches[watches->count] = watch;
	result =
		hash_index_add(&watches->index, hash_watch(watch->cgroup_id, watch->trigger), watches->count);
	if (result < 0) {
		watch_close(watch, watches->epoll, watches->closer);
		free_watch(watch);
		return result;
	}
	watches->count++;
	watch_room_take(&watches->space, watch->rule, watch->cost, watch->by_user);
	watch_grants_ask(&watches->grants, watch, clock_now_ns(watches->clock));
	return 0;
}

/*
 * Once a walk, tries to open a file that could not be opened, within the work of the rule. Does not log again.
 */
static void meet_again(struct watches *watches, struct watch *watch, uint32_t walk)
{
	struct watch_share *share = watch_room_share(&watches->space, watch->rule);

	watch->walk = walk;
	if (watch->fd >= 0 || !share || share->work < WORK_OPEN)
		return;
	share->work -= WORK_OPEN;
	if (watch_open(watch, watches->mount, watches->epoll, clock_now_ns(watches->clock)) < 0)
		watch_close(watch, watches->epoll, watches->closer);
	else
		free(TAKE_PTR(watch->refusal));
}

/*
 * Whether a user other than root made the cgroup. Nobody delegates this file, so it belongs to the maker also
 * where the cgroup itself was given to a user.
 */
static bool is_by_user(const struct watches *watches, const char *cgroup)
{
	char path[PATH_MAX];
	struct stat at;

	if (!cgroup)
		return false;
	/* root makes no such long paths */
	if ((size_t)snprintf(path, sizeof(path), "%s%s/cgroup.events", watches->mount, cgroup) >=
	    sizeof(path))
		return true;
	return !stat(path, &at) && at.st_uid != 0;
}

/* A cgroup with a target of a rule, and how many of the rule's triggers are not watched there. */
struct candidate {
	const struct rule *rule;
	uint64_t cgroup_id;
	const char *cgroup;
	uint32_t walk, missing;
};

/*
 * Descriptors that wait to be closed still count. A few of them may do so beyond the limit on watches: the
 * reserve has room for them.
 */
static bool has_descriptors(const struct watches *watches, uint32_t cost)
{
	uint64_t taken = (uint64_t)watches->space.used + closer_pending(watches->closer) + cost;

	return taken <= (uint64_t)watches->space.limits.descriptors + WATCHES_CLOSING_MAX;
}

static enum watch_obstacle look(struct watches *watches, const struct candidate *candidate, uint32_t cost,
				bool *ret_by_user)
{
	enum watch_obstacle obstacle = watch_room_obstacle(&watches->space, candidate->rule, cost, false);

	if (obstacle != OBSTACLE_NONE)
		return obstacle;
	*ret_by_user = is_by_user(watches, candidate->cgroup);
	return watch_room_obstacle(&watches->space, candidate->rule, cost, *ret_by_user);
}

/* The work to look at a cgroup and to open so many watches. */
static uint32_t work_of(size_t missing)
{
	return 1 + (uint32_t)missing * WORK_OPEN;
}

/* Opens all watches of the candidate, or lists it. Returns 0 or -ENOMEM. */
static int admit(struct watches *watches, const struct candidate *candidate, bool was_refused)
{
	struct watch_share *share = watch_room_share(&watches->space, candidate->rule);
	uint32_t cost = watch_room_cost(candidate->cgroup), work = work_of(candidate->missing);
	enum watch_obstacle obstacle = OBSTACLE_NONE;
	bool now = share && share->work >= work && has_descriptors(watches, candidate->missing * cost);
	bool by_user = false;
	int result = 0;

	if (!share)
		return -ENOMEM; /* in the reload */
	if (now)
		obstacle = look(watches, candidate, candidate->missing * cost, &by_user);
	if (!now || obstacle != OBSTACLE_NONE) {
		watch_room_list(&watches->space, candidate->rule, candidate->cgroup_id, candidate->walk,
				obstacle);
		share->work -= now;
		watches->unwatched += obstacle != OBSTACLE_NONE && !was_refused;
		return result;
	}
	share->work -= work;
	for (size_t i = 0; i < candidate->rule->triggers_count && !result; i++) {
		struct watch described = { .source = { SOURCE_WATCH },
					   .rule = candidate->rule,
					   .trigger = &candidate->rule->triggers[i],
					   .cgroup_id = candidate->cgroup_id,
					   .cgroup = (char *)candidate->cgroup,
					   .cost = cost,
					   .by_user = by_user,
					   .fd = -EBADF,
					   .walk = candidate->walk };

		if (!watches_find(watches, candidate->cgroup_id, described.trigger))
			result = add_watch(watches, &described);
	}
	return result;
}

/* Notes the walk in the watches that exist. Returns the number of those that are missing. */
static uint32_t meet_all(struct watches *watches, const struct rule *rule, uint64_t cgroup_id, uint32_t walk)
{
	uint32_t missing = 0;

	for (size_t i = 0; i < rule->triggers_count; i++) {
		struct watch *known = watches_find(watches, cgroup_id, &rule->triggers[i]);

		missing += !known;
		if (known && known->walk != walk)
			meet_again(watches, known, walk);
	}
	return missing;
}

int watches_add(struct watches *watches, const struct rule *rule, uint64_t cgroup_id, const char *cgroup,
		uint32_t walk)
{
	struct candidate candidate = { rule, cgroup_id, cgroup, walk,
				       meet_all(watches, rule, cgroup_id, walk) };

	if (!candidate.missing || watch_room_meet(&watches->space, rule, cgroup_id, walk))
		return 0;
	return admit(watches, &candidate, false);
}

/* Takes the cgroup at this position off the list and tries again. Returns false if it stays there untried. */
static bool retry(struct watches *watches, uint32_t position, watch_path_of path_of, void *user)
{
	struct watch_room *room = &watches->space;
	const struct unwatched unwatched = room->unwatched[position];
	struct candidate candidate = { .rule = &room->rules->rules[unwatched.rule],
				       .cgroup_id = unwatched.cgroup_id,
				       .walk = unwatched.walk };

	if (unwatched.refused && watch_room_obstacle(room, candidate.rule, 1, unwatched.by_user))
		return false;
	if (room->shares[unwatched.rule].work < work_of(candidate.rule->triggers_count)) {
		room->has_news = true;
		return false;
	}
	candidate.cgroup = unwatched.cgroup_id ? path_of(user, unwatched.cgroup_id) : NULL;
	watch_room_unlist(room, position);
	if (unwatched.cgroup_id && !candidate.cgroup)
		return true; /* the next walk finds it again, if it is still there */
	candidate.missing = meet_all(watches, candidate.rule, unwatched.cgroup_id, unwatched.walk);
	if (candidate.missing && admit(watches, &candidate, unwatched.refused) < 0)
		log_warning("out of memory: %s is not watched for rule %s",
			    candidate.cgroup ? candidate.cgroup : "the system", candidate.rule->name);
	return true;
}

void watches_retry(struct watches *watches, watch_path_of path_of, void *user)
{
	struct watch_room *room = &watches->space;
	uint32_t tries = room->unwatched_count;

	if (!room->has_news || !has_descriptors(watches, RULE_TRIGGERS_MAX))
		return;
	room->has_news = false;
	for (; tries && room->unwatched_count; tries--) {
		room->cursor %= room->unwatched_count;
		if (!retry(watches, room->cursor, path_of, user))
			room->cursor++;
	}
}

uint32_t watches_unwatched(const struct watches *watches, const struct rule *rule)
{
	const struct watch_share *share = watch_room_share(&watches->space, rule);

	return share ? share->refused : 0;
}

void watches_prune(struct watches *watches, uint32_t walk, uint64_t now_ns)
{
	for (uint32_t i = 0; i < watches->count; i++) {
		struct watch *watch = watches->watches[i];
		bool cools_down = watch->fd >= 0 && watch_is_quiet(watch, now_ns) &&
				  !watches_unwatched(watches, watch->rule);

		if (watch->cgroup && (int32_t)(watch->walk - walk) < 0 && !cools_down)
			watches_let_go(watches, watch);
	}
	watch_room_prune(&watches->space, walk);
}

/* ---- a reload ---- */

/* The same trigger in the new rules, or NULL. */
static const struct trigger *successor(const struct watch *watch, const struct rule_set *rules,
				       const struct rule **ret_rule)
{
	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->rules[i];

		if (strcmp(rule->name, watch->rule->name) || rule->watch != watch->rule->watch ||
		    (rule->watch == WATCH_CGROUP && !rule_covers(rule, watch->cgroup)))
			continue;
		for (size_t t = 0; t < rule->triggers_count; t++)
			if (!memcmp(&rule->triggers[t], watch->trigger, sizeof(*watch->trigger))) {
				*ret_rule = rule;
				return &rule->triggers[t];
			}
	}
	return NULL;
}

/* A rule watches a cgroup with all its triggers or with none. */
static void let_go_all(struct watches *watches, const struct watch *one)
{
	const struct rule *rule = one->rule;
	uint64_t cgroup_id = one->cgroup_id;

	for (size_t i = 0; i < rule->triggers_count; i++) {
		struct watch *watch = watches_find(watches, cgroup_id, &rule->triggers[i]);

		if (watch)
			watches_let_go(watches, watch);
	}
}

/* Closes the newest watches of the rules that have more room than is left to them. Needs the index. */
static void fit(struct watches *watches)
{
	for (uint32_t i = 0; i < watches->count; i++)
		if (!watches->watches[i]->gone)
			watch_room_take(&watches->space, watches->watches[i]->rule, watches->watches[i]->cost,
					watches->watches[i]->by_user);
	for (uint32_t i = watches->count; i-- > 0;) {
		const struct watch *watch = watches->watches[i];

		if (!watch->gone && watch_room_is_over(&watches->space, watch->rule, watch->by_user))
			let_go_all(watches, watch);
	}
}

int watches_follow(struct watches *watches, const struct rule_set *rules)
{
	int result;

	for (uint32_t i = 0; i < watches->count; i++) {
		struct watch *watch = watches->watches[i];
		const struct trigger *trigger = watch->gone ? NULL : successor(watch, rules, &watch->rule);

		if (trigger)
			watch->trigger = trigger;
		else
			watches_let_go(watches, watch);
	}
	event_watches_follow(&watches->kills, rules);
	event_watches_follow(&watches->latencies, rules);
	result = watch_room_follow(&watches->space, rules);
	if (!result)
		result = rebuild_index(watches);
	if (!result)
		fit(watches);
	for (uint32_t i = 0; i < watches->count && result < 0; i++)
		watches_let_go(watches, watches->watches[i]);
	return result;
}

/* ---- every second ---- */

/* Logs that cgroups were refused since the last line. The pause doubles while that goes on. */
static void say_refused(struct watches *watches, uint64_t now_ns)
{
	const struct watch_room *room = &watches->space;
	struct watch_line *line = &watches->unwatched_line;
	const struct watch_share *worst = NULL;
	char obstacle[160];

	if (watches->unwatched == watches->unwatched_said || now_ns < line->next_ns || !room->rules)
		return;
	for (size_t i = 0; i < room->rules->count; i++)
		if (!worst || room->shares[i].refused > worst->refused)
			worst = &room->shares[i];
	watches->unwatched_said = watches->unwatched;
	if (!worst || !worst->refused)
		return;
	watch_room_explain(room, worst->obstacle, obstacle, sizeof(obstacle));
	log_warning("%u %s not watched though they have targets, %u of them for rule %s: %s; %s",
		    room->refused, plural(room->refused, "cgroup is", "cgroups are"), worst->refused,
		    room->rules->rules[worst - room->shares].name, obstacle,
		    watch_room_remedy(worst->obstacle));
	line->pause_ns = now_ns - line->next_ns < REFUSED_LINE_PAUSE_MAX_NS ? 2 * line->pause_ns : 0;
	if (line->pause_ns < CLOCK_SECOND_NS)
		line->pause_ns = CLOCK_SECOND_NS;
	if (line->pause_ns > REFUSED_LINE_PAUSE_MAX_NS)
		line->pause_ns = REFUSED_LINE_PAUSE_MAX_NS;
	line->next_ns = now_ns + line->pause_ns;
}

void watches_tick(struct watches *watches, uint64_t now_ns)
{
	watch_room_tick(&watches->space);
	say_refused(watches, now_ns);
	grant_queue_tick(watches->grants.queue, now_ns);
	ask_for_triggers(watches, now_ns);
}

/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/live/thread_history.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/kernel/cgroup_parts.h"

#include <limits.h>
#include <string.h>

#define NO_UNIT UINT32_MAX

/* ---- names and kinds, each kept once ---- */

struct wanted_name {
	const struct thread_history *history;
	const char *text;
};

/* Implements hash_equal. */
static bool is_name(const void *user, uint32_t position)
{
	const struct wanted_name *wanted = user;

	return !strcmp(wanted->history->names[position], wanted->text);
}

static int keep_name(struct thread_history *history, const char *text, uint32_t *ret_name)
{
	const struct wanted_name wanted = { history, text };
	uint32_t hash = hash_bytes(text, strlen(text));
	uint32_t name = hash_index_find(&history->names_index, hash, is_name, &wanted);
	_cleanup_free_ char *copy = NULL;

	if (name == HASH_INDEX_NONE) {
		copy = strdup(text);
		if (!copy || array_make_room(history->names, history->names_count, history->names_room, 1U) ||
		    array_make_room(history->units, history->names_count, history->units_room, 1U) ||
		    hash_index_add(&history->names_index, hash, history->names_count))
			return -ENOMEM;
		name = history->names_count++;
		history->names[name] = TAKE_PTR(copy);
		history->units[name] = NO_UNIT;
	}
	*ret_name = name;
	return 0;
}

/* The name of the unit around a cgroup, looked for once. */
static int keep_unit(struct thread_history *history, uint32_t cgroup, uint32_t *ret_unit)
{
	char unit[NAME_MAX + 1];
	int result = 0;

	if (history->units[cgroup] == NO_UNIT) {
		uint32_t name;

		result = keep_name(history, cgroup_unit(history->names[cgroup], unit) ? unit : THREAD_NONE,
				   &name);
		if (!result)
			history->units[cgroup] = name;
	}
	*ret_unit = history->units[cgroup];
	return result;
}

struct wanted_kind {
	const struct thread_history *history;
	const struct thread_kind *kind;
};

/* Implements hash_equal. */
static bool is_kind(const void *user, uint32_t position)
{
	const struct wanted_kind *wanted = user;

	return !memcmp(&wanted->history->kinds[position], wanted->kind, sizeof(*wanted->kind));
}

static int keep_kind(struct thread_history *history, const struct thread_kind *kind, uint32_t *ret_position)
{
	const struct wanted_kind wanted = { history, kind };
	uint32_t hash = hash_bytes(kind, sizeof(*kind));
	uint32_t position = hash_index_find(&history->kinds_index, hash, is_kind, &wanted);

	if (position == HASH_INDEX_NONE) {
		if (array_make_room(history->kinds, history->kinds_count, history->kinds_room, 1U) ||
		    array_make_room(history->counts, history->kinds_count, history->counts_room, 1U) ||
		    hash_index_add(&history->kinds_index, hash, history->kinds_count))
			return -ENOMEM;
		position = history->kinds_count++;
		history->kinds[position] = *kind;
		history->counts[position] = 0;
	}
	*ret_position = position;
	return 0;
}

static void forget_names_and_kinds(struct thread_history *history)
{
	for (uint32_t i = 0; i < history->names_count; i++)
		free(history->names[i]);
	free(history->names);
	free(history->units);
	free(history->kinds);
	free(history->counts);
	hash_index_free(&history->names_index);
	hash_index_free(&history->kinds_index);
}

/* Keeps of another history the kind that it has at `position`. */
static int copy_kind(struct thread_history *history, const struct thread_history *from, uint32_t position,
		     uint32_t *ret_position)
{
	struct thread_kind kind;
	int result = 0;

	for (uint32_t column = 0; column < THREAD_GROUPING && !result; column++)
		result = keep_name(history, from->names[from->kinds[position].names[column]],
				   &kind.names[column]);
	return result ? result : keep_kind(history, &kind, ret_position);
}

/* Forgets the names and kinds that no second has any more. */
static int forget_unused(struct thread_history *history)
{
	struct thread_history fresh = { 0 };
	int result = 0;

	for (uint32_t i = 0; i < history->seconds_count && !result; i++)
		for (uint32_t j = 0; j < history->seconds[i].count && !result; j++) {
			uint32_t position;

			result = copy_kind(&fresh, history, history->seconds[i].entries[j].kind, &position);
			if (!result)
				history->seconds[i].entries[j].kind = position;
		}
	if (result < 0) {
		/* the entries name kinds of both: nothing of them can be used */
		forget_names_and_kinds(&fresh);
		thread_history_free(history);
		return result;
	}
	forget_names_and_kinds(history);
	memcpy(fresh.seconds, history->seconds, sizeof(fresh.seconds));
	fresh.seconds_count = history->seconds_count;
	fresh.entries_count = history->entries_count;
	fresh.malformed = history->malformed;
	*history = fresh;
	return 0;
}

/* ---- looks ---- */

int thread_history_add(struct thread_history *history, const struct thread_lines *lines)
{
	int result = 0;

	for (uint32_t i = 0; i < lines->count && !result; i++) {
		struct thread_kind kind = { { 0 } };
		uint32_t position;

		for (uint32_t column = 0; column < THREAD_GROUPING && !result; column++)
			if (column != THREAD_UNIT)
				result = keep_name(history, lines->lines[i].values[column],
						   &kind.names[column]);
		if (!result)
			result = keep_unit(history, kind.names[THREAD_CGROUP], &kind.names[THREAD_UNIT]);
		if (!result)
			result = keep_kind(history, &kind, &position);
		if (!result)
			history->counts[position] += lines->lines[i].times;
	}
	if (result < 0)
		return result;
	if (!history->looks)
		history->at_ns = lines->at_ns;
	history->looks += lines->looks;
	history->malformed += lines->malformed;
	return 0;
}

static void forget_oldest(struct thread_history *history)
{
	history->entries_count -= history->seconds[0].count;
	free(history->seconds[0].entries);
	history->seconds_count--;
	memmove(history->seconds, history->seconds + 1, history->seconds_count * sizeof(history->seconds[0]));
}

int thread_history_end_second(struct thread_history *history)
{
	struct history_second second = { .at_ns = history->at_ns, .looks = history->looks };
	uint32_t room = 0;

	if (!history->looks)
		return 0;
	for (uint32_t kind = 0; kind < history->kinds_count; kind++) {
		if (!history->counts[kind])
			continue;
		if (array_make_room(second.entries, second.count, room, 1U)) {
			free(second.entries);
			return -ENOMEM;
		}
		second.entries[second.count++] =
			(struct history_entry){ .kind = kind, .count = history->counts[kind] };
		history->counts[kind] = 0;
	}
	array_fit(second.entries, second.count, room);
	history->looks = 0;
	if (history->seconds_count == HISTORY_SECONDS)
		forget_oldest(history);
	history->entries_count += second.count;
	history->seconds[history->seconds_count++] = second;
	while (history->entries_count > HISTORY_ENTRIES_MAX && history->seconds_count > 1)
		forget_oldest(history);
	if (history->kinds_count <= HISTORY_KINDS_MAX)
		return 0;
	/* a machine whose threads are always others: with half of the seconds there is room for as many again */
	for (uint32_t most = history->seconds_count / 2; history->seconds_count > most + 1;)
		forget_oldest(history);
	return forget_unused(history);
}

void thread_history_free(struct thread_history *history)
{
	while (history->seconds_count)
		forget_oldest(history);
	forget_names_and_kinds(history);
	memset(history, 0, sizeof(*history));
}

/* ---- groups ---- */

static bool is_active(const char *state)
{
	return !strcmp(state, "running") || !strcmp(state, "queued") || !strcmp(state, "D");
}

#define NO_GROUP UINT32_MAX

/* A grouping under way. */
struct grouping {
	const struct thread_history *history;
	const struct thread_view *view;
	struct thread_groups *groups;
	struct hash_index index;
	uint32_t *of_kind; /* its group; NO_GROUP: it is not shown */
	uint8_t *matches;  /* by kind: 1 if the filter has it, 2 if not, 0: not asked yet */
};

struct wanted_group {
	const struct grouping *grouping;
	const struct thread_group *group;
};

/* Implements hash_equal. A name is kept once, so its address tells it. */
static bool is_group(const void *user, uint32_t position)
{
	const struct wanted_group *wanted = user;

	return !memcmp(wanted->grouping->groups->groups[position].values, wanted->group->values,
		       sizeof(wanted->group->values));
}

static int find_group(struct grouping *grouping, const char *const *values, uint32_t *ret_group)
{
	struct thread_groups *groups = grouping->groups;
	struct thread_group group = { .values = { NULL } };
	const struct wanted_group wanted = { grouping, &group };
	uint32_t hash;

	for (uint32_t i = 0; i < grouping->view->columns_count; i++)
		group.values[i] = values[grouping->view->columns[i]];
	hash = hash_bytes(group.values, sizeof(group.values));
	*ret_group = hash_index_find(&grouping->index, hash, is_group, &wanted);
	if (*ret_group != HASH_INDEX_NONE)
		return 0;
	if (array_make_room(groups->groups, groups->count, groups->room, 1U) ||
	    hash_index_add(&grouping->index, hash, groups->count))
		return -ENOMEM;
	*ret_group = groups->count;
	groups->groups[groups->count++] = group;
	return 0;
}

static bool is_exact(const struct thread_view *view, const char *const *values)
{
	for (uint32_t column = 0; column < THREAD_GROUPING; column++)
		if (view->exact[column] && strcmp(view->exact[column], values[column]) != 0)
			return false;
	return true;
}

/* Decides where the threads of a kind belong, once. */
static int place_kind(struct grouping *grouping, uint32_t kind)
{
	const struct thread_history *history = grouping->history;
	const char *values[THREAD_GROUPING];
	bool is_shown;

	if (grouping->matches[kind])
		return 0;
	for (uint32_t column = 0; column < THREAD_GROUPING; column++)
		values[column] = history->names[history->kinds[kind].names[column]];
	grouping->matches[kind] = is_exact(grouping->view, values) &&
						  thread_filter_matches(&grouping->view->filter, values)
					  ? 1
					  : 2;
	is_shown = grouping->matches[kind] == 1 &&
		   (grouping->view->all_states || grouping->view->filter.has_state ||
		    is_active(values[THREAD_STATE]));
	grouping->of_kind[kind] = NO_GROUP;
	return is_shown ? find_group(grouping, values, &grouping->of_kind[kind]) : 0;
}

static void add_to_states(struct grouping *grouping, uint32_t kind, double average)
{
	const struct thread_history *history = grouping->history;
	const char *state = history->names[history->kinds[kind].names[THREAD_STATE]];

	grouping->groups->all += average;
	if (!strcmp(state, "running"))
		grouping->groups->running += average;
	else if (!strcmp(state, "queued"))
		grouping->groups->queued += average;
	else if (!strcmp(state, "D"))
		grouping->groups->disk += average;
}

/* Adds a second, which is `age` seconds before the last one. */
static int add_second(struct grouping *grouping, const struct history_second *second, uint32_t age)
{
	bool in_window = age < grouping->view->window;

	for (uint32_t i = 0; i < second->count; i++) {
		uint32_t kind = second->entries[i].kind, group;
		int result = place_kind(grouping, kind);

		if (result < 0)
			return result;
		group = grouping->of_kind[kind];
		if (in_window && grouping->matches[kind] == 1)
			add_to_states(grouping, kind, second->entries[i].count);
		if (group == NO_GROUP)
			continue;
		if (in_window)
			grouping->groups->groups[group].average += second->entries[i].count;
		if (age < SPARK_SECONDS)
			grouping->groups->groups[group].spark[SPARK_SECONDS - 1 - age] +=
				(float)second->entries[i].count / (float)second->looks;
	}
	if (in_window)
		grouping->groups->looks += second->looks;
	return 0;
}

/* Numbers as such: thread 9 comes before thread 10. */
static int compare_values(const char *left, const char *right)
{
	int order = strverscmp(left, right);

	return order ? order : strcmp(left, right);
}

/* Compares as qsort_r() wants it; `user` is the view. */
static int compare_groups(const void *a, const void *b, void *user)
{
	const struct thread_group *left = a, *right = b;
	const struct thread_view *view = user;
	int order;

	if (view->sort < view->columns_count)
		order = compare_values(left->values[view->sort], right->values[view->sort]);
	else
		order = (left->average < right->average) - (left->average > right->average);
	if (view->is_reversed)
		order = -order;
	if (!order && view->sort < view->columns_count)
		order = (left->average < right->average) - (left->average > right->average);
	for (uint32_t i = 0; i < view->columns_count && !order; i++)
		order = compare_values(left->values[i], right->values[i]);
	return order;
}

/* Turns sums into averages, and leaves out groups that the window has nothing of. */
static void finish_groups(struct thread_groups *groups)
{
	uint32_t kept = 0;
	double looks = groups->looks ? groups->looks : 1;

	for (uint32_t i = 0; i < groups->count; i++)
		if (groups->groups[i].average > 0)
			groups->groups[kept++] = groups->groups[i];
	groups->count = kept;
	groups->running /= looks;
	groups->queued /= looks;
	groups->disk /= looks;
	groups->all /= looks;
	for (uint32_t i = 0; i < kept; i++) {
		groups->groups[i].average /= looks;
		groups->average += groups->groups[i].average;
	}
	for (uint32_t i = 0; i < kept; i++)
		groups->groups[i].share = groups->groups[i].average / groups->average;
}

int thread_history_group(const struct thread_history *history, const struct thread_view *view, uint32_t last,
			 struct thread_groups *ret_groups)
{
	_cleanup_thread_groups_ struct thread_groups groups = { 0 };
	struct grouping grouping = { .history = history, .view = view, .groups = &groups };
	uint32_t wanted = view->window > SPARK_SECONDS ? view->window : SPARK_SECONDS;
	int result = -ENOMEM;

	grouping.of_kind = calloc(history->kinds_count + 1UL, sizeof(*grouping.of_kind));
	grouping.matches = calloc(history->kinds_count + 1UL, sizeof(*grouping.matches));
	if (grouping.of_kind && grouping.matches)
		result = 0;
	for (uint32_t age = 0; age < wanted && age <= last && last < history->seconds_count && !result; age++)
		result = add_second(&grouping, &history->seconds[last - age], age);
	free(grouping.of_kind);
	free(grouping.matches);
	hash_index_free(&grouping.index);
	if (result < 0)
		return result;
	finish_groups(&groups);
	if (groups.count)
		qsort_r(groups.groups, groups.count, sizeof(groups.groups[0]), compare_groups, (void *)view);
	*ret_groups = groups;
	groups = (struct thread_groups){ 0 };
	return 0;
}

void thread_groups_free(struct thread_groups *groups)
{
	free(groups->groups);
	*groups = (struct thread_groups){ 0 };
}

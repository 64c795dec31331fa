/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/live/thread_history.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/kernel/cgroup_parts.h"

#include <limits.h>
#include <string.h>

#define NO_UNIT UINT32_MAX

/* ---- kinds, each kept once ---- */

/* The name of the unit around a cgroup, looked for once. */
static int keep_unit(struct thread_history *history, uint32_t cgroup, uint32_t *ret_unit)
{
	const char *path = history->names.texts[cgroup];
	char unit[NAME_MAX + 1];
	int result = 0;

	for (; history->units_count <= cgroup; history->units_count++) {
		if (array_make_room(history->units, history->units_count, history->units_room, 1U))
			return -ENOMEM;
		history->units[history->units_count] = NO_UNIT;
	}
	if (history->units[cgroup] == NO_UNIT)
		result = thread_names_keep(&history->names, cgroup_unit(path, unit) ? unit : THREAD_NONE,
					   &history->units[cgroup]);
	*ret_unit = history->units[cgroup];
	return result;
}

static int keep_kind(struct thread_history *history, const struct thread_kind *kind, uint32_t *ret_position)
{
	uint32_t count = history->kinds_count;

	*ret_position = hash_index_find_key(&history->kinds_index, HASH_KEYS(history->kinds, names), kind);
	if (*ret_position != HASH_INDEX_NONE)
		return 0;
	if (array_make_room(history->kinds, count, history->kinds_room, 1U) ||
	    array_make_room(history->counts, count, history->counts_room, 1U))
		return -ENOMEM;
	history->kinds[count] = *kind;
	history->counts[count] = 0;
	if (hash_index_add_key(&history->kinds_index, HASH_KEYS(history->kinds, names), count))
		return -ENOMEM;
	*ret_position = history->kinds_count++;
	return 0;
}

static void forget_names_and_kinds(struct thread_history *history)
{
	thread_names_free(&history->names);
	free(history->units);
	free(history->kinds);
	free(history->counts);
	hash_index_free(&history->kinds_index);
}

/* Keeps of another history the kind that it has at `position`. */
static int copy_kind(struct thread_history *history, const struct thread_history *from, uint32_t position,
		     uint32_t *ret_position)
{
	struct thread_kind kind;
	int result = 0;

	for (uint32_t column = 0; column < THREAD_GROUPING && !result; column++)
		result = thread_names_keep(&history->names,
					   from->names.texts[from->kinds[position].names[column]],
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
				result = thread_names_keep(&history->names, lines->lines[i].values[column],
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

/* A grouping under way. */
struct grouping {
	const struct thread_history *history;
	const struct thread_view *view;
	struct thread_groups *groups;
	struct thread_place *places; /* by kind */
};

/* Decides where the threads of a kind belong, once. */
static int place_kind(struct grouping *grouping, uint32_t kind)
{
	const struct thread_history *history = grouping->history;
	const char *values[THREAD_GROUPING];

	if (grouping->places[kind].is_known)
		return 0;
	for (uint32_t column = 0; column < THREAD_GROUPING; column++)
		values[column] = history->names.texts[history->kinds[kind].names[column]];
	return thread_groups_place(grouping->groups, grouping->view, values, &grouping->places[kind]);
}

/* Adds a second, which is `age` seconds before the last one. */
static int add_second(struct grouping *grouping, const struct history_second *second, uint32_t age)
{
	struct thread_groups *groups = grouping->groups;
	bool in_window = age < grouping->view->window;

	for (uint32_t i = 0; i < second->count; i++) {
		const struct history_entry *entry = &second->entries[i];
		const struct thread_place *place = &grouping->places[entry->kind];
		int result = place_kind(grouping, entry->kind);

		if (result < 0)
			return result;
		if (in_window)
			thread_groups_add(groups, place, entry->count);
		if (age < THREAD_CELLS && place->group != THREAD_NO_GROUP)
			groups->groups[place->group].cells[THREAD_CELLS - 1 - age] += entry->count;
	}
	if (in_window)
		groups->looks += second->looks;
	if (age < THREAD_CELLS)
		groups->cell_looks[THREAD_CELLS - 1 - age] = second->looks;
	return 0;
}

int thread_history_group(const struct thread_history *history, const struct thread_view *view, uint32_t last,
			 struct thread_groups *ret_groups)
{
	_cleanup_thread_groups_ struct thread_groups groups = { .texts_last = true,
								.cells_count = THREAD_CELLS };
	_cleanup_free_ struct thread_place *places = calloc(history->kinds_count + 1UL, sizeof(*places));
	struct grouping grouping = { history, view, &groups, places };
	uint32_t wanted = view->window > THREAD_CELLS ? view->window : THREAD_CELLS;
	int result = places ? 0 : -ENOMEM;

	for (uint32_t age = 0; age < wanted && age <= last && last < history->seconds_count && !result; age++)
		result = add_second(&grouping, &history->seconds[last - age], age);
	if (result < 0)
		return result;
	thread_groups_finish(&groups, view);
	*ret_groups = groups;
	groups = (struct thread_groups){ 0 };
	return 0;
}

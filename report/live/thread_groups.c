/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/live/thread_groups.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/base/numbers.h"

#include <string.h>

/* ---- names ---- */

struct wanted_name {
	const struct thread_names *names;
	const char *text;
};

/* Implements hash_equal. */
static bool is_name(const void *user, uint32_t position)
{
	const struct wanted_name *wanted = user;

	return !strcmp(wanted->names->texts[position], wanted->text);
}

int thread_names_keep(struct thread_names *names, const char *text, uint32_t *ret_name)
{
	const struct wanted_name wanted = { names, text };
	uint32_t hash = hash_bytes(text, strlen(text));
	uint32_t name = hash_index_find(&names->index, hash, is_name, &wanted);
	_cleanup_free_ char *copy = NULL;

	if (name == HASH_INDEX_NONE) {
		copy = strdup(text);
		if (!copy || array_make_room(names->texts, names->count, names->room, 1U) ||
		    hash_index_add(&names->index, hash, names->count))
			return -ENOMEM;
		name = names->count++;
		names->texts[name] = TAKE_PTR(copy);
	}
	*ret_name = name;
	return 0;
}

void thread_names_free(struct thread_names *names)
{
	for (uint32_t i = 0; i < names->count; i++)
		free(names->texts[i]);
	free(names->texts);
	hash_index_free(&names->index);
	*names = (struct thread_names){ 0 };
}

/* ---- groups ---- */

/* A name is kept once, so its address tells it. */
static int find_group(struct thread_groups *groups, const struct thread_view *view, const char *const *values,
		      uint32_t *ret_group)
{
	struct thread_group group = { .values = { NULL } };

	for (uint32_t i = 0; i < view->columns_count; i++) {
		const char *value = values[view->columns[i]];
		uint32_t name;

		if (value && !groups->texts_last) {
			if (thread_names_keep(&groups->names, value, &name))
				return -ENOMEM;
			value = groups->names.texts[name];
		}
		group.values[i] = value;
	}
	*ret_group = hash_index_find_key(&groups->index, HASH_KEYS(groups->groups, values), group.values);
	if (*ret_group != HASH_INDEX_NONE)
		return 0;
	if (array_make_room(groups->groups, groups->count, groups->room, 1U))
		return -ENOMEM;
	groups->groups[groups->count] = group;
	if (hash_index_add_key(&groups->index, HASH_KEYS(groups->groups, values), groups->count))
		return -ENOMEM;
	*ret_group = groups->count++;
	return 0;
}

static bool is_exact(const struct thread_view *view, const char *const *values)
{
	for (uint32_t column = 0; column < THREAD_GROUPING; column++)
		if (view->exact[column] && strcmp(view->exact[column], values[column]) != 0)
			return false;
	return true;
}

int thread_groups_place(struct thread_groups *groups, const struct thread_view *view,
			const char *const *values, struct thread_place *ret_place)
{
	static const char *const states[] = {
		[ACTIVITY_RUNNING] = "running", [ACTIVITY_QUEUED] = "queued", [ACTIVITY_DISK] = "D"
	};
	const char *texts[THREAD_GROUPING];
	struct thread_place place = { .group = THREAD_NO_GROUP, .is_known = true };
	int result = 0;

	for (uint32_t column = 0; column < THREAD_GROUPING; column++)
		texts[column] = values[column] ? values[column] : THREAD_NONE;
	while (place.state < ACTIVITY_OTHERS && strcmp(texts[THREAD_STATE], states[place.state]) != 0)
		place.state++;
	place.matches = is_exact(view, texts) && thread_filter_matches(&view->filter, texts);
	if (place.matches && (view->all_states || view->filter.has_state || place.state != ACTIVITY_OTHERS))
		result = find_group(groups, view, values, &place.group);
	*ret_place = place;
	return result;
}

void thread_groups_add(struct thread_groups *groups, const struct thread_place *place, double threads)
{
	if (place->matches) {
		groups->all += threads;
		groups->states[place->state] += threads;
	}
	if (place->group != THREAD_NO_GROUP)
		groups->groups[place->group].average += threads;
}

/* ---- the end ---- */

/* Numbers as such: thread 9 comes before thread 10. None, or not known, is before all. */
static int compare_values(const char *left, const char *right)
{
	int order;

	left = left ? left : "";
	right = right ? right : "";
	order = strverscmp(left, right);
	return order ? order : strcmp(left, right);
}

/* Compares as qsort_r() wants it; `user` is the view. */
static int compare_groups(const void *a, const void *b, void *user)
{
	const struct thread_group *left = a, *right = b;
	const struct thread_view *view = user;
	int by_average = COMPARE(right->average, left->average);
	int order = view->sort < view->columns_count
			    ? compare_values(left->values[view->sort], right->values[view->sort])
			    : by_average;

	order = view->is_reversed ? -order : order;
	if (!order && view->sort < view->columns_count)
		order = by_average;
	for (uint32_t i = 0; i < view->columns_count && !order; i++)
		order = compare_values(left->values[i], right->values[i]);
	return order;
}

void thread_groups_finish(struct thread_groups *groups, const struct thread_view *view)
{
	double looks = groups->looks ? (double)groups->looks : 1;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < groups->count; i++) {
		if (groups->groups[i].average <= 0)
			continue;
		groups->groups[i].average /= looks;
		groups->average += groups->groups[i].average;
		groups->groups[kept++] = groups->groups[i];
	}
	groups->count = kept;
	groups->all /= looks;
	for (uint32_t i = 0; i <= ACTIVITY_OTHERS; i++)
		groups->states[i] /= looks;
	for (uint32_t i = 0; i < kept; i++)
		groups->groups[i].share = groups->groups[i].average / groups->average;
	if (kept)
		qsort_r(groups->groups, kept, sizeof(groups->groups[0]), compare_groups, (void *)view);
}

double thread_groups_cell(const struct thread_groups *groups, const struct thread_group *group,
			  uint32_t first, uint32_t end)
{
	double threads = 0;
	uint64_t looks = 0;

	for (uint32_t cell = first; cell < end && cell < groups->cells_count; cell++) {
		threads += group->cells[cell];
		looks += groups->cell_looks[cell];
	}
	return looks ? threads / (double)looks : -1;
}

void thread_groups_free(struct thread_groups *groups)
{
	free(groups->groups);
	hash_index_free(&groups->index);
	thread_names_free(&groups->names);
	*groups = (struct thread_groups){ 0 };
}

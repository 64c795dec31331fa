/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/host/activity_minute.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/base/shared_text.h"

#include <string.h>

struct activity_minute *activity_minute_new(int64_t at, uint64_t interval_ns)
{
	struct activity_minute *minute = calloc(1, sizeof(*minute));

	if (minute) {
		minute->at = at;
		minute->interval_ns = interval_ns;
	}
	return minute;
}

void activity_minute_free(struct activity_minute *minute)
{
	if (!minute)
		return;
	for (uint32_t i = 0; i < minute->cgroups_count; i++)
		shared_text_free(minute->cgroups[i].path);
	free(minute->cgroups);
	hash_index_free(&minute->cgroups_index);
	free(minute->rows);
	hash_index_free(&minute->rows_index);
	free(minute->changes);
	free(minute);
}

/* ---- cgroups ---- */

/* A path that cannot be copied stays unknown. */
static void copy_path(struct activity_minute *minute, struct activity_cgroup *cgroup, struct cgroups *cgroups)
{
	const char *path = cgroups_path(cgroups, cgroup->id);
	size_t bytes = path ? strlen(path) + 1 : 0;

	if (!path || minute->paths_bytes + bytes > ACTIVITY_PATHS_BYTES_MAX)
		return;
	cgroup->path = shared_text_new(path);
	minute->paths_bytes += cgroup->path ? bytes : 0;
}

static int find_cgroup(struct activity_minute *minute, uint64_t id, struct cgroups *cgroups,
		       uint32_t *ret_position)
{
	int added = hash_index_intern(&minute->cgroups_index, HASH_KEYS(minute->cgroups, id), minute->cgroups,
				      minute->cgroups_count, minute->cgroups_room, &id, ret_position);

	if (added > 0)
		copy_path(minute, &minute->cgroups[*ret_position], cgroups);
	return added < 0 ? added : 0;
}

/* ---- rows ---- */

/* Returns NULL if there is no room for another row. */
static struct activity_row *find_row(struct activity_minute *minute, const struct activity_key *key,
				     struct cgroups *cgroups)
{
	uint32_t found = hash_index_find_key(&minute->rows_index, HASH_KEYS(minute->rows, key), key);
	struct activity_row row = { .key = *key, .look = minute->looks - 1 };

	if (found != HASH_INDEX_NONE)
		return &minute->rows[found];
	found = minute->rows_count;
	if (found == ACTIVITY_ROWS_MAX || find_cgroup(minute, key->cgroup_id, cgroups, &row.cgroup) < 0 ||
	    array_make_room(minute->rows, found, minute->rows_room, 1U) < 0)
		return NULL;
	minute->rows[found] = row;
	if (hash_index_add_key(&minute->rows_index, HASH_KEYS(minute->rows, key), found) < 0)
		return NULL;
	return &minute->rows[minute->rows_count++];
}

/* ---- changes ---- */

/* Returns the position of a free change, + 1, or 0. */
static uint32_t find_change(struct activity_minute *minute)
{
	uint32_t found = minute->changes_free;

	if (found) {
		minute->changes_free = minute->changes[found - 1].before;
		return found;
	}
	if (minute->changes_count == ACTIVITY_CHANGES_MAX ||
	    array_make_room(minute->changes, minute->changes_count, minute->changes_room, 1U) < 0)
		return 0;
	return ++minute->changes_count;
}

/* Adds to `threads` how many the row had at each step below `until`. */
static void spread(const struct activity_minute *minute, const struct activity_row *row, uint32_t until,
		   uint32_t *threads)
{
	for (uint32_t at = row->change; at; at = minute->changes[at - 1].before) {
		const struct activity_change *change = &minute->changes[at - 1];

		for (uint32_t step = change->step; step < until; step++)
			threads[step] += change->threads;
		until = change->step;
	}
}

static void count_as_rest(struct activity_minute *minute, uint32_t state, uint32_t step, uint32_t threads)
{
	minute->rest[state][step] += threads;
}

/* The row's changes find no more room: all that it has had until this step counts as rest. */
static void make_rest(struct activity_minute *minute, struct activity_row *row, uint32_t step)
{
	uint32_t last = row->change;

	spread(minute, row, step, minute->rest[row->key.state]);
	while (last && minute->changes[last - 1].before)
		last = minute->changes[last - 1].before;
	if (last) {
		minute->changes[last - 1].before = minute->changes_free;
		minute->changes_free = row->change;
	}
	row->change = 0;
	row->is_rest = true;
}

/* From this step on the row has so many threads. */
static void change(struct activity_minute *minute, struct activity_row *row, uint32_t step, uint32_t threads)
{
	uint32_t at;

	if (row->threads == threads)
		return;
	row->threads = threads;
	if (row->is_rest)
		return;
	at = find_change(minute);
	if (!at) {
		make_rest(minute, row, step);
		return;
	}
	minute->changes[at - 1] = (struct activity_change){ row->change, threads, step };
	row->change = at;
}

/* The row was not in the looks between its last one and this one, if there were any. */
static void note_absence(struct activity_minute *minute, struct activity_row *row, uint32_t look)
{
	if (row->look + 1 < look)
		change(minute, row, minute->look_steps[row->look + 1], 0);
}

/* ---- looks ---- */

static void add(struct activity_minute *minute, uint32_t step, const struct activity_count *count,
		struct cgroups *cgroups)
{
	struct activity_row *row = find_row(minute, &count->key, cgroups);

	if (row) {
		note_absence(minute, row, minute->looks - 1);
		change(minute, row, step, count->threads);
		row->look = minute->looks - 1;
	}
	if (!row || row->is_rest)
		count_as_rest(minute, count->key.state, step, count->threads);
}

void activity_minute_add(struct activity_minute *minute, uint32_t step, const struct activity_counts *counts,
			 struct cgroups *cgroups)
{
	minute->look_steps[minute->looks++] = step;
	for (uint32_t i = 0; i < counts->count; i++)
		add(minute, step, &counts->rows[i], cgroups);
	for (uint32_t i = 0; i < THREAD_STATES; i++)
		count_as_rest(minute, i, step, counts->look.others[i]);
}

void activity_minute_end(struct activity_minute *minute, uint32_t steps, struct cgroups *cgroups)
{
	minute->steps = steps;
	for (uint32_t i = 0; i < minute->rows_count; i++)
		note_absence(minute, &minute->rows[i], minute->looks);
	for (uint32_t i = 0; i < minute->cgroups_count; i++)
		if (!minute->cgroups[i].path)
			copy_path(minute, &minute->cgroups[i], cgroups);
}

void activity_minute_spread(const struct activity_minute *minute, const struct activity_row *row,
			    uint32_t *threads)
{
	spread(minute, row, minute->steps, threads);
}

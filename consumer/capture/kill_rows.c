/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/kill_rows.h"

#include "common/base/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void free_row(struct kill_row *row)
{
	free(row->cgroup);
	free(row->by_cgroup);
	free(row->limit_cgroup);
}

void kill_rows_free(struct kill_rows *rows)
{
	for (uint32_t i = 0; i < rows->count; i++)
		free_row(&rows->rows[i]);
	free(rows->rows);
	*rows = (struct kill_rows){ 0 };
}

/* The first levels of a path: "/a/b/c" with 2 of them is "/a/b". NULL where it has fewer. */
static char *ancestor(const char *path, uint32_t levels)
{
	const char *end = path;

	for (uint32_t i = 0; i < levels; i++) {
		if (*end != '/')
			return NULL;
		end += 1 + strcspn(end + 1, "/");
	}
	return levels && end > path + 1 ? strndup(path, (size_t)(end - path)) : NULL;
}

static void put_limit(struct kill_row *row)
{
	const struct kill_record *record = &row->record;

	if (!record->limit_bytes)
		return;
	if (record->flags & KILL_LIMIT_V1)
		row->limit_cgroup = *record->limit_name ? strdup(record->limit_name) : NULL;
	else if (row->cgroup)
		row->limit_cgroup = ancestor(row->cgroup, record->limit_level);
}

static void describe_row(struct kill_row *row, kill_describe describe, void *user)
{
	const struct kill_record *record = &row->record;
	const char *cgroup = NULL, *by_cgroup = NULL;

	if (!(record->flags & KILL_DENIED))
		row->is_target = describe(user, record->comm, record->cgroup_id, &cgroup);
	row->cgroup = cgroup ? strdup(cgroup) : NULL;
	if (!(record->flags & KILL_BY_DENIED))
		describe(user, record->by_comm, record->by_cgroup_id, &by_cgroup);
	row->by_cgroup = by_cgroup ? strdup(by_cgroup) : NULL;
	row->is_by_oomd = kill_is_by_oomd(record, by_cgroup);
	put_limit(row);
}

static void add_to_rest(struct kill_row rest[KILL_KINDS], const struct kill_record *record)
{
	struct kill_row *row = &rest[record->how];

	row->is_rest = true;
	row->record.how = record->how;
	row->record.time_ns = record->time_ns > row->record.time_ns ? record->time_ns : row->record.time_ns;
	row->processes++;
}

int kill_rows_make(const struct kills *kills, uint64_t from_ns, uint64_t to_ns, kill_describe describe,
		   void *user, struct kill_rows *ret_rows)
{
	struct kill_rows rows = { 0 };
	struct kill_row rest[KILL_KINDS] = { 0 };
	struct kill_record left_out = { 0 };
	struct kills chosen = { 0 };

	*ret_rows = rows;
	for (uint32_t i = 0; i < kills->count; i++) {
		const struct kill_record *record = &kills->each[i];

		if (record->time_ns >= from_ns && record->time_ns <= to_ns && record->how < KILL_KINDS &&
		    kills_add(&chosen, record, KILL_ROWS_MAX, &left_out))
			add_to_rest(rest, &left_out);
	}
	rows.rows = calloc((size_t)chosen.count + KILL_KINDS, sizeof(*rows.rows));
	for (uint32_t i = 0; rows.rows && i < chosen.count; i++) {
		struct kill_row *row = &rows.rows[rows.count++];

		*row = (struct kill_row){ .record = chosen.each[i], .processes = 1 };
		describe_row(row, describe, user);
	}
	for (size_t i = 0; rows.rows && i < ARRAY_SIZE(rest); i++)
		if (rest[i].processes)
			rows.rows[rows.count++] = rest[i];
	kills_free(&chosen);
	if (!rows.rows)
		return -ENOMEM;
	*ret_rows = rows;
	return 0;
}

const char *kill_row_how(const struct kill_row *row)
{
	return row->record.how == KILL_OOM ? "oom" : row->is_by_oomd ? "oomd" : "signal";
}

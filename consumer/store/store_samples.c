/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/store/store_samples.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/numbers.h"
#include "common/store/sample_row.h"

#include <stdlib.h>

#define SAMPLE_STALLS 8

/* The samples of one capture. */
struct samples_writing {
	struct sql *sql;
	struct samples_statements *statements;
	const struct capture *capture;
	const struct capture_ids *ids;
	struct sample_counts *counts;
	sqlite3_int64 sample_classes[2][SAMPLE_STALLS]
				    [USAGE_REST]; /* by on CPU, stall, role; 0: not yet known */
	char *times;                              /* of the row at hand */
	size_t times_room;
};

/* A row in the order of the table. */
struct sample_key {
	int64_t stack, thread, class;
	int32_t second;
	uint32_t row;
};

/* Rows in the order of their primary key: the tree of the table grows at its end alone, without gaps. */
static int compare_rows(const void *a, const void *b, void *user)
{
	const struct sample_key *left = a, *right = b;

	(void)user;
	return COMPARE(left->stack, right->stack) ?:
	       COMPARE(left->thread, right->thread) ?:
	       COMPARE(left->class, right->class) ?:
	       COMPARE(left->second, right->second);
}

static int class_of_sample(struct samples_writing *writing, const struct capture_row *row, int64_t *ret_class)
{
	enum usage_role role = writing->capture->processes[row->process].role;
	sqlite3_int64 *class =
		&writing->sample_classes[row->kind == SAMPLE_ON_CPU][row->stall % SAMPLE_STALLS][role];
	int result = 0;

	if (!*class)
		result = sql_insert(
			writing->sql, &writing->statements->add_sample_class, "sample_class",
			"ON CONFLICT DO UPDATE SET stall = excluded.stall RETURNING class", class,
			SQL_COLUMNS(SQL_TEXT(kind, row->kind == SAMPLE_ON_CPU ? "on-cpu" : "off-cpu"),
				    SQL_TEXT(stall, capture_stall_name(row->stall)),
				    SQL_TEXT(role, usage_role_names[role])));
	*ret_class = *class;
	return result;
}

/* Those of row i are by_row[first_of[i]] up to by_row[first_of[i + 1] - 1], in the order in which they came. */
static void sort_events(const struct capture *capture, uint32_t *first_of, uint32_t *by_row)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < capture->events_count; i++)
		first_of[capture->events[i].row]++;
	for (uint32_t i = 0; i <= capture->rows_count; i++)
		first_of[i] = sum += first_of[i];
	for (uint32_t i = capture->events_count; i-- > 0;)
		by_row[--first_of[capture->events[i].row]] = i;
}

#define EVENT_TEXT_BYTES sizeof("-2147483648,-32768,65535 ")

/* Stores the text of a row's events, which view sample makes a JSON array of, or NULL without any. */
static int format_times(struct samples_writing *writing, const uint32_t *events, uint32_t count, bool on_cpu,
			const char **ret_text)
{
	size_t bytes = count * EVENT_TEXT_BYTES + 1, at = 0;

	*ret_text = NULL;
	if (!count)
		return 0;
	if (bytes > writing->times_room) {
		char *grown = realloc(writing->times, bytes);

		if (!grown)
			return -ENOMEM;
		writing->times = grown;
		writing->times_room = bytes;
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct capture_event *event = &writing->capture->events[events[i]];

		if (i)
			writing->times[at++] = ' ';
		if (!on_cpu)
			at += (size_t)sprintf(writing->times + at, "%d,", event->begin_ms);
		at += (size_t)sprintf(writing->times + at, "%d,", event->at_ms);
		at += event->cpu == CAPTURE_NO_CPU ? (size_t)sprintf(writing->times + at, "null")
						   : (size_t)sprintf(writing->times + at, "%u", event->cpu);
	}
	*ret_text = writing->times;
	return 0;
}

static int write_row(struct samples_writing *writing, const struct sample_key *key, const uint32_t *first_of,
		     const uint32_t *by_row)
{
	const struct capture_row *row = &writing->capture->rows[key->row];
	uint32_t hz = writing->capture->trigger.hz;
	/* a weight that follows from the number of samples is not stored */
	int64_t usual_ns = row->kind == SAMPLE_ON_CPU && hz ? row->samples * (int64_t)(CLOCK_SECOND_NS / hz)
							    : -1;
	const char *times;
	int result = format_times(writing, by_row + first_of[key->row],
				  first_of[key->row + 1] - first_of[key->row], row->kind == SAMPLE_ON_CPU,
				  &times);

	if (result < 0)
		return result;
	return sql_insert(
		writing->sql, &writing->statements->add_sample, "sample_row", SAMPLE_ROW_SUM, NULL,
		SQL_COLUMNS(SQL_NUMBER(capture_id, writing->ids->capture_id),
			    SQL_NUMBER(stack_id, key->stack), SQL_NUMBER(thread_id, key->thread),
			    SQL_NUMBER(class, key->class), SQL_NUMBER(second, row->second),
			    SQL_NUMBER(samples, row->samples),
			    SQL_NUMBER_IF(weight_ns, (int64_t)row->weight_ns != usual_ns, row->weight_ns),
			    SQL_TEXT(times, times)));
}

static int compare_ids(const void *a, const void *b)
{
	sqlite3_int64 left = *(const sqlite3_int64 *)a, right = *(const sqlite3_int64 *)b;

	return COMPARE(left, right);
}

/* Counts what the sorted keys have of targets. Two processes of the capture may be one row, if their cgroups have the same path. */
static int count_samples(struct samples_writing *writing, const struct sample_key *keys)
{
	const struct capture *capture = writing->capture;
	_cleanup_free_ sqlite3_int64 *used = calloc(capture->processes_count + 1UL, sizeof(*used));
	sqlite3_int64 last_stack = 0;

	if (!used)
		return -ENOMEM;
	for (uint32_t i = 0; i < capture->rows_count; i++) {
		const struct capture_row *row = &capture->rows[keys[i].row];

		if (capture->processes[row->process].role != USAGE_TARGET)
			continue;
		writing->counts->stacks += keys[i].stack != last_stack;
		last_stack = keys[i].stack;
		writing->counts->samples += row->samples;
		writing->counts->intervals += row->kind == SAMPLE_OFF_CPU ? row->samples : 0;
		used[row->process] = writing->ids->processes[row->process];
	}
	qsort(used, capture->processes_count, sizeof(*used), compare_ids);
	for (uint32_t i = 0; i < capture->processes_count; i++)
		writing->counts->processes += used[i] && (!i || used[i] != used[i - 1]);
	return 0;
}

static int write_rows(struct samples_writing *writing)
{
	const struct capture *capture = writing->capture;
	_cleanup_free_ struct sample_key *keys = calloc(capture->rows_count + 1UL, sizeof(*keys));
	_cleanup_free_ uint32_t *first_of = calloc(capture->rows_count + 1UL, sizeof(*first_of));
	_cleanup_free_ uint32_t *by_row = calloc(capture->events_count + 1UL, sizeof(*by_row));
	int result = 0;

	if (!keys || !first_of || !by_row)
		return -ENOMEM;
	sort_events(capture, first_of, by_row);
	for (uint32_t i = 0; i < capture->rows_count && !result; i++) {
		const struct capture_row *row = &capture->rows[i];

		keys[i] = (struct sample_key){ .row = i,
					       .second = row->second,
					       .stack = writing->ids->stacks[row->stack] };
		result = store_threads_find(writing->sql, writing->ids->threads, row->process, row->tid,
					    row->thread, &keys[i].thread);
		if (!result)
			result = class_of_sample(writing, row, &keys[i].class);
	}
	if (!result)
		qsort_r(keys, capture->rows_count, sizeof(*keys), compare_rows, NULL);
	if (!result)
		result = count_samples(writing, keys);
	for (uint32_t i = 0; i < capture->rows_count && !result; i++)
		result = write_row(writing, &keys[i], first_of, by_row);
	return result;
}

int store_samples_write(struct sql *sql, struct samples_statements *statements, const struct capture *capture,
			const struct capture_ids *ids, struct sample_counts *counts)
{
	struct samples_writing writing = {
		.sql = sql, .statements = statements, .capture = capture, .ids = ids, .counts = counts
	};
	int result = write_rows(&writing);

	free(writing.times);
	return result;
}

/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/store/store_latency.h"

#include "common/base/cleanup.h"
#include "common/base/numbers.h"
#include "common/kernel/disk_bytes.h"
#include "common/protocol/latency_metrics.h"
#include "consumer/capture/interrupt_time.h"
#include "consumer/store/store_accounts.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static const char *const span_names[LATENCY_SPANS] = { "before", "during" };
static const char *const account_names[ACCOUNTS] = { ACCOUNT_NAMES };
static const char *const lock_names[LOCKS] = { LOCK_NAMES };
static const char *const memory_names[MEMORY_KINDS] = { MEMORY_NAMES };

/* include/linux/blk_types.h: enum req_op */
static const char *const operation_names[] = { "read", "write",        "flush", "discard",
					       NULL,   "secure erase", NULL,    "zone append",
					       NULL,   "write zeroes" };

#define OTHER "other"
#define LABEL_BYTES (PATH_MAX + 1024) /* a place, and a function whose name the database would cut anyway */
#define WORD_BYTES 1024

struct label {
	uint64_t metric;
	char *text;
	uint64_t weight; /* sum of its values */
	uint32_t rows;
	int64_t id; /* of histogram_label; 0: not known yet */
	bool is_kept;
};

struct row {
	uint32_t label, span, bucket, reserved; /* what it is found by */
	uint64_t count, sum;
};

struct rows {
	const struct capture *capture;
	const struct resolved *resolved;
	char *disks; /* the text of /proc/diskstats */
	struct label *labels;
	uint32_t labels_count, labels_room;
	struct hash_index labels_index;
	struct row *rows;
	uint32_t count, room;
	struct hash_index index;
};

static void rows_free(struct rows *rows)
{
	for (uint32_t i = 0; i < rows->labels_count; i++)
		free(rows->labels[i].text);
	free(rows->labels);
	free(rows->rows);
	free(rows->disks);
	hash_index_free(&rows->labels_index);
	hash_index_free(&rows->index);
}

/* ---- what a label says ---- */

static const char *word_of(const char *const *words, size_t count, uint32_t number)
{
	return number < count && words[number] ? words[number] : "unknown";
}

/* Of at most WORD_BYTES and PATH_MAX. */
static void put_name(char into[LABEL_BYTES], const char *word, const char *name)
{
	snprintf(into, LABEL_BYTES, "%.*s%s%.*s", WORD_BYTES, word, name && *word ? " " : "", PATH_MAX,
		 name ? name : "");
}

/* Where a target waited longest for this futex. NULL: there is no stack of it. */
static const char *futex_site(const struct rows *rows, uint64_t lock)
{
	const struct wakes *wakes = &rows->capture->wakes;
	const struct wake *longest = NULL;

	for (uint32_t i = 0; i < wakes->count; i++)
		if (wakes->rows[i].lock == lock &&
		    (!longest || wakes->rows[i].waited_ns > longest->waited_ns))
			longest = &wakes->rows[i];
	return longest ? store_own_function(rows->capture, rows->resolved, longest->stack) : NULL;
}

static void put_lock(const struct rows *rows, const struct histogram_key *key, const char *owner,
		     char into[LABEL_BYTES])
{
	char word[WORD_BYTES];
	const char *site, *caller;

	if (key->detail == LOCK_FUTEX) {
		site = futex_site(rows, key->object);
		snprintf(word, sizeof(word), "futex %016" PRIx64 "%s%s", (uint64_t)key->object,
			 site ? " " : "", site ? site : "");
	} else {
		caller = latency_caller_name(&rows->capture->latency, key->object);
		snprintf(word, sizeof(word), "%s%s%s", word_of(lock_names, LOCKS, key->detail),
			 caller ? " " : "", caller ? caller : "");
	}
	put_name(into, word, owner);
}

static void put_block(const struct rows *rows, const struct histogram_key *key, const char *owner,
		      char into[LABEL_BYTES])
{
	uint32_t major = (uint32_t)(key->object >> 20), minor = (uint32_t)key->object & 0xfffff;
	char disk[DISK_NAME_BYTES], word[128];

	if (!key->object) {
		put_name(into, "", OTHER);
		return;
	}
	if (!disk_name(rows->disks, major, minor, disk))
		snprintf(disk, sizeof(disk), "%" PRIu32 ":%" PRIu32, major, minor);
	snprintf(word, sizeof(word), "%s %s%s", disk,
		 word_of(operation_names, ARRAY_SIZE(operation_names), key->detail & BLOCK_OPERATION),
		 key->detail & BLOCK_FAILED ? " failed" : "");
	put_name(into, word, owner);
}

static void put_label(const struct rows *rows, const struct histogram_key *key, char into[LABEL_BYTES])
{
	const char *owner = latency_owner_name(&rows->capture->latency, key->owner);

	switch (key->metric) {
	case METRIC_OFFCPU:
		put_name(into, word_of(account_names, ACCOUNTS, key->detail), owner ? owner : OTHER);
		break;
	case METRIC_LOCK:
		put_lock(rows, key, owner, into);
		break;
	case METRIC_MEMORY:
		put_name(into, word_of(memory_names, MEMORY_KINDS, key->detail), owner ? owner : OTHER);
		break;
	case METRIC_SOFTIRQ:
		put_name(into, "", softirq_name(key->detail) ? softirq_name(key->detail) : OTHER);
		break;
	case METRIC_RUNQUEUE:
	case METRIC_EXEC:
	case METRIC_FORK:
		put_name(into, "", owner ? owner : OTHER);
		break;
	default:
		put_block(rows, key, owner, into);
	}
}

/* ---- labels and rows ---- */

struct wanted_label {
	const struct rows *rows;
	uint64_t metric;
	const char *text;
};

static bool is_label(const void *user, uint32_t position)
{
	const struct wanted_label *wanted = user;
	const struct label *label = &wanted->rows->labels[position];

	return label->metric == wanted->metric && !strcmp(label->text, wanted->text);
}

static int find_label(struct rows *rows, uint64_t metric, const char *text, uint32_t *ret_label)
{
	const struct wanted_label wanted = { rows, metric, text };
	uint32_t hash = hash_bytes(text, strlen(text));
	struct label *label;

	*ret_label = hash_index_find(&rows->labels_index, hash, is_label, &wanted);
	if (*ret_label != HASH_INDEX_NONE)
		return 0;
	if (array_make_room(rows->labels, rows->labels_count, rows->labels_room, 1U))
		return -ENOMEM;
	label = &rows->labels[rows->labels_count];
	*label = (struct label){ .metric = metric, .text = strdup(text) };
	if (!label->text)
		return -ENOMEM;
	*ret_label = rows->labels_count++;
	return hash_index_add(&rows->labels_index, hash, *ret_label);
}

static int add_row(struct rows *rows, uint32_t label, uint32_t span, uint32_t bucket, uint64_t count,
		   uint64_t sum)
{
	const struct row wanted = { .label = label, .span = span, .bucket = bucket };
	uint32_t found;
	int added = hash_index_intern(&rows->index, HASH_KEYS_BEFORE(rows->rows, count), rows->rows,
				      rows->count, rows->room, &wanted, &found);

	if (added < 0)
		return added;
	rows->rows[found].count += count;
	rows->rows[found].sum += sum;
	rows->labels[label].rows += (uint32_t)added;
	rows->labels[label].weight += sum;
	return 0;
}

static int add_value(struct rows *rows, const struct latency_value *value)
{
	char text[LABEL_BYTES];
	uint32_t label;
	int result;

	put_label(rows, &value->key, text);
	result = find_label(rows, value->key.metric, text, &label);
	return result ? result
		      : add_row(rows, label, (uint32_t)value->span, value->key.bucket, value->count,
				value->sum);
}

static int compare_weight_falling(const void *a, const void *b)
{
	const struct label *const *left = a, *const *right = b;

	return compare_falling(&(*left)->weight, &(*right)->weight);
}

/* Keeps the labels whose values sum up to most, as many as there is room for. Returns whether these are all, or -ENOMEM. */
static int keep_labels(struct rows *rows)
{
	_cleanup_free_ struct label **order = calloc(rows->labels_count + 1UL, sizeof(struct label *));
	uint32_t room = LATENCY_ROWS_MAX;
	bool all = true;

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < rows->labels_count; i++)
		order[i] = &rows->labels[i];
	qsort(order, rows->labels_count, sizeof(struct label *), compare_weight_falling);
	for (uint32_t i = 0; i < rows->labels_count; i++) {
		order[i]->is_kept = order[i]->rows <= room;
		room -= order[i]->is_kept ? order[i]->rows : 0;
		all &= order[i]->is_kept;
	}
	return all;
}

/* Those that are not kept are in the label "other" of their metric. */
static int merge_others(struct rows *rows, struct rows *ret_merged)
{
	int result = 0;

	for (uint32_t i = 0; i < rows->count && !result; i++) {
		const struct row *row = &rows->rows[i];
		const struct label *label = &rows->labels[row->label];
		uint32_t merged;

		result = find_label(ret_merged, label->metric, label->is_kept ? label->text : OTHER, &merged);
		if (!result)
			result = add_row(ret_merged, merged, row->span, row->bucket, row->count, row->sum);
	}
	return result;
}

/* ---- writing ---- */

static int write_rows(struct sql *sql, struct latency_statements *statements, int64_t capture_id,
		      struct rows *rows)
{
	int result = 0;

	for (uint32_t i = 0; i < rows->count && !result; i++) {
		const struct row *row = &rows->rows[i];
		struct label *label = &rows->labels[row->label];

		if (!label->id)
			result = sql_insert(sql, &statements->add_label, "histogram_label",
					    "ON CONFLICT(metric, label) DO UPDATE SET label = label "
					    "RETURNING label_id",
					    (sqlite3_int64 *)&label->id,
					    SQL_COLUMNS(SQL_TEXT(metric, latency_metric_names[label->metric]),
							SQL_TEXT(label, label->text)));
		if (!result)
			result = sql_insert(sql, &statements->add_row, "histogram_row", NULL, NULL,
					    SQL_COLUMNS(SQL_NUMBER(capture_id, capture_id),
							SQL_NUMBER(label_id, label->id),
							SQL_TEXT(span, span_names[row->span]),
							SQL_NUMBER(bucket, row->bucket),
							SQL_NUMBER(count, row->count),
							SQL_NUMBER(sum, row->sum)));
	}
	return result;
}

static int64_t wall_time(const struct capture_trigger *trigger, uint64_t ns)
{
	return trigger->triggered_at + (int64_t)(ns - trigger->triggered_ns);
}

static int write_measured(struct sql *sql, struct latency_statements *statements, int64_t capture_id,
			  const struct capture *capture, uint32_t metric, uint32_t span)
{
	const struct latency *latency = &capture->latency;
	const struct latency_events *events = &latency->events[span][metric];
	uint64_t from_ns, to_ns, begins_ns = span == LATENCY_DURING ? latency->from_ns : latency->before_ns,
				 ends_ns = span == LATENCY_DURING ? latency->until_ns : latency->from_ns;

	latency_measured(latency, latency_metric_group(metric), span, &from_ns, &to_ns);
	return sql_insert(
		sql, &statements->add_measured, "latency_measured", NULL, NULL,
		SQL_COLUMNS(SQL_NUMBER(capture_id, capture_id),
			    SQL_TEXT(metric, latency_metric_names[metric]), SQL_TEXT(span, span_names[span]),
			    SQL_NUMBER(from_at, wall_time(&capture->trigger, from_ns)),
			    SQL_NUMBER(to_at, wall_time(&capture->trigger, to_ns)),
			    SQL_NUMBER(wanted_ns, ends_ns > begins_ns ? ends_ns - begins_ns : 0),
			    SQL_NUMBER(events, events->events), SQL_NUMBER(lost, events->lost),
			    SQL_NUMBER(unpaired, events->unpaired), SQL_NUMBER(absurd, events->absurd)));
}

int store_latency_write(struct sql *sql, struct latency_statements *statements, int64_t capture_id,
			const struct capture *capture, const struct resolved *resolved)
{
	const struct latency *latency = &capture->latency;
	_cleanup_(rows_free) struct rows rows = { .capture = capture, .resolved = resolved },
					 merged = { .capture = capture };
	int result = 0;

	if (!latency->groups)
		return 0;
	rows.disks = disk_lines_read();
	for (uint32_t i = 0; i < latency->values_count && !result; i++)
		if (latency->values[i].count)
			result = add_value(&rows, &latency->values[i]);
	if (!result)
		result = keep_labels(&rows);
	if (result >= 0) {
		bool all = result;

		result = all ? 0 : merge_others(&rows, &merged);
		if (!result)
			result = write_rows(sql, statements, capture_id, all ? &rows : &merged);
	}
	for (uint32_t metric = 0; metric < METRICS && !result; metric++)
		for (uint32_t span = 0; span < LATENCY_SPANS && !result; span++)
			if (latency->groups >> latency_metric_group(metric) & 1)
				result = write_measured(sql, statements, capture_id, capture, metric, span);
	return result;
}

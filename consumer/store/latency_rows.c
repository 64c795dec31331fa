/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/store/latency_rows.h"

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

/* What the rows are made of. */
struct making {
	const struct latency *latency;
	const struct capture *capture; /* NULL: there are no stacks */
	const struct resolved *resolved;
	char *disks; /* the text of /proc/diskstats */
};

void latency_rows_free(struct latency_rows *rows)
{
	for (uint32_t i = 0; i < rows->labels_count; i++)
		free(rows->labels[i].text);
	free(rows->labels);
	free(rows->rows);
	hash_index_free(&rows->labels_index);
	hash_index_free(&rows->index);
	*rows = (struct latency_rows){ 0 };
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
static const char *futex_site(const struct making *making, uint64_t lock)
{
	const struct wakes *wakes = making->capture ? &making->capture->wakes : NULL;
	const struct wake *longest = NULL;

	for (uint32_t i = 0; wakes && i < wakes->count; i++)
		if (wakes->rows[i].lock == lock &&
		    (!longest || wakes->rows[i].waited_ns > longest->waited_ns))
			longest = &wakes->rows[i];
	return longest ? store_own_function(making->capture, making->resolved, longest->stack) : NULL;
}

static void put_lock(const struct making *making, const struct histogram_key *key, const char *owner,
		     char into[LABEL_BYTES])
{
	char word[WORD_BYTES];
	const char *site, *caller;

	if (key->detail == LOCK_FUTEX) {
		site = futex_site(making, key->object);
		snprintf(word, sizeof(word), "futex %016" PRIx64 "%s%s", (uint64_t)key->object,
			 site ? " " : "", site ? site : "");
	} else {
		caller = latency_caller_name(making->latency, key->object);
		snprintf(word, sizeof(word), "%s%s%s", word_of(lock_names, LOCKS, key->detail),
			 caller ? " " : "", caller ? caller : "");
	}
	put_name(into, word, owner);
}

static void put_block(const struct making *making, const struct histogram_key *key, const char *owner,
		      char into[LABEL_BYTES])
{
	uint32_t major = (uint32_t)(key->object >> 20), minor = (uint32_t)key->object & 0xfffff;
	char disk[DISK_NAME_BYTES], word[128];

	if (!key->object) {
		put_name(into, "", OTHER);
		return;
	}
	if (!disk_name(making->disks, major, minor, disk))
		snprintf(disk, sizeof(disk), "%" PRIu32 ":%" PRIu32, major, minor);
	snprintf(word, sizeof(word), "%s %s%s", disk,
		 word_of(operation_names, ARRAY_SIZE(operation_names), key->detail & BLOCK_OPERATION),
		 key->detail & BLOCK_FAILED ? " failed" : "");
	put_name(into, word, owner);
}

/* "web.service:80" */
static void put_request(const struct histogram_key *key, const char *owner, char into[LABEL_BYTES])
{
	char port[32] = "";

	if (key->object != REQUEST_PORT_OTHER)
		snprintf(port, sizeof(port), ":%u", (uint16_t)key->object);
	snprintf(into, LABEL_BYTES, "%.*s%s%s", PATH_MAX, owner ? owner : OTHER, port,
		 key->detail == REQUEST_SHARED ? " shared" : "");
}

static void put_label(const struct making *making, const struct histogram_key *key, char into[LABEL_BYTES])
{
	const char *owner = latency_owner_name(making->latency, key->owner);

	switch (key->metric) {
	case METRIC_OFFCPU:
		put_name(into, word_of(account_names, ACCOUNTS, key->detail), owner ? owner : OTHER);
		break;
	case METRIC_LOCK:
		put_lock(making, key, owner, into);
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
		if (latency_metric_group(key->metric) == LATENCY_REQUEST)
			put_request(key, owner, into);
		else
			put_block(making, key, owner, into);
	}
}

/* ---- labels and rows ---- */

struct wanted_label {
	const struct latency_rows *rows;
	uint64_t metric;
	const char *text;
};

static bool is_label(const void *user, uint32_t position)
{
	const struct wanted_label *wanted = user;
	const struct latency_row_label *label = &wanted->rows->labels[position];

	return label->metric == wanted->metric && !strcmp(label->text, wanted->text);
}

static int find_label(struct latency_rows *rows, uint64_t metric, const char *text, uint32_t *ret_label)
{
	const struct wanted_label wanted = { rows, metric, text };
	uint32_t hash = hash_bytes(text, strlen(text));
	struct latency_row_label *label;

	*ret_label = hash_index_find(&rows->labels_index, hash, is_label, &wanted);
	if (*ret_label != HASH_INDEX_NONE)
		return 0;
	if (array_make_room(rows->labels, rows->labels_count, rows->labels_room, 1U))
		return -ENOMEM;
	label = &rows->labels[rows->labels_count];
	*label = (struct latency_row_label){ .metric = metric, .text = strdup(text) };
	if (!label->text)
		return -ENOMEM;
	*ret_label = rows->labels_count++;
	return hash_index_add(&rows->labels_index, hash, *ret_label);
}

static int add_row(struct latency_rows *rows, uint32_t label, uint32_t span, uint32_t bucket, uint64_t count,
		   uint64_t sum)
{
	const struct latency_row wanted = { .label = label, .span = span, .bucket = bucket };
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

static int add_value(struct latency_rows *rows, const struct making *making,
		     const struct latency_value *value)
{
	char text[LABEL_BYTES];
	uint32_t label;
	int result;

	put_label(making, &value->key, text);
	result = find_label(rows, value->key.metric, text, &label);
	return result ? result
		      : add_row(rows, label, (uint32_t)value->span, value->key.bucket, value->count,
				value->sum);
}

static int compare_weight_falling(const void *a, const void *b)
{
	const struct latency_row_label *const *left = a, *const *right = b;

	return compare_falling(&(*left)->weight, &(*right)->weight);
}

/* Keeps the labels whose values sum up to most, as many as there is room for. Returns whether these are all, or -ENOMEM. */
static int keep_labels(struct latency_rows *rows)
{
	_cleanup_free_ struct latency_row_label **order =
		calloc(rows->labels_count + 1UL, sizeof(struct latency_row_label *));
	uint32_t room = LATENCY_ROWS_MAX;
	bool all = true;

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < rows->labels_count; i++)
		order[i] = &rows->labels[i];
	qsort(order, rows->labels_count, sizeof(struct latency_row_label *), compare_weight_falling);
	for (uint32_t i = 0; i < rows->labels_count; i++) {
		order[i]->is_kept = order[i]->rows <= room;
		room -= order[i]->is_kept ? order[i]->rows : 0;
		all &= order[i]->is_kept;
	}
	return all;
}

/* Those that are not kept are in the label "other" of their metric. */
static int merge_others(struct latency_rows *rows, struct latency_rows *ret_merged)
{
	int result = 0;

	for (uint32_t i = 0; i < rows->count && !result; i++) {
		const struct latency_row *row = &rows->rows[i];
		const struct latency_row_label *label = &rows->labels[row->label];
		uint32_t merged;

		result = find_label(ret_merged, label->metric, label->is_kept ? label->text : OTHER, &merged);
		if (!result)
			result = add_row(ret_merged, merged, row->span, row->bucket, row->count, row->sum);
	}
	return result;
}

int latency_rows_make(const struct latency *latency, const struct capture *capture,
		      const struct resolved *resolved, struct latency_rows *ret_rows)
{
	_cleanup_free_ char *disks = disk_lines_read();
	const struct making making = { latency, capture, resolved, disks };
	struct latency_rows merged = { 0 };
	int result = 0;

	*ret_rows = (struct latency_rows){ 0 };
	for (uint32_t i = 0; i < latency->values_count && !result; i++)
		if (latency->values[i].count)
			result = add_value(ret_rows, &making, &latency->values[i]);
	if (!result)
		result = keep_labels(ret_rows);
	if (result) /* all of them, or a failure */
		return result < 0 ? result : 0;
	result = merge_others(ret_rows, &merged);
	latency_rows_free(ret_rows);
	*ret_rows = merged;
	return result;
}

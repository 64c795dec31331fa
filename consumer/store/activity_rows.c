/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/store/activity_rows.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/base/numbers.h"

#include <stddef.h>
#include <string.h>

/* What SQLite takes besides the bytes of texts, with the room that its pages leave. */
#define MINUTE_BYTES 96U
#define ROW_BYTES 28U
#define KEY_BYTES 56U

#define TIME_TEXT_BYTES sizeof("[600,4294967295],")

static const char *const state_names[THREAD_STATES] = { THREAD_STATE_NAMES };

/* The words of a row of the minute, as numbers. Compared as bytes, up to `row`. */
struct named_activity {
	char comm[ABI_COMM_BYTES];
	uint32_t state, is_kernel, uid;
	int32_t call;
	uint32_t function; /* id; 0: not known */
	uint32_t cgroup;   /* the first of the minute's cgroups with this path; UINT32_MAX: not known */
	uint32_t row;
};

void activity_rows_free(struct activity_rows *rows)
{
	for (uint32_t i = 0; i < rows->count; i++)
		free(rows->rows[i].times);
	free(rows->rows);
	for (uint32_t i = 0; i < rows->functions_count; i++)
		free(rows->functions[i]);
	free(rows->functions);
	free(rows->named);
	*rows = (struct activity_rows){ 0 };
}

/* ---- names of functions ---- */

#define FUNCTION_BYTES                                                                                       \
	sizeof(((struct kernel_symbol *)NULL)->name) + sizeof(((struct kernel_symbol *)NULL)->module) + 4

/* Names where one look-up is enough for a place, however many rows wait there. */
struct naming_functions {
	struct activity_rows *rows;
	const struct kernel_symbols *symbols;
	struct hash_index names; /* positions in rows->functions */
	struct place {
		int32_t function;
		uint32_t id;
	} * places;
	uint32_t places_count, places_room;
	struct hash_index places_index;
	const char *name; /* that is looked for */
};

static bool has_name(const void *user, uint32_t position)
{
	const struct naming_functions *naming = user;

	return !strcmp(naming->rows->functions[position], naming->name);
}

static int intern(struct naming_functions *naming, const char *name, uint32_t *ret_id)
{
	struct activity_rows *rows = naming->rows;
	uint32_t hash = hash_bytes(name, strlen(name)), found;
	int result;

	naming->name = name;
	found = hash_index_find(&naming->names, hash, has_name, naming);
	if (found == HASH_INDEX_NONE) {
		char *copy = strdup(name);

		found = rows->functions_count;
		result = copy ? array_make_room(rows->functions, found, rows->functions_room, 1U) : -ENOMEM;
		if (!result)
			result = hash_index_add(&naming->names, hash, found);
		if (result < 0) {
			free(copy);
			return result;
		}
		rows->functions[rows->functions_count++] = copy;
	}
	*ret_id = found + 1;
	return 0;
}

static int name_place(struct naming_functions *naming, int32_t function, uint32_t *ret_id)
{
	char name[FUNCTION_BYTES];
	struct kernel_symbol symbol;

	*ret_id = 0;
	if (!kernel_symbols_find(naming->symbols, function, &symbol))
		return 0;
	snprintf(name, sizeof(name), symbol.module[0] ? "%s [%s]" : "%s", symbol.name, symbol.module);
	return intern(naming, name, ret_id);
}

/* Stores the id of the function's name; 0: it has none. */
static int find_function(struct naming_functions *naming, int32_t function, uint32_t *ret_id)
{
	uint32_t found;
	int result;

	*ret_id = 0;
	if (function == KERNEL_FRAME_UNKNOWN)
		return 0;
	result = hash_index_intern(&naming->places_index, HASH_KEYS(naming->places, function), naming->places,
				   naming->places_count, naming->places_room, &function, &found);
	if (result > 0)
		result = name_place(naming, function, &naming->places[found].id);
	if (!result)
		*ret_id = naming->places[found].id;
	return result;
}

static void free_naming(struct naming_functions *naming)
{
	hash_index_free(&naming->names);
	hash_index_free(&naming->places_index);
	free(naming->places);
}

/* ---- paths of cgroups ---- */

struct wanted_path {
	const struct activity_minute *minute;
	const char *path;
};

static bool has_path(const void *user, uint32_t position)
{
	const struct wanted_path *wanted = user;

	return !strcmp(wanted->minute->cgroups[position].path, wanted->path);
}

/* Stores for each cgroup the first one with its path. The caller frees the result; NULL without memory. */
static uint32_t *find_paths(const struct activity_minute *minute)
{
	uint32_t *first = calloc(minute->cgroups_count + 1UL, sizeof(*first));
	struct hash_index index = { 0 };

	for (uint32_t i = 0; first && i < minute->cgroups_count; i++) {
		const struct wanted_path wanted = { minute, minute->cgroups[i].path };
		uint32_t hash;

		first[i] = UINT32_MAX;
		if (!wanted.path)
			continue;
		hash = hash_bytes(wanted.path, strlen(wanted.path));
		first[i] = hash_index_find(&index, hash, has_path, &wanted);
		if (first[i] != HASH_INDEX_NONE)
			continue;
		first[i] = i;
		if (hash_index_add(&index, hash, i) < 0) {
			free(first);
			first = NULL;
		}
	}
	hash_index_free(&index);
	return first;
}

/* ---- rows ---- */

static int compare_named(const void *a, const void *b)
{
	return memcmp(a, b, offsetof(struct named_activity, row));
}

static int name_rows(struct activity_rows *rows, struct naming_functions *naming, const uint32_t *paths)
{
	const struct activity_minute *minute = rows->minute;
	int result = 0;

	for (uint32_t i = 0; i < minute->rows_count && !result; i++) {
		const struct activity_row *row = &minute->rows[i];
		struct named_activity *named = &rows->named[rows->named_count];

		if (row->is_rest)
			continue;
		*named = (struct named_activity){ .state = row->key.state,
						  .is_kernel = row->key.flags & ACTIVITY_KERNEL,
						  .uid = row->key.uid,
						  .call = row->key.call,
						  .cgroup = paths[row->cgroup],
						  .row = i };
		strcpy(named->comm, row->key.comm); /* zeros behind it */
		result = find_function(naming, row->key.function, &named->function);
		rows->named_count++;
	}
	if (!result)
		qsort(rows->named, rows->named_count, sizeof(*rows->named), compare_named);
	return result;
}

static struct activity_sums sum_up(const struct activity_minute *minute, const uint32_t *threads)
{
	struct activity_sums sums = { .least = UINT32_MAX };

	for (uint32_t i = 0; i < minute->looks; i++) {
		uint32_t at_look = threads[minute->look_steps[i]];

		sums.threads += at_look;
		sums.least = at_look < sums.least ? at_look : sums.least;
		sums.most = at_look > sums.most ? at_look : sums.most;
	}
	return sums;
}

/* Returns the text of activity.times, which the caller frees; NULL without memory. */
static char *times_text(const struct activity_minute *minute, const uint32_t *threads)
{
	char text[ACTIVITY_STEPS_MAX * TIME_TEXT_BYTES + 2] = "[";
	uint32_t before = 0;
	size_t used = 1;

	for (uint32_t i = 0; i < minute->looks; i++) {
		uint32_t step = minute->look_steps[i], at_look = threads[step];

		if (at_look != before)
			used += (size_t)sprintf(text + used, "%s[%u,%u]", used > 1 ? "," : "", step, at_look);
		before = at_look;
	}
	strcpy(text + used, "]");
	return strdup(text);
}

/* Adds how many threads the row had at each step. */
static void spread(const struct activity_rows *rows, const struct activity_stored *row, uint32_t *threads)
{
	for (uint32_t i = 0; i < row->count; i++)
		activity_minute_spread(rows->minute, &rows->minute->rows[rows->named[row->first + i].row],
				       threads);
}

static int add_row(struct activity_rows *rows, uint32_t first, uint32_t count)
{
	struct activity_stored row = { .first = first, .count = count, .state = rows->named[first].state };
	uint32_t threads[ACTIVITY_STEPS_MAX] = { 0 };
	int result = array_make_room(rows->rows, rows->count, rows->room, 1U);

	if (result < 0)
		return result;
	spread(rows, &row, threads);
	row.sums = sum_up(rows->minute, threads);
	row.times = times_text(rows->minute, threads);
	rows->rows[rows->count++] = row;
	return row.times ? 0 : -ENOMEM;
}

int activity_rows_make(struct activity_rows *rows, struct activity_minute *minute,
		       const struct kernel_symbols *symbols)
{
	struct naming_functions naming = { .rows = rows, .symbols = symbols };
	_cleanup_free_ uint32_t *paths = find_paths(minute);
	uint32_t next;
	int result;

	*rows = (struct activity_rows){ .minute = minute };
	rows->named = calloc(minute->rows_count + 1UL, sizeof(*rows->named));
	result = rows->named && paths ? name_rows(rows, &naming, paths) : -ENOMEM;
	free_naming(&naming);
	for (uint32_t i = 0; i < rows->named_count && !result; i = next) {
		next = i + 1;
		while (next < rows->named_count && !compare_named(&rows->named[i], &rows->named[next]))
			next++;
		result = add_row(rows, i, next - i);
	}
	return result;
}

/* ---- words ---- */

void activity_rows_words(const struct activity_rows *rows, const struct activity_stored *row,
			 struct activity_words *ret_words)
{
	const struct named_activity *named = &rows->named[row->first];

	*ret_words = (struct activity_words){
		.state = state_names[named->state],
		.comm = named->comm,
		.function = named->function ? rows->functions[named->function - 1] : NULL,
		.cgroup = named->cgroup == UINT32_MAX ? NULL : rows->minute->cgroups[named->cgroup].path,
		.uid = named->uid,
		.is_kernel = named->is_kernel,
	};
	if (named->call >= 0)
		ret_words->syscall = call_name((uint64_t)named->call, ret_words->unknown_call);
}

void activity_rows_rest_words(uint32_t state, struct activity_words *ret_words)
{
	*ret_words = (struct activity_words){ .state = state_names[state], .uid = -1 };
}

bool activity_rows_rest(const struct activity_rows *rows, uint32_t state, struct activity_sums *ret_sums)
{
	*ret_sums = sum_up(rows->minute, rows->minute->rest[state]);
	return ret_sums->threads;
}

static uint32_t length(const char *text)
{
	return text ? (uint32_t)strlen(text) : 0;
}

uint32_t activity_rows_key_bytes(const struct activity_words *words)
{
	/* the unit, and perhaps a container, are parts of the cgroup's path */
	return KEY_BYTES + length(words->state) + length(words->comm) + length(words->syscall) +
	       length(words->function) + 2 * length(words->cgroup);
}

/* ---- fewer bytes ---- */

static bool is_idle(const struct activity_stored *row)
{
	return row->state == THREAD_SLEEPING || row->state == THREAD_IDLE;
}

static int compare_threads(const struct activity_stored *left, const struct activity_stored *right)
{
	return COMPARE(left->sums.threads, right->sums.threads);
}

static int by_interest(const void *a, const void *b)
{
	const struct activity_stored *left = a, *right = b;

	return is_idle(left) == is_idle(right) ? compare_threads(left, right) : is_idle(left) ? -1 : 1;
}

static uint64_t bytes_of(const struct activity_stored *row)
{
	return row->is_folded ? 0 : ROW_BYTES + length(row->times) + row->key_bytes;
}

static uint64_t bytes_of_all(const struct activity_rows *rows)
{
	uint64_t bytes = MINUTE_BYTES;
	struct activity_sums sums;

	for (uint32_t i = 0; i < THREAD_STATES; i++)
		bytes += activity_rows_rest(rows, i, &sums) ? ROW_BYTES : 0;
	for (uint32_t i = 0; i < rows->count; i++)
		bytes += bytes_of(&rows->rows[i]);
	return bytes;
}

static void fold(struct activity_rows *rows, struct activity_stored *row)
{
	spread(rows, row, rows->minute->rest[row->state]);
	row->is_folded = true;
}

uint64_t activity_rows_bound(struct activity_rows *rows, uint64_t bytes_max)
{
	uint64_t bytes = bytes_of_all(rows);

	if (bytes <= bytes_max)
		return bytes;
	qsort(rows->rows, rows->count, sizeof(*rows->rows), by_interest);
	for (uint32_t i = 0; i < rows->count && bytes > bytes_max; i++) {
		bytes -= length(rows->rows[i].times);
		free(TAKE_PTR(rows->rows[i].times));
	}
	if (bytes <= bytes_max)
		return bytes;
	/* each state may have its rest then */
	for (uint32_t i = 0; i < rows->count && bytes + THREAD_STATES * ROW_BYTES > bytes_max; i++) {
		bytes -= bytes_of(&rows->rows[i]);
		if (!rows->rows[i].is_folded)
			fold(rows, &rows->rows[i]);
	}
	return bytes_of_all(rows);
}

/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/answer/states.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "report/text/column_text.h"
#include "report/text/format.h"
#include "report/text/wrap.h"

#include <string.h>

#define OF_TARGETS_SHOWN 8
#define OF_OTHERS_SHOWN 5
#define SECONDS_MAX 8192U /* a capture takes an hour at most */
#define NUMBERS_SHOWN 16

/*
 * Names are looked up once a stack. What a thread that waits for a CPU did before tells nothing. Kernel threads are named by
 * their kind, as in the view culprit_group.
 */
static const char groups_sql[] =
	"WITH g AS MATERIALIZED (SELECT t.role, CASE WHEN t.role = 'target' THEN NULL WHEN t.role <> 'kernel' THEN p.comm "
	"WHEN instr(p.comm, '/') THEN substr(p.comm, 1, instr(p.comm, '/') - 1) ELSE rtrim(p.comm, '0123456789.') END AS "
	"program, t.state, "
	"iif(t.role = 'target' AND t.state = 'D', t.syscall, NULL) AS syscall, "
	"iif(t.role = 'target' AND t.state = 'D', t.stack_id, NULL) AS stack_id, t.second, t.seconds, sum(t.samples) AS samples, "
	"count(*) AS threads FROM thread_state t JOIN process p USING(process_id) WHERE t.capture_id = ?1 AND "
	"(t.state IN ('D', 'queued') OR t.state = 'running' AND t.role = 'target') GROUP BY 1, 2, 3, 4, 5, 6, 7), "
	"k AS MATERIALIZED (SELECT stack_id, function, below FROM (SELECT DISTINCT stack_id FROM g) JOIN stack_place "
	"USING(stack_id)) "
	"SELECT g.role, g.program, g.state, g.syscall, k.function, k.below, g.second, g.seconds, g.samples, g.threads "
	"FROM g LEFT JOIN k USING(stack_id) ORDER BY g.role = 'target' DESC, 1, 2, 3, 4, 5, 6";

enum { ROLE, PROGRAM, STATE, CALL, FUNCTION, BELOW, KEYS };
static const char *const keys[KEYS] = { "role", "program", "state", "syscall", "function", "below" };
static const char *const group_columns[] = { "role",  "program", "state",      "syscall", "function",
					     "below", "threads", "of_threads", "looks",   "seconds" };
static const char *const second_columns[] = { "second", "threads" };

struct group {
	const char *keys[KEYS]; /* NULL: NULL */
	int64_t samples;
	int64_t *of_seconds; /* samples of each second */
};

struct seconds {
	int64_t *seconds, *looks;
	uint32_t count, room, looks_room;
	int64_t all_looks, all_threads;
};

struct counting {
	struct profile *profile;
	struct seconds seconds;
	/* the largest ones, of targets and of others; the last place is for the group at hand */
	struct group of_targets[OF_TARGETS_SHOWN + 1], of_others[OF_OTHERS_SHOWN + 1];
	uint32_t of_targets_count, of_others_count;
};

static void free_counting(struct counting *counting)
{
	free(counting->seconds.seconds);
	free(counting->seconds.looks);
	for (size_t i = 0; i < ARRAY_SIZE(counting->of_targets); i++)
		free(counting->of_targets[i].of_seconds);
	for (size_t i = 0; i < ARRAY_SIZE(counting->of_others); i++)
		free(counting->of_others[i].of_seconds);
}

static int load_seconds(struct seconds *seconds, struct database *database, int64_t capture_id)
{
	_cleanup_query_ struct query query = query_begin(
		database,
		"SELECT second, looks, threads FROM thread_look WHERE capture_id = ?1 AND looks > 0 ORDER BY second",
		capture_id, 0);

	while (query_next(&query) && seconds->count < SECONDS_MAX) {
		if (array_make_room(seconds->seconds, seconds->count, seconds->room, 1U) ||
		    array_make_room(seconds->looks, seconds->count, seconds->looks_room, 1U))
			return -ENOMEM;
		seconds->seconds[seconds->count] = query_number(&query, "second");
		seconds->looks[seconds->count++] = query_number(&query, "looks");
		seconds->all_looks = add_saturated(seconds->all_looks, query_number(&query, "looks"));
		seconds->all_threads = add_saturated(seconds->all_threads, query_number(&query, "threads"));
	}
	return database->failed ? -EIO : 0;
}

static bool is_same_group(const struct group *group, const struct query *query)
{
	for (size_t i = 0; i < KEYS; i++)
		if (!group->keys[i] != query_is_null(query, keys[i]) ||
		    (group->keys[i] && strcmp(group->keys[i], query_text(query, keys[i])) != 0))
			return false;
	return true;
}

static int begin_group(struct counting *counting, struct group *group, const struct query *query)
{
	size_t bytes = counting->seconds.count * sizeof(*group->of_seconds);

	if (!group->of_seconds)
		group->of_seconds = malloc(bytes);
	if (!group->of_seconds)
		return -ENOMEM;
	memset(group->of_seconds, 0, bytes);
	group->samples = 0;
	for (size_t i = 0; i < KEYS; i++) {
		group->keys[i] = NULL;
		if (query_is_null(query, keys[i]))
			continue;
		group->keys[i] = profile_keep(counting->profile, query_text(query, keys[i]));
		if (!group->keys[i])
			return -ENOMEM;
	}
	return 0;
}

/* A row of several seconds stands for threads that were so in each look of them. */
static void add_row(const struct seconds *seconds, struct group *group, const struct query *query)
{
	int64_t first = query_number(query, "second"), count = query_number(query, "seconds"),
		samples = query_number(query, "samples");

	group->samples = add_saturated(group->samples, samples);
	for (uint32_t i = 0; i < seconds->count; i++) {
		int64_t of_second = samples, product;

		if (seconds->seconds[i] < first || seconds->seconds[i] - first >= count)
			continue;
		if (count > 1) {
			of_second = query_number(query, "threads");
			of_second = __builtin_mul_overflow(of_second, seconds->looks[i], &product) ? 0
												   : product;
		}
		group->of_seconds[i] = add_saturated(group->of_seconds[i], of_second);
	}
}

/* Puts the last of the groups, which is complete, at its place among the largest ones. */
static void place_group(struct group *groups, uint32_t *count, uint32_t most)
{
	uint32_t at = *count;

	for (; at > 0 && groups[at - 1].samples < groups[at].samples; at--) {
		struct group before = groups[at - 1];

		groups[at - 1] = groups[at];
		groups[at] = before;
	}
	*count += *count < most;
}

static int count_groups(struct counting *counting, struct database *database, int64_t capture_id)
{
	_cleanup_query_ struct query query = query_begin(database, groups_sql, capture_id, 0);
	struct group *at_hand = NULL;
	uint32_t *count = NULL, most = 0;
	int result = 0;

	while (!result && query_next(&query)) {
		bool is_target = !strcmp(query_text(&query, "role"), "target");

		if (!at_hand || !is_same_group(at_hand, &query)) {
			if (at_hand)
				place_group(at_hand - *count, count, most);
			count = is_target ? &counting->of_targets_count : &counting->of_others_count;
			most = is_target ? OF_TARGETS_SHOWN : OF_OTHERS_SHOWN;
			at_hand = (is_target ? counting->of_targets : counting->of_others) + *count;
			result = begin_group(counting, at_hand, &query);
		}
		if (!result)
			add_row(&counting->seconds, at_hand, &query);
	}
	if (at_hand && !result)
		place_group(at_hand - *count, count, most);
	return result < 0 ? result : database->failed ? -EIO : 0;
}

static struct value average(int64_t sum, int64_t looks)
{
	return value_real((double)sum / (double)looks);
}

static int add_group(const struct seconds *seconds, const struct group *group, struct rows *rows)
{
	struct rows *of_seconds = malloc(sizeof(*of_seconds));
	struct value values[ARRAY_SIZE(group_columns)];
	int result = of_seconds ? 0 : -ENOMEM;

	if (result < 0)
		return result;
	*of_seconds = rows_of(second_columns);
	for (uint32_t i = 0; i < seconds->count && !result; i++)
		result = rows_add(of_seconds,
				  (struct value[]){ value_number(seconds->seconds[i]),
						    average(group->of_seconds[i], seconds->looks[i]) });
	if (result < 0) {
		rows_free(of_seconds);
		free(of_seconds);
		return result;
	}
	for (size_t i = 0; i < KEYS; i++)
		values[i] = value_text(group->keys[i]);
	values[KEYS] = average(group->samples, seconds->all_looks);
	values[KEYS + 1] = strcmp(group->keys[ROLE] ? group->keys[ROLE] : "", "target")
				   ? value_text(NULL)
				   : average(seconds->all_threads, seconds->all_looks);
	values[KEYS + 2] = value_number(seconds->all_looks);
	values[KEYS + 3] = value_rows(of_seconds);
	return rows_add(rows, values);
}

int states_of(struct profile *profile, struct database *database, int64_t capture_id, struct rows *ret_rows)
{
	struct counting counting = { .profile = profile };
	struct rows rows = rows_of(group_columns);
	int result = load_seconds(&counting.seconds, database, capture_id);

	if (!result && counting.seconds.count)
		result = count_groups(&counting, database, capture_id);
	for (uint32_t i = 0; i < counting.of_targets_count && !result; i++)
		result = add_group(&counting.seconds, &counting.of_targets[i], &rows);
	for (uint32_t i = 0; i < counting.of_others_count && !result; i++)
		result = add_group(&counting.seconds, &counting.of_others[i], &rows);
	free_counting(&counting);
	return rows_finish(result, &rows, ret_rows);
}

/* ---- text ---- */

/* "41", "3.5", "0.1". */
static const char *format_threads(double threads, char into[32])
{
	snprintf(into, 32, threads < 9.95 ? "%.1f" : "%.0f", threads);
	if (strlen(into) > 2 && !strcmp(into + strlen(into) - 2, ".0"))
		into[strlen(into) - 2] = '\0';
	return into;
}

/* "in D in folio_wait_bit_common below ext4_file_read_iter (read)", "queued for a CPU" */
static void describe_state(const struct query *query, char *into, size_t into_bytes)
{
	const char *state = query_text(query, "state");
	char function[FORMAT_BYTES], below[FORMAT_BYTES], call[FORMAT_BYTES];
	bool has_function = !query_is_null(query, "function"), has_below = !query_is_null(query, "below"),
	     has_call = !query_is_null(query, "syscall");

	if (strcmp(state, "D") != 0) {
		snprintf(into, into_bytes, "%s", strcmp(state, "queued") ? "running" : "queued for a CPU");
		return;
	}
	snprintf(into, into_bytes, "in D%s%s%s%s%s%s%s", has_function ? " in " : "",
		 has_function ? column_text(query, "function", 48, function) : "", has_below ? " below " : "",
		 has_below ? column_text(query, "below", 48, below) : "", has_call ? " (" : "",
		 has_call ? column_text(query, "syscall", 48, call) : "", has_call ? ")" : "");
}

/* The numbers of each second, or averages of several, so that they fit into a line. */
static void print_by_second(FILE *out, const struct query *query)
{
	struct query seconds = query_nested(query, "seconds");
	char number[32];
	double sum = 0;
	uint32_t step = seconds.rows ? (seconds.rows->count + NUMBERS_SHOWN - 1) / NUMBERS_SHOWN : 1,
		 summed = 0;

	if (step > 1)
		fprintf(out, "      by %u s:", step);
	else
		fputs("      by second:", out);
	while (query_next(&seconds)) {
		sum += query_real(&seconds, "threads");
		if (++summed < step)
			continue;
		fprintf(out, " %s", format_threads(sum / summed, number));
		sum = summed = 0;
	}
	if (summed)
		fprintf(out, " %s", format_threads(sum / summed, number));
	fputc('\n', out);
}

void states_print(const struct layout *layout, struct query *query)
{
	char state[4 * FORMAT_BYTES], line[8 * FORMAT_BYTES], program[FORMAT_BYTES], threads[32], all[32];

	fprintf(layout->out, "threads that ran or waited, on average of %lld looks since the trigger\n",
		(long long)query_number(query, "looks"));
	do {
		bool is_target = query_is_null(query, "program");

		format_threads(query_real(query, "threads"), threads);
		describe_state(query, state, sizeof(state));
		if (is_target)
			snprintf(line, sizeof(line), "%s of %s threads of targets were %s", threads,
				 format_threads(query_real(query, "of_threads"), all), state);
		else
			snprintf(line, sizeof(line), "others: %s of %s were %s", threads,
				 column_text(query, "program", 48, program), state);
		fputs("  ", layout->out);
		print_wrapped_on(layout, line, 2);
		print_by_second(layout->out, query);
	} while (query_next(query));
}

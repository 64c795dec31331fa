/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/answer/timeline.h"

#include "common/base/cleanup.h"
#include "report/model/rows.h"
#include "report/model/sums.h"
#include "report/text/format.h"

#include <string.h>

/* Lines at most: one stands for several seconds where there are more. */
#define LINES_MOST 16
#define SECONDS_MOST 31536000 /* a year either way, so that a hostile value overflows no sum */

struct second {
	int64_t second, running_ns, waiting_ns;
};

static int compare_seconds(const void *a, const void *b)
{
	return compare_numbers(((const struct second *)a)->second, ((const struct second *)b)->second);
}

int timeline_rows(const struct profile *profile, const char *resource, struct rows *ret_rows)
{
	static const char *const names[] = { "second", "running_ns", "waiting_ns", "resource" };
	_cleanup_free_ struct second *seconds = calloc(profile->samples_count + 1UL, sizeof(*seconds));
	struct rows rows = rows_of(names);
	uint32_t count = 0;
	int result = 0;

	if (!seconds)
		return -ENOMEM;
	for (uint32_t i = 0; i < profile->samples_count; i++) {
		const struct profile_sample *sample = &profile->samples[i];
		bool is_running = sample->kind == profile->on_cpu;

		if (!is_running &&
		    (sample->kind != profile->off_cpu ||
		     (resource && !sums_stalls_on(profile_text(profile, sample->stall), resource))))
			continue;
		seconds[count++] = (struct second){ .second = sample->second,
						    .running_ns = is_running ? sample->weight_ns : 0,
						    .waiting_ns = is_running ? 0 : sample->weight_ns };
	}
	qsort(seconds, count, sizeof(*seconds), compare_seconds);
	for (uint32_t i = 0; i < count && !result;) {
		struct second sum = { .second = seconds[i].second };

		for (; i < count && seconds[i].second == sum.second; i++) {
			sum.running_ns = add_saturated(sum.running_ns, seconds[i].running_ns);
			sum.waiting_ns = add_saturated(sum.waiting_ns, seconds[i].waiting_ns);
		}
		result = rows_add(&rows,
				  (struct value[]){ value_number(sum.second), value_number(sum.running_ns),
						    value_number(sum.waiting_ns), value_text(resource) });
	}
	return rows_finish(result, &rows, ret_rows);
}

/* ---- text ---- */

static int64_t second_of(const struct query *query)
{
	int64_t second = query_number(query, "second");

	return second < -SECONDS_MOST ? -SECONDS_MOST : second > SECONDS_MOST ? SECONDS_MOST : second;
}

/* Adds the rows up by line. A step of seconds begins at the trigger. */
struct lines {
	int64_t first, step, count;
	int64_t running_ns[LINES_MOST + 1], waiting_ns[LINES_MOST + 1];
};

static struct lines lines_of(struct query *query)
{
	struct lines lines = { .first = second_of(query) };
	int64_t last = lines.first;

	while (query_next(query))
		last = second_of(query) > last ? second_of(query) : last;
	lines.step = (last - lines.first) / LINES_MOST + 1;
	lines.first -= (lines.first % lines.step + lines.step) % lines.step;
	lines.count = (last - lines.first) / lines.step + 1;
	query_rewind(query);
	while (query_next(query)) {
		int64_t i = (second_of(query) - lines.first) / lines.step;

		lines.running_ns[i] = add_saturated(lines.running_ns[i], query_number(query, "running_ns"));
		lines.waiting_ns[i] = add_saturated(lines.waiting_ns[i], query_number(query, "waiting_ns"));
	}
	return lines;
}

/* "  1.21 s  ██████    ": the number, and a bar in its columns */
static void print_cell(const struct layout *layout, int64_t ns, int64_t peak, int columns,
		       enum layout_style style, bool is_last)
{
	char number[32], bar[FORMAT_BYTES];
	size_t wide;

	if (ns)
		format_duration((double)ns, " ", number, sizeof(number));
	else
		strcpy(number, "-");
	format_bar(ns, peak, (size_t)columns, bar, sizeof(bar));
	wide = format_columns(number);
	fprintf(layout->out, "  %*s%s%s", wide < 8 ? (int)(8 - wide) : 0, "", number,
		*bar || !is_last ? "  " : "");
	layout_put(layout, style, bar);
	if (!is_last)
		fprintf(layout->out, "%*s", columns - (int)format_columns(bar), "");
}

void timeline_print(const struct layout *layout, struct query *query)
{
	static const struct {
		const char *resource, *words;
	} words[] = { { "cpu", "for a CPU" }, { "memory", "for memory" }, { "io", "for a disk" } };
	const char *resource = query_text(query, "resource"), *what = "";
	/* both columns are of one scale */
	int columns = (layout->columns - 10 - 2 * 12) / 2;
	char resource_text[16], head[64];
	struct lines lines;
	int64_t peak = 1;

	columns = columns > 60 ? 60 : columns;
	snprintf(resource_text, sizeof(resource_text), "%s", resource);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(words[i].resource, resource_text))
			what = words[i].words;
	lines = lines_of(query);
	for (int64_t i = 0; i < lines.count; i++) {
		peak = lines.running_ns[i] > peak ? lines.running_ns[i] : peak;
		peak = lines.waiting_ns[i] > peak ? lines.waiting_ns[i] : peak;
	}
	snprintf(head, sizeof(head), "%lld s", (long long)lines.step);
	fprintf(layout->out, "the targets' threads, added up, in each %s; 0 s is the trigger\n",
		lines.step > 1 ? head : "second");
	fprintf(layout->out, "%8s    %-*s    %s%s%s\n", "", columns + 10, "RUNNING", "WAITING",
		*what ? " " : "", what);
	for (int64_t i = 0; i < lines.count; i++) {
		long long second = lines.first + i * lines.step;

		fprintf(layout->out, "%6lld s", second);
		print_cell(layout, lines.running_ns[i], peak, columns, LAYOUT_RUNNING, false);
		print_cell(layout, lines.waiting_ns[i], peak, columns, LAYOUT_WAITING, true);
		fputc('\n', layout->out);
	}
}

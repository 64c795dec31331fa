/* SPDX-License-Identifier: GPL-2.0-only */
/* The sections of `why` about where in the code: processes, stacks and functions by samples, and samples by second. */
#include "report/why/section.h"

#include "common/base/cleanup.h"
#include "common/text/escape.h"
#include "report/answer/top.h"
#include "report/model/sums.h"
#include "report/text/column_text.h"
#include "report/text/format.h"
#include "report/text/table.h"

#include <errno.h>
#include <string.h>

#define FUNCTIONS_SHOWN 10
#define PROCESSES_SHOWN 10
#define STACKS_SHOWN 5
#define FRAMES_SHOWN 12
#define BARS 40
#define BAR_COLUMNS 60

static const struct column processes_columns[] = {
	{ "COMM", "comm", -15, cell_text },      { "TGID", "tgid", 7, cell_number },
	{ "UID", "uid", 6, cell_number },        { "SAMPLES", "samples", 8, cell_number },
	{ "SHARE", "percent", 7, cell_percent }, { "CPU TIME", "cpu_ns", 8, cell_duration_ns },
	{ "CGROUP", "cgroup", -37, cell_text },
};

static int compute_processes(struct why *why, struct rows *ret_rows)
{
	return sums_of_processes(&why->profile, PROCESSES_SHOWN, ret_rows);
}

const struct section processes_section = {
	.name = "processes",
	.shows = "the targets by samples on CPU",
	.compute = compute_processes,
	.head = "target processes by samples on CPU",
	.columns = processes_columns,
	.columns_count = ARRAY_SIZE(processes_columns),
	.absent = "no samples on CPU",
};

/*
 * "function (module)"; kernel functions begin with "[k]" instead, those of kernel modules have both. `into`
 * as above.
 */
static char *place_of(const struct query *query, size_t columns, char *into)
{
	const char *kind = query_text(query, "module_kind");
	bool is_kernel = !strcmp(kind, "kernel");
	char function[FORMAT_BYTES / 2], module[FORMAT_BYTES / 4];

	format_basename(query_text(query, "module"), module, sizeof(module));
	snprintf(into, FORMAT_BYTES, "%s%s%s%s%s", is_kernel || !strcmp(kind, "module") ? "[k] " : "",
		 escape_terminal(query_text(query, "function"), function, sizeof(function)),
		 is_kernel ? "" : " (", is_kernel ? "" : module, is_kernel ? "" : ")");
	return format_cut(into, columns, FORMAT_BYTES);
}

/* "function (module) at file:line"; parts that are unknown are left out. */
static void print_frame(const struct layout *layout, const struct query *frame)
{
	char place[FORMAT_BYTES];
	bool has_line = !query_is_null(frame, "line");

	fprintf(layout->out, "      %s", place_of(frame, has_line ? 60 : (size_t)layout->columns - 6, place));
	if (has_line) {
		char file[FORMAT_BYTES];

		format_basename(query_text(frame, "file"), file, sizeof(file));
		fprintf(layout->out, " at %s:%lld", format_cut(file, 22, sizeof(file)),
			(long long)query_number(frame, "line"));
	}
	fputc('\n', layout->out);
}

static void print_frames(const struct layout *layout, struct query *stack)
{
	struct query frames = query_nested(stack, "frames");
	int count = 0;

	while (query_next(&frames))
		if (count++ < FRAMES_SHOWN)
			print_frame(layout, &frames);
	if (count > FRAMES_SHOWN)
		fprintf(layout->out, "      … %d more\n", count - FRAMES_SHOWN);
	if (query_number(stack, "truncated"))
		fprintf(layout->out, "      … the outermost frames are missing\n");
}

static void print_stacks(const struct layout *layout, struct query *query, const char *one, const char *many)
{
	char share[FORMAT_BYTES], duration[FORMAT_BYTES], comm[FORMAT_BYTES], samples[FORMAT_BYTES];

	do {
		fprintf(layout->out, "  %s, %s in %s, %s\n", column_percent(query, share),
			column_duration(query, "weight_ns", 1, duration),
			column_count(query, "samples", one, many, samples),
			column_text(query, "comm", 48, comm));
		print_frames(layout, query);
	} while (query_next(query));
}

static void print_hot_stacks(const struct layout *layout, struct query *query)
{
	fprintf(layout->out, "hottest stacks on CPU, innermost function first\n");
	print_stacks(layout, query, "sample", "samples");
}

static int compute_stacks(struct why *why, struct rows *ret_rows)
{
	return sums_of_stacks(&why->profile, NULL, STACKS_SHOWN, ret_rows);
}

const struct section stacks_section = {
	.name = "stacks",
	.shows = "hottest stacks of the targets",
	.compute = compute_stacks,
	.print = print_hot_stacks,
};

static void print_others(const struct layout *layout, struct query *query)
{
	section_print_head(
		layout,
		"what others than the targets were doing on CPU, innermost function first; of their samples");
	print_stacks(layout, query, "sample", "samples");
}

static int compute_others(struct why *why, struct rows *ret_rows)
{
	int result =
		profile_load(why->report->database, why->report->capture_id, PROFILE_OF_OTHERS, &why->others);

	return result < 0 ? -EIO : sums_of_stacks(&why->others, NULL, STACKS_SHOWN, ret_rows);
}

const struct section others_section = {
	.name = "others",
	.shows = "hottest stacks of all others",
	.compute = compute_others,
	.print = print_others,
};

static void print_stall_stacks(const struct layout *layout, struct query *query)
{
	fprintf(layout->out, "stacks that waited longest%s, innermost function first\n",
		section_has_fired(query) ? " for the resource" : "");
	print_stacks(layout, query, "interval", "intervals");
}

/* The first rows of view stall_stack, without intervals on other resources. */
static int compute_stalls(struct why *why, struct rows *ret_rows)
{
	_cleanup_query_ struct query query = query_begin(why->report->database,
							 "SELECT resource FROM capture WHERE capture_id = ?1",
							 why->report->capture_id, 0);

	if (!query_next(&query))
		return -EIO;
	return sums_of_stacks(&why->profile, query_text(&query, "resource"), STACKS_SHOWN, ret_rows);
}

const struct section stalls_section = {
	.name = "stalls",
	.shows = "stacks that waited longest",
	.compute = compute_stalls,
	.print = print_stall_stacks,
};

static void print_functions(const struct layout *layout, struct query *query)
{
	char place[FORMAT_BYTES], share[FORMAT_BYTES];

	fprintf(layout->out, "hottest function: %s, %s of on-CPU samples\n",
		query_number(query, "resolved") ? place_of(query, 54, place)
						: column_text(query, "function", 54, place),
		column_percent(query, share));
	top_print(layout, query);
}

static int compute_functions(struct why *why, struct rows *ret_rows)
{
	return why->report->json ? top_functions(&why->profile, false, FUNCTIONS_SHOWN, ret_rows)
				 : top_leaders(&why->profile, TOP_BY_BOTH, FUNCTIONS_SHOWN, ret_rows);
}

const struct section functions_section = {
	.name = "functions",
	.shows = "hottest functions",
	.compute = compute_functions,
	.print = print_functions,
};

static int64_t clamp(int64_t value, int64_t least, int64_t most)
{
	return value < least ? least : value > most ? most : value;
}

/* The second of a row, limited to a year either way, so that a hostile value overflows no sum. */
static int64_t second_of(const struct query *query)
{
	return clamp(query_number(query, "second"), -31536000, 31536000);
}

/*
 * One bar per second; or one bar per several seconds, so that there are at most BARS. A bar begins at the
 * trigger.
 */
static void print_seconds(const struct layout *layout, struct query *query)
{
	int64_t first = second_of(query), last = first, step, peak = 0, bars[BARS + 1] = { 0 };
	char bar[FORMAT_BYTES];

	while (query_next(query))
		if (second_of(query) > last)
			last = second_of(query);
	step = (last - first) / BARS + 1;
	first -= (first % step + step) % step;
	query_rewind(query);
	while (query_next(query)) {
		int64_t i = (second_of(query) - first) / step;

		/* a hostile view may have rows in any order, or other rows than before */
		if (i < 0 || i > BARS)
			continue;
		bars[i] += clamp(query_number(query, "samples"), 0, INT32_MAX);
		if (bars[i] > peak)
			peak = bars[i];
	}

	fprintf(layout->out, "samples on CPU per %lld s; 0 s is the trigger\n", (long long)step);
	for (int64_t i = 0; i <= (last - first) / step; i++) {
		long long second = first + i * step;

		fprintf(layout->out, "%6lld s  %8lld%s%s\n", second, (long long)bars[i], bars[i] ? "  " : "",
			format_bar(bars[i], peak, BAR_COLUMNS, bar, sizeof(bar)));
	}
}

static int compute_seconds(struct why *why, struct rows *ret_rows)
{
	return sums_of_seconds(&why->profile, ret_rows);
}

const struct section seconds_section = {
	.name = "seconds",
	.shows = "samples on CPU by second",
	.compute = compute_seconds,
	.print = print_seconds,
};

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * why: what one capture says about the pressure that caused it. First the answer (report/answer/answer_lines.h); then sections, on request.
 * Each is one query, or one pass over the capture's profile. It is printed as text, or as one member of a JSON object, so that
 * both have the same rows.
 */
#include "report/answer/why.h"

#include "common/base/cleanup.h"
#include "common/policy/policy.h"
#include "common/system/log.h"
#include "common/text/escape.h"
#include "common/text/plural.h"
#include "report/answer/answer_find.h"
#include "report/answer/answer_json.h"
#include "report/answer/answer_lines.h"
#include "report/answer/changes.h"
#include "report/answer/incident.h"
#include "report/answer/not_whole.h"
#include "report/answer/recorder_text.h"
#include "report/answer/states.h"
#include "report/answer/timeline.h"
#include "report/answer/top.h"
#include "report/answer/unnamed.h"
#include "report/answer/usual.h"
#include "report/context/subcommand.h"
#include "report/model/loss_text.h"
#include "report/model/profile.h"
#include "report/model/sums.h"
#include "report/text/format.h"
#include "report/text/json.h"
#include "report/text/table.h"
#include "report/text/wrap.h"

#include <stdarg.h>
#include <string.h>

#define FUNCTIONS_SHOWN 10
#define PROCESSES_SHOWN 10
#define STACKS_SHOWN 5
#define FILES_MOST                                                                                           \
	256U /* where stacks are not whole, or functions have no names; a hostile database may have files without end */
#define PRESSURE_ROWS_MOST                                                                                   \
	1024U /* three resources of a few scopes; a hostile view may have rows without end */
#define FRAMES_SHOWN 12
#define BARS 40
#define BAR_COLUMNS 60

struct why {
	struct report *report;
	struct profile profile; /* of targets */
	struct profile others;  /* of all others, once their section is shown */
	struct answer answer;
	const char *sections; /* these alone, by their names; NULL: all */
	bool is_answered;     /* answer is set */
	bool has_printed;     /* a section, behind which the next one stands */
};

struct section {
	const char *name;  /* of the member in JSON, and for --section */
	const char *shows; /* in a few words */
	bool joins;        /* no empty line is before it */
	const char *sql;   /* ?1 is the capture; NULL: computed from the profile */
	/* Returns 0, -ENOMEM, or -EIO after a query that failed. The caller frees the rows. */
	int (*compute)(struct why *why, struct rows *ret_rows);
	bool is_object; /* a JSON object: one row; else an array */
	void (*print)(const struct layout *layout,
		      struct query *query); /* the query stands on its first row */
	const char *absent;                 /* the text for a query without rows; NULL: none */
	const char *absent_of;              /* for captures of this resource alone; NULL: all */
};

/* The column's text for a terminal, cut to `columns`. `into` has FORMAT_BYTES bytes. */
static char *text_of(const struct query *query, const char *name, size_t columns, char *into)
{
	return format_cut(escape_terminal(query_text(query, name), into, FORMAT_BYTES), columns,
			  FORMAT_BYTES);
}

static char *duration_of(const struct query *query, const char *name, double unit_ns, char *into)
{
	return format_duration(query_real(query, name) * unit_ns, " ", into, FORMAT_BYTES);
}

/* "1 process", "3 processes". `into` as above. */
static char *counted(const struct query *query, const char *name, const char *one, const char *many,
		     char *into)
{
	int64_t count = query_number(query, name);

	snprintf(into, FORMAT_BYTES, "%lld %s", (long long)count, plural((uint64_t)count, one, many));
	return into;
}

static char *percent_of(const struct query *query, char *into)
{
	return format_percent(query_real(query, "percent"), into, FORMAT_BYTES);
}

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

/* What stands above a section, made for REPORT_COLUMNS. */
static void __attribute__((format(printf, 2, 3)))
print_head(const struct layout *layout, const char *format, ...)
{
	char text[FORMAT_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	print_lines_on(layout, text, 0);
}

static void print_remark(const struct layout *layout, const char *state)
{
	static const struct {
		const char *state;
		const char *remark;
	} remarks[] = {
		{ "recording", "RECORDING: this capture is not complete yet; run this again later" },
		{ "interrupted",
		  "INTERRUPTED: bourdond ended before this capture was complete; this is the part that it stored" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(remarks); i++)
		if (!strcmp(remarks[i].state, state))
			fprintf(layout->out, "%s\n", remarks[i].remark);
}

/* What was stored: `answer` judges again. */
static void print_verdict(const struct layout *layout, const struct query *query)
{
	char verdict[FORMAT_BYTES], missing[FORMAT_BYTES], share[64] = "", all[3 * FORMAT_BYTES];
	bool is_missing = !query_is_null(query, "not_examined");

	if (query_is_null(query, "verdict"))
		return;
	if (!query_is_null(query, "blamed_percent"))
		snprintf(share, sizeof(share), ", of %.0f %% of the wait",
			 query_real(query, "blamed_percent"));
	snprintf(all, sizeof(all), "%s%s%s%s", text_of(query, "verdict", 24, verdict), share,
		 is_missing ? "; not examined: " : "", text_of(query, "not_examined", 128, missing));
	fputs("  verdict   ", layout->out);
	print_wrapped_on(layout, all, 12);
}

/* What fired, and the begin of the line about the capture's span. */
static void print_fired(const struct layout *layout, const struct query *query)
{
	char a[FORMAT_BYTES], b[FORMAT_BYTES];

	fprintf(layout->out, "  pressure  %s %s: ", text_of(query, "resource", 8, a),
		text_of(query, "kind", 8, b));
	fprintf(layout->out, "stalled %s in a window of %s", duration_of(query, "observed_us", 1e3, a),
		duration_of(query, "window_us", 1e3, b));
	if (query_number(query, "stall_us"))
		fprintf(layout->out, ", threshold %s", duration_of(query, "stall_us", 1e3, a));
	fprintf(layout->out, "\n  trigger   %s, on %s%s\n", text_of(query, "trigger_mode", 10, a),
		query_is_null(query, "cgroup") ? "the whole system" : "cgroup ",
		text_of(query, "cgroup", 68, b));

	fprintf(layout->out, "  captured  %s before the trigger, ", duration_of(query, "history_ns", 1, a));
}

static void print_capture(const struct layout *layout, struct query *query)
{
	char a[FORMAT_BYTES], b[FORMAT_BYTES], c[FORMAT_BYTES];
	bool is_baseline = !strcmp(query_text(query, "trigger_mode"), "baseline");
	bool is_kill = !strcmp(query_text(query, "trigger_mode"), "kill");
	bool fired = !query_is_null(query, "rule") && !is_baseline && !is_kill;

	fprintf(layout->out, "%s %lld (%s), %s%s, %s\n", is_baseline ? "baseline" : "capture",
		(long long)query_number(query, "capture_id"), text_of(query, "state", 16, a),
		fired || is_baseline || is_kill ? "rule " : "on demand", text_of(query, "rule", 36, b),
		text_of(query, "triggered", 20, c));
	print_remark(layout, query_text(query, "state"));
	if (fired)
		print_fired(layout, query);
	else if (is_kill)
		fprintf(layout->out, "  trigger   kill, on %s%s\n  captured  %s before the kill, ",
			query_is_null(query, "cgroup") ? "the whole system" : "cgroup ",
			text_of(query, "cgroup", 68, b), duration_of(query, "history_ns", 1, a));
	else if (is_baseline)
		fprintf(layout->out, "  captured  while the rule was calm, %s before this moment, ",
			duration_of(query, "history_ns", 1, a));
	else
		fprintf(layout->out, "  captured  %s before the request, ",
			duration_of(query, "history_ns", 1, a));
	if (query_is_null(query, "after_ns"))
		fprintf(layout->out, "no end yet");
	else
		fprintf(layout->out, "%s after it", duration_of(query, "after_ns", 1, a));
	fprintf(layout->out, ", at %lld Hz\n  samples   %lld of %s, in %s, on and off CPU\n",
		(long long)query_number(query, "hz"), (long long)query_number(query, "samples"),
		counted(query, "processes", "process", "processes", a),
		counted(query, "stacks", "stack", "stacks", b));
	if (!query_is_null(query, "expected_samples"))
		fprintf(layout->out, "  expected  %s on CPU, by the CPU time used; %lld %s received\n",
			counted(query, "expected_samples", "sample", "samples", a),
			(long long)query_number(query, "received_samples"),
			plural((uint64_t)query_number(query, "received_samples"), "was", "were"));
	print_verdict(layout, query);
	if (!query_is_null(query, "policy")) {
		char policy[2 * POLICY_TEXT_BYTES];

		fputs("  policy    ", layout->out);
		print_wrapped_on(layout, escape_terminal(query_text(query, "policy"), policy, sizeof(policy)),
				 12);
	}
}

/* Of a capture on demand: who asked, and for what. */
static void print_asked(const struct layout *layout, struct query *query)
{
	char text[2 * FORMAT_BYTES], name[FORMAT_BYTES];
	bool is_named = !query_is_null(query, "asked_by");

	fprintf(layout->out, "asked for by %s%suid %lld%s\n",
		is_named ? text_of(query, "asked_by", 40, name) : "", is_named ? " (" : "",
		(long long)query_number(query, "asked_by_uid"), is_named ? ")" : "");
	fputs("  options   ", layout->out);
	print_wrapped_on(layout, escape_terminal(query_text(query, "asked_for"), text, sizeof(text)), 12);
	if (query_is_null(query, "note"))
		return;
	fputs("  note      ", layout->out);
	print_wrapped_on(layout, escape_terminal(query_text(query, "note"), text, sizeof(text)), 12);
}

/* Whether a rule fired: then its resource is what the sections are about. */
static bool has_fired(const struct query *query)
{
	_cleanup_query_ struct query capture = query_begin(
		query->database, "SELECT 1 FROM capture WHERE capture_id = ?1 AND resource IS NOT NULL",
		query->id, 0);

	return query_next(&capture);
}

static void print_processes(const struct layout *layout, struct query *query)
{
	static const struct column columns[] = {
		{ "COMM", "comm", -15, cell_text },      { "TGID", "tgid", 7, cell_number },
		{ "UID", "uid", 6, cell_number },        { "SAMPLES", "samples", 8, cell_number },
		{ "SHARE", "percent", 7, cell_percent }, { "CPU TIME", "cpu_ns", 8, cell_duration_ns },
		{ "CGROUP", "cgroup", -37, cell_text },
	};

	fprintf(layout->out, "target processes by samples on CPU\n");
	table_print_on(layout, query, columns, ARRAY_SIZE(columns));
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
		fprintf(layout->out, "  %s, %s in %s, %s\n", percent_of(query, share),
			duration_of(query, "weight_ns", 1, duration),
			counted(query, "samples", one, many, samples), text_of(query, "comm", 48, comm));
		print_frames(layout, query);
	} while (query_next(query));
}

static void print_hot_stacks(const struct layout *layout, struct query *query)
{
	fprintf(layout->out, "hottest stacks on CPU, innermost function first\n");
	print_stacks(layout, query, "sample", "samples");
}

/* Why a row has no share: the reason's index, as a bit; 0: it has one. */
static unsigned int unexplained(const struct query *query, const char *fired_scope)
{
	if (!query_is_null(query, "explained_percent"))
		return 0;
	if (strcmp(query_text(query, "scope"), fired_scope))
		return 1;
	if (query_is_null(query, "formula_ns") || query_is_null(query, "formula_some_ns"))
		return 2;
	return query_number(query, "formula_some_ns") ? 4 : 8;
}

static void print_reason(const struct layout *layout, const char *reason)
{
	char text[FORMAT_BYTES];

	snprintf(text, sizeof(text), "'-' in EXPLAINED: %s", reason);
	fputs("  ", layout->out);
	print_lines_on(layout, text, 2);
}

static void print_unexplained(const struct layout *layout, struct query *query)
{
	static const char *const reasons[] = {
		"the targets' stalls are compared only with the scope that fired",
		"not measured, because another capture was under way, or this one ended within a second",
		"other processes ran in this scope, and the kernel's formula counts them, too",
		"the pressure did not rise",
	};
	_cleanup_query_ struct query fired = query_begin(
		query->database,
		"SELECT ifnull(cgroup, 'system') AS scope FROM capture WHERE capture_id = ?1", query->id, 0);
	unsigned int found = 0;

	if (!query_next(&fired))
		return;
	query_rewind(query);
	while (query_next(query))
		found |= unexplained(query, query_text(&fired, "scope"));
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (found & 1U << i)
			print_reason(layout, reasons[i]);
}

static void print_pressure(const struct layout *layout, struct query *query)
{
	static const struct column columns[] = {
		{ "RESOURCE", "resource", -8, cell_text },
		{ "PSI SOME", "some_ns", 8, cell_duration_ns },
		{ "PSI FULL", "full_ns", 8, cell_duration_ns },
		{ "ELAPSED", "of_ns", 8, cell_duration_ns },
		{ "TARGETS", "targets_ns", 8, cell_duration_ns },
		{ "EXPLAINED", "explained_percent", 9, cell_percent },
		{ "SCOPE", "scope", -40, cell_text },
	};

	print_head(
		layout,
		"since the trigger: stall time by PSI, by the targets' threads (TARGETS, all threads added up),\nand the share of PSI SOME that the targets' stalls explain");
	table_print_on(layout, query, columns, ARRAY_SIZE(columns));
	print_unexplained(layout, query);
}

static void print_waiting(const struct layout *layout, struct query *query)
{
	static const struct column columns[] = {
		{ "WAITING FOR", "stall", -14, cell_text },
		{ "TIME", "weight_ns", 8, cell_duration_ns },
		{ "SHARE", "percent", 7, cell_percent },
		{ "INTERVALS", "intervals", 9, cell_number },
	};

	print_head(layout, "time off CPU of the targets' threads, added up, by the resource they waited for");
	table_print_on(layout, query, columns, ARRAY_SIZE(columns));
}

/* A table under "WHAT over SPAN", and what else its head says. */
static void print_over_span(const struct layout *layout, struct query *query, const char *what,
			    const char *more, const struct column *columns, size_t columns_count)
{
	char span[FORMAT_BYTES];

	print_head(layout, "%s over %s%s", what, duration_of(query, "span_ns", 1, span), more);
	table_print_on(layout, query, columns, columns_count);
}

static void print_groups(const struct layout *layout, struct query *query)
{
	static const struct column columns[] = {
		{ "PROGRAM", "program", -15, cell_text },      { "COUNT", "processes", 5, cell_number },
		{ "ENDED", "ended", 5, cell_number },          { "CPU TIME", "cpu_ns", 8, cell_duration_ns },
		{ "READ", "read_bytes", 8, cell_size },        { "WRITTEN", "write_bytes", 8, cell_size },
		{ "MEMORY", "rss_bytes", 8, cell_size },       { "SHARE", "percent", 7, cell_percent },
		{ "UNIT OR CGROUP", "place", -20, cell_text },
	};

	print_head(
		layout,
		"who used most %s, by program; SHARE is of what all used, and ENDED are\nprocesses that began and ended meanwhile",
		has_fired(query) ? "of the resource that fired" : "CPU time");
	table_print_on(layout, query, columns, ARRAY_SIZE(columns));
}

/* "others 41.2 %, short-lived 31.0 %, ...": the largest part first. */
static void print_machine(const struct layout *layout, struct query *query)
{
	char text[2 * FORMAT_BYTES] = "", part[FORMAT_BYTES], share[FORMAT_BYTES], span[FORMAT_BYTES];
	size_t used = 0;

	fprintf(layout->out, "all CPU time of the machine over %s, by who took it\n  ",
		duration_of(query, "span_ns", 1, span));
	do {
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s %s", used ? ", " : "",
					 text_of(query, "part", 20, part), percent_of(query, share));
	} while (query_next(query) && used < sizeof(text));
	print_wrapped_on(layout, text, 2);
}

static void print_bytes(const struct layout *layout, struct query *query)
{
	char text[2 * FORMAT_BYTES] = "", part[FORMAT_BYTES], read[FORMAT_BYTES], written[FORMAT_BYTES];
	size_t used = 0;

	fprintf(layout->out, "bytes read and written over %s, by whom, and by the disks\n  ",
		duration_of(query, "span_ns", 1, read));
	do {
		used += (size_t)snprintf(
			text + used, sizeof(text) - used, "%s%s %s and %s", used ? ", " : "",
			text_of(query, "part", 20, part),
			format_size(query_real(query, "read_bytes"), read, sizeof(read)),
			format_size(query_real(query, "write_bytes"), written, sizeof(written)));
	} while (query_next(query) && used < sizeof(text));
	print_wrapped_on(layout, text, 2);
}

static void print_interrupts(const struct layout *layout, struct query *query)
{
	static const struct column columns[] = {
		{ "INTERRUPT", "label", -24, cell_text }, { "KIND", "kind", -7, cell_text },
		{ "NUMBER", "number", 6, cell_number },   { "COUNT", "count", 9, cell_number },
		{ "TIME", "ns", 8, cell_duration_ns },    { "SHARE", "percent", 7, cell_percent },
	};

	print_over_span(layout, query, "time in interrupts", "; SHARE is of the machine's CPU time", columns,
			ARRAY_SIZE(columns));
}

/* "mysqld[77] in mysql.service"; `into` has 2 * FORMAT_BYTES bytes. */
static char *who(const struct query *query, const char *comm, const char *tgid, const char *place, char *into)
{
	char name[FORMAT_BYTES], where[FORMAT_BYTES];

	if (query_is_null(query, comm))
		return strcpy(into, "a process that root's policy denies");
	snprintf(into, 2 * FORMAT_BYTES, "%s[%lld]%s%s", text_of(query, comm, 32, name),
		 (long long)query_number(query, tgid), query_is_null(query, place) ? "" : " in ",
		 query_is_null(query, place) ? "" : text_of(query, place, 60, where));
	return into;
}

/* "the kernel, because /a had used up its 64 MiB; perl[7] asked for memory" */
static char *by_whom(const struct query *query, char *into)
{
	char name[2 * FORMAT_BYTES], limit[FORMAT_BYTES], size[FORMAT_BYTES];

	who(query, "by_comm", "by_tgid", "by_place", name);
	if (strcmp(query_text(query, "how"), "oom"))
		return strcpy(into, name);
	if (query_is_null(query, "limit_bytes"))
		snprintf(into, 4 * FORMAT_BYTES,
			 "the kernel, because the host's memory was used up; %s asked for memory", name);
	else
		snprintf(into, 4 * FORMAT_BYTES,
			 "the kernel, because %s had used up its %s; %s asked for memory",
			 query_is_null(query, "limit_cgroup") ? "its cgroup"
							      : text_of(query, "limit_cgroup", 60, limit),
			 format_size((double)query_number(query, "limit_bytes"), size, sizeof(size)), name);
	return into;
}

/* A sentence for each: a table has no room for the names. */
static void print_killed(const struct layout *layout, struct query *query)
{
	char victim[2 * FORMAT_BYTES], killer[4 * FORMAT_BYTES], size[FORMAT_BYTES], text[8 * FORMAT_BYTES];

	fputs("killed meanwhile; 0 s is the trigger\n", layout->out);
	do {
		fprintf(layout->out, "%8.2f s  ", query_real(query, "after_ns") / 1e9);
		if (!strcmp(query_text(query, "role"), "rest")) {
			fprintf(layout->out, "%lld more, the last of them at this time\n",
				(long long)query_number(query, "processes"));
			continue;
		}
		who(query, "comm", "tgid", "place", victim);
		snprintf(text, sizeof(text), "%s%s%s, by %s", victim,
			 query_is_null(query, "rss_bytes") ? "" : ", ",
			 query_is_null(query, "rss_bytes")
				 ? ""
				 : format_size((double)query_number(query, "rss_bytes"), size, sizeof(size)),
			 by_whom(query, killer));
		print_wrapped_on(layout, text, 12);
	} while (query_next(query));
}

static void print_growth(const struct layout *layout, struct query *query)
{
	static const struct column columns[] = {
		{ "PROGRAM", "program", -15, cell_text },       { "COUNT", "processes", 5, cell_number },
		{ "BEFORE", "rss_before_bytes", 8, cell_size }, { "AFTER", "rss_bytes", 8, cell_size },
		{ "GROWTH", "grown_bytes", 8, cell_size },      { "UNIT OR CGROUP", "place", -36, cell_text },
	};

	print_over_span(layout, query, "who grew by 1 MiB or more",
			", by program: memory of processes, shared pages in each", columns,
			ARRAY_SIZE(columns));
}

static void print_reclaim(const struct layout *layout, struct query *query)
{
	static const struct column columns[] = {
		{ "PROGRAM", "program", -15, cell_text },      { "COUNT", "processes", 5, cell_number },
		{ "RECLAIMS", "reclaims", 8, cell_number },    { "TIME", "reclaim_ns", 8, cell_duration_ns },
		{ "CPU TIME", "cpu_ns", 8, cell_duration_ns }, { "UNIT OR CGROUP", "place", -36, cell_text },
	};

	print_head(
		layout,
		"who reclaimed memory: TIME in direct reclaim, on CPU and off; of kswapd, CPU TIME in the background");
	table_print_on(layout, query, columns, ARRAY_SIZE(columns));
}

static void print_cgroups(const struct layout *layout, struct query *query)
{
	static const struct column columns[] = {
		{ "PROCESSES'", "anon_bytes", 10, cell_size },
		{ "BEFORE", "anon_before_bytes", 8, cell_size },
		{ "PAGE CACHE", "file_bytes", 10, cell_size },
		{ "BEFORE", "file_before_bytes", 8, cell_size },
		{ "REFAULTED", "refaulted_bytes", 9, cell_size },
		{ "RECLAIMED", "reclaimed_bytes", 9, cell_size },
		{ "UNIT OR CGROUP", "place", -32, cell_text },
	};

	print_over_span(layout, query, "memory of cgroups",
			", / is the host; REFAULTED was read again after it had been evicted", columns,
			ARRAY_SIZE(columns));
}

static void print_cgroup_bytes(const struct layout *layout, struct query *query)
{
	static const struct column columns[] = {
		{ "READ", "device_read_bytes", 10, cell_size },
		{ "WRITTEN", "device_written_bytes", 10, cell_size },
		{ "UNIT OR CGROUP", "place", -32, cell_text },
	};

	print_over_span(layout, query, "what block devices did for cgroups",
			", with those below them; WRITTEN: pages that they dirtied", columns,
			ARRAY_SIZE(columns));
}

static void print_others(const struct layout *layout, struct query *query)
{
	print_head(
		layout,
		"what others than the targets were doing on CPU, innermost function first; of their samples");
	print_stacks(layout, query, "sample", "samples");
}

static void print_stall_stacks(const struct layout *layout, struct query *query)
{
	fprintf(layout->out, "stacks that waited longest%s, innermost function first\n",
		has_fired(query) ? " for the resource" : "");
	print_stacks(layout, query, "interval", "intervals");
}

static void print_wakers(const struct layout *layout, struct query *query)
{
	static const struct column columns[] = {
		{ "WOKEN BY", "comm", -15, cell_text },
		{ "WHO", "role", -9, cell_text },
		{ "TGID", "tgid", 7, cell_number },
		{ "TID", "tid", 7, cell_number },
		{ "WAITED", "waited_ns", 8, cell_duration_ns },
		{ "SHARE", "percent", 7, cell_percent },
		{ "INTERVALS", "intervals", 9, cell_number },
	};

	print_head(
		layout,
		"who ended the waits of the targets' threads, of 1 ms or longer, by the time that they had waited");
	table_print_on(layout, query, columns, ARRAY_SIZE(columns));
}

static void print_locks(const struct layout *layout, struct query *query)
{
	static const struct column columns[] = {
		{ "LOCK", "lock", -16, cell_text },
		{ "WAITED", "waited_ns", 8, cell_duration_ns },
		{ "WAITERS", "waiters", 7, cell_number },
		{ "HELD BY", "comm", -15, cell_text },
		{ "TID", "tid", 7, cell_number },
		{ "SHARE", "percent", 7, cell_percent },
		{ "GIVEN FREE IN", "place", -28, cell_text },
	};

	print_head(
		layout,
		"locks that the targets' threads waited for, and who gave them free; SHARE is of the lock's waits");
	table_print_on(layout, query, columns, ARRAY_SIZE(columns));
}

static void print_functions(const struct layout *layout, struct query *query)
{
	char place[FORMAT_BYTES], share[FORMAT_BYTES];

	fprintf(layout->out, "hottest function: %s, %s of on-CPU samples\n",
		query_number(query, "resolved") ? place_of(query, 54, place)
						: text_of(query, "function", 54, place),
		percent_of(query, share));
	top_print(layout, query);
}

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

/* The rows begin with the largest percentage. Reasons that are no share of the samples come last. */
static void print_losses(const struct layout *layout, struct query *query)
{
	char text[FORMAT_BYTES], share[FORMAT_BYTES];
	const char *separator = "PARTIAL: ";
	int reasons = 0, lost = 0;

	do {
		reasons++;
		lost += query_number(query, "events") > 0;
	} while (query_next(query));
	if (!lost) {
		fprintf(layout->out, "losses: none (%d %s checked)\n", reasons,
			plural((uint64_t)reasons, "reason", "reasons"));
		return;
	}
	fprintf(layout->out, "losses: found for %d of the %d %s checked\n", lost, reasons,
		plural((uint64_t)reasons, "reason", "reasons"));

	query_rewind(query);
	for (; query_next(query) && query_real(query, "percent") >= PARTIAL_PERCENT; separator = ", ")
		fprintf(layout->out, "%s%s %s", separator, text_of(query, "reason", 32, text),
			percent_of(query, share));
	if (*separator == ',')
		fputc('\n', layout->out);

	query_rewind(query);
	while (query_next(query)) {
		long long events = query_number(query, "events");

		if (events <= 0)
			continue;
		fprintf(layout->out, "  %12lld %s%s", events, text_of(query, "unit", 10, text),
			events == 1 ? "" : "s");
		if (!query_is_null(query, "percent"))
			fprintf(layout->out, " (%s)", percent_of(query, share));
		fprintf(layout->out, ": %s\n", text_of(query, "reason", 60, text));
		if (loss_text(query_text(query, "reason")))
			fprintf(layout->out, "%17s%s\n", "", loss_text(query_text(query, "reason")));
	}
}

/* ---- sections that need the profile ---- */

/* Stores the row of view reconciliation on which the query stands, with the targets' stalls. */
static int pressure_row(struct why *why, const struct query *query, int64_t stalled_ns, struct value *values)
{
	for (int i = 0; i < query_columns(query); i++) {
		values[i] = query_value(query, i);
		if (!strcmp(query_column_name(query, i), "targets_ns"))
			values[i] = value_number(stalled_ns);
		if (values[i].type != VALUE_TEXT)
			continue;
		values[i].text = profile_keep(&why->profile, values[i].text);
		if (!values[i].text)
			return -ENOMEM;
	}
	return 0;
}

/* Rows of view reconciliation, which would add up the targets' stalls for each row again. */
static int compute_pressure(struct why *why, struct rows *ret_rows)
{
	static const char *const names[] = {
		"capture_id",      "scope",          "resource",         "of_ns",
		"some_ns",         "full_ns",        "targets_ns",       "formula_ns",
		"formula_some_ns", "unexplained_ns", "explained_percent"
	};
	_cleanup_query_ struct query query = query_begin(
		why->report->database,
		"SELECT capture_id, scope, resource, of_ns, some_ns, full_ns, NULL AS targets_ns, formula_ns,"
		" formula_some_ns, unexplained_ns, explained_percent FROM reconciliation WHERE capture_id = ?1",
		why->report->capture_id, 0);
	struct rows rows = rows_of(names);
	int result = 0;

	while (!result && query_next(&query)) {
		struct value values[ARRAY_SIZE(names)];
		int64_t stalled_ns = sums_stalled_ns(&why->profile, query_text(&query, "resource"));

		if (!stalled_ns && !query_number(&query, "some_ns") && !query_number(&query, "full_ns"))
			continue;
		result = rows.count == PRESSURE_ROWS_MOST ? -E2BIG
							  : pressure_row(why, &query, stalled_ns, values);
		if (!result)
			result = rows_add(&rows, values);
	}
	if (!result && why->report->database->failed)
		result = -EIO;
	if (result < 0)
		rows_free(&rows);
	else
		*ret_rows = rows;
	return result;
}

static int compute_waiting(struct why *why, struct rows *ret_rows)
{
	return sums_of_stalls(&why->profile, ret_rows);
}

static int compute_processes(struct why *why, struct rows *ret_rows)
{
	return sums_of_processes(&why->profile, PROCESSES_SHOWN, ret_rows);
}

static int compute_stacks(struct why *why, struct rows *ret_rows)
{
	return sums_of_stacks(&why->profile, NULL, STACKS_SHOWN, ret_rows);
}

static int compute_others(struct why *why, struct rows *ret_rows)
{
	int result =
		profile_load(why->report->database, why->report->capture_id, PROFILE_OF_OTHERS, &why->others);

	return result < 0 ? -EIO : sums_of_stacks(&why->others, NULL, STACKS_SHOWN, ret_rows);
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

static int compute_states(struct why *why, struct rows *ret_rows)
{
	return states_of(&why->profile, why->report->database, why->report->capture_id, ret_rows);
}

static int compute_functions(struct why *why, struct rows *ret_rows)
{
	return why->report->json ? top_functions(&why->profile, false, FUNCTIONS_SHOWN, ret_rows)
				 : top_leaders(&why->profile, TOP_BY_BOTH, FUNCTIONS_SHOWN, ret_rows);
}

static int compute_seconds(struct why *why, struct rows *ret_rows)
{
	return sums_of_seconds(&why->profile, ret_rows);
}

/* ---- the answer and what belongs to it ---- */

/* Finds the answer when it is first wanted. Returns 0, -ENOMEM or -EIO. */
static int find_answer(struct why *why)
{
	int result = why->is_answered ? 0 : answer_find(why->report, &why->profile, &why->answer);

	why->is_answered = true;
	return result;
}

static int compute_answer(struct why *why, struct rows *ret_rows)
{
	int result = find_answer(why);

	return result ? result : answer_rows(&why->answer, ret_rows);
}

static int compute_usual(struct why *why, struct rows *ret_rows)
{
	int result = find_answer(why);

	return result ? result : usual_rows(&why->answer, ret_rows);
}

static int compute_changes(struct why *why, struct rows *ret_rows)
{
	int result = find_answer(why);

	return result ? result : changes_rows(&why->answer, ret_rows);
}

static int compute_timeline(struct why *why, struct rows *ret_rows)
{
	int result = find_answer(why);

	return result ? result : timeline_rows(&why->profile, why->answer.resource, ret_rows);
}

static int compute_not_whole(struct why *why, struct rows *ret_rows)
{
	return not_whole_rows(&why->profile, FILES_MOST, ret_rows);
}

static int compute_unnamed(struct why *why, struct rows *ret_rows)
{
	return unnamed_rows(&why->profile, FILES_MOST, ret_rows);
}

/* The resource that fired was memory, a kill did, or somebody was in direct reclaim for a hundredth of the span. */
#define MEMORY_WAS_SHORT                                                                                                                         \
	"('memory' = (SELECT iif(trigger_mode = 'kill', 'memory', resource) FROM capture WHERE capture_id = ?1) OR EXISTS (SELECT 1 FROM usage " \
	"WHERE capture_id = ?1 AND reclaim_ns * 100 >= to_at - from_at)) "

static const struct section sections[] = {
	{ .name = "answer",
	  .shows = "what was short, for whom, by whom, where, and what to do",
	  .is_object = true,
	  .compute = compute_answer },
	{ .name = "usual",
	  .shows = "how often that happened in the week before, and the baseline",
	  .is_object = true,
	  .compute = compute_usual,
	  .print = usual_print },
	{ .name = "changes",
	  .shows = "builds, restarts and limits that are others than before",
	  .joins = true,
	  .compute = compute_changes,
	  .print = changes_print },
	{ .name = "timeline",
	  .shows = "running beside waiting, by second",
	  .compute = compute_timeline,
	  .print = timeline_print },
	{ .name = "not_whole",
	  .shows = "stacks that are not whole, by file, why, and what to do",
	  .compute = compute_not_whole,
	  .print = not_whole_print },
	{ .name = "unnamed",
	  .shows = "functions without a name, by file, and which package has their symbols",
	  .compute = compute_unnamed,
	  .print = unnamed_print },
	{ .name = "capture",
	  .shows = "what fired, when, and the verdict in full",
	  .sql = "SELECT s.*, " LOSSES_OF(
		  "s.capture_id") ", c.hz, c.not_examined, r.policy FROM capture_summary s JOIN capture c USING(capture_id) "
				  "JOIN run r USING(run_id) "
				  "WHERE c.capture_id = ?1",
	  .is_object = true,
	  .print = print_capture },
	{ .name = "asked",
	  .shows = "who asked for the capture",
	  .sql = "SELECT asked_by_uid, asked_by, asked_for, note FROM capture WHERE capture_id = ?1 AND "
		 "asked_by_uid IS NOT NULL",
	  .is_object = true,
	  .print = print_asked },
	{ .name = "incident",
	  .shows = "the incident of the capture",
	  .sql = incident_remark_sql,
	  .is_object = true,
	  .print = incident_print_remark },
	{ .name = "pressure",
	  .shows = "PSI's totals beside the targets' stalls",
	  .compute = compute_pressure,
	  .print = print_pressure },
	{ .name = "waiting",
	  .shows = "what the targets waited for",
	  .compute = compute_waiting,
	  .print = print_waiting },
	{ .name = "machine",
	  .shows = "who took the machine's CPU time",
	  .sql = "SELECT part, ns, percent, to_at - from_at AS span_ns FROM machine_time WHERE capture_id = ?1 AND "
		 "percent >= 0.1 ORDER BY ns DESC, part LIMIT 11",
	  .print = print_machine },
	{ .name = "bytes",
	  .shows = "who read and wrote",
	  /* what is negative in the account went to a page cache, or to no disk: it is a part of its own */
	  .sql = "SELECT part, read_bytes, write_bytes, span_ns FROM (SELECT part, to_at - from_at AS span_ns, "
		 "iif(part = 'unaccounted', max(read_bytes, 0), read_bytes) AS read_bytes, "
		 "iif(part = 'unaccounted', max(write_bytes, 0), write_bytes) AS write_bytes FROM machine_bytes WHERE "
		 "capture_id = ?1 UNION ALL SELECT 'not on disks', to_at - from_at, max(-read_bytes, 0), max(-write_bytes, 0) "
		 "FROM machine_bytes WHERE capture_id = ?1 AND part = 'unaccounted') WHERE read_bytes <> 0 OR write_bytes <> 0 "
		 "ORDER BY part = 'not on disks', part = 'unaccounted', part = 'disks', read_bytes + write_bytes DESC, part "
		 "LIMIT 7",
	  .print = print_bytes },
	{ .name = "cgroup_bytes",
	  .shows = "what disks did for cgroups",
	  .sql = "SELECT cgroup, unit, container, device_read_bytes, device_written_bytes, ifnull(unit, cgroup) AS place, "
		 "to_at - from_at AS span_ns FROM cgroup_memory WHERE capture_id = ?1 AND cgroup <> '/' AND "
		 "'io' = (SELECT resource FROM capture WHERE capture_id = ?1) AND "
		 "device_read_bytes + device_written_bytes >= 1048576 "
		 "ORDER BY device_read_bytes + device_written_bytes DESC, cgroup LIMIT 8",
	  .print = print_cgroup_bytes },
	{ .name = "interrupts",
	  .shows = "what interrupts took",
	  .sql = "SELECT kind, number, name, ifnull(name, iif(number IS NULL, 'all others', '-')) AS label, count, ns, "
		 "percent, to_at - from_at AS span_ns FROM interrupt WHERE capture_id = ?1 AND percent >= 0.1 AND "
		 "('irq' = (SELECT resource FROM capture WHERE capture_id = ?1) "
		 "OR 5 <= (SELECT sum(percent) FROM interrupt WHERE capture_id = ?1) "
		 "OR 5 <= (SELECT sum(percent) FROM machine_time WHERE capture_id = ?1 AND part IN ('irq', 'softirq', 'steal'))) "
		 "ORDER BY ns DESC, count DESC LIMIT 10",
	  .print = print_interrupts },
	{ .name = "groups",
	  .shows = "who used most of the resource",
	  .sql = "SELECT role, program, processes, ended, tgid, parent, parent_tgid, cpu_ns, read_bytes, write_bytes, "
		 "rss_bytes, percent, unit, container, cgroup, ifnull(unit, cgroup) AS place FROM culprit_group "
		 "WHERE capture_id = ?1 AND taken > 0 LIMIT 10",
	  .print = print_groups },
	{ .name = "killed",
	  .shows = "who was killed",
	  .sql = "SELECT k.at, k.at - c.triggered_at AS after_ns, k.how, k.role, k.comm, k.tgid, k.cgroup, k.unit, k.container, "
		 "k.rss_bytes, k.by_comm, k.by_tgid, k.by_cgroup, k.by_unit, k.limit_cgroup, k.limit_bytes, k.processes, "
		 "ifnull(k.unit, k.cgroup) AS place, ifnull(k.by_unit, k.by_cgroup) AS by_place "
		 "FROM killed k JOIN capture c USING(capture_id) WHERE k.capture_id = ?1 ORDER BY k.how, k.role = 'rest', k.at LIMIT 20",
	  .print = print_killed },
	{ .name = "growth",
	  .shows = "whose memory grew",
	  .sql = "SELECT role, program, processes, tgid, rss_before_bytes, rss_bytes, grown_bytes, unit, container, cgroup, "
		 "ifnull(unit, cgroup) AS place, (SELECT max(to_at - from_at) FROM usage WHERE capture_id = ?1) AS span_ns "
		 "FROM memory_group WHERE capture_id = ?1 AND grown_bytes >= 1048576 AND " MEMORY_WAS_SHORT
		 "ORDER BY grown_bytes DESC LIMIT 5",
	  .print = print_growth },
	{ .name = "reclaim",
	  .shows = "who reclaimed memory",
	  .sql = "SELECT role, program, processes, tgid, reclaims, reclaim_ns, cpu_ns, unit, container, cgroup, "
		 "ifnull(unit, cgroup) AS place FROM memory_group WHERE capture_id = ?1 AND (reclaim_ns > 0 OR "
		 "role = 'kernel' AND program = 'kswapd' AND cpu_ns > 0) AND " MEMORY_WAS_SHORT
		 "ORDER BY reclaim_ns DESC, cpu_ns DESC LIMIT 5",
	  .print = print_reclaim },
	{ .name = "cgroups",
	  .shows = "memory of cgroups",
	  .sql = "SELECT cgroup, unit, container, current_before_bytes, current_bytes, anon_before_bytes, anon_bytes, "
		 "file_before_bytes, file_bytes, refaulted_bytes, scanned_bytes, reclaimed_bytes, ifnull(unit, cgroup) AS place, "
		 "to_at - from_at AS span_ns FROM cgroup_memory WHERE capture_id = ?1 AND " MEMORY_WAS_SHORT
		 "ORDER BY cgroup = '/' DESC, max(abs(ifnull(anon_bytes - anon_before_bytes, 0)), "
		 "abs(ifnull(file_bytes - file_before_bytes, 0)), ifnull(refaulted_bytes, 0), ifnull(reclaimed_bytes, 0)) DESC, "
		 "current_bytes DESC LIMIT 8",
	  .print = print_cgroups,
	  .absent = "memory of cgroups: not examined, because cgroup2 does not have the memory controller",
	  .absent_of = "memory" },
	{ .name = "processes",
	  .shows = "the targets by samples on CPU",
	  .compute = compute_processes,
	  .print = print_processes,
	  .absent = "no samples on CPU" },
	{ .name = "stacks",
	  .shows = "hottest stacks of the targets",
	  .compute = compute_stacks,
	  .print = print_hot_stacks },
	{ .name = "others",
	  .shows = "hottest stacks of all others",
	  .compute = compute_others,
	  .print = print_others },
	{ .name = "stalls",
	  .shows = "stacks that waited longest",
	  .compute = compute_stalls,
	  .print = print_stall_stacks },
	{ .name = "states",
	  .shows = "in which state threads were",
	  .compute = compute_states,
	  .print = states_print },
	{ .name = "wakers",
	  .shows = "who ended waits",
	  .sql = "SELECT waker_comm AS comm, waker_role AS role, waker_tgid AS tgid, waker_tid AS tid, sum(waited_ns) AS "
		 "waited_ns, sum(percent) AS percent, sum(intervals) AS intervals FROM waker WHERE capture_id = ?1 "
		 "GROUP BY waker_comm, waker_role, waker_tgid, waker_tid ORDER BY sum(waited_ns) DESC, waker_tid LIMIT 10",
	  .print = print_wakers },
	{ .name = "locks",
	  .shows = "locks that were waited for",
	  .sql = "SELECT h.lock, h.waited_ns, h.waiters, h.holder_comm AS comm, h.holder_tgid AS tgid, h.holder_tid AS tid, "
		 "h.held_ns, h.held_percent AS percent, h.intervals, h.holder_stack_id AS stack_id, (SELECT "
		 "group_concat(function, ' < ') FROM (SELECT f.function FROM stack_frame s JOIN frame f USING(frame_id) JOIN "
		 "module m USING(module_id) WHERE s.stack_id = h.holder_stack_id AND m.kind NOT IN ('kernel', 'module') "
		 "ORDER BY s.position)) AS place FROM (SELECT * FROM lock_holder WHERE capture_id = ?1 LIMIT 10) h",
	  .print = print_locks },
	{ .name = "functions",
	  .shows = "hottest functions",
	  .compute = compute_functions,
	  .print = print_functions },
	{ .name = "seconds",
	  .shows = "samples on CPU by second",
	  .compute = compute_seconds,
	  .print = print_seconds },
	{ .name = "recorder",
	  .shows = "what recording took, and how it kept pace",
	  .sql = recorder_sql,
	  .print = recorder_print },
	{ .name = "losses",
	  .shows = "what was lost",
	  .sql = "SELECT reason, events, unit, percent FROM data_quality WHERE capture_id = ?1 "
		 "ORDER BY percent DESC, events DESC, reason",
	  .print = print_losses,
	  .absent = "losses: unknown, because this capture has no loss ledger" },
};

static bool says_absent(const struct section *section, const struct query *query)
{
	_cleanup_query_ struct query fired = { 0 };

	if (!section->absent || query->database->failed || !section->absent_of)
		return section->absent && !query->database->failed;
	fired = query_begin(query->database, "SELECT resource FROM capture WHERE capture_id = ?1", query->id,
			    0);
	return query_next(&fired) && !strcmp(query_text(&fired, "resource"), section->absent_of);
}

static void print_text(struct why *why, const struct section *section, struct query *query)
{
	const struct layout *layout = &why->report->layout;
	const char *separator = why->has_printed && !section->joins ? "\n" : "";

	if (query_next(query)) {
		fputs(separator, layout->out);
		if (section->print)
			section->print(layout, query);
		else
			answer_print(layout, &why->answer);
	} else if (says_absent(section, query)) {
		fprintf(layout->out, "%s%s\n", separator, section->absent);
	} else if (why->sections && !query->database->failed) {
		/* whoever asks for one by its name is told that there is nothing */
		fprintf(layout->out, "%s%s: nothing in this capture\n", separator, section->name);
	} else {
		return;
	}
	why->has_printed = true;
}

static void print_json(struct why *why, const struct section *section, struct query *query)
{
	FILE *out = why->report->out;

	fprintf(out, "%s\"%s\": ", why->has_printed ? ",\n" : "{", section->name);
	if (!section->is_object)
		json_rows(out, query, NULL);
	else
		json_next_row(out, query);
	why->has_printed = true;
}

static void run_section(struct why *why, const struct section *section)
{
	struct report *report = why->report;
	_cleanup_query_ struct query query = { 0 };
	_cleanup_rows_ struct rows rows = { 0 };
	int result = 0;

	if (section->compute) {
		result = section->compute(why, &rows);
		query = query_of_rows(report->database, &rows);
		query.id = report->capture_id;
	} else {
		query = query_begin(report->database, section->sql, report->capture_id, 0);
	}
	if (result < 0)
		profile_fail(report->database, result);
	else
		(report->json ? print_json : print_text)(why, section, &query);
}

/* ---- which sections ---- */

/* The name at `names`, which ends with a comma or the text; *ret_next: the one behind it, or NULL. */
static size_t next_name(const char *names, const char **ret_next)
{
	size_t length = strcspn(names, ",");

	*ret_next = names[length] ? names + length + 1 : NULL;
	return length;
}

static bool is_name(const struct section *section, const char *name, size_t length)
{
	return strlen(section->name) == length && !strncmp(section->name, name, length);
}

static bool is_wanted(const struct why *why, const struct section *section)
{
	if (!why->sections)
		return true;
	for (const char *name = why->sections, *next; name; name = next)
		if (is_name(section, name, next_name(name, &next)))
			return true;
	return false;
}

/* Logs all names in one line. */
static void refuse_name(const char *name, size_t length)
{
	char all[512] = "";
	size_t used = 0;

	for (size_t i = 0; i < ARRAY_SIZE(sections) && used < sizeof(all); i++)
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s", i ? ", " : "",
					 sections[i].name);
	log_error("'%.*s' is no section of 'why': the sections are %s", (int)length, name, all);
}

/* Returns true; or false, and a name that is none was logged with all that there are. */
static bool has_sections(const char *names)
{
	for (const char *name = names, *next; name; name = next) {
		size_t length = next_name(name, &next);
		bool found = false;

		for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
			found = found || is_name(&sections[i], name, length);
		if (!found) {
			refuse_name(name, length);
			return false;
		}
	}
	return true;
}

/* What fits a page: the answer, whether it is usual, and where there is more. */
static int print_brief(struct why *why)
{
	const struct layout *layout = &why->report->layout;
	_cleanup_rows_ struct rows rows = { 0 };
	struct query usual;
	uint32_t lines;
	int result = find_answer(why);

	if (!result)
		result = usual_rows(&why->answer, &rows);
	if (result)
		return result;
	lines = answer_print(layout, &why->answer);
	usual = query_of_rows(why->report->database, &rows);
	if (lines < ANSWER_LINES_MOST && query_next(&usual)) {
		usual_print_brief(layout, &usual);
		lines++;
	}
	if (lines < ANSWER_LINES_MOST)
		fputs("--full shows all, --section NAME a part of it: '--section help' lists them\n",
		      layout->out);
	return 0;
}

void why_print(struct report *report, const char *chosen, bool is_brief)
{
	struct why why = { .report = report, .sections = chosen };
	int result;

	if (profile_load(report->database, report->capture_id, PROFILE_OF_TARGETS, &why.profile) < 0)
		return;
	if (is_brief) {
		result = print_brief(&why);
		if (result < 0)
			profile_fail(report->database, result);
	}
	for (size_t i = 0; !is_brief && i < ARRAY_SIZE(sections) && !report->database->failed; i++)
		if (is_wanted(&why, &sections[i]))
			run_section(&why, &sections[i]);
	if (report->json)
		fputs("}\n", report->out);
	answer_free(&why.answer);
	profile_free(&why.others);
	profile_free(&why.profile);
}

/* ---- the subcommand ---- */

struct why_words {
	struct shared_words shared;
	const char *incident, *full, *section, *no_color;
};

#define WORD(name) .at = offsetof(struct why_words, name)

static const struct command_option options[] = {
	{ "db", "FILE", DB_HELP, SHARED(db) },
	{ "json", NULL, JSON_HELP, SHARED(json) },
	{ "incident", NULL, "explain a whole incident", WORD(incident) },
	{ "full", NULL, "everything", WORD(full) },
	{ "section", "LIST", "these parts alone; 'help' lists them", WORD(section) },
	{ "no-color", NULL, "no colour; nor with NO_COLOR set", WORD(no_color) },
};

/* Returns OPTIONS_RUN; EXIT_DONE, after the names of the sections; or EXIT_USAGE, and the mistake was logged. */
static int check_words(const struct why_words *words)
{
	if (words->section && !strcmp(words->section, "help")) {
		for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
			printf("%-13s %s\n", sections[i].name, sections[i].shows);
		return EXIT_DONE;
	}
	if (words->incident && (words->full || words->section))
		log_error("'why --incident' takes neither --full nor --section: it has all that there is");
	else if (words->full && words->section)
		log_error("--full shows every section, and --section some: give one of them");
	else if (!words->section || has_sections(words->section))
		return OPTIONS_RUN;
	return EXIT_USAGE;
}

static int explain_incident(struct report *report)
{
	int64_t incident_id;
	int status = subcommand_open(report);

	if (status != OPTIONS_RUN)
		return status;
	if (!incident_choose(report->database, report->capture_id, &incident_id))
		return EXIT_FAILED;
	incident_print(report, incident_id);
	return OPTIONS_RUN;
}

static int why_main(struct report *report, int count, char **arguments)
{
	struct why_words words = { 0 };
	int status = subcommand_parse(report, &why_subcommand, count, arguments, &words);

	if (status == OPTIONS_RUN)
		status = check_words(&words);
	if (status != OPTIONS_RUN)
		return status;
	report->layout = layout_of(report->out, words.no_color);
	if (words.incident)
		return explain_incident(report);
	status = subcommand_open_capture(report);
	if (status == OPTIONS_RUN)
		why_print(report, words.section, !words.full && !words.section && !report->json);
	return status;
}

SUBCOMMAND(
	why, "why", "[ID]", "answer: what was short, for whom, by whom, where, and what to do about it",
	"Answers about capture ID in 14 lines at most: what was short, who waited, for whom, where in the code,\n"
	"since when, whether it goes on, how certain that is, the command that changes it or tells more, and whether\n"
	"it is usual. --full and --section show the evidence.\n"
	"Without ID: the newest complete capture. With --incident, ID is an incident's.",
	"bourdon why 12 --section stacks,groups", .takes_id = true);

/* SPDX-License-Identifier: GPL-2.0-only */
/* diff: which functions and stacks took more or less time in one capture than in another, or than in baselines. */
#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/text/escape.h"
#include "common/text/hexadecimal.h"
#include "common/text/plural.h"
#include "report/answer/top.h"
#include "report/context/subcommand.h"
#include "report/diff/diff_change.h"
#include "report/model/sample_choice.h"
#include "report/text/format.h"
#include "report/text/json.h"
#include "report/text/table.h"
#include "report/text/time_text.h"
#include "report/text/wrap.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define BASELINE "baseline"

struct diffing {
	struct report *report;
	const struct diff_choice *choice;
	struct diff_samples *samples;
	struct diff_change *change;
};

/* ---- rows ---- */

/* What functions and stacks have in common. */
#define NUMBERS                                                                                              \
	"samples_a", "samples_b", "ns_per_s_a", "ns_per_s_b", "change_ns_per_s", "percent_a", "percent_b",   \
		"change_percent", "p", "share_p", "changed"
#define NUMBERS_COUNT 11

/* Negative: not known. */
static struct value value_if(double real)
{
	return real < 0 ? value_text(NULL) : value_real(real);
}

static void set_numbers(const struct diff_row *row, struct value values[NUMBERS_COUNT])
{
	const double *percent = row->percent;
	const struct value numbers[NUMBERS_COUNT] = {
		value_number(row->samples[DIFF_A]),
		value_number(row->samples[DIFF_B]),
		value_real(row->ns_per_s[DIFF_A]),
		value_real(row->ns_per_s[DIFF_B]),
		value_real(row->ns_per_s[DIFF_B] - row->ns_per_s[DIFF_A]),
		value_if(percent[DIFF_A]),
		value_if(percent[DIFF_B]),
		percent[DIFF_A] < 0 || percent[DIFF_B] < 0 ? value_text(NULL)
							   : value_real(percent[DIFF_B] - percent[DIFF_A]),
		value_if(row->p),
		value_if(row->share_p),
		value_number(row->is_changed),
	};

	memcpy(values, numbers, sizeof(numbers));
}

static int add_function(const struct diffing *diffing, const struct diff_row *row, struct rows *rows)
{
	const struct diff_samples *samples = diffing->samples;
	const struct diff_function *function = &samples->functions[row->function];
	struct value values[3 + NUMBERS_COUNT] = { value_text(diff_text(samples, function->name)),
						   value_text(diff_text(samples, function->module)),
						   value_number(function->is_kernel) };

	set_numbers(row, values + 3);
	return rows_add(rows, values);
}

/* The functions of the stack: outermost first, as in folded lines; or innermost first, for people. NULL without memory. */
static const char *stack_text(const struct diffing *diffing, uint32_t position, bool folded)
{
	struct diff_samples *samples = diffing->samples;
	const struct diff_stack *stack = &samples->stacks[position];
	const char *kept = NULL;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	for (uint32_t i = 0; out && i < stack->count; i++) {
		uint32_t at = stack->first + (folded ? stack->count - 1 - i : i);
		const struct diff_function *function = &samples->functions[samples->path[at]];

		fputs(!i ? "" : folded ? ";" : " < ", out);
		for (const char *byte = diff_text(samples, function->name); *byte; byte++)
			fputc(folded && *byte == ';' ? ':' : *byte, out);
		fputs(folded && function->is_kernel ? "_[k]" : "", out);
	}
	if (out && !fclose(out))
		kept = profile_keep(&samples->texts, text);
	free(text);
	return kept;
}

/* Of the stack with most time on that side, to find it in a database: NULL where there is none. */
static const char *hash_text(const struct diffing *diffing, uint32_t stack)
{
	char text[2 * DIFF_HASH_BYTES + 1];

	if (stack == PROFILE_NONE || !diffing->samples->stacks[stack].has_hash)
		return NULL;
	hexadecimal_write(diffing->samples->stacks[stack].hash, DIFF_HASH_BYTES, text);
	return profile_keep(&diffing->samples->texts, text);
}

static int add_stack(const struct diffing *diffing, const struct diff_row *row, struct rows *rows)
{
	const char *text = stack_text(diffing, row->stack, diffing->report->json);
	struct value values[4 + NUMBERS_COUNT] = { value_text(diff_text(diffing->samples, row->comm)),
						   value_text(text),
						   value_text(hash_text(diffing, row->largest[DIFF_A])),
						   value_text(hash_text(diffing, row->largest[DIFF_B])) };

	if (!text)
		return -ENOMEM;
	set_numbers(row, values + 4);
	return rows_add(rows, values);
}

typedef int (*add_row)(const struct diffing *diffing, const struct diff_row *row, struct rows *rows);

/* In text, what may be chance is left out, unless it is asked for. */
static int add_rows(const struct diffing *diffing, const struct diff_row *from, uint32_t count,
		    uint32_t changed, add_row add, struct rows *rows)
{
	int64_t limit = diffing->report->limit;
	uint32_t shown = diffing->report->json || diffing->choice->all ? count : changed;
	int result = 0;

	for (uint32_t i = 0; i < shown && (limit < 0 || i < limit) && !result; i++)
		result = add(diffing, &from[i], rows);
	return result;
}

/* ---- text ---- */

static void cell_ms(const struct query *query, const char *name, char *into, size_t into_bytes)
{
	snprintf(into, into_bytes, "%.1f", query_real(query, name) / 1e6);
}

static void cell_change(const struct query *query, const char *name, char *into, size_t into_bytes)
{
	snprintf(into, into_bytes, "%+.1f", query_real(query, name) / 1e6);
}

static void cell_points(const struct query *query, const char *name, char *into, size_t into_bytes)
{
	if (query_is_null(query, name))
		snprintf(into, into_bytes, "-");
	else
		snprintf(into, into_bytes, "%+.1f", query_real(query, name));
}

static char *format_p(double p, char *into, size_t into_bytes)
{
	snprintf(into, into_bytes, p < 0.00005 ? "<0.0001" : "%.4f", p);
	return into;
}

static void cell_p(const struct query *query, const char *name, char *into, size_t into_bytes)
{
	if (query_is_null(query, name))
		snprintf(into, into_bytes, "-");
	else
		format_p(query_real(query, name), into, into_bytes);
}

#define COLUMNS                                                                                              \
	{ "CHANGE", "change_ns_per_s", 8, cell_change }, { "A", "ns_per_s_a", 7, cell_ms },                  \
		{ "B", "ns_per_s_b", 7, cell_ms }, { "SAMPLES", "samples_a", 7, cell_number },               \
		{ "B", "samples_b", 6, cell_number }, { "P", "p", 7, cell_p },                               \
		{ "SHARE", "percent_a", 7, cell_percent }, { "CHANGE", "change_percent", 6, cell_points },   \
	{                                                                                                    \
		"P", "share_p", 7, cell_p                                                                    \
	}

/* "3, 4 and 7". */
static void write_ids(FILE *out, const struct diff_samples *samples, enum diff_side side)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < samples->captures_count; i++)
		left += samples->captures[i].side == side;
	for (uint32_t i = samples->captures_count; i-- > 0;) {
		if (samples->captures[i].side != side)
			continue;
		left--;
		fprintf(out, "%lld%s", (long long)samples->captures[i].capture_id,
			left > 1 ? ", "
			: left   ? " and "
				 : "");
	}
}

static const struct diff_capture *first_of(const struct diff_samples *samples, enum diff_side side)
{
	for (uint32_t i = 0; i < samples->captures_count; i++)
		if (samples->captures[i].side == side)
			return &samples->captures[i];
	return NULL;
}

static void print_side(FILE *out, const struct diffing *diffing, enum diff_side side)
{
	const struct diff_capture *capture = first_of(diffing->samples, side);
	const struct diff_operand *operand = side == DIFF_A ? &diffing->choice->a : &diffing->choice->b;
	char rule[FORMAT_BYTES], host[FORMAT_BYTES], at[TIME_TEXT_BYTES], lost[32], span[32];
	const char *part = capture->is_baseline           ? ""
			   : operand->part == DIFF_BEFORE ? ", before its trigger"
			   : operand->part == DIFF_AFTER  ? ", from its trigger on"
							  : "";

	fprintf(out, "  %c         %s ", side == DIFF_A ? 'A' : 'B',
		operand->is_baseline   ? plural(diffing->samples->captures_count - 1, "baseline", "baselines")
		: capture->is_baseline ? "baseline"
				       : "capture");
	write_ids(out, diffing->samples, side);
	if (capture->rule)
		fprintf(out, " of rule %s", escape_terminal(capture->rule, rule, sizeof(rule)));
	else
		fputs(", on demand", out);
	fprintf(out, "%s, %s: %s", part, time_text_write(capture->triggered_at, at),
		format_duration(diffing->change->span_s[side] * 1e9, " ", span, sizeof(span)));
	if (capture->host)
		fprintf(out, " on %s", escape_terminal(capture->host, host, sizeof(host)));
	if (capture->lost_percent >= PARTIAL_PERCENT)
		fprintf(out, "; PARTIAL %s", format_percent(capture->lost_percent, lost, sizeof(lost)));
	if (capture->is_interrupted)
		fputs("; INTERRUPTED", out);
	fputc('\n', out);
}

static void print_all(FILE *out, const struct diff_row *all, bool off_cpu)
{
	char p[32];

	fprintf(out, "  all       A %.1f ms/s in %lld %s, B %.1f ms/s in %lld: %+.1f ms/s (P %s)\n",
		all->ns_per_s[DIFF_A] / 1e6, (long long)all->samples[DIFF_A],
		off_cpu ? "intervals" : "samples", all->ns_per_s[DIFF_B] / 1e6,
		(long long)all->samples[DIFF_B], (all->ns_per_s[DIFF_B] - all->ns_per_s[DIFF_A]) / 1e6,
		format_p(all->p, p, sizeof(p)));
}

/* How P was found, and from where the method is. */
static void print_test(FILE *out, const struct diff_change *change)
{
	char text[1024];

	fputs("  test      ", out);
	snprintf(
		text, sizeof(text),
		"%u units of A and %u of B, %u s each, in %s%" PRIu64
		" mixtures; statistic: Welch's t (1947); P is adjusted for all rates and shares of %u functions and stacks together (step-down maxT, Westfall and Young 1993)",
		change->units[DIFF_A], change->units[DIFF_B], change->unit_s,
		change->test.is_exhaustive ? "all " : "", change->test.mixtures, change->tested);
	print_wrapped(out, text, 12);
	if (change->test.least < DIFF_LEVEL)
		return;
	fputs("  too short ", out);
	snprintf(
		text, sizeof(text),
		"so few units can have no P below %.2g: whatever changed, it may be chance. Compare longer recordings",
		change->test.least);
	print_wrapped(out, text, 12);
}

static const char *what_of(const struct diff_choice *choice)
{
	return choice->off_cpu
		       ? choice->stall ? "waiting of targets, of one stall class" : "waiting of targets"
	       : choice->roles == DIFF_TARGETS ? "time on CPU of targets"
	       : choice->roles == DIFF_OTHERS  ? "time on CPU of others"
	       : choice->roles == DIFF_KERNEL  ? "time on CPU of kernel threads"
					       : "time on CPU of everybody";
}

static void print_header(FILE *out, const struct diffing *diffing)
{
	const struct diff_change *change = diffing->change;
	const struct diff_choice *choice = diffing->choice;

	fprintf(out, "from A to B: %s", what_of(choice));
	if (choice->stall)
		fprintf(out, " (%s)", choice->stall);
	fputc('\n', out);
	print_side(out, diffing, DIFF_A);
	print_side(out, diffing, DIFF_B);
	print_all(out, &change->all, choice->off_cpu);
	print_test(out, change);
	fprintf(out, "  changed   %u of %u %s, %u of %u %s: P < %g\n", change->functions_changed,
		change->functions_count, plural(change->functions_count, "function", "functions"),
		change->stacks_changed, change->stacks_count, plural(change->stacks_count, "stack", "stacks"),
		DIFF_LEVEL);
}

static void print_functions(const struct diffing *diffing, struct query *query)
{
	static const struct column columns[] = {
		COLUMNS,
		{ "FUNCTION", "function", -34, cell_text },
		{ "MODULE", "module", -20, cell_text },
	};

	fprintf(diffing->report->out, "\nfunctions%s by change, in ms of all threads a second; SHARE in %%\n",
		diffing->choice->by_total ? " with their callees" : "");
	table_print(diffing->report->out, query, columns, ARRAY_SIZE(columns));
}

static void print_stacks(const struct diffing *diffing, struct query *query)
{
	static const struct column columns[] = {
		COLUMNS,
		{ "COMM", "comm", -15, cell_text },
		{ "STACK, INNERMOST FUNCTION FIRST", "stack", -80, cell_text },
	};

	fputs("\nstacks by change\n", diffing->report->out);
	table_print(diffing->report->out, query, columns, ARRAY_SIZE(columns));
}

/* ---- JSON ---- */

static void print_json_side(FILE *out, const struct diffing *diffing, enum diff_side side)
{
	const struct diff_capture *capture = first_of(diffing->samples, side);

	fputs("{\"captures\": [", out);
	for (uint32_t i = diffing->samples->captures_count, n = 0; i-- > 0;)
		if (diffing->samples->captures[i].side == side)
			fprintf(out, "%s%lld", n++ ? ", " : "",
				(long long)diffing->samples->captures[i].capture_id);
	fprintf(out, "], \"baseline\": %d, \"rule\": ", capture->is_baseline);
	json_string(out, capture->rule);
	fprintf(out,
		", \"triggered_at\": %lld, \"seconds\": %.9g, \"units\": %u, \"lost_percent\": %.4g, \"hostname\": ",
		(long long)capture->triggered_at, diffing->change->span_s[side], diffing->change->units[side],
		isfinite(capture->lost_percent) ? capture->lost_percent : 0);
	json_string(out, capture->host ? capture->host : "");
	fputc('}', out);
}

static void print_json(FILE *out, const struct diffing *diffing, struct rows *all, struct rows *functions,
		       struct rows *stacks)
{
	const struct diff_change *change = diffing->change;
	struct database *database = diffing->report->database;
	struct query query = query_of_rows(database, all);

	fputs("{\"a\": ", out);
	print_json_side(out, diffing, DIFF_A);
	fputs(",\n\"b\": ", out);
	print_json_side(out, diffing, DIFF_B);
	fprintf(out,
		",\n\"test\": {\"method\": \"permutation of units of time, Welch's t, step-down maxT (Westfall and Young 1993)\", \"unit_seconds\": %u, \"mixtures\": %" PRIu64
		", \"exhaustive\": %d, \"tested\": %u, \"least_p\": %.6g, \"level\": %g},\n\"all\": ",
		change->unit_s, change->test.mixtures, change->test.is_exhaustive, change->tested,
		change->test.least, DIFF_LEVEL);
	query_next(&query);
	json_row(out, &query, NULL);
	fputs(",\n\"functions\": ", out);
	query = query_of_rows(database, functions);
	json_rows(out, &query, NULL);
	fputs(",\n\"stacks\": ", out);
	query = query_of_rows(database, stacks);
	json_rows(out, &query, NULL);
	fputs("}\n", out);
}

/* ---- all ---- */

static int print_diff(const struct diffing *diffing)
{
	static const char *const all_names[] = { NUMBERS };
	static const char *const function_names[] = { "function", "module", "kernel", NUMBERS };
	static const char *const stack_names[] = { "comm", "stack", "hash_a", "hash_b", NUMBERS };
	_cleanup_rows_ struct rows all = rows_of(all_names), functions = rows_of(function_names),
				   stacks = rows_of(stack_names);
	const struct diff_change *change = diffing->change;
	struct query of_functions = query_of_rows(diffing->report->database, &functions),
		     of_stacks = query_of_rows(diffing->report->database, &stacks);
	struct value values[NUMBERS_COUNT];
	int result;

	set_numbers(&change->all, values);
	result = rows_add(&all, values);
	if (!result)
		result = add_rows(diffing, change->functions, change->functions_count,
				  change->functions_changed, add_function, &functions);
	if (!result)
		result = add_rows(diffing, change->stacks, change->stacks_count, change->stacks_changed,
				  add_stack, &stacks);
	if (result < 0)
		return result;
	if (diffing->report->json) {
		print_json(diffing->report->out, diffing, &all, &functions, &stacks);
		return 0;
	}
	print_header(diffing->report->out, diffing);
	if (query_next(&of_functions))
		print_functions(diffing, &of_functions);
	if (query_next(&of_stacks))
		print_stacks(diffing, &of_stacks);
	return 0;
}

static void diff(struct report *report, const char *base_path, const struct diff_choice *choice)
{
	_cleanup_database_ struct database other = { .path = base_path };
	struct database *base = base_path ? &other : report->database;
	_cleanup_diff_samples_ struct diff_samples samples = { 0 };
	_cleanup_diff_change_ struct diff_change change = { 0 };
	const struct diffing diffing = { report, choice, &samples, &change };
	int result;

	report->unwell = true;
	if (base_path && database_open(base_path, &other) < 0)
		return;
	/* it logs what is wrong, but for a lack of memory */
	result = diff_samples_load(base, report->database, choice, &samples);
	if ((result == -ENOMEM || result == -E2BIG) && !base->failed)
		profile_fail(report->database, result);
	if (result < 0)
		return;
	result = diff_change_find(&samples, choice->off_cpu, choice->by_total, &change);
	if (!result)
		result = print_diff(&diffing);
	if (result < 0)
		profile_fail(report->database, result);
	report->unwell = result < 0;
}

/* ---- the subcommand ---- */

struct diff_words {
	struct shared_words shared;
	struct sample_words samples;
	const char *base, *by, *all;
};

#define WORD(name) .at = offsetof(struct diff_words, name)

static const struct command_option options[] = {
	{ "db", "FILE", DB_HELP, SHARED(db) },
	{ "json", NULL, JSON_HELP, SHARED(json) },
	{ "limit", "N", "print at most N rows (30; JSON: all)", SHARED(limit) },
	{ "all", NULL, "also what may be chance", WORD(all) },
	{ "by", "WHICH", TOP_BY, WORD(by) },
	{ "base", "FILE", "A, or the baselines, are in this database", WORD(base) },
	OPTIONS_OF_SAMPLES(struct diff_words, samples, "oncpu", "target"),
};

/* ID, or ID:before, ID:after, ID:all. */
static int read_operand(const char *word, struct diff_operand *ret_operand)
{
	static const char *const parts[] = {
		[DIFF_ALL] = ":all", [DIFF_BEFORE] = ":before", [DIFF_AFTER] = ":after"
	};
	const char *colon = strchr(word, ':');
	size_t part = DIFF_ALL;
	unsigned long long number;
	char id[24];

	while (colon && part < ARRAY_SIZE(parts) && strcmp(parts[part], colon) != 0)
		part++;
	snprintf(id, sizeof(id), "%.*s", (int)strcspn(word, ":"), word);
	if (part == ARRAY_SIZE(parts) || options_number(id, 0, INT64_MAX, &number) < 0)
		return log_failed(
			EXIT_USAGE,
			"'%s' is no capture's ID: 'bourdon list' shows them; ID:before and ID:after are its parts before and after its trigger",
			word);
	*ret_operand = (struct diff_operand){ .capture_id = (int64_t)number, .part = (enum diff_part)part };
	return OPTIONS_RUN;
}

/* A capture is compared with baselines by what followed its trigger: before it, it may have been as calm. */
static int read_operands(char **operands, int count, struct diff_choice *choice)
{
	bool is_baseline = count && !strcmp(operands[0], BASELINE);

	if (count < (is_baseline ? 1 : 2))
		return log_failed(
			EXIT_USAGE,
			"'diff' needs two captures, or 'baseline' and a capture: see 'bourdon diff --help'");
	choice->a = (struct diff_operand){ .is_baseline = is_baseline };
	choice->b = (struct diff_operand){ .capture_id = -1, .part = DIFF_AFTER };
	if (!is_baseline && read_operand(operands[0], &choice->a) != OPTIONS_RUN)
		return EXIT_USAGE;
	if (count < 2)
		return OPTIONS_RUN;
	if (!strcmp(operands[1], BASELINE))
		return log_failed(
			EXIT_USAGE,
			"'baseline' is what a capture is compared with, so it comes first: 'bourdon diff baseline ID'");
	if (read_operand(operands[1], &choice->b) != OPTIONS_RUN)
		return EXIT_USAGE;
	if (is_baseline && !strchr(operands[1], ':'))
		choice->b.part = DIFF_AFTER;
	return OPTIONS_RUN;
}

static int read_samples(const struct sample_words *words, struct diff_choice *choice)
{
	struct sample_choice samples;

	if (sample_choice_read_one_kind(words, &samples) != OPTIONS_RUN)
		return EXIT_USAGE;
	choice->off_cpu = samples.off_cpu;
	choice->stall = samples.stall;
	choice->roles = !samples.role                     ? DIFF_TARGETS | DIFF_OTHERS | DIFF_KERNEL
			: !strcmp(samples.role, "target") ? DIFF_TARGETS
			: !strcmp(samples.role, "other")  ? DIFF_OTHERS
							  : DIFF_KERNEL;
	if (choice->off_cpu)
		choice->roles = DIFF_TARGETS;
	return OPTIONS_RUN;
}

static int diff_main(struct report *report, int count, char **arguments)
{
	struct diff_words words = { 0 };
	struct diff_choice choice = { 0 };
	int status = subcommand_parse(report, &diff_subcommand, count, arguments, &words);

	if (status == OPTIONS_RUN)
		status = read_operands(report->operands, report->operands_count, &choice);
	if (status == OPTIONS_RUN)
		status = read_samples(&words.samples, &choice);
	if (status == OPTIONS_RUN)
		status = subcommand_open(report);
	choice.all = words.all;
	choice.by_total = words.by && !strcmp(words.by, "total");
	if (status == OPTIONS_RUN)
		diff(report, words.base, &choice);
	return status;
}

SUBCOMMAND(
	diff, "diff", "A|baseline [B]", "list the functions and stacks that changed between two captures",
	"Lists the functions and stacks that took more or less time in B than in A: in ms of all threads a second,\n"
	"and their shares, each with P, the chance that two recordings of one load differ as much. A and B are IDs;\n"
	"ID:before and ID:after are the parts of a capture before and after its trigger. 'baseline' compares\n"
	"capture B from its trigger on with the rule's last baselines. Without B: the newest complete capture.",
	"bourdon diff 7 12 --by total", .operands_most = 2, .limit = 30);

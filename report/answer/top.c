/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/answer/top.h"

#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "report/context/subcommand.h"
#include "report/live/threads.h"
#include "report/text/format.h"
#include "report/text/json.h"
#include "report/text/table.h"
#include "report/text/wrap.h"

#include <string.h>

/* ---- samples by function ---- */

/* Of one name and module: what stands before `samples` is the key. */
struct function {
	uint32_t name; /* text; PROFILE_NONE: all unresolved addresses of the module */
	uint32_t module;
	int64_t samples, total_samples, weight_ns;
	bool is_sampled;  /* on CPU; else it is only in stacks off CPU */
	uint32_t on_path; /* how often, while stacks are walked: a recursive function counts once */
};

struct functions {
	const struct profile *profile;
	struct function *functions;
	uint32_t count, room;
	uint32_t *of_frame;
	int64_t all_samples;
	struct hash_index index;
};

static void functions_free(struct functions *functions)
{
	free(functions->functions);
	free(functions->of_frame);
	hash_index_free(&functions->index);
}

#define _cleanup_functions_ _cleanup_(functions_free)

/* Finds the functions of all frames. With `merge`, all unresolved addresses of a module are one. */
static int find_functions(struct functions *functions, bool merge)
{
	const struct profile *profile = functions->profile;

	for (uint32_t i = 0; i < profile->frames_count; i++) {
		const struct profile_frame *frame = &profile->frames[i];
		const struct function function = {
			.name = merge && !frame->is_resolved ? PROFILE_NONE : frame->function,
			.module = frame->module,
		};

		if (hash_index_intern(&functions->index, HASH_KEYS_BEFORE(functions->functions, samples),
				      functions->functions, functions->count, functions->room, &function,
				      &functions->of_frame[i]) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* The samples on CPU in a stack or, for a node, in all stacks that lead through it. */
struct sampled {
	int64_t samples, weight_ns;
	bool is_sampled;
};

static void add_sampled(struct sampled *to, const struct sampled *more)
{
	to->samples = add_saturated(to->samples, more->samples);
	to->weight_ns = add_saturated(to->weight_ns, more->weight_ns);
	to->is_sampled = to->is_sampled || more->is_sampled;
}

static void count_leaf(struct functions *functions, uint32_t stack, const struct sampled *sampled)
{
	const struct profile *profile = functions->profile;
	struct profile_walk walk = profile_walk_of(profile, &profile->stacks[stack]);
	const struct profile_frame *leaf = sampled->is_sampled ? profile_walk_next(&walk) : NULL;
	struct function *function;

	if (!leaf)
		return;
	function = &functions->functions[functions->of_frame[leaf - profile->frames]];
	function->samples = add_saturated(function->samples, sampled->samples);
	function->weight_ns = add_saturated(function->weight_ns, sampled->weight_ns);
}

static void enter_node(struct functions *functions, uint32_t node, const struct sampled *sampled)
{
	const struct profile_node *here = &functions->profile->nodes[node];

	for (uint32_t i = here->first; i < here->first + here->count; i++) {
		struct function *function =
			&functions->functions[functions->of_frame[functions->profile->path_frames[i]]];

		if (function->on_path++ || !sampled->is_sampled)
			continue;
		function->is_sampled = true;
		function->total_samples = add_saturated(function->total_samples, sampled->samples);
	}
}

static void leave_node(struct functions *functions, uint32_t node)
{
	const struct profile_node *here = &functions->profile->nodes[node];

	for (uint32_t i = here->first; i < here->first + here->count; i++)
		functions->functions[functions->of_frame[functions->profile->path_frames[i]]].on_path--;
}

/*
 * Goes through the tree from the outermost frames to the leaves and back: each node once. children[n] is the first
 * child of node n, next[n] its sibling.
 */
static void count_totals(struct functions *functions, const struct sampled *of_node, const uint32_t *children,
			 const uint32_t *next, uint32_t first)
{
	const struct profile_node *nodes = functions->profile->nodes;
	uint32_t node = first;

	while (node != PROFILE_NONE) {
		enter_node(functions, node, &of_node[node]);
		if (children[node] != PROFILE_NONE) {
			node = children[node];
			continue;
		}
		leave_node(functions, node);
		while (next[node] == PROFILE_NONE && nodes[node].parent != PROFILE_NONE) {
			node = nodes[node].parent;
			leave_node(functions, node);
		}
		node = next[node];
	}
}

static int count_samples(struct functions *functions)
{
	const struct profile *profile = functions->profile;
	uint32_t count = profile->nodes_count, first = PROFILE_NONE;
	_cleanup_free_ struct sampled *of_stack = calloc(profile->stacks_count + 1UL, sizeof(*of_stack));
	_cleanup_free_ struct sampled *of_node = calloc(count + 1UL, sizeof(*of_node));
	_cleanup_free_ uint32_t *children = malloc((count + 1UL) * sizeof(*children));
	_cleanup_free_ uint32_t *next = malloc((count + 1UL) * sizeof(*next));

	if (!of_stack || !of_node || !children || !next)
		return -ENOMEM;
	for (uint32_t i = 0; i < profile->samples_count; i++) {
		const struct profile_sample *sample = &profile->samples[i];

		if (sample->kind != profile->on_cpu)
			continue;
		add_sampled(&of_stack[sample->stack],
			    &(struct sampled){ sample->samples, sample->weight_ns, true });
		functions->all_samples = add_saturated(functions->all_samples, sample->samples);
	}
	for (uint32_t i = 0; i < profile->stacks_count; i++) {
		count_leaf(functions, i, &of_stack[i]);
		if (profile->stacks[i].node != PROFILE_NONE)
			add_sampled(&of_node[profile->stacks[i].node], &of_stack[i]);
	}
	memset(children, 0xff, (count + 1UL) * sizeof(*children));
	for (uint32_t i = count; i-- > 0;) {
		uint32_t parent = profile->nodes[i].parent,
			 *siblings = parent == PROFILE_NONE ? &first : &children[parent];

		next[i] = *siblings;
		*siblings = i;
		if (parent != PROFILE_NONE)
			add_sampled(&of_node[parent], &of_node[i]);
	}
	count_totals(functions, of_node, children, next, first);
	return 0;
}

/* Finds and counts the functions; those without samples on CPU are removed. */
static int functions_of(const struct profile *profile, bool merge, struct functions *ret_functions)
{
	struct functions functions = { .profile = profile, .room = profile->frames_count + 1 };
	uint32_t kept = 0;
	int result = -ENOMEM;

	functions.functions = calloc(functions.room, sizeof(*functions.functions));
	functions.of_frame = calloc(profile->frames_count + 1UL, sizeof(*functions.of_frame));
	if (functions.functions && functions.of_frame)
		result = find_functions(&functions, merge);
	if (!result)
		result = count_samples(&functions);
	if (result < 0) {
		functions_free(&functions);
		return result;
	}
	for (uint32_t i = 0; i < functions.count; i++)
		if (functions.functions[i].is_sampled && functions.functions[i].module != PROFILE_NONE)
			functions.functions[kept++] = functions.functions[i];
	functions.count = kept;
	*ret_functions = functions;
	return 0;
}

/* ---- rows ---- */

/* Unresolved addresses come first. */
static int compare_names(const struct function *left, const struct function *right,
			 const struct profile *profile)
{
	int order = left->name == right->name    ? 0
		    : left->name == PROFILE_NONE ? -1
		    : right->name == PROFILE_NONE
			    ? 1
			    : strcmp(profile_text(profile, left->name), profile_text(profile, right->name));

	return order ? order
		     : compare_numbers(profile->modules[left->module].module_id,
				       profile->modules[right->module].module_id);
}

static int by_samples(const void *a, const void *b, void *profile)
{
	const struct function *left = a, *right = b;
	return compare_numbers(right->samples, left->samples) ?:
	       compare_numbers(right->total_samples, left->total_samples) ?:
	       compare_names(left, right, profile);
}

static int by_total_samples(const void *a, const void *b, void *profile)
{
	const struct function *left = a, *right = b;
	return compare_numbers(right->total_samples, left->total_samples) ?:
	       compare_numbers(right->samples, left->samples) ?:
	       compare_names(left, right, profile);
}

int top_functions(const struct profile *profile, bool by_total, int64_t limit, struct rows *ret_rows)
{
	static const char *const names[] = { "function",      "module",    "module_kind", "samples",
					     "total_samples", "weight_ns", "percent",     "total_percent" };
	_cleanup_functions_ struct functions functions = { 0 };
	struct rows rows = rows_of(names);
	int result = functions_of(profile, false, &functions);

	if (!result)
		qsort_r(functions.functions, functions.count, sizeof(*functions.functions),
			by_total ? by_total_samples : by_samples, (void *)profile);
	for (uint32_t i = 0; i < functions.count && (limit < 0 || i < limit) && !result; i++) {
		const struct function *function = &functions.functions[i];
		const struct profile_module *module = &profile->modules[function->module];

		result = rows_add(
			&rows,
			(struct value[]){
				value_text(profile_text(profile, function->name)), value_text(module->path),
				value_text(module->kind), value_number(function->samples),
				value_number(function->total_samples), value_number(function->weight_ns),
				value_percent(function->samples, functions.all_samples),
				value_percent(function->total_samples, functions.all_samples) });
	}
	return rows_finish(result, &rows, ret_rows);
}

/* The name of all unresolved addresses of a module; NULL without memory. */
static const char *unresolved_name(struct profile *profile, const struct profile_module *module)
{
	const char *slash = strrchr(module->path, '/');
	_cleanup_free_ char *name = NULL;

	if (asprintf(&name, "[unresolved] in %s", slash ? slash + 1 : module->path) < 0) {
		name = NULL;
		return NULL;
	}
	return profile_keep(profile, name);
}

static int add_leader(struct profile *profile, const struct functions *functions,
		      const struct function *function, bool by_total, struct rows *rows)
{
	const struct profile_module *module = &profile->modules[function->module];
	bool is_resolved = function->name != PROFILE_NONE;
	const char *name = is_resolved ? profile_text(profile, function->name)
				       : unresolved_name(profile, module);

	if (!name)
		return -ENOMEM;
	return rows_add(rows,
			(struct value[]){ value_number(by_total), value_number(is_resolved),
					  value_text(module->path), value_text(module->kind),
					  value_number(function->samples),
					  value_number(function->total_samples), value_text(name),
					  value_percent(function->samples, functions->all_samples),
					  value_percent(function->total_samples, functions->all_samples) });
}

int top_leaders(struct profile *profile, enum top_by by, int64_t limit, struct rows *ret_rows)
{
	static const char *const names[] = { "by_total",    "resolved", "module",
					     "module_kind", "samples",  "total_samples",
					     "function",    "percent",  "total_percent" };
	_cleanup_functions_ struct functions functions = { 0 };
	struct rows rows = rows_of(names);
	int result = functions_of(profile, true, &functions);

	for (int by_total = 0; by_total < 2 && !result; by_total++) {
		if (by == (by_total ? TOP_BY_SELF : TOP_BY_TOTAL))
			continue;
		qsort_r(functions.functions, functions.count, sizeof(*functions.functions),
			by_total ? by_total_samples : by_samples, profile);
		for (uint32_t i = 0; i < functions.count && (limit < 0 || i < limit) && !result; i++)
			if (by_total || functions.functions[i].samples > 0)
				result = add_leader(profile, &functions, &functions.functions[i], by_total,
						    &rows);
	}
	return rows_finish(result, &rows, ret_rows);
}

/* SAMPLES is what the list is sorted by. */
#define COLUMNS(samples)                                                                                     \
	{                                                                                                    \
		{ "SAMPLES", samples, 8, cell_number }, { "SELF", "percent", 7, cell_percent },              \
			{ "TOTAL", "total_percent", 7, cell_percent },                                       \
			{ "FUNCTION", "function", -46, cell_text },                                          \
			{ "MODULE", "module", -24, cell_basename },                                          \
	}

static const struct column columns[][5] = { COLUMNS("samples"), COLUMNS("total_samples") };

/*
 * Where the kernel lets interrupts in again: ticks of the sampling clock that came while they were off are told there, behind the
 * code that took the time (kernel/sched/core.c, kernel/entry/common.c).
 */
static const struct {
	const char *function, *why;
} skids[] = {
	{ "finish_task_switch",
	  "finish_task_switch: here the kernel lets interrupts in again after it has changed the thread on the CPU. The time is that of the "
	  "change, in which the clock cannot sample: threads that change thousands of times a second spend it." },
	{ "irqentry_exit_to_user_mode",
	  "irqentry_exit_to_user_mode: here the kernel lets interrupts in again before it returns to the program. The time is that of the "
	  "interrupts before, in which the clock cannot sample, and of what the kernel does at the return." },
};

/* NULL: its samples are its own. A compiler may have added to the name. */
static const char *find_skid(const char *function)
{
	for (size_t i = 0; i < ARRAY_SIZE(skids); i++) {
		size_t bytes = strlen(skids[i].function);

		if (!strncmp(skids[i].function, function, bytes) &&
		    (!function[bytes] || function[bytes] == '.'))
			return skids[i].why;
	}
	return NULL;
}

void top_print(const struct layout *layout, struct query *query)
{
	static const char *const titles[] = {
		"functions with most samples in themselves (SELF)",
		"functions with most samples in themselves and their callees (TOTAL)"
	};
	const char *separator = "";
	bool more = true;

	for (; more; separator = "\n") {
		bool by_total = query_number(query, "by_total") != 0;
		bool may_skid = !by_total && !strcmp(query_text(query, "module_kind"), "kernel");
		const char *skid = may_skid ? find_skid(query_text(query, "function")) : NULL;

		fprintf(layout->out, "%s%s\n", separator, titles[by_total]);
		more = table_print_group(layout, query, columns[by_total], ARRAY_SIZE(columns[by_total]),
					 "by_total");
		if (skid)
			print_wrapped_on(layout, skid, 0);
	}
}

static void print_functions(struct report *report, enum top_by by)
{
	_cleanup_profile_ struct profile profile = { 0 };
	_cleanup_rows_ struct rows rows = { 0 };
	struct query query = query_of_rows(report->database, &rows);
	int result;

	if (profile_load(report->database, report->capture_id, PROFILE_OF_TARGETS, &profile) < 0)
		return;
	result = report->json ? top_functions(&profile, by == TOP_BY_TOTAL, report->limit, &rows)
			      : top_leaders(&profile, by, report->limit, &rows);
	if (result < 0) {
		profile_fail(report->database, result);
	} else if (report->json) {
		json_rows(report->out, &query, NULL);
		fputc('\n', report->out);
	} else if (query_next(&query)) {
		top_print(&(struct layout){ .out = report->out, .columns = REPORT_COLUMNS }, &query);
	} else {
		fprintf(report->out, "capture %lld has no samples on CPU\n", (long long)report->capture_id);
	}
}

/* ---- the subcommand ---- */

struct top_words {
	struct shared_words shared;
	struct threads_words threads;
	const char *live, *by;
};

#define WORD(name) .at = offsetof(struct top_words, name)

static const struct command_option options[] = {
	{ "db", "FILE", DB_HELP, SHARED(db) },
	{ "json", NULL, JSON_HELP, SHARED(json) },
	{ "limit", "N", "print at most N rows (30; JSON and CSV: all)", SHARED(limit) },
	{ "by", "WHICH", TOP_BY, WORD(by) },
	{ "live", NULL, "what is on the CPUs now, without a capture", WORD(live) },
	{ "csv", NULL, "live: print CSV, second by second, as JSON", SHARED(csv) },
	{ "once", NULL, "live: print the table of one second, and end", WORD(threads.once) },
	{ "match", "WORDS", "live: " MATCH_HELP, WORD(threads.match) },
	{ "columns", "LIST", "live: group by these: comm,process,unit,cgroup,function,module,uid,tgid,tid",
	  WORD(threads.columns) },
};

/* `top` alone is of a capture, and `top --live` of none. */
static int check_live(const struct report *report, const struct top_words *words)
{
	bool has_more = words->threads.once || words->shared.csv || words->threads.match ||
			words->threads.columns;

	if (!words->live && has_more)
		log_error(
			"'top' takes --once, --csv, --match and --columns with --live alone: see 'bourdon top --help'");
	else if (words->live && report->operands_count)
		log_error("'top --live' takes no ID: it is of no capture");
	else if (words->live && words->by)
		log_error("'top --live' takes no --by: it lists functions by themselves");
	else
		return OPTIONS_RUN;
	return EXIT_USAGE;
}

static int top_main(struct report *report, int count, char **arguments)
{
	struct top_words words = { 0 };
	struct threads_choice choice;
	int status = subcommand_parse(report, &top_subcommand, count, arguments, &words);

	if (status == OPTIONS_RUN)
		status = check_live(report, &words);
	if (status == OPTIONS_RUN)
		status = words.live ? threads_choice_read(&words.threads, THREADS_SAMPLED, words.shared.csv,
							  report->json, &choice)
				    : subcommand_open_capture(report);
	if (status != OPTIONS_RUN)
		return status;
	if (words.live)
		threads_show(report, &choice);
	else
		print_functions(report, !words.by                    ? TOP_BY_BOTH
					: !strcmp(words.by, "total") ? TOP_BY_TOTAL
								     : TOP_BY_SELF);
	return status;
}

SUBCOMMAND(
	top, "top", "[ID]", "list the functions that used most CPU time",
	"Lists the functions of capture ID with most samples on CPU: SELF is the share of samples in the\n"
	"function itself, TOTAL the share in it and its callees. Without ID: the newest complete capture.\n"
	"With --live: what is on the CPUs now, without a capture. CPUS is how many CPUs a group used. A screen,\n"
	"with ? for help; or with --once, --json or --csv a table of one second.",
	"bourdon top --live --match 'unit=nginx.service' --columns function,module", .limit = 30,
	.takes_id = true);

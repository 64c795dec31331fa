/* SPDX-License-Identifier: GPL-2.0-only */
/* flame: the stacks of one capture as a flame graph, in one SVG file. */
#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "report/context/output.h"
#include "report/context/subcommand.h"
#include "report/model/query.h"
#include "report/model/sample_choice.h"
#include "report/picture/flame_svg.h"
#include "report/picture/flame_tree.h"
#include "report/text/format.h"

#include <string.h>

struct graph {
	struct profile profile;
	uint32_t *leaves; /* of each sample */
	struct flame_tree tree;
	int64_t *totals; /* of each node */
};

static void graph_free(struct graph *graph)
{
	flame_tree_free(&graph->tree);
	profile_free(&graph->profile);
	free(graph->leaves);
	free(graph->totals);
}

#define _cleanup_graph_ _cleanup_(graph_free)

/* Negative weights, which only a hostile database has, count as none: sums would not be those of their parts. */
static int add_up_samples(struct graph *graph, const struct sample_choice *choice)
{
	int64_t *totals = graph->totals = calloc(graph->tree.nodes_count + 1UL, sizeof(*totals));

	if (!totals)
		return -ENOMEM;
	for (uint32_t i = 0; i < graph->profile.samples_count; i++) {
		const struct profile_sample *sample = &graph->profile.samples[i];
		int64_t weight = choice->off_cpu ? sample->weight_ns : sample->samples;
		int64_t *total = &totals[graph->leaves[i]];

		if (weight > 0 && sample_is_wanted(&graph->profile, sample, choice))
			*total = add_saturated(*total, weight);
	}
	for (uint32_t i = graph->tree.nodes_count; i-- > 1;) {
		int64_t *of_parent = &totals[graph->tree.nodes[i].parent];

		*of_parent = add_saturated(*of_parent, totals[i]);
	}
	return 0;
}

/* Returns 0; or -errno, and the reason was logged. */
static int load_graph(struct report *report, const struct sample_choice *choice, struct graph *graph)
{
	int result = profile_load(report->database, report->capture_id, PROFILE_OF_ALL, &graph->profile);

	if (!result)
		result = flame_tree_add(&graph->tree, &graph->profile, &graph->leaves);
	if (!result)
		result = add_up_samples(graph, choice);
	if (result < 0)
		profile_fail(report->database, result);
	return result;
}

static const char *kind_text(const struct sample_choice *choice)
{
	if (!choice->off_cpu)
		return "on CPU";
	if (!choice->stall)
		return "waiting";
	return !strcmp(choice->stall, "cpu")         ? "waiting for a CPU"
	       : !strcmp(choice->stall, "memory")    ? "waiting for memory"
	       : !strcmp(choice->stall, "io")        ? "waiting for I/O"
	       : !strcmp(choice->stall, "none")      ? "waiting, for no resource"
	       : !strcmp(choice->stall, "memory+io") ? "waiting for memory and I/O"
						     : "waiting for memory and a CPU";
}

static const char *role_text(const char *role)
{
	return !role                     ? "all processes"
	       : !strcmp(role, "target") ? "targets"
	       : !strcmp(role, "other")  ? "others than the targets"
					 : "kernel threads";
}

/* What a graph says of itself in its first two lines; the caller frees them. Returns 0 or -ENOMEM. */
static int describe_graph(struct report *report, const struct graph *graph,
			  const struct sample_choice *choice, char **ret_title, char **ret_subtitle)
{
	_cleanup_query_ struct query query = query_begin(
		report->database,
		"SELECT s.rule, s.triggered, s.verdict, r.hostname FROM capture_summary s JOIN capture c USING(capture_id) "
		"JOIN run r USING(run_id) WHERE c.capture_id = ?1",
		report->capture_id, 0);
	char amount[64];

	query_next(&query);
	if (choice->off_cpu)
		format_duration((double)graph->totals[0], " ", amount, sizeof(amount));
	else
		snprintf(amount, sizeof(amount), "%lld %s", (long long)graph->totals[0],
			 graph->totals[0] == 1 ? "sample" : "samples");
	if (asprintf(ret_title, "%s: %s, %s", role_text(choice->role), kind_text(choice), amount) < 0) {
		*ret_title = NULL;
		return -ENOMEM;
	}
	if (asprintf(ret_subtitle, "bourdon capture %lld on %s, %s, %s%s%s%s", (long long)report->capture_id,
		     query_text(&query, "hostname"), query_text(&query, "triggered"),
		     query_is_null(&query, "rule") ? "on demand" : "rule ", query_text(&query, "rule"),
		     query_is_null(&query, "verdict") ? "" : "; ", query_text(&query, "verdict")) < 0) {
		*ret_subtitle = NULL;
		return -ENOMEM;
	}
	return 0;
}

static int draw_graph(struct report *report, const struct graph *graph, const struct sample_choice *choice,
		      bool icicle)
{
	_cleanup_free_ char *title = NULL, *subtitle = NULL;
	int result = describe_graph(report, graph, choice, &title, &subtitle);

	if (result < 0)
		return result;
	return flame_svg_write(report->out, &(struct flame_picture){ .tree = &graph->tree,
								     .totals = graph->totals,
								     .is_time = choice->off_cpu,
								     .icicle = icicle,
								     .title = title,
								     .subtitle = subtitle });
}

/* ---- the subcommand ---- */

struct flame_words {
	struct shared_words shared;
	struct sample_words samples;
	const char *icicle;
};

static const struct command_option options[] = {
	{ "db", "FILE", DB_HELP, SHARED(db) },
	{ "o", "FILE", OUTPUT_HELP, SHARED(output) },
	{ "icicle", NULL, "the outermost functions at the top", .at = offsetof(struct flame_words, icicle) },
	OPTIONS_OF_SAMPLES(struct flame_words, samples, "oncpu", "target"),
};

static int flame_main(struct report *report, int count, char **arguments)
{
	struct flame_words words = { 0 };
	_cleanup_graph_ struct graph graph = { 0 };
	struct sample_choice choice;
	int status = subcommand_parse(report, &flame_subcommand, count, arguments, &words), result;

	if (status == OPTIONS_RUN)
		status = sample_choice_read_one_kind(&words.samples, &choice);
	if (status == OPTIONS_RUN)
		status = output_open_capture(report, words.shared.output);
	if (status != OPTIONS_RUN)
		return status;
	if (!output_has_place(report) || load_graph(report, &choice, &graph) < 0)
		return EXIT_FAILED;
	if (!graph.totals[0])
		return log_failed(EXIT_FAILED,
				  "capture %lld has no samples of %s %s: 'bourdon why %lld' says what it has",
				  (long long)report->capture_id, role_text(choice.role), kind_text(&choice),
				  (long long)report->capture_id);
	result = draw_graph(report, &graph, &choice, words.icicle);
	if (result < 0)
		profile_fail(report->database, result);
	return status;
}

SUBCOMMAND(
	flame, "flame", "[ID]", "draw the stacks as a flame graph, one SVG file",
	"Draws the stacks of capture ID as a flame graph: one SVG file without script, for a ticket. Each frame\n"
	"has a title: function, file, share. Without options: what the targets did on CPU.\n"
	"Without ID: the newest complete capture.",
	"bourdon flame 12 --kind offcpu --stall io -o waiting.svg", .takes_id = true);

/* SPDX-License-Identifier: GPL-2.0-only */
/* flame: the stacks of one capture as a flame graph, in one SVG file. */
#include "common/cleanup.h"
#include "common/log.h"
#include "report/flame_svg.h"
#include "report/flame_tree.h"
#include "report/format.h"
#include "report/output.h"
#include "report/query.h"
#include "report/report.h"

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
static int add_up(struct graph *graph, const struct sample_options *options)
{
	int64_t *totals = graph->totals = calloc(graph->tree.nodes_count + 1UL, sizeof(*totals));

	if (!totals)
		return -ENOMEM;
	for (uint32_t i = 0; i < graph->profile.samples_count; i++) {
		const struct profile_sample *sample = &graph->profile.samples[i];
		int64_t weight = options->off_cpu ? sample->weight_ns : sample->samples;
		int64_t *total = &totals[graph->leaves[i]];

		if (weight > 0 && sample_is_wanted(&graph->profile, sample, options))
			*total = add_saturated(*total, weight);
	}
	for (uint32_t i = graph->tree.nodes_count; i-- > 1;) {
		int64_t *of_parent = &totals[graph->tree.nodes[i].parent];

		*of_parent = add_saturated(*of_parent, totals[i]);
	}
	return 0;
}

/* Returns 0; or -errno, and the reason was logged. */
static int load_graph(struct report *report, const struct flame_options *options, struct graph *graph)
{
	int result = profile_load(report->database, report->capture_id, PROFILE_OF_ALL, &graph->profile);

	if (!result)
		result = flame_tree_add(&graph->tree, &graph->profile, &graph->leaves);
	if (!result)
		result = add_up(graph, &options->samples);
	if (result < 0)
		profile_fail(report->database, result);
	return result;
}

static const char *kind_text(const struct sample_options *options)
{
	if (!options->off_cpu)
		return "on CPU";
	if (!options->stall)
		return "waiting";
	return !strcmp(options->stall, "cpu")         ? "waiting for a CPU"
	       : !strcmp(options->stall, "memory")    ? "waiting for memory"
	       : !strcmp(options->stall, "io")        ? "waiting for I/O"
	       : !strcmp(options->stall, "none")      ? "waiting, for no resource"
	       : !strcmp(options->stall, "memory+io") ? "waiting for memory and I/O"
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
static int describe(struct report *report, const struct graph *graph, const struct flame_options *options,
		    char **ret_title, char **ret_subtitle)
{
	_cleanup_query_ struct query query = query_begin(
		report->database,
		"SELECT s.rule, s.triggered, s.verdict, r.hostname FROM capture_summary s JOIN capture c USING(capture_id) "
		"JOIN run r USING(run_id) WHERE c.capture_id = ?1",
		report->capture_id, 0);
	char amount[64];

	query_next(&query);
	if (options->samples.off_cpu)
		format_duration((double)graph->totals[0], " ", amount, sizeof(amount));
	else
		snprintf(amount, sizeof(amount), "%lld %s", (long long)graph->totals[0],
			 graph->totals[0] == 1 ? "sample" : "samples");
	if (asprintf(ret_title, "%s: %s, %s", role_text(options->samples.role), kind_text(&options->samples),
		     amount) < 0) {
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

static int draw(struct report *report, const struct graph *graph, const struct flame_options *options)
{
	_cleanup_free_ char *title = NULL, *subtitle = NULL, *svg = NULL;
	size_t bytes;
	FILE *out;
	int result = describe(report, graph, options, &title, &subtitle);

	if (result < 0)
		return result;
	out = open_memstream(&svg, &bytes);
	if (!out)
		return -ENOMEM;
	result = flame_svg_write(out, &(struct flame_picture){ .tree = &graph->tree,
							       .totals = graph->totals,
							       .is_time = options->samples.off_cpu,
							       .icicle = options->icicle,
							       .title = title,
							       .subtitle = subtitle });
	if (fclose(out) && !result)
		result = -ENOMEM;
	if (!result)
		report->unwell = output_write(report, svg, bytes) < 0;
	return result;
}

void flame_run(struct report *report)
{
	const struct flame_options *options = report->flame;
	_cleanup_graph_ struct graph graph = { 0 };
	int result;

	report->unwell = true;
	if (!output_has_place(report) || load_graph(report, options, &graph) < 0)
		return;
	if (!graph.totals[0]) {
		log_error("capture %lld has no samples of %s %s: 'bourdon why %lld' says what it has",
			  (long long)report->capture_id, role_text(options->samples.role),
			  kind_text(&options->samples), (long long)report->capture_id);
		return;
	}
	result = draw(report, &graph, options);
	if (result < 0) {
		report->unwell = true;
		profile_fail(report->database, result);
	}
}

/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/picture/page_data.h"

#include "common/base/cleanup.h"
#include "common/base/version.h"
#include "report/latency/latency_json.h"
#include "report/model/loss_text.h"
#include "report/model/profile.h"
#include "report/model/query.h"
#include "report/picture/flame_tree.h"
#include "report/text/json.h"
#include "report/why/why.h"

#include <string.h>

/* Of the page's own rows, beside those of why: bourdond writes fewer, a hostile view may have rows without end. */
#define PRESSURE_ROWS_MOST 65536
#define STATISTIC_ROWS_MOST 2048
#define LOSS_ROWS_MOST 256
#define LATENCY_LABELS_MOST 256
#define CLASSES_MOST 256U

/* The samples of one capture. */
struct part {
	struct profile profile;
	uint32_t *leaves; /* of each sample: the node where its stack ends */
	uint32_t *order;  /* of the samples: those of a group together */
};

struct page {
	struct report *report;
	FILE *out;
	struct flame_tree tree;
	struct part parts[2]; /* of the capture, and of the one to compare with */
};

static void page_free(struct page *page)
{
	flame_tree_free(&page->tree);
	for (size_t i = 0; i < ARRAY_SIZE(page->parts); i++) {
		struct part *part = &page->parts[i];

		free(part->leaves);
		free(part->order);
		profile_free(&part->profile);
	}
}

#define _cleanup_page_ _cleanup_(page_free)

/* ---- loading ---- */

static int compare_samples(const void *a, const void *b, void *user)
{
	const struct part *part = user;
	uint32_t left_at = *(const uint32_t *)a, right_at = *(const uint32_t *)b;
	const struct profile_sample *left = &part->profile.samples[left_at],
				    *right = &part->profile.samples[right_at];
	const int64_t keys[][2] = {
		{ left->stack, right->stack }, { left->thread, right->thread },
		{ left->kind, right->kind },   { left->stall, right->stall },
		{ left->role, right->role },   { left->second, right->second },
		{ left_at, right_at },
	};
	int order = 0;

	for (size_t i = 0; i < ARRAY_SIZE(keys) && !order; i++)
		order = compare_numbers(keys[i][0], keys[i][1]);
	return order;
}

/* Returns 0, or -errno; what profile_load() says was logged. */
static int load_part(struct page *page, int64_t capture_id, struct part *part)
{
	struct profile *profile = &part->profile;
	int result = profile_load(page->report->database, capture_id, PROFILE_OF_ALL, profile);

	if (!result)
		result = flame_tree_add(&page->tree, profile, &part->leaves);
	if (result < 0)
		return result;
	part->order = calloc(profile->samples_count + 1UL, sizeof(*part->order));
	if (!part->order)
		return -ENOMEM;
	for (uint32_t i = 0; i < profile->samples_count; i++)
		part->order[i] = i;
	if (profile->samples_count)
		qsort_r(part->order, profile->samples_count, sizeof(*part->order), compare_samples, part);
	return 0;
}

static int load_parts(struct page *page, int64_t against_id)
{
	const int64_t ids[] = { page->report->capture_id, against_id };
	int result = 0;

	for (size_t i = 0; i < ARRAY_SIZE(ids) && ids[i] && !result; i++)
		result = load_part(page, ids[i], &page->parts[i]);
	return result;
}

/* ---- the tree ---- */

/* Writes an array of the texts that `text_of` has for 0 to count - 1. */
static void write_texts(FILE *out, const char *name, uint32_t count,
			const char *(*text_of)(const struct flame_tree *, uint32_t),
			const struct flame_tree *tree)
{
	fprintf(out, ",\n\"%s\": [", name);
	for (uint32_t i = 0; i < count; i++) {
		fputs(i ? "," : "", out);
		json_string(out, text_of(tree, i));
	}
	fputc(']', out);
}

static const char *function_of(const struct flame_tree *tree, uint32_t frame)
{
	return tree->frames[frame].function;
}

static const char *module_of(const struct flame_tree *tree, uint32_t frame)
{
	/* the page reads NULL as the module of the frame before */
	return frame && !strcmp(tree->frames[frame - 1].module, tree->frames[frame].module)
		       ? NULL
		       : tree->frames[frame].module;
}

static const char *file_of(const struct flame_tree *tree, uint32_t frame)
{
	return tree->frames[frame].file ? tree->frames[frame].file : "";
}

static void write_tree(FILE *out, const struct flame_tree *tree)
{
	fputs(",\n\"kinds\": [", out);
	for (enum flame_kind kind = 0; kind < FLAME_KINDS; kind++)
		fprintf(out, "%s\"%s\"", kind ? "," : "", flame_kind_name(kind));
	fputc(']', out);
	write_texts(out, "functions", tree->frames_count, function_of, tree);
	write_texts(out, "modules", tree->frames_count, module_of, tree);
	write_texts(out, "files", tree->frames_count, file_of, tree);
	fputs(",\n\"frame_kinds\": [", out);
	for (uint32_t i = 0; i < tree->frames_count; i++)
		fprintf(out, "%s%d", i ? "," : "", (int)tree->frames[i].kind);
	fputs("],\n\"parents\": [0", out);
	for (uint32_t i = 1; i < tree->nodes_count; i++)
		fprintf(out, ",%u", tree->nodes[i].parent);
	fputs("],\n\"node_frames\": [-1", out);
	for (uint32_t i = 1; i < tree->nodes_count; i++)
		fprintf(out, ",%u", tree->nodes[i].frame);
	fputc(']', out);
}

/* ---- samples ---- */

/* A role, kind and stall that occur together; the texts are of one profile, and outlive it here. */
struct class
{
	const char *role, *kind, *stall;
};

struct classes {
	struct class classes[CLASSES_MOST];
	uint32_t count;
};

/* A database with more classes than bourdond has gets the last one for the rest. */
static uint32_t class_of(struct classes *classes, const struct profile *profile,
			 const struct profile_sample *sample)
{
	const struct class class = { profile_text(profile, sample->role), profile_text(profile, sample->kind),
				     profile_text(profile, sample->stall) };

	for (uint32_t i = 0; i < classes->count; i++)
		if (!strcmp(classes->classes[i].role, class.role) &&
		    !strcmp(classes->classes[i].kind, class.kind) &&
		    !strcmp(classes->classes[i].stall, class.stall))
			return i;
	if (classes->count == CLASSES_MOST)
		return CLASSES_MOST - 1;
	classes->classes[classes->count] = class;
	return classes->count++;
}

static void write_threads(FILE *out, const struct profile *profile)
{
	fputs("{\"processes\": [", out);
	for (uint32_t i = 0; i < profile->processes_count; i++) {
		const struct profile_process *process = &profile->processes[i];

		fputs(i ? ",\n[" : "[", out);
		json_string(out,
			    process->is_known ? profile_text(profile, process->comm) : "[unknown program]");
		fprintf(out, ",%lld,", (long long)process->tgid);
		json_string(out, process->unit ? process->unit : process->cgroup ? process->cgroup : "");
		fputc(']', out);
	}
	fputs("],\n\"threads\": [", out);
	for (uint32_t i = 0; i < profile->threads_count; i++) {
		const struct profile_thread *thread = &profile->threads[i];

		fprintf(out, "%s[%u,%lld,", i ? "," : "", thread->process, (long long)thread->tid);
		json_string(out, profile_text(profile, thread->name));
		fputc(']', out);
	}
	fputc(']', out);
}

/* What a column of groups or rows has for a sample. */
enum column {
	GROUP_NODE,
	GROUP_THREAD,
	GROUP_CLASS,
	GROUP_ROWS,
	ROW_SECOND,
	ROW_SAMPLES,
	ROW_WEIGHT,
	ROW_TIMES
};

static uint32_t rows_of_group(const struct part *part, uint32_t first)
{
	const struct profile_sample *samples = part->profile.samples;
	uint32_t end = first + 1;

	while (end < part->profile.samples_count &&
	       profile_samples_are_alike(&samples[part->order[first]], &samples[part->order[end]]))
		end++;
	return end - first;
}

static int64_t value_of_column_at(const struct part *part, uint32_t at, struct classes *classes,
				  enum column column)
{
	const struct profile_sample *sample = &part->profile.samples[part->order[at]];

	switch (column) {
	case GROUP_NODE:
		return part->leaves[part->order[at]];
	case GROUP_THREAD:
		return sample->thread;
	case GROUP_CLASS:
		return class_of(classes, &part->profile, sample);
	case GROUP_ROWS:
		return rows_of_group(part, at);
	case ROW_SECOND:
		return sample->second;
	case ROW_SAMPLES:
		return sample->samples;
	case ROW_WEIGHT:
		return sample->weight_ns;
	default:
		return sample->times_count;
	}
}

static void write_column(FILE *out, const struct part *part, struct classes *classes, const char *name,
			 enum column column)
{
	fprintf(out, ",\n\"%s\": [", name);
	for (uint32_t i = 0; i < part->profile.samples_count;
	     i += column < ROW_SECOND ? rows_of_group(part, i) : 1)
		fprintf(out, "%s%lld", i ? "," : "", (long long)value_of_column_at(part, i, classes, column));
	fputc(']', out);
}

/* On CPU ms and CPU, off CPU begin, end and CPU: of all rows, one after the other. */
static void write_times(FILE *out, const struct part *part)
{
	const struct profile *profile = &part->profile;
	const char *separator = "";

	fputs(",\n\"times\": [", out);
	for (uint32_t i = 0; i < profile->samples_count; i++) {
		const struct profile_sample *sample = &profile->samples[part->order[i]];

		for (uint32_t k = 0; k < sample->times_count; k++, separator = ",") {
			const struct stored_time *time = &profile->times.times[sample->first_time + k];

			fprintf(out, "%s%lld,", separator, (long long)time->begin_ms);
			if (sample->kind == profile->off_cpu)
				fprintf(out, "%lld,", (long long)time->end_ms);
			fprintf(out, "%lld", (long long)time->cpu);
		}
	}
	fputc(']', out);
}

static void write_samples(FILE *out, const struct part *part)
{
	static const struct {
		const char *name;
		enum column column;
	} columns[] = {
		{ "nodes", GROUP_NODE },          { "group_threads", GROUP_THREAD },
		{ "group_classes", GROUP_CLASS }, { "group_rows", GROUP_ROWS },
		{ "seconds", ROW_SECOND },        { "counts", ROW_SAMPLES },
		{ "weights", ROW_WEIGHT },        { "times_counts", ROW_TIMES },
	};
	struct classes classes = { 0 };

	write_threads(out, &part->profile);
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		write_column(out, part, &classes, columns[i].name, columns[i].column);
	write_times(out, part);
	fputs(",\n\"classes\": [", out);
	for (uint32_t i = 0; i < classes.count; i++) {
		fputs(i ? ",[" : "[", out);
		json_string(out, classes.classes[i].role);
		fputc(',', out);
		json_string(out, classes.classes[i].kind);
		fputc(',', out);
		json_string(out, classes.classes[i].stall);
		fputc(']', out);
	}
	fputs("]}", out);
}

/* ---- rows of the database ---- */

static const char capture_sql[] =
	"SELECT c.capture_id, c.rule, c.resource, c.kind, c.stall_us, c.window_us, c.observed_us, c.trigger_mode, c.cgroup,"
	" c.latency_metric, c.latency_quantile, c.latency_limit_ns, c.latency_observed_ns, c.latency_window_ns,"
	" c.state, c.triggered_at, (c.triggered_at - c.began_at) AS before_ns, (c.ended_at - c.triggered_at) AS after_ns,"
	" c.history_ns, c.offcpu_history_ns, (c.triggered_at - c.onset_at) AS onset_before_ns, c.hz, c.verdict,"
	" strftime('%Y-%m-%d %H:%M:%S', c.triggered_at / 1000000000, 'unixepoch') AS triggered, c.expected_samples,"
	" c.received_samples, c.asked_by, c.asked_for, c.note, r.version, r.abi, r.kernel, r.hostname, r.cpus, r.policy,"
	" r.object_sha256, r.ring_bytes, u.source, u.comm AS rule_comm, u.cgroup AS rule_cgroup, u.unit AS rule_unit, u.watch,"
	" u.history_ns AS rule_history_ns, u.capture_ns AS rule_capture_ns, u.cooldown_ns AS rule_cooldown_ns, u.triggers"
	" FROM capture c JOIN run r USING(run_id) LEFT JOIN rule u ON u.rule_id = c.rule_id WHERE c.capture_id = ?1";

/* Only what grew or fell, or was set: cpu.max and the like say something without a change. */
static const char statistic_sql[] =
	"SELECT scope, source, device, name, before, after FROM statistic WHERE capture_id = ?1 AND scope <> 'recorder' AND "
	"(before IS NOT after OR source IN ('cpu.max', 'memory.max', 'memory.high', 'io.max', 'cpu.weight')) "
	"ORDER BY scope = 'system', scope, source, device, rowid LIMIT ?2";

static const char pressure_sql[] =
	"SELECT p.at - c.triggered_at AS at_ns, p.scope, p.resource, p.some_us, p.full_us FROM pressure p JOIN capture c "
	"USING(capture_id) WHERE p.capture_id = ?1 AND p.scope <> 'targets' ORDER BY p.scope, p.resource, p.at LIMIT ?2";

static void write_object(struct page *page, const char *name, const char *sql, int64_t capture_id)
{
	_cleanup_query_ struct query query = query_begin(page->report->database, sql, capture_id, 0);

	fprintf(page->out, "\"%s\": ", name);
	json_next_row(page->out, &query);
}

static void write_rows(struct page *page, const char *name, const char *sql, int64_t most)
{
	_cleanup_query_ struct query query =
		query_begin(page->report->database, sql, page->report->capture_id, most);

	fprintf(page->out, ",\n\"%s\": ", name);
	json_rows(page->out, &query, NULL);
}

/* What the reasons of the ledger mean, by reason. */
static void write_loss_texts(struct page *page)
{
	_cleanup_query_ struct query query = query_begin(
		page->report->database, "SELECT DISTINCT reason FROM loss WHERE capture_id = ?1 LIMIT ?2",
		page->report->capture_id, LOSS_ROWS_MOST);
	const char *separator = "";

	fputs(",\n\"loss_texts\": {", page->out);
	while (query_next(&query)) {
		const char *reason = query_text(&query, "reason");

		if (!loss_text(reason))
			continue;
		fputs(separator, page->out);
		json_string(page->out, reason);
		fputs(": ", page->out);
		json_string(page->out, loss_text(reason));
		separator = ",\n";
	}
	fputc('}', page->out);
}

/* What `bourdon --json why` prints. */
static void write_why(struct page *page)
{
	struct report why = *page->report;

	why.json = true;
	why.out = page->out;
	fputs(",\n\"why\": ", page->out);
	why_print(&why, NULL, false);
}

/* What `bourdon --json latency` has. Returns 0 or -ENOMEM. */
static int write_latencies(struct page *page)
{
	const struct latency_choice choice = { .span = LATENCY_SPANS, .limit = LATENCY_LABELS_MOST };
	_cleanup_latencies_ struct latencies latencies = { 0 };
	int result = latencies_load(page->report->database, page->report->capture_id, &latencies);

	fputs(",\n\"latencies\": ", page->out);
	return result < 0 ? result : latency_write_json(page->out, &choice, &latencies);
}

int page_data_write(struct report *report, int64_t against_id, FILE *out)
{
	_cleanup_page_ struct page page = { .report = report, .out = out };
	int result = load_parts(&page, against_id);

	if (result < 0) {
		profile_fail(report->database, result);
		return result;
	}
	fputs("{\"format\": 1, \"made_by\": \"" BOURDON_VERSION "\",\n", out);
	write_object(&page, "capture", capture_sql, report->capture_id);
	write_why(&page);
	write_rows(&page, "pressure", pressure_sql, PRESSURE_ROWS_MOST);
	write_rows(&page, "statistics", statistic_sql, STATISTIC_ROWS_MOST);
	write_loss_texts(&page);
	result = write_latencies(&page);
	if (result < 0) {
		profile_fail(report->database, result);
		return result;
	}
	write_tree(out, &page.tree);
	fputs(",\n\"samples\": ", out);
	write_samples(out, &page.parts[0]);
	fputs(",\n\"against\": ", out);
	if (against_id) {
		fputc('{', out);
		write_object(&page, "capture", capture_sql, against_id);
		fputs(",\n\"samples\": ", out);
		write_samples(out, &page.parts[1]);
		fputc('}', out);
	} else {
		fputs("null", out);
	}
	fputs("}\n", out);
	return report->database->failed ? -EIO : 0;
}

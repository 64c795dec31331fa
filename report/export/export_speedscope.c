/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * speedscope: JSON of speedscope.app. Each thread has up to two profiles: on CPU, with a gap where it had no sample, and off
 * CPU, second by second.
 */
#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "report/export/export.h"
#include "report/export/export_lanes.h"
#include "report/model/rows.h"
#include "report/text/json.h"

#include <inttypes.h>
#include <string.h>

#define NS_PER_MS 1000000LL
#define NS_PER_SECOND 1000000000LL

struct speedscope {
	struct export *export;
	struct export_functions functions;
	struct lanes lanes;
	uint32_t *waits; /* samples off CPU, by lane and second */
	uint32_t waits_count;
	int64_t *weights; /* of each lane, all that its profiles have */
	uint32_t *path;   /* of the stack at hand, the outermost function first */
	uint32_t path_room;
};

static void speedscope_free(struct speedscope *scope)
{
	export_functions_free(&scope->functions);
	lanes_free(&scope->lanes);
	free(scope->waits);
	free(scope->weights);
	free(scope->path);
}

#define _cleanup_speedscope_ _cleanup_(speedscope_free)

static uint32_t lane_of(const struct speedscope *scope, uint32_t sample)
{
	return scope->lanes.of_thread[scope->export->profile->samples[sample].thread];
}

static int compare_waits(const void *a, const void *b, void *user)
{
	const struct speedscope *scope = user;
	const struct profile_sample *samples = scope->export->profile->samples;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	return compare_numbers(lane_of(scope, left), lane_of(scope, right)) ?:
	       compare_numbers(samples[left].second, samples[right].second) ?:
	       compare_numbers(left, right);
}

static int add_up_samples(struct speedscope *scope)
{
	const struct profile *profile = scope->export->profile;

	scope->waits = calloc(profile->samples_count + 1UL, sizeof(*scope->waits));
	scope->weights = calloc(scope->lanes.count + 1UL, sizeof(*scope->weights));
	if (!scope->waits || !scope->weights)
		return -ENOMEM;
	for (uint32_t i = 0; i < profile->samples_count; i++) {
		const struct profile_sample *sample = &profile->samples[i];
		int64_t *weight = &scope->weights[lane_of(scope, i)];

		*weight = add_saturated(*weight, sample->weight_ns);
		if (sample->kind == profile->off_cpu && sample->weight_ns > 0)
			scope->waits[scope->waits_count++] = i;
	}
	if (scope->waits_count)
		qsort_r(scope->waits, scope->waits_count, sizeof(*scope->waits), compare_waits, scope);
	return 0;
}

/* ---- frames and stacks ---- */

static void write_frames(const struct speedscope *scope)
{
	const struct profile *profile = scope->export->profile;
	FILE *out = scope->export->out;

	fputs("\"shared\":{\"frames\":[", out);
	for (uint32_t i = 0; i < scope->functions.count; i++) {
		const struct export_function *function = &scope->functions.functions[i];

		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", out);
		json_string(out, profile_text(profile, function->name));
		fputs(",\"file\":", out);
		json_string(out, function->file ? function->file : profile->modules[function->module].path);
		fputc('}', out);
	}
	fputs("]},\n", out);
}

static int write_stack(struct speedscope *scope, const struct profile_sample *sample)
{
	const struct profile *profile = scope->export->profile;
	struct profile_walk walk = profile_walk_of(profile, &profile->stacks[sample->stack]);
	const struct profile_frame *frame;
	uint32_t depth = 0;
	FILE *out = scope->export->out;

	while ((frame = profile_walk_next(&walk))) {
		if (array_make_room(scope->path, depth, scope->path_room, 1U))
			return -ENOMEM;
		scope->path[depth++] = scope->functions.of_frame[frame - profile->frames];
	}
	fputc('[', out);
	while (depth--)
		fprintf(out, depth ? "%" PRIu32 "," : "%" PRIu32, scope->path[depth]);
	fputc(']', out);
	return 0;
}

/* ---- profiles ---- */

/* Writes the stacks of a profile, or in a second pass their weights. */
struct profile_pass {
	struct speedscope *scope;
	bool of_weights;
	const char *separator;
	int64_t cursor_ns; /* from the capture's begin: what has been written */
};

/* `sample` NULL: a gap, a stack without functions. */
static int add_stack(struct profile_pass *pass, const struct profile_sample *sample, int64_t weight_ns)
{
	FILE *out = pass->scope->export->out;

	fputs(pass->separator, out);
	pass->separator = ",";
	pass->cursor_ns = add_saturated(pass->cursor_ns, weight_ns);
	if (pass->of_weights)
		fprintf(out, "%" PRId64, weight_ns);
	else if (sample)
		return write_stack(pass->scope, sample);
	else
		fputs("[]", out);
	return 0;
}

static int add_gap_until(struct profile_pass *pass, int64_t ms)
{
	int64_t ns = (ms - pass->scope->export->capture.from_ms) * NS_PER_MS;

	return ns > pass->cursor_ns ? add_stack(pass, NULL, ns - pass->cursor_ns) : 0;
}

static int add_samples(struct profile_pass *pass, const struct lane *lane)
{
	const struct profile *profile = pass->scope->export->profile;
	int result = 0;

	for (uint32_t i = lane->first; i < lane->first + lane->count && !result; i++) {
		const struct lane_event *event = &pass->scope->lanes.events[i];
		const struct profile_sample *sample = &profile->samples[event->sample];

		if (sample->kind != profile->on_cpu)
			continue;
		result = add_gap_until(pass, event->begin_ms);
		for (uint32_t j = 0; j < event->count && !result; j++)
			result = add_stack(pass, sample, pass->scope->export->capture.period_ns);
	}
	return result;
}

/* Those of the lane, from position `first` on. Stores the position behind them. */
static int add_waits(struct profile_pass *pass, const struct lane *lane, uint32_t first, uint32_t *ret_end)
{
	const struct speedscope *scope = pass->scope;
	int result = 0;

	for (; first < scope->waits_count && !result; first++) {
		const struct profile_sample *sample = &scope->export->profile->samples[scope->waits[first]];
		int64_t second = sample->second;

		if (lane_of(scope, scope->waits[first]) != (uint32_t)(lane - scope->lanes.lanes))
			break;
		if (second > -NS_PER_SECOND && second < NS_PER_SECOND)
			result = add_gap_until(pass, 1000 * second);
		if (!result)
			result = add_stack(pass, sample, sample->weight_ns);
	}
	*ret_end = first;
	return result;
}

static void begin_profile(const struct speedscope *scope, const struct lane *lane, const char *kind,
			  bool is_first)
{
	const struct profile *profile = scope->export->profile;
	FILE *out = scope->export->out;
	_cleanup_free_ char *name = NULL;

	if (asprintf(&name, "%s %" PRId64 ", thread %s %" PRId64 " (%s), %s",
		     export_comm(profile, lane->process), profile->processes[lane->process].tgid,
		     profile_text(profile, lane->name), lane->tid, profile_text(profile, lane->role),
		     kind) < 0)
		name = NULL;
	fputs(is_first ? "\n" : ",\n", out);
	fputs("{\"type\":\"sampled\",\"name\":", out);
	json_string(out, name ? name : kind);
	fputs(",\"unit\":\"nanoseconds\",\"startValue\":0,\"samples\":[", out);
}

static bool has_samples(const struct speedscope *scope, const struct lane *lane)
{
	const struct profile *profile = scope->export->profile;

	for (uint32_t i = lane->first; i < lane->first + lane->count; i++)
		if (profile->samples[scope->lanes.events[i].sample].kind == profile->on_cpu)
			return true;
	return false;
}

static int write_profiles(struct speedscope *scope, uint32_t *ret_active)
{
	FILE *out = scope->export->out;
	uint32_t waits = 0, count = 0, end;
	int64_t most = -1;
	int result = 0;

	fputs("\"profiles\":[", out);
	for (uint32_t i = 0; i < scope->lanes.count && !result; i++) {
		const struct lane *lane = &scope->lanes.lanes[i];
		bool has_waits = waits < scope->waits_count && lane_of(scope, scope->waits[waits]) == i;
		struct profile_pass pass = { scope, false, "", 0 };

		if (scope->weights[i] > most && lane->role == scope->export->profile->target) {
			most = scope->weights[i];
			*ret_active = count;
		}
		if (has_samples(scope, lane)) {
			begin_profile(scope, lane, "on CPU", !count++);
			result = add_samples(&pass, lane);
			fputs("],\"weights\":[", out);
			pass = (struct profile_pass){ scope, true, "", 0 };
			if (!result)
				result = add_samples(&pass, lane);
			fprintf(out, "],\"endValue\":%" PRId64 "}", pass.cursor_ns);
		}
		if (has_waits && !result) {
			begin_profile(scope, lane, "off CPU", !count++);
			pass = (struct profile_pass){ scope, false, "", 0 };
			result = add_waits(&pass, lane, waits, &end);
			fputs("],\"weights\":[", out);
			pass = (struct profile_pass){ scope, true, "", 0 };
			if (!result)
				result = add_waits(&pass, lane, waits, &end);
			fprintf(out, "],\"endValue\":%" PRId64 "}", pass.cursor_ns);
			waits = end;
		}
	}
	fputs("],\n", out);
	return result;
}

int export_speedscope(struct export *export)
{
	_cleanup_speedscope_ struct speedscope scope = { .export = export };
	int result = export_functions_find(export->profile, &scope.functions);
	uint32_t active = 0;

	if (!result)
		result = lanes_make(export->profile, &scope.lanes);
	if (!result)
		result = add_up_samples(&scope);
	if (result < 0)
		return result;
	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n\"name\":", export->out);
	json_string(export->out, export->capture.title);
	fputs(",\n\"exporter\":", export->out);
	json_string(export->out, "bourdon");
	fputs(",\n", export->out);
	write_frames(&scope);
	result = write_profiles(&scope, &active);
	fprintf(export->out, "\"activeProfileIndex\":%" PRIu32 "}\n", active);
	return result;
}

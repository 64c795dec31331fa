/* SPDX-License-Identifier: GPL-2.0-only */
/* export: writes a capture in a format that another program reads. */
#include "report/export/export.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/base/hash_index.h"
#include "common/system/log.h"
#include "common/text/escape.h"
#include "report/context/output.h"
#include "report/context/subcommand.h"
#include "report/model/judged.h"
#include "report/model/query.h"
#include "report/text/time_text.h"

#include <string.h>

#define MS 1000000LL

static const struct export_format formats[] = {
	{ "firefox", export_firefox, false, false },
	{ "pprof", export_pprof, false, false },
	{ "perf-script", export_perf_script, true, false },
	{ "speedscope", export_speedscope, false, false },
	{ "perfetto", export_perfetto, false, false },
	{ "folded", export_folded, true, true },
	{ "csv", export_csv, false, false },
	{ "json", export_json, false, false },
};

const struct export_format *export_format_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	return NULL;
}

/* ---- names ---- */

/*
 * What bourdond has written is in the form that a terminal may see, and stays. Other text gets it here, once for all formats;
 * each escapes what its own syntax needs besides. Returns NULL without memory.
 */
static const char *make_plain(struct profile *profile, const char *text)
{
	size_t bytes = 4 * strlen(text) + 1; /* \xHH */
	_cleanup_free_ char *plain = malloc(bytes);

	if (!plain)
		return NULL;
	escape_terminal(text, plain, bytes);
	return strcmp(plain, text) ? profile_keep(profile, plain) : text;
}

/* Returns 0 or -ENOMEM. */
static int make_names_plain(struct profile *profile)
{
	uint32_t texts = profile->texts.count; /* more are added meanwhile, which are plain */
	bool whole = true;

	for (uint32_t i = 0; i < texts && whole; i++) {
		const char *plain = make_plain(profile, profile->texts.texts[i]);

		whole = plain != NULL;
		if (whole)
			profile->texts.texts[i] = plain;
	}
#define MAKE_PLAIN(text) (whole = whole && (!(text) || ((text) = make_plain(profile, (text)))))
	for (uint32_t i = 0; i < profile->processes_count; i++) {
		struct profile_process *process = &profile->processes[i];

		MAKE_PLAIN(process->exe);
		MAKE_PLAIN(process->cgroup);
		MAKE_PLAIN(process->unit);
	}
	for (uint32_t i = 0; i < profile->modules_count; i++) {
		struct profile_module *module = &profile->modules[i];

		MAKE_PLAIN(module->path);
		MAKE_PLAIN(module->kind);
		MAKE_PLAIN(module->build_id);
	}
	for (uint32_t i = 0; i < profile->frames_count; i++)
		MAKE_PLAIN(profile->frames[i].file);
#undef MAKE_PLAIN
	return whole ? 0 : -ENOMEM;
}

const char *export_keep_safe(struct profile *profile, const char *text, const char *unsafe)
{
	_cleanup_free_ char *safe = malloc(4 * strlen(text) + 1);
	char *to = safe;

	if (!safe)
		return NULL;
	for (; *text; text++)
		if (strchr(unsafe, *text))
			to += sprintf(to, "\\x%02x", (unsigned char)*text);
		else
			*to++ = *text;
	*to = '\0';
	return profile_keep(profile, safe);
}

const char *export_comm(const struct profile *profile, uint32_t process)
{
	const struct profile_process *there = &profile->processes[process];

	return there->is_known ? profile_text(profile, there->comm) : "?";
}

const char *export_leaf(const struct profile *profile, const struct profile_sample *sample)
{
	struct profile_walk walk = profile_walk_of(profile, &profile->stacks[sample->stack]);
	const struct profile_frame *leaf = profile_walk_next(&walk);

	return leaf ? profile_text(profile, leaf->function) : "no stack";
}

const char *export_wait_name(const char *stall)
{
	static const struct {
		const char *stall, *name;
	} names[] = {
		{ "none", "waiting" },
		{ "cpu", "queued for a CPU" },
		{ "memory", "memory stall" },
		{ "io", "io stall" },
		{ "memory+io", "memory and io stall" },
		{ "memory+cpu", "memory stall, queued for a CPU" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i].stall, stall))
			return names[i].name;
	return stall;
}

void export_times(const struct export *export, const struct profile_sample *sample)
{
	const struct profile *profile = export->profile;
	FILE *out = export->out;

	for (uint32_t i = 0; i < sample->times_count; i++) {
		const struct stored_time *time = &profile->times.times[sample->first_time + i];

		fprintf(out, "%s[%lld", i ? "," : "[", (long long)time->begin_ms);
		if (sample->kind == profile->off_cpu)
			fprintf(out, ",%lld", (long long)time->end_ms);
		if (time->cpu < 0)
			fputs(",null]", out);
		else
			fprintf(out, ",%lld]", (long long)time->cpu);
	}
	if (sample->times_count)
		fputc(']', out);
}

/* ---- functions ---- */

struct wanted_function {
	const struct export_functions *functions;
	struct export_function function;
};

static bool is_function(const void *user, uint32_t position)
{
	const struct wanted_function *wanted = user;
	const struct export_function *there = &wanted->functions->functions[position];

	return there->name == wanted->function.name && there->module == wanted->function.module;
}

static int find_function(const struct profile_frame *frame, struct export_functions *functions,
			 struct hash_index *index, uint32_t *ret_function)
{
	struct wanted_function wanted = { functions, { frame->function, frame->module, frame->file } };
	uint32_t hash = hash_number_and_bytes((uint64_t)frame->function << 32 | frame->module, NULL, 0);
	uint32_t found = hash_index_find(index, hash, is_function, &wanted);

	if (found == HASH_INDEX_NONE) {
		if (array_make_room(functions->functions, functions->count, functions->room, 1U) ||
		    hash_index_add(index, hash, functions->count))
			return -ENOMEM;
		found = functions->count++;
		functions->functions[found] = wanted.function;
	}
	if (!functions->functions[found].file)
		functions->functions[found].file = frame->file;
	*ret_function = found;
	return 0;
}

int export_functions_find(const struct profile *profile, struct export_functions *ret_functions)
{
	struct export_functions functions = { .of_frame = calloc(profile->frames_count + 1UL,
								 sizeof(*functions.of_frame)) };
	struct hash_index index = { 0 };
	int result = functions.of_frame ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < profile->frames_count && !result; i++) {
		functions.of_frame[i] = PROFILE_NONE;
		if (profile->frames[i].module != PROFILE_NONE)
			result = find_function(&profile->frames[i], &functions, &index,
					       &functions.of_frame[i]);
	}
	hash_index_free(&index);
	if (result < 0)
		export_functions_free(&functions);
	else
		*ret_functions = functions;
	return result;
}

void export_functions_free(struct export_functions *functions)
{
	free(functions->functions);
	free(functions->of_frame);
	*functions = (struct export_functions){ 0 };
}

/* ---- the capture ---- */

/* Leaves the samples that were asked for. */
static void filter_samples(struct profile *profile, const struct sample_choice *samples)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < profile->samples_count; i++) {
		const struct profile_sample sample = profile->samples[i];

		if (sample_is_wanted(profile, &sample, samples))
			profile->samples[kept++] = sample;
	}
	profile->samples_count = kept;
}

/* The text in the profile's keeping; NULL without memory. */
static const char *keep_plain(struct profile *profile, const char *text)
{
	const char *plain = make_plain(profile, text);

	return plain ? profile_keep(profile, plain) : NULL;
}

const char *export_keep_column(struct profile *profile, const struct query *query, const char *column)
{
	return keep_plain(profile, query_text(query, column));
}

int64_t export_ms(const struct export_capture *capture, int64_t at)
{
	int64_t ns, ms;

	if (__builtin_sub_overflow(at, capture->triggered_at, &ns))
		return 0;
	ms = ns / MS - (ns % MS < 0);
	return ms < -EXPORT_MS_MOST ? -EXPORT_MS_MOST : ms > EXPORT_MS_MOST ? EXPORT_MS_MOST : ms;
}

static int make_title(struct profile *profile, struct export_capture *capture)
{
	_cleanup_free_ char *title = NULL;
	char when[TIME_TEXT_BYTES];

	time_text_write(capture->triggered_at, when);
	if (asprintf(&title, "capture %lld: %s%s%s%s%s%s, %s, %s", (long long)capture->capture_id,
		     *capture->rule ? "rule " : "asked for by hand", capture->rule,
		     *capture->fired ? ", " : "", capture->fired, *capture->kind ? " " : "", capture->kind,
		     when, capture->hostname) < 0)
		return -ENOMEM;
	capture->title = profile_keep(profile, title);
	return capture->title ? 0 : -ENOMEM;
}

static int read_capture(struct export *export, int64_t capture_id)
{
	_cleanup_query_ struct query query = query_begin(
		export->database,
		"SELECT c.*, iif(c.trigger_mode IN ('kill', 'latency'), c.trigger_mode, c.resource) AS fired, r.hostname, r.kernel, r.version, r.cpus FROM capture c LEFT JOIN run r USING(run_id) "
		"WHERE c.capture_id = ?1",
		capture_id, 0);
	struct export_capture *capture = &export->capture;
	struct profile *profile = export->profile;
	char headline[VERDICT_TEXT_BYTES];
	int result;

	if (!query_next(&query))
		return -EIO; /* subcommand_choose() has seen it */
	result = judged_headline(export->database, capture_id, headline);
	if (result < 0)
		return result;
	*capture = (struct export_capture){
		.capture_id = capture_id,
		.triggered_at = query_number(&query, "triggered_at"),
		.began_at = query_number(&query, "began_at"),
		.ended_at = query_number(&query, "ended_at"),
		.hz = query_number(&query, "hz"),
		.cpus = query_number(&query, "cpus"),
		.state = export_keep_column(profile, &query, "state"),
		.rule = export_keep_column(profile, &query, "rule"),
		.fired = export_keep_column(profile, &query, "fired"),
		.kind = export_keep_column(profile, &query, "kind"),
		.cgroup = export_keep_column(profile, &query, "cgroup"),
		.verdict = keep_plain(profile, headline),
		.note = export_keep_column(profile, &query, "note"),
		.hostname = export_keep_column(profile, &query, "hostname"),
		.kernel = export_keep_column(profile, &query, "kernel"),
		.version = export_keep_column(profile, &query, "version"),
	};
	if (query_is_null(&query, "ended_at")) /* it is still recorded */
		capture->ended_at = capture->triggered_at;
	capture->period_ns = capture->hz > 0 ? 1000000000 / capture->hz : 0;
	capture->from_ms = export_ms(capture, capture->began_at);
	capture->to_ms = export_ms(capture, capture->ended_at);
	if (!capture->state || !capture->rule || !capture->fired || !capture->kind || !capture->cgroup ||
	    !capture->verdict || !capture->note || !capture->hostname || !capture->kernel ||
	    !capture->version)
		return -ENOMEM;
	return make_title(profile, capture);
}

/* Leaves out of the choice what need not be looked at, because all samples that are loaded have it. Returns as profile_load(). */
static int load_samples(struct report *report, const struct export_format *format,
			struct sample_choice *samples, struct profile *ret_profile)
{
	enum profile_of of = PROFILE_OF_ALL;

	if (format->is_sums && samples->role && !strcmp(samples->role, "target")) {
		of = PROFILE_OF_TARGETS;
		samples->role = NULL;
	}
	return profile_load(report->database, report->capture_id, of, ret_profile);
}

static int write_export(struct export *export, const struct export_format *format, int64_t capture_id)
{
	int result = make_names_plain(export->profile);

	if (!result && !format->is_sums)
		result = read_capture(export, capture_id);
	if (result < 0)
		return result;
	filter_samples(export->profile, export->samples);
	return format->write(export);
}

/* ---- the subcommand ---- */

struct export_words {
	struct shared_words shared;
	struct sample_words samples;
	const char *format;
};

static const struct command_option options[] = {
	{ "db", "FILE", DB_HELP, SHARED(db) },
	{ "o", "FILE", OUTPUT_HELP, SHARED(output) },
	{ "format", "FORMAT", ONE_OF("the format to write: ", EXPORT_FORMATS),
	  .at = offsetof(struct export_words, format) },
	OPTIONS_OF_SAMPLES(struct export_words, samples, "both; folded, perf-script: oncpu", "all"),
};

static int export_main(struct report *report, int count, char **arguments)
{
	struct export_words words = { 0 };
	_cleanup_profile_ struct profile profile = { 0 };
	struct sample_choice samples;
	struct export export = { .database = report->database, .samples = &samples, .profile = &profile };
	const struct export_format *format;
	int status = subcommand_parse(report, &export_subcommand, count, arguments, &words), result;

	if (status == OPTIONS_RUN && !words.format)
		return log_failed(EXIT_USAGE, "'export' needs --format, one of " EXPORT_FORMATS
					      ": see 'bourdon export --help'");
	if (status == OPTIONS_RUN)
		status = output_open_capture(report, words.shared.output);
	if (status != OPTIONS_RUN)
		return status;
	format = export_format_find(words.format);
	samples = sample_choice_of(&words.samples);
	if (samples.on_cpu && format->counts_alike)
		samples.off_cpu = false;
	if (load_samples(report, format, &samples, &profile) < 0)
		return status;
	export.out = report->out;
	result = write_export(&export, format, report->capture_id);
	if (result < 0)
		profile_fail(report->database, result);
	return status;
}

SUBCOMMAND(
	export, "export", "[ID]", "write a capture in a format that another program reads",
	"Writes capture ID in a format of another program: firefox (profiler.firefox.com), pprof, perf-script,\n"
	"speedscope, perfetto (ui.perfetto.dev), folded, csv or json. docs/EXPORTS.md says how to open each, and\n"
	"what it cannot hold. --kind, --stall and --role choose samples. Without ID: the newest complete capture.",
	"bourdon export 12 --format firefox -o 12.json", .takes_id = true);

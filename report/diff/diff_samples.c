/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/diff/diff_samples.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/kernel/cgroup_parts.h"
#include "common/system/log.h"
#include "report/model/query.h"
#include "report/model/sums.h"

#include <string.h>

#define SECOND_NS 1000000000L
/* So many baselines, the newest before the other side. */
#define BASELINES_MOST 6
#define SAMPLES_MOST (1U << 22)
#define PATH_MOST (1U << 24)

void diff_samples_free(struct diff_samples *samples)
{
	profile_free(&samples->texts);
	free(samples->captures);
	free(samples->functions);
	free(samples->stacks);
	free(samples->path);
	free(samples->samples);
	hash_index_free(&samples->functions_index);
	hash_index_free(&samples->hashes_index);
	*samples = (struct diff_samples){ 0 };
}

/* ---- which captures ---- */

static const char capture_sql[] =
	"SELECT c.capture_id, c.state, c.trigger_mode, c.rule, c.cgroup, c.triggered_at, c.hz, c.history_ns, "
	"ifnull(c.offcpu_history_ns, 0) AS offcpu_history_ns, max(ifnull(c.ended_at, c.triggered_at) - c.triggered_at, 0) "
	"AS after_ns, r.hostname, (SELECT max(q.percent) FROM data_quality q WHERE q.capture_id = c.capture_id) AS lost "
	"FROM capture c LEFT JOIN run r USING(run_id) WHERE c.capture_id = ?1";

/* NULL for NULL, and without memory. */
static const char *keep(struct diff_samples *samples, const struct query *query, const char *column)
{
	return query_is_null(query, column) ? NULL : profile_keep(&samples->texts, query_text(query, column));
}

/* A hostile database may have any number. */
static int64_t span_of(const struct query *query, const char *column)
{
	int64_t ns = query_number(query, column), most = 100 * 3600 * SECOND_NS;

	return ns < 0 ? 0 : ns > most ? most : ns;
}

/* Adds the capture on which the query stands. */
static int add_capture(struct diff_samples *samples, const struct query *query, enum diff_side side,
		       const struct diff_choice *choice, enum diff_part part)
{
	struct diff_capture capture = {
		.side = side,
		.capture_id = query_number(query, "capture_id"),
		.triggered_at = query_number(query, "triggered_at"),
		.from_ns = -span_of(query, choice->off_cpu ? "offcpu_history_ns" : "history_ns"),
		.to_ns = span_of(query, "after_ns"),
		.hz = query_number(query, "hz"),
		.is_baseline = !strcmp(query_text(query, "trigger_mode"), "baseline"),
		.is_interrupted = !strcmp(query_text(query, "state"), "interrupted"),
		.lost_percent = query_real(query, "lost"),
		.rule = keep(samples, query, "rule"),
		.cgroup = keep(samples, query, "cgroup"),
		.host = keep(samples, query, "hostname"),
	};

	/* a baseline is history alone: it is whole whatever part is wanted of the other captures */
	if (part == DIFF_BEFORE)
		capture.to_ns = 0;
	if (part == DIFF_AFTER && !capture.is_baseline)
		capture.from_ns = 0;
	capture.hz = capture.hz < 1 ? 1 : capture.hz;
	if (capture.from_ns >= capture.to_ns)
		return log_failed(-ENODATA, "capture %lld has nothing %s its trigger%s",
				  (long long)capture.capture_id,
				  part == DIFF_BEFORE  ? "before"
				  : part == DIFF_AFTER ? "after"
						       : "around",
				  part == DIFF_AFTER ? ": compare ID:all" : "");
	if (array_make_room(samples->captures, samples->captures_count, samples->captures_room, 1U))
		return -ENOMEM;
	samples->captures[samples->captures_count++] = capture;
	return 0;
}

/* The newest complete capture that is no baseline; 0: none. */
static int64_t newest(struct database *database)
{
	_cleanup_query_ struct query query = query_begin(
		database,
		"SELECT capture_id FROM capture WHERE state = 'complete' AND trigger_mode <> 'baseline' "
		"ORDER BY triggered_at DESC, capture_id DESC LIMIT 1",
		0, 0);

	return query_next(&query) ? query_number(&query, "capture_id") : 0;
}

static int choose_capture(struct database *database, struct diff_samples *samples, enum diff_side side,
			  const struct diff_choice *choice)
{
	const struct diff_operand *operand = side == DIFF_A ? &choice->a : &choice->b;
	int64_t id = operand->capture_id < 0 ? newest(database) : operand->capture_id;
	_cleanup_query_ struct query query = query_begin(database, capture_sql, id, 0);

	if (query_next(&query) && query_number(&query, "capture_id") == id)
		return add_capture(samples, &query, side, choice, operand->part);
	if (database->failed)
		return -EIO;
	if (operand->capture_id < 0)
		log_error("no complete capture in '%s' yet: 'bourdon list' shows all captures",
			  database->path);
	else
		log_error("no capture %lld in '%s': 'bourdon list' shows all captures", (long long)id,
			  database->path);
	return -ENOENT;
}

/* The baselines of the rule of B, before it. */
static int choose_baselines(struct database *database, struct diff_samples *samples,
			    const struct diff_choice *choice)
{
	const struct diff_capture *b = &samples->captures[0];
	const char *rule = b->rule;
	long long before_id = b->capture_id;
	char *sql;
	int result = 0;

	if (!rule)
		return log_failed(
			-ENOENT,
			"capture %lld is of no rule, and only rules have baselines: compare it with another capture",
			before_id);
	sql = sqlite3_mprintf(
		"SELECT capture_id FROM capture WHERE trigger_mode = 'baseline' AND state = 'complete' AND "
		"rule = %Q AND triggered_at < ?1 ORDER BY triggered_at DESC, capture_id DESC LIMIT ?2",
		rule);
	if (!sql)
		return -ENOMEM;
	{
		_cleanup_query_ struct query ids = query_begin(database, sql, b->triggered_at,
							       BASELINES_MOST),
					     query = query_begin(database, capture_sql, 0, 0);

		while (!result && query_next(&ids))
			if (query_find(&query, query_number(&ids, "capture_id")))
				result = add_capture(samples, &query, DIFF_A, choice, DIFF_ALL);
	}
	sqlite3_free(sql);
	if (database->failed)
		return -EIO;
	if (!result && samples->captures_count == 1) {
		log_error(
			"no baseline of the rule of capture %lld before it in '%s': bourdond takes one while the rule is calm, as often as [baseline] every says",
			before_id, database->path);
		result = -ENOENT;
	}
	return result;
}

/* ---- functions ---- */

/* Addresses without a name are one function of their file: they are others in each build. */
static int intern_function(struct diff_samples *samples, const struct profile *profile,
			   const struct profile_frame *frame, uint32_t *ret_function)
{
	const struct profile_module *module = &profile->modules[frame->module];
	const char *slash = strrchr(module->path, '/');
	struct diff_function function = { .is_kernel = module->is_kernel, .is_resolved = frame->is_resolved };
	int result = profile_intern(
		&samples->texts, frame->is_resolved ? profile_text(profile, frame->function) : "[unresolved]",
		&function.name);

	if (!result)
		result = profile_intern(&samples->texts, slash && slash[1] ? slash + 1 : module->path,
					&function.module);
	if (result < 0)
		return result;
	result = hash_index_intern(&samples->functions_index, HASH_KEYS_BEFORE(samples->functions, is_kernel),
				   samples->functions, samples->functions_count, samples->functions_room,
				   &function, ret_function);
	if (result > 0)
		samples->functions[*ret_function] = function;
	return result < 0 ? result : 0;
}

/* ---- stacks ---- */

/* Appends the functions of a stack to `path`. */
static int add_path(struct diff_samples *samples, const struct profile *profile,
		    const struct profile_stack *stack, const uint32_t *functions,
		    struct diff_stack *ret_stack)
{
	struct profile_walk walk = profile_walk_of(profile, stack);
	const struct profile_frame *frame;
	int result = 0;

	ret_stack->first = samples->path_count;
	ret_stack->unresolved = 0;
	while (!result && (frame = profile_walk_next(&walk))) {
		uint32_t function = functions[frame - profile->frames];

		result =
			samples->path_count == PATH_MOST
				? -E2BIG
				: array_make_room(samples->path, samples->path_count, samples->path_room, 1U);
		if (result < 0)
			break;
		ret_stack->unresolved += !samples->functions[function].is_resolved;
		samples->path[samples->path_count++] = function;
	}
	ret_stack->count = samples->path_count - ret_stack->first;
	return result;
}

/* `digest` may be NULL. Finds the stack by it, or adds it. */
static int intern_stack(struct diff_samples *samples, const struct profile *profile,
			const struct profile_stack *stack, const uint32_t *functions, const uint8_t *digest,
			uint32_t *ret_stack)
{
	uint32_t found =
		digest ? hash_index_find_key(&samples->hashes_index, HASH_KEYS(samples->stacks, hash), digest)
		       : HASH_INDEX_NONE;
	struct diff_stack added = { .has_hash = digest != NULL };
	int result = add_path(samples, profile, stack, functions, &added);

	if (result < 0)
		return result;
	if (found != HASH_INDEX_NONE) {
		struct diff_stack *there = &samples->stacks[found];

		if (added.unresolved < there->unresolved) {
			there->first = added.first;
			there->count = added.count;
			there->unresolved = added.unresolved;
		} else {
			samples->path_count = added.first;
		}
		*ret_stack = found;
		return 0;
	}
	if (array_make_room(samples->stacks, samples->stacks_count, samples->stacks_room, 1U))
		return -ENOMEM;
	if (digest)
		memcpy(added.hash, digest, DIFF_HASH_BYTES);
	samples->stacks[samples->stacks_count] = added;
	if (digest && hash_index_add_key(&samples->hashes_index, HASH_KEYS(samples->stacks, hash),
					 samples->stacks_count))
		return -ENOMEM;
	*ret_stack = samples->stacks_count++;
	return 0;
}

/* The positions here of the profile's frames, into an array that the caller frees. */
static int intern_functions(struct diff_samples *samples, const struct profile *profile,
			    uint32_t **ret_functions)
{
	_cleanup_free_ uint32_t *functions = calloc(profile->frames_count + 1UL, sizeof(*functions));
	int result = functions ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < profile->frames_count && !result; i++)
		if (profile->frames[i].module != PROFILE_NONE)
			result = intern_function(samples, profile, &profile->frames[i], &functions[i]);
	if (!result)
		*ret_functions = TAKE_PTR(functions);
	return result;
}

/* The same of its stacks. */
static int intern_stacks(struct diff_samples *samples, struct database *database,
			 const struct profile *profile, uint32_t **ret_stacks)
{
	_cleanup_query_ struct query query =
		query_begin(database, "SELECT hash FROM stack WHERE stack_id = ?1", 0, 0);
	_cleanup_free_ uint32_t *stacks = calloc(profile->stacks_count + 1UL, sizeof(*stacks)),
				*functions = NULL;
	int result = stacks ? intern_functions(samples, profile, &functions) : -ENOMEM;

	for (uint32_t i = 0; i < profile->stacks_count && !result; i++) {
		const uint8_t *digest = NULL;

		if (query_find(&query, profile->stacks[i].stack_id) &&
		    sqlite3_column_type(query.statement, 0) == SQLITE_BLOB &&
		    sqlite3_column_bytes(query.statement, 0) == DIFF_HASH_BYTES)
			digest = sqlite3_column_blob(query.statement, 0);
		result = intern_stack(samples, profile, &profile->stacks[i], functions, digest, &stacks[i]);
	}
	if (!result)
		*ret_stacks = TAKE_PTR(stacks);
	return result;
}

/* ---- samples ---- */

struct selection {
	const struct diff_choice *choice;
	uint32_t capture;
	const char *cgroup; /* targets elsewhere are others; NULL: there are none elsewhere */
	bool of_targets;    /* the profile's samples are of targets */
};

static bool is_selected(const struct selection *selection, const struct diff_samples *samples,
			const struct profile *profile, const struct profile_sample *sample)
{
	const struct diff_capture *capture = &samples->captures[selection->capture];
	const struct profile_process *process = profile_process_of(profile, sample);
	const struct diff_choice *choice = selection->choice;
	bool is_inside = !selection->cgroup ||
			 (process->cgroup && cgroup_is_within(process->cgroup, selection->cgroup));

	if (sample->kind != (choice->off_cpu ? profile->off_cpu : profile->on_cpu) ||
	    sample->second < capture->from_ns / SECOND_NS - 1 || (!capture->from_ns && sample->second < 0) ||
	    (!capture->to_ns && sample->second >= 0) || sample->samples < 0 || sample->weight_ns < 0)
		return false;
	if (choice->stall && !sums_stalls_on(profile_text(profile, sample->stall), choice->stall))
		return false;
	return !selection->of_targets || (choice->roles & (is_inside ? DIFF_TARGETS : DIFF_OTHERS));
}

static int add_samples(struct diff_samples *samples, const struct profile *profile, const uint32_t *stacks,
		       const struct selection *selection)
{
	int result = 0;

	for (uint32_t i = 0; i < profile->samples_count && !result; i++) {
		const struct profile_sample *sample = &profile->samples[i];
		const struct profile_process *process = profile_process_of(profile, sample);
		struct diff_sample added = { .stack = stacks[sample->stack],
					     .capture = selection->capture,
					     .second = sample->second,
					     .samples = sample->samples,
					     .weight_ns = sample->weight_ns };

		if (!is_selected(selection, samples, profile, sample))
			continue;
		result = profile_intern(&samples->texts,
					process->is_known ? profile_text(profile, process->comm) : "",
					&added.comm);
		if (!result && samples->samples_count == SAMPLES_MOST)
			result = -E2BIG;
		if (!result)
			result = array_make_room(samples->samples, samples->samples_count,
						 samples->samples_room, 1U);
		if (!result)
			samples->samples[samples->samples_count++] = added;
	}
	return result;
}

static int load_profile(struct diff_samples *samples, struct database *database, enum profile_of of,
			const struct selection *selection)
{
	_cleanup_profile_ struct profile profile = { 0 };
	_cleanup_free_ uint32_t *stacks = NULL;
	int result = profile_load(database, samples->captures[selection->capture].capture_id, of, &profile);

	if (!result)
		result = intern_stacks(samples, database, &profile, &stacks);
	if (!result)
		result = add_samples(samples, &profile, stacks, selection);
	if (result < 0)
		profile_fail(database, result);
	return result;
}

static int load_capture(struct diff_samples *samples, struct database *database, uint32_t capture,
			const struct diff_choice *choice)
{
	struct selection selection = { .choice = choice, .capture = capture };
	unsigned int roles = choice->roles;
	int result = 0;

	/* B is first. Its cgroup fired: what a baseline of the whole rule has elsewhere is others', there and here */
	if (samples->captures[capture].is_baseline && !samples->captures[0].is_baseline)
		selection.cgroup = samples->captures[0].cgroup;
	selection.of_targets = true;
	if (roles & DIFF_TARGETS || (roles & DIFF_OTHERS && selection.cgroup))
		result = load_profile(samples, database, PROFILE_OF_TARGETS, &selection);
	selection.of_targets = false;
	if (!result && roles & DIFF_OTHERS)
		result = load_profile(samples, database, PROFILE_OF_BYSTANDERS, &selection);
	if (!result && roles & DIFF_KERNEL)
		result = load_profile(samples, database, PROFILE_OF_KERNEL, &selection);
	return result;
}

int diff_samples_load(struct database *base, struct database *database, const struct diff_choice *choice,
		      struct diff_samples *samples)
{
	int result = choose_capture(database, samples, DIFF_B, choice);

	if (!result)
		result = choice->a.is_baseline ? choose_baselines(base, samples, choice)
					       : choose_capture(base, samples, DIFF_A, choice);
	for (uint32_t i = 0; i < samples->captures_count && !result; i++)
		result = load_capture(samples, samples->captures[i].side == DIFF_A ? base : database, i,
				      choice);
	return result;
}

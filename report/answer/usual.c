/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/answer/usual.h"

#include "common/text/plural.h"
#include "report/model/sums.h"
#include "report/text/time_text.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#define WEEK_NS (7 * USUAL_REACH_NS)

/* Captures that are counted, and those of them whose stacks are looked at: their samples are read for that, so few are. */
#define COUNTED_MOST 2000
#define LOOKED_MOST 8
#define STACKS_LOOKED_MOST 65536
#define HOTTEST 3

/*
 * The week before, by the index of times: those of the same rule, on the same resource of the same host, the newest first.
 * The next row's are the same ones.
 */
#define SAME_RULE                                                                                                                                                  \
	"FROM capture t JOIN run tr ON tr.run_id = t.run_id JOIN capture o ON o.triggered_at >= t.triggered_at - ?2 "                                              \
	"AND o.triggered_at < t.triggered_at AND o.rule = t.rule AND o.resource IS t.resource AND o.trigger_mode <> 'baseline' JOIN run r ON r.run_id = o.run_id " \
	"AND r.hostname = tr.hostname WHERE t.capture_id = ?1 "

static const char count_sql[] =
	"SELECT count(*) FILTER (WHERE is_comparable) AS captures, count(*) FILTER (WHERE is_comparable AND is_same) AS same_verdict, "
	"count(*) FILTER (WHERE NOT is_comparable) AS other_version FROM (SELECT o.verdict IS ?3 AS is_same, "
	"o.verdict_version IS ?4 AS is_comparable " SAME_RULE
	"AND o.verdict IS NOT NULL ORDER BY o.triggered_at DESC LIMIT 2000)";

static const char same_verdict_sql[] =
	"SELECT o.capture_id, o.stack_count " SAME_RULE
	"AND o.state = 'complete' AND o.verdict IS ?3 AND o.verdict_version IS ?4 ORDER BY o.triggered_at DESC LIMIT 8";

static_assert(COUNTED_MOST == 2000 && LOOKED_MOST == 8, "the statements have these numbers");

/* Verdicts by other versions of the rules say nothing about this one: the same rows may have another one by now. */
static struct query begin_week(struct answer *answer, const char *sql)
{
	struct query query = query_begin(answer->report->database, sql, answer->report->capture_id, WEEK_NS);

	query_bind_text(&query, 3,
			answer->has_verdict ? verdict_kind_names[answer->judged.verdict.kind] : NULL);
	if (query.statement)
		sqlite3_bind_int(query.statement, 4, VERDICT_VERSION);
	return query;
}

/* How far back the database reaches. The index of times has it. */
static const char reach_sql[] =
	"SELECT (SELECT triggered_at FROM capture WHERE capture_id = ?1) - min(triggered_at) AS ns FROM capture";

static const char baseline_sql[] =
	"SELECT o.capture_id FROM capture t JOIN run tr ON tr.run_id = t.run_id JOIN capture o ON o.triggered_at >= t.triggered_at - ?2 "
	"AND o.triggered_at <= t.triggered_at AND o.rule = t.rule AND o.trigger_mode = 'baseline' AND o.state = 'complete' "
	"AND o.capture_id <> t.capture_id JOIN run r ON r.run_id = o.run_id AND r.hostname = tr.hostname WHERE t.capture_id = ?1 "
	"ORDER BY o.triggered_at DESC LIMIT 1";

/* The stacks with most samples of targets, of others, or with most waiting of targets. A stack's rows are together. */
#define HOTTEST_OF(WHAT, CLASSES)                                                                            \
	"SELECT n.hash FROM (SELECT stack_id, sum(" WHAT                                                     \
	") AS most FROM sample_row WHERE capture_id = ?1 AND class IN "                                      \
	"(SELECT class FROM sample_class WHERE " CLASSES                                                     \
	") GROUP BY stack_id ORDER BY most DESC, stack_id LIMIT 3) h "                                       \
	"JOIN stack_node n ON n.node_id = h.stack_id"

static_assert(HOTTEST == 3, "the statements have this number");

static const char *hottest_sql(const struct answer *answer)
{
	if (answer->place_waits)
		return !strcmp(answer->place_waits, "io")
			       ? HOTTEST_OF(
					 "ifnull(weight_ns, 0)",
					 "kind = 'off-cpu' AND role = 'target' AND '+' || stall || '+' LIKE '%+io+%'")
			       : HOTTEST_OF(
					 "ifnull(weight_ns, 0)",
					 "kind = 'off-cpu' AND role = 'target' AND '+' || stall || '+' LIKE '%+memory+%'");
	if (answer->place_is_others)
		return HOTTEST_OF("samples", "kind = 'on-cpu' AND role <> 'target'");
	return HOTTEST_OF("samples", "kind = 'on-cpu' AND role = 'target'");
}

int64_t usual_baseline(struct database *database, int64_t capture_id)
{
	_cleanup_query_ struct query query = query_begin(database, baseline_sql, capture_id, WEEK_NS);

	return query_next(&query) ? query_number(&query, "capture_id") : 0;
}

/* ---- the same code ---- */

#define HASH_BYTES 16

struct hashes {
	unsigned char of[CODE_PLACE_STACKS][HASH_BYTES];
	uint32_t count;
};

static bool read_hash(const struct query *query, unsigned char into[HASH_BYTES])
{
	int column = 0;

	if (sqlite3_column_bytes(query->statement, column) != HASH_BYTES)
		return false;
	memcpy(into, sqlite3_column_blob(query->statement, column), HASH_BYTES);
	return true;
}

/* The portable hashes of the stacks of the answer. */
static struct hashes hashes_of(struct answer *answer)
{
	_cleanup_query_ struct query query =
		query_begin(answer->report->database, "SELECT hash FROM stack_node WHERE node_id = ?1", 0, 0);
	struct hashes hashes = { 0 };

	for (uint32_t i = 0; i < answer->place.stacks_count; i++)
		if (query_find(&query, answer->place.stack_ids[i]) &&
		    read_hash(&query, hashes.of[hashes.count]))
			hashes.count++;
	return hashes;
}

/* Whether one of the hottest stacks of that capture is one of these. */
static bool is_there(struct query *hottest, int64_t capture_id, const struct hashes *hashes)
{
	unsigned char hash[HASH_BYTES];

	for (bool more = query_find(hottest, capture_id); more; more = query_next(hottest))
		for (uint32_t i = 0; i < hashes->count && read_hash(hottest, hash); i++)
			if (!memcmp(hash, hashes->of[i], HASH_BYTES))
				return true;
	return false;
}

struct same_code {
	int64_t looked, same; /* captures; looked 0: not known */
};

static struct same_code find_same_code(struct answer *answer)
{
	struct database *database = answer->report->database;
	struct same_code found = { 0 };
	struct hashes hashes = { 0 };
	int64_t stacks = 0;

	if (!answer->place.stacks_count || (answer->place_waits && !*answer->place_waits))
		return found;
	hashes = hashes_of(answer);
	if (!hashes.count)
		return found;
	_cleanup_query_ struct query captures = begin_week(answer, same_verdict_sql);
	_cleanup_query_ struct query hottest = query_begin(database, hottest_sql(answer), 0, 0);

	for (; stacks < STACKS_LOOKED_MOST && query_next(&captures); found.looked++) {
		found.same += is_there(&hottest, query_number(&captures, "capture_id"), &hashes);
		stacks = add_saturated(stacks, query_number(&captures, "stack_count"));
	}
	return found;
}

/* ---- the baseline ---- */

/* Of the targets: what they ran and waited for the resource each second, and the share of the function. */
struct pace {
	double ran, waited, function_percent;
};

static struct pace pace_of(const struct profile *profile, const char *resource, const char *function,
			   double span_ns)
{
	struct pace pace = { 0 };
	double samples = 0, within = 0;

	for (uint32_t i = 0; i < profile->samples_count; i++) {
		const struct profile_sample *sample = &profile->samples[i];
		struct profile_walk walk = profile_walk_of(profile, &profile->stacks[sample->stack]);
		const struct profile_frame *leaf = profile_walk_next(&walk);

		if (sample->kind == profile->on_cpu) {
			pace.ran += (double)sample->weight_ns;
			samples += (double)sample->samples;
			if (leaf && !strcmp(profile_text(profile, leaf->function), function))
				within += (double)sample->samples;
		} else if (sums_stalls_on(profile_text(profile, sample->stall), resource)) {
			pace.waited += (double)sample->weight_ns;
		}
	}
	pace.ran = span_ns > 0 ? pace.ran / span_ns : 0;
	pace.waited = span_ns > 0 ? pace.waited / span_ns : 0;
	pace.function_percent = samples > 0 ? 100 * within / samples : 0;
	return pace;
}

static double span_of(struct database *database, int64_t capture_id)
{
	_cleanup_query_ struct query query = query_begin(
		database,
		"SELECT history_ns + ifnull(max(ended_at - triggered_at, 0), 0) AS ns FROM capture WHERE capture_id = ?1",
		capture_id, 0);

	return query_next(&query) ? query_real(&query, "ns") : 0;
}

struct comparison {
	int64_t baseline; /* 0: there is none */
	struct pace then, now;
};

static int compare(struct answer *answer, struct comparison *ret_comparison)
{
	struct database *database = answer->report->database;
	_cleanup_profile_ struct profile profile = { 0 };
	struct comparison comparison = { .baseline = usual_baseline(database, answer->report->capture_id) };
	const char *function = answer->place.function;

	*ret_comparison = comparison;
	if (!comparison.baseline)
		return database->failed ? -EIO : 0;
	if (profile_load(database, comparison.baseline, PROFILE_OF_TARGETS, &profile) < 0)
		return -EIO;
	/* a kernel function is told by its mark, which the profile does not have */
	if (!strncmp(function, "[k] ", 4))
		function += 4;
	comparison.then =
		pace_of(&profile, answer->resource, function, span_of(database, comparison.baseline));
	comparison.now = pace_of(answer->profile, answer->resource, function,
				 span_of(database, answer->report->capture_id));
	*ret_comparison = comparison;
	return 0;
}

/* ---- rows ---- */

static struct value real_or_null(bool is_known, double real)
{
	return is_known ? value_real(real) : value_text(NULL);
}

int usual_rows(struct answer *answer, struct rows *ret_rows)
{
	static const char *const names[] = {
		"reach_ns",         "captures",   "same_verdict", "other_version",
		"stacks_looked_at", "same_stack", "verdict",      "resource",
		"baseline_id",      "ran",        "ran_baseline", "waited",
		"waited_baseline",  "function",   "percent",      "percent_baseline"
	};
	struct database *database = answer->report->database;
	const char *verdict = answer->has_verdict ? verdict_kind_names[answer->judged.verdict.kind] : NULL;
	struct rows rows = rows_of(names);
	struct comparison comparison;
	struct same_code code;
	bool has_baseline, has_function;
	int result;

	*ret_rows = rows;
	if (!answer->rule || !answer->resource)
		return 0;
	_cleanup_query_ struct query reach = query_begin(database, reach_sql, answer->report->capture_id, 0);
	_cleanup_query_ struct query count = begin_week(answer, count_sql);
	if (!query_next(&reach) || !query_next(&count))
		return -EIO;
	code = find_same_code(answer);
	result = compare(answer, &comparison);
	if (result < 0 || database->failed)
		return result < 0 ? result : -EIO;
	has_baseline = comparison.baseline != 0;
	has_function = has_baseline && *answer->place.function && !answer->place_waits &&
		       !answer->place_is_others;
	result = rows_add(
		&rows, (struct value[]){ value_number(query_number(&reach, "ns")),
					 value_number(query_number(&count, "captures")),
					 value_number(query_number(&count, "same_verdict")),
					 value_number(query_number(&count, "other_version")),
					 value_number(code.looked), value_number(code.same),
					 value_text(verdict), value_text(answer->resource),
					 has_baseline ? value_number(comparison.baseline) : value_text(NULL),
					 real_or_null(has_baseline, comparison.now.ran),
					 real_or_null(has_baseline, comparison.then.ran),
					 real_or_null(has_baseline, comparison.now.waited),
					 real_or_null(has_baseline, comparison.then.waited),
					 value_text(has_function ? answer->place.function : NULL),
					 real_or_null(has_function, comparison.now.function_percent),
					 real_or_null(has_function, comparison.then.function_percent) });
	return rows_finish(result, &rows, ret_rows);
}

/* ---- text ---- */

static void print_baseline(const struct layout *layout, const struct query *query)
{
	char text[512];
	size_t used;

	used = (size_t)snprintf(text, sizeof(text),
				"the targets ran %.2f CPUs, %.2f in capture %" PRId64
				"; waited %.2f s a second, %.2f",
				query_real(query, "ran"), query_real(query, "ran_baseline"),
				query_number(query, "baseline_id"), query_real(query, "waited"),
				query_real(query, "waited_baseline"));
	if (!query_is_null(query, "function") && used < sizeof(text))
		snprintf(text + used, sizeof(text) - used, "; %s %.0f %%, %.0f %%",
			 query_text(query, "function"), query_real(query, "percent"),
			 query_real(query, "percent_baseline"));
	layout_fact(layout, "baseline", LAYOUT_PLAIN, text);
}

void usual_print_brief(const struct layout *layout, struct query *query)
{
	int64_t captures = query_number(query, "captures"), same = query_number(query, "same_verdict"),
		reach_ns = query_number(query, "reach_ns"), others = query_number(query, "other_version");
	char text[128], reach[TIME_TEXT_BYTES];

	time_text_write_duration(reach_ns < WEEK_NS ? reach_ns : WEEK_NS, reach);
	if (reach_ns <= 0)
		snprintf(text, sizeof(text), "not known: the database has no capture before this one");
	else if (reach_ns < USUAL_REACH_NS)
		snprintf(text, sizeof(text), "not known: that takes a day of history, and here is %s", reach);
	else if (!captures && others)
		snprintf(text, sizeof(text),
			 "not known: of this rule in %s only captures judged by other rules", reach);
	else if (!captures)
		snprintf(text, sizeof(text), "no: the first capture of this rule in %s", reach);
	else
		snprintf(text, sizeof(text),
			 "%" PRId64 " of %" PRId64 " %s of this rule in %s had this verdict", same, captures,
			 plural((uint64_t)captures, "capture", "captures"), reach);
	layout_fact(layout, "usual", LAYOUT_PLAIN, text);
}

void usual_print(const struct layout *layout, struct query *query)
{
	int64_t looked = query_number(query, "stacks_looked_at"), stacks = query_number(query, "same_stack");
	char text[512];

	usual_print_brief(layout, query);
	if (looked) {
		snprintf(text, sizeof(text),
			 "of the last %" PRId64 " of those, %" PRId64 " %s this stack among the hottest %d",
			 looked, stacks, plural((uint64_t)stacks, "has", "have"), HOTTEST);
		layout_fact(layout, "same code", LAYOUT_PLAIN, text);
	}
	if (!query_is_null(query, "baseline_id"))
		print_baseline(layout, query);
}

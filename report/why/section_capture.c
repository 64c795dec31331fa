/* SPDX-License-Identifier: GPL-2.0-only */
/* The sections of `why` about what happened: what fired, when, with which verdict; and who asked for a capture on demand. */
#include "report/why/section.h"

#include "common/policy/policy.h"
#include "common/text/escape.h"
#include "common/text/plural.h"
#include "report/text/column_text.h"
#include "report/text/format.h"
#include "report/text/wrap.h"

#include <string.h>

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
	snprintf(all, sizeof(all), "%s%s%s%s", column_text(query, "verdict", 24, verdict), share,
		 is_missing ? "; not examined: " : "", column_text(query, "not_examined", 128, missing));
	fputs("  verdict   ", layout->out);
	print_wrapped_on(layout, all, 12);
}

/* What fired, and the begin of the line about the capture's span. */
static void print_fired(const struct layout *layout, const struct query *query)
{
	char a[FORMAT_BYTES], b[FORMAT_BYTES], c[FORMAT_BYTES];

	if (!query_is_null(query, "latency_metric")) {
		fprintf(layout->out, "  latency   %s\n  trigger   latency, on %s%s\n",
			column_latency(query, c),
			query_is_null(query, "cgroup") ? "the whole system" : "cgroup ",
			column_text(query, "cgroup", 68, b));
		fprintf(layout->out, "  captured  %s before the trigger, ",
			column_duration(query, "history_ns", 1, a));
		return;
	}
	fprintf(layout->out, "  pressure  %s %s: ", column_text(query, "resource", 8, a),
		column_text(query, "kind", 8, b));
	fprintf(layout->out, "stalled %s in a window of %s", column_duration(query, "observed_us", 1e3, a),
		column_duration(query, "window_us", 1e3, b));
	if (query_number(query, "stall_us"))
		fprintf(layout->out, ", threshold %s", column_duration(query, "stall_us", 1e3, a));
	fprintf(layout->out, "\n  trigger   %s, on %s%s\n", column_text(query, "trigger_mode", 10, a),
		query_is_null(query, "cgroup") ? "the whole system" : "cgroup ",
		column_text(query, "cgroup", 68, b));

	fprintf(layout->out, "  captured  %s before the trigger, ",
		column_duration(query, "history_ns", 1, a));
}

static void print_capture(const struct layout *layout, struct query *query)
{
	char a[FORMAT_BYTES], b[FORMAT_BYTES], c[FORMAT_BYTES];
	bool is_baseline = !strcmp(query_text(query, "trigger_mode"), "baseline");
	bool is_kill = !strcmp(query_text(query, "trigger_mode"), "kill");
	bool fired = !query_is_null(query, "rule") && !is_baseline && !is_kill;

	fprintf(layout->out, "%s %lld (%s), %s%s, %s\n", is_baseline ? "baseline" : "capture",
		(long long)query_number(query, "capture_id"), column_text(query, "state", 16, a),
		fired || is_baseline || is_kill ? "rule " : "on demand", column_text(query, "rule", 36, b),
		column_text(query, "triggered", 20, c));
	print_remark(layout, query_text(query, "state"));
	if (fired)
		print_fired(layout, query);
	else if (is_kill)
		fprintf(layout->out, "  trigger   kill, on %s%s\n  captured  %s before the kill, ",
			query_is_null(query, "cgroup") ? "the whole system" : "cgroup ",
			column_text(query, "cgroup", 68, b), column_duration(query, "history_ns", 1, a));
	else if (is_baseline)
		fprintf(layout->out, "  captured  while the rule was calm, %s before this moment, ",
			column_duration(query, "history_ns", 1, a));
	else
		fprintf(layout->out, "  captured  %s before the request, ",
			column_duration(query, "history_ns", 1, a));
	if (query_is_null(query, "after_ns"))
		fprintf(layout->out, "no end yet");
	else
		fprintf(layout->out, "%s after it", column_duration(query, "after_ns", 1, a));
	fprintf(layout->out, ", at %lld Hz\n  samples   %lld of %s, in %s, on and off CPU\n",
		(long long)query_number(query, "hz"), (long long)query_number(query, "samples"),
		column_count(query, "processes", "process", "processes", a),
		column_count(query, "stacks", "stack", "stacks", b));
	if (!query_is_null(query, "expected_samples"))
		fprintf(layout->out, "  expected  %s on CPU, by the CPU time used; %lld %s received\n",
			column_count(query, "expected_samples", "sample", "samples", a),
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

const struct section capture_section = {
	.name = "capture",
	.shows = "what fired, when, and the verdict in full",
	.sql = "SELECT s.*, " LOSSES_OF(
		"s.capture_id") ", c.hz, c.not_examined, r.policy FROM capture_summary s JOIN capture c USING(capture_id) "
				"JOIN run r USING(run_id) "
				"WHERE c.capture_id = ?1",
	.is_object = true,
	.print = print_capture,
};

/* Of a capture on demand: who asked, and for what. */
static void print_asked(const struct layout *layout, struct query *query)
{
	char text[2 * FORMAT_BYTES], name[FORMAT_BYTES];
	bool is_named = !query_is_null(query, "asked_by");

	fprintf(layout->out, "asked for by %s%suid %lld%s\n",
		is_named ? column_text(query, "asked_by", 40, name) : "", is_named ? " (" : "",
		(long long)query_number(query, "asked_by_uid"), is_named ? ")" : "");
	fputs("  options   ", layout->out);
	print_wrapped_on(layout, escape_terminal(query_text(query, "asked_for"), text, sizeof(text)), 12);
	if (query_is_null(query, "note"))
		return;
	fputs("  note      ", layout->out);
	print_wrapped_on(layout, escape_terminal(query_text(query, "note"), text, sizeof(text)), 12);
}

const struct section asked_section = {
	.name = "asked",
	.shows = "who asked for the capture",
	.sql = "SELECT asked_by_uid, asked_by, asked_for, note FROM capture WHERE capture_id = ?1 AND "
	       "asked_by_uid IS NOT NULL",
	.is_object = true,
	.print = print_asked,
};

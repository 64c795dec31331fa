/* SPDX-License-Identifier: GPL-2.0-only */
/* The sections of `why` about what is missing: samples that were lost, stacks that are not whole, functions without a name. */
#include "report/why/section.h"

#include "common/text/plural.h"
#include "report/answer/not_whole.h"
#include "report/answer/unnamed.h"
#include "report/model/loss_text.h"
#include "report/text/column_text.h"
#include "report/text/format.h"

#define FILES_MOST 256U /* a hostile database may have files without end */

static int compute_not_whole(struct why *why, struct rows *ret_rows)
{
	return not_whole_rows(&why->profile, FILES_MOST, ret_rows);
}

const struct section not_whole_section = {
	.name = "not_whole",
	.shows = "stacks that are not whole, by file, why, and what to do",
	.compute = compute_not_whole,
	.print = not_whole_print,
};

static int compute_unnamed(struct why *why, struct rows *ret_rows)
{
	return unnamed_rows(&why->profile, FILES_MOST, ret_rows);
}

const struct section unnamed_section = {
	.name = "unnamed",
	.shows = "functions without a name, by file, and which package has their symbols",
	.compute = compute_unnamed,
	.print = unnamed_print,
};

/* The rows begin with the largest percentage. Reasons that are no share of the samples come last. */
static void print_losses(const struct layout *layout, struct query *query)
{
	char text[FORMAT_BYTES], share[FORMAT_BYTES];
	const char *separator = "PARTIAL: ";
	int reasons = 0, lost = 0;

	do {
		reasons++;
		lost += query_number(query, "events") > 0;
	} while (query_next(query));
	if (!lost) {
		fprintf(layout->out, "losses: none (%d %s checked)\n", reasons,
			plural((uint64_t)reasons, "reason", "reasons"));
		return;
	}
	fprintf(layout->out, "losses: found for %d of the %d %s checked\n", lost, reasons,
		plural((uint64_t)reasons, "reason", "reasons"));

	query_rewind(query);
	for (; query_next(query) && query_real(query, "percent") >= PARTIAL_PERCENT; separator = ", ")
		fprintf(layout->out, "%s%s %s", separator, column_text(query, "reason", 32, text),
			column_percent(query, share));
	if (*separator == ',')
		fputc('\n', layout->out);

	query_rewind(query);
	while (query_next(query)) {
		long long events = query_number(query, "events");

		if (events <= 0)
			continue;
		fprintf(layout->out, "  %12lld %s%s", events, column_text(query, "unit", 10, text),
			events == 1 ? "" : "s");
		if (!query_is_null(query, "percent"))
			fprintf(layout->out, " (%s)", column_percent(query, share));
		fprintf(layout->out, ": %s\n", column_text(query, "reason", 60, text));
		if (loss_text(query_text(query, "reason")))
			fprintf(layout->out, "%17s%s\n", "", loss_text(query_text(query, "reason")));
	}
}

const struct section losses_section = {
	.name = "losses",
	.shows = "what was lost",
	.sql = "SELECT reason, events, unit, percent FROM data_quality WHERE capture_id = ?1 "
	       "ORDER BY percent DESC, events DESC, reason",
	.print = print_losses,
	.absent = "losses: unknown, because this capture has no loss ledger",
};

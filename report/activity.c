/* SPDX-License-Identifier: GPL-2.0-only */
/* activity: what all threads of the machine did over hours and days, from the looks that bourdond stores. */
#include "common/log.h"
#include "common/options.h"
#include "report/activity_load.h"
#include "report/activity_output.h"
#include "report/format.h"
#include "report/report.h"
#include "report/time_text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#define WIDTH_LEAST 40
#define WIDTH_MOST 500

/* Characters of a line: those of the terminal; elsewhere as COLUMNS in the environment says. */
static int width_of(FILE *out)
{
	const char *columns = getenv("COLUMNS");
	unsigned long long given;
	struct winsize size;
	int fd = fileno(out), width = REPORT_COLUMNS;

	if (fd >= 0 && !ioctl(fd, TIOCGWINSZ, &size) && size.ws_col)
		width = size.ws_col;
	else if (columns && !options_number(columns, WIDTH_LEAST, WIDTH_MOST, &given))
		width = (int)given;
	return width < WIDTH_LEAST ? WIDTH_LEAST : width > WIDTH_MOST ? WIDTH_MOST : width;
}

/* There is no minute in the span, or none at all. */
static void explain_nothing(const struct report *report)
{
	const struct activity_span *asked = &report->activity->span;
	char from[TIME_TEXT_BYTES], until[TIME_TEXT_BYTES], first[TIME_TEXT_BYTES], last[TIME_TEXT_BYTES];
	struct activity_span extent;
	int result = activity_extent(report->database, &extent);

	if (!result)
		log_error(
			"no activity in '%s' from %s to %s: it has looks from %s to %s; choose with --since and --until",
			report->database->path, time_text_write(asked->from_ns, from),
			time_text_write(asked->until_ns, until), time_text_write(extent.from_ns, first),
			time_text_write(extent.until_ns, last));
	else if (result == -ENODATA)
		log_error(
			"no activity in '%s': bourdond stores it if bourdon.conf has 'interval = 1s' below '[activity]'",
			report->database->path);
}

void activity_run(struct report *report)
{
	_cleanup_activity_groups_ struct activity_groups groups = { 0 };
	const struct activity_options *options = report->activity;
	int result = activity_load(report->database, &options->view, &options->span, &groups);

	report->unwell = result < 0;
	if (result == -ENODATA)
		explain_nothing(report);
	else if (result == -E2BIG)
		log_error("more than %u groups: group by fewer columns, or choose with --match",
			  ACTIVITY_GROUPS_MOST);
	else if (result < 0 && result != -EIO)
		log_error("cannot group the activity: %s", strerror(-result));
	if (result < 0)
		return;
	if (report->json)
		activity_print_json(report->out, &options->view, &groups, report->limit);
	else if (options->csv)
		activity_print_csv(report->out, &options->view, &groups, report->limit);
	else
		activity_print_text(report->out, &options->view, &groups, report->limit, &options->span,
				    width_of(report->out));
}

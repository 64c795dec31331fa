/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/latency/latency_live.h"

#include "common/protocol/latency_groups.h"
#include "common/protocol/latency_line.h"
#include "common/protocol/latency_metrics.h"
#include "common/system/log.h"
#include "report/daemon/live_lines.h"
#include "report/latency/latency_json.h"
#include "report/latency/latency_lines.h"
#include "report/latency/latency_screen.h"
#include "report/latency/latency_text.h"
#include "report/text/time_text.h"

#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

/* ---- what is asked for ---- */

/* "latencies\tgroups=block, lock\n": the groups of the chosen metrics. */
static void write_request(const struct latency_choice *choice, char *into, size_t into_bytes)
{
	const char *separator = "";
	size_t used =
		(size_t)snprintf(into, into_bytes, LATENCY_WATCH "\tgroups=%s", choice->metrics ? "" : "all");

	for (uint32_t group = 0; group < LATENCY_GROUPS && choice->metrics; group++) {
		bool has_chosen = false;

		for (uint32_t i = 0; i < METRICS; i++)
			has_chosen |= latency_metric_group(i) == group &&
				      latency_choice_names(choice, latency_metric_names[i]);
		if (!has_chosen)
			continue;
		used += (size_t)snprintf(into + used, into_bytes - used, "%s%s", separator,
					 latency_group_names[group]);
		separator = ", ";
	}
	snprintf(into + used, into_bytes - used, "\n");
}

static int ask(const char *database, const struct latency_choice *choice, struct live_lines *ret_lines)
{
	char line[256];
	const struct live_request request = { line, LATENCY_INTERVAL, "latencies" };

	write_request(choice, line, sizeof(line));
	return live_lines_open(database, &request, ret_lines);
}

/* ---- output ---- */

static void print_json(FILE *out, const struct latency_choice *choice,
		       const struct latency_interval *interval, int *result)
{
	fprintf(out,
		"{\"from_at\": %" PRId64 ", \"to_at\": %" PRId64 ", \"missed\": %" PRIu32
		", \"left_out\": %" PRId64 ", \"metrics\": ",
		interval->from_at, interval->to_at, interval->missed, interval->left_out);
	*result = latency_write_json(out, choice, &interval->latencies);
	fputs("}\n", out);
}

static int print_text(const struct layout *layout, struct database *database,
		      const struct latency_choice *choice, const struct latency_interval *interval)
{
	char at[TIME_TEXT_BYTES];

	fprintf(layout->out, "%s, %.0f s", time_text_write(interval->to_at, at),
		(double)(interval->to_at - interval->from_at) / 1e9);
	if (interval->missed)
		fprintf(layout->out, "; %u before it missed", interval->missed);
	if (interval->left_out)
		fprintf(layout->out, "; %" PRId64 " events left out", interval->left_out);
	fputc('\n', layout->out);
	return latency_print(layout, database, choice, choice->metrics || choice->label,
			     &interval->latencies);
}

static int print_interval(struct report *report, const struct latency_choice *choice, char *text)
{
	_cleanup_latency_interval_ struct latency_interval interval = { 0 };
	int result = latency_lines_read(text, &interval);

	if (result < 0)
		return result;
	if (report->json)
		print_json(report->out, choice, &interval, &result);
	else
		result = print_text(&report->layout, report->database, choice, &interval);
	if (!result && fflush(report->out))
		result = -errno;
	return result;
}

/* Returns 0 at the end of --once, or why there is no further interval. */
static int print_intervals(struct report *report, const struct latency_live_choice *live,
			   struct live_lines *lines)
{
	struct pollfd polled = { .fd = lines->fd, .events = POLLIN };
	bool is_first = true;
	int result = 0;

	while (!result && !(live->once && !is_first)) {
		_cleanup_free_ char *text = NULL;
		int taken = live_lines_take(lines, &text);

		if (taken < 0) {
			live_lines_explain(lines, taken);
			return -ECANCELED;
		}
		if (!taken && poll(&polled, 1, -1) < 0 && errno != EINTR)
			result = -errno;
		if (!taken)
			continue;
		if (!is_first && !report->json)
			fputc('\n', report->out);
		result = print_interval(report, &live->choice, text);
		is_first = false;
	}
	return result;
}

void latency_live_show(struct report *report, const struct latency_live_choice *live)
{
	bool is_screen = !live->once && !report->json && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	_cleanup_live_lines_ struct live_lines lines = LIVE_LINES_NONE;
	int result = ask(report->database->path, &live->choice, &lines) < 0 ? -ECANCELED : 0;

	report->layout = layout_of(report->out, live->no_color);
	if (!result)
		result = is_screen ? latency_screen_run(report, &live->choice, &lines)
				   : print_intervals(report, live, &lines);
	if (result == -ENOMEM)
		log_error("out of memory");
	else if (result == -EPROTO)
		log_error("bourdond's answer is damaged: is it of another version?");
	else if (result < 0 && result != -ECANCELED)
		log_error("cannot show latencies: %s", strerror(-result));
	report->unwell = result < 0;
}

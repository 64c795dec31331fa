/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * capture_under_way.c: `bourdon capture --who` lists the captures on demand that are under way, and `--end` ends one. The daemon
 * tells root of all of them, and every other user of its own.
 */
#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/text/escape.h"
#include "report/daemon/capture_talk.h"
#include "report/daemon/daemon_status.h"
#include "report/daemon/status_json.h"
#include "report/model/owner.h"
#include "report/text/time_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Logs a failure. */
static int ask_daemon(const char *database, const char *request, struct daemon_status *ret_answer)
{
	_cleanup_free_ char *real = NULL;
	_cleanup_close_ int fd = daemon_connect(database);
	int result = fd < 0 ? fd : 0;
	const struct status_line *refusal;
	char why[512];

	if (!result && owner_become_of(database, &real) == -EPERM)
		return -EPERM;
	if (!result)
		result = daemon_ask(fd, request, ret_answer);
	if (result < 0) {
		daemon_explain_connection(database, result, "for the captures under way");
		return result;
	}
	refusal = daemon_status_find(ret_answer, "refused");
	if (!refusal)
		return 0;
	return log_failed(-EACCES, "bourdond refused: %s",
			  escape_terminal(status_line_get(refusal, "why"), why, sizeof(why)));
}

static const char *time_of(const struct status_line *line, const char *key, char into[TIME_TEXT_BYTES])
{
	return time_text_write(strtoll(status_line_get(line, key), NULL, 10), into);
}

static void print_row(FILE *out, const struct status_line *line)
{
	char since[TIME_TEXT_BYTES], until[TIME_TEXT_BYTES], by[256], text[2048];
	const char *id = status_line_get(line, "capture_id");

	/* without an ID its row is not written yet */
	fprintf(out, "%5s  %-20s  %-20s  %-20s  %s\n", *id ? id : "-", time_of(line, "began_at", since),
		time_of(line, "until_at", until),
		escape_terminal(status_line_get(line, "asked_by"), by, sizeof(by)),
		escape_terminal(status_line_get(line, "asked_for"), text, sizeof(text)));
}

static void print_json(FILE *out, const struct daemon_status *answer)
{
	const char *separator = "";

	fputc('[', out);
	for (size_t i = 0; i < answer->count; i++) {
		if (strcmp(answer->lines[i].kind, "asked") != 0)
			continue;
		fputs(separator, out);
		status_print_json_line(out, &answer->lines[i]);
		separator = ",\n";
	}
	fputs("]\n", out);
}

static void print_text(FILE *out, const struct daemon_status *answer)
{
	bool any = false;

	for (size_t i = 0; i < answer->count; i++) {
		if (strcmp(answer->lines[i].kind, "asked") != 0)
			continue;
		if (!any)
			fprintf(out, "%5s  %-20s  %-20s  %-20s  %s\n", "ID", "SINCE", "UNTIL", "WHO", "WHAT");
		any = true;
		print_row(out, &answer->lines[i]);
	}
	if (!any)
		fputs("no capture on demand is under way\n", out);
}

void capture_under_way(struct report *report, int64_t end_id)
{
	_cleanup_(daemon_status_free) struct daemon_status answer = { 0 };
	char request[64] = CAPTURE_WHO "\n";

	if (end_id)
		snprintf(request, sizeof(request), CAPTURE_END "\tid=%" PRId64 "\n", end_id);
	if (ask_daemon(report->database->path, request, &answer) < 0)
		report->unwell = true;
	else if (end_id)
		fprintf(report->out,
			"capture %" PRId64 " ends now: 'bourdon why %" PRId64
			"' explains it when it is written\n",
			end_id, end_id);
	else if (report->json)
		print_json(report->out, &answer);
	else
		print_text(report->out, &answer);
}

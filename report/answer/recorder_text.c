/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/answer/recorder_text.h"

#include "common/text/escape.h"
#include "report/text/format.h"
#include "report/text/wrap.h"

#include <string.h>

/* Of its programs, those that took longest, and those that missed runs. */
const char recorder_sql[] =
	"SELECT source, device AS part, name, before, after, iif(source = 'bpf' OR name GLOB '*cpu_ns', after - before, after) "
	"AS value, to_at - from_at AS span_ns FROM statistic s WHERE capture_id = ?1 AND scope = 'recorder' "
	"AND (source <> 'bpf' OR name = 'missed' OR name = 'run_ns' AND after - before >= (SELECT max(after - before) / 100 "
	"FROM statistic m WHERE m.capture_id = ?1 AND m.scope = 'recorder' AND m.source = 'bpf' AND m.name = 'run_ns')) "
	"ORDER BY source = 'bpf', source, part IS NOT NULL, name = 'missed', iif(source = 'bpf', before - after, 0), rowid "
	"LIMIT 64";

static const char *amount_of(const struct query *query, const char *name, char into[FORMAT_BYTES])
{
	size_t length = strlen(name);
	double value = query_real(query, "value");

	if (query_is_null(query, "value"))
		snprintf(into, FORMAT_BYTES, "not known");
	else if (length > 3 && !strcmp(name + length - 3, "_ns"))
		format_duration(value, " ", into, FORMAT_BYTES);
	else if (length > 6 && !strcmp(name + length - 6, "_bytes"))
		format_size(value, into, FORMAT_BYTES);
	else
		snprintf(into, FORMAT_BYTES, "%.0f", value);
	return into;
}

static const char *words_of(const char *source, const char *name)
{
	static const struct {
		const char *source, *name, *words;
	} all[] = {
		{ "own", "cpu_ns", "CPU time of bourdond" },
		{ "own", "resident_bytes", "memory of bourdond" },
		{ "own", "unit_cpu_ns", "CPU time of its unit, with the symbolizers" },
		{ "own", "unit_bytes", "memory of its unit, with page cache" },
		{ "queue", "depth", "most that waited in queue" },
		{ "queue", "lag_ns", "longest lag of queue" },
		{ "bpf", "run_ns", "in-kernel program" },
		{ "bpf", "missed", "runs that the kernel left out of" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (!strcmp(all[i].source, source) && !strcmp(all[i].name, name))
			return all[i].words;
	return NULL;
}

void recorder_print(const struct layout *layout, struct query *query)
{
	char span[FORMAT_BYTES];

	fprintf(layout->out, "what recording took over %s\n",
		format_duration(query_real(query, "span_ns"), " ", span, sizeof(span)));
	do {
		const char *source = query_text(query, "source"), *name = query_text(query, "name"),
			   *words = words_of(source, name);
		char text[FORMAT_BYTES], part[FORMAT_BYTES / 2], value[FORMAT_BYTES];

		if (!strcmp(name, "program_time_counted") &&
		    (query_number(query, "before") != 1 || query_number(query, "after") != 1))
			print_wrapped_on(
				layout, "  time of in-kernel programs: not counted; " PROGRAM_TIME_REMEDY, 4);
		if (!words || query_is_null(query, "value"))
			continue;
		snprintf(text, sizeof(text), "%s %s", words,
			 escape_terminal(query_text(query, "part"), part, sizeof(part)));
		fprintf(layout->out, "  %-58.58s %12s\n", text, amount_of(query, name, value));
	} while (query_next(query));
}

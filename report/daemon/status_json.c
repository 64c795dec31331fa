/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/daemon/status_json.h"

#include "common/base/cleanup.h"
#include "report/text/json.h"

#include <string.h>

static const struct {
	const char *kind, *member;
} members[] = {
	{ "daemon", "daemon" },
	{ "mistake", "mistakes" },
	{ "problem", "problems" },
	{ "rule", "rules" },
	{ "watch", "watches" },
	{ "capture", "captures" },
	{ "own", "own" },
	{ "unwind", "unwind" },
	{ "without_table", "files_without_table" },
	{ "cgroups", "cgroups" },
	{ "counter", "counters" },
	{ "queue", "queues" },
	{ "latencies", "latencies" },
	{ "latency", "latency_events" },
	{ "programs", "program_time" },
	{ "program", "programs" },
};

/* A value of digits is a JSON number, except in fields that hold a name: a rule may be called "42" or "007". */
static bool is_number(const char *key, const char *value)
{
	static const char *const texts[] = { "name",    "rule",   "comm", "cgroup",   "unit",
					     "version", "source", "path", "asked_by", "note" };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (!strcmp(key, texts[i]))
			return false;
	return *value && strspn(value, "0123456789") == strlen(value) && strlen(value) < 20 &&
	       (*value != '0' || !value[1]);
}

void status_print_json_line(FILE *out, const struct status_line *line)
{
	fputc('{', out);
	for (size_t i = 0; i < line->count; i++) {
		const char *value = line->values[i];

		fputs(i ? ", " : "", out);
		json_string(out, line->keys[i]);
		fputs(": ", out);
		if (is_number(line->keys[i], value))
			fputs(value, out);
		else
			json_string(out, value);
	}
	fputc('}', out);
}

void status_print_json(FILE *out, const struct daemon_status *status)
{
	fputs("{\"running\": true", out);
	for (size_t m = 0; m < ARRAY_SIZE(members); m++) {
		const char *separator = "\n";

		fprintf(out, ",\n\"%s\": [", members[m].member);
		for (size_t i = 0; i < status->count; i++) {
			if (strcmp(status->lines[i].kind, members[m].kind))
				continue;
			fputs(separator, out);
			status_print_json_line(out, &status->lines[i]);
			separator = ",\n";
		}
		fputc(']', out);
	}
	fputs("}\n", out);
}

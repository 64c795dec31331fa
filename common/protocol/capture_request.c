/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/protocol/capture_request.h"

#include "common/base/cleanup.h"
#include "common/system/options.h"
#include "common/text/escape_name.h"

#include <inttypes.h>
#include <string.h>

/* "/", or components that each begin with a slash. */
static bool is_path(const char *path)
{
	if (!strcmp(path, "/"))
		return true;
	while (*path == '/') {
		size_t bytes = strcspn(++path, "/");

		if (!bytes || (bytes == 1 && *path == '.') || (bytes == 2 && !strncmp(path, "..", bytes)))
			return false;
		path += bytes;
	}
	return !*path;
}

const char *capture_request_mistake(const struct capture_request *request)
{
	bool has_place = request->unit[0] || request->cgroup[0];
	bool matches = request->has_comm || has_place;

	if (!request->everyone && !request->pids_count && !matches)
		return "name the processes: --pid, --comm, --unit, --cgroup or --all";
	if (request->everyone + (request->pids_count > 0) + matches > 1)
		return "--all and --pid stand alone; --comm may stand with --unit or --cgroup";
	if (request->unit[0] && request->cgroup[0])
		return "give --unit or --cgroup, not both";
	for (uint32_t i = 0; i < request->pids_count; i++)
		if (!request->pids[i] || request->pids[i] > INT32_MAX)
			return "--pid: not the id of a process";
	if (request->cgroup[0] && !is_path(request->cgroup))
		return "--cgroup: expected a path below the mount of cgroup2, such as /system.slice, without '.', '..' and '//'";
	if (!request->kinds || request->kinds & ~(CAPTURE_ON_CPU | CAPTURE_OFF_CPU))
		return "expected samples on CPU, off CPU, or both";
	if (request->probes & ~LATENCY_ALL)
		return "--probes: expected groups of latencies";
	if (request->for_ns < CAPTURE_FOR_NS_MIN || request->for_ns > CAPTURE_FOR_NS_MAX)
		return "--for: from 1s to 1h";
	if (request->before_ns > CAPTURE_BEFORE_NS_MAX)
		return "--before: at most 10min";
	return NULL;
}

void capture_request_write(const struct capture_request *request, FILE *out)
{
	status_line_begin(out, "capture");
	status_line_field(out, "for_ns", "%" PRIu64, request->for_ns);
	status_line_field(out, "before_ns", "%" PRIu64, request->before_ns);
	status_line_field(out, "kinds", "%" PRIu32, request->kinds);
	if (request->has_probes)
		status_line_field(out, "probes", "%" PRIu32, request->probes);
	if (request->everyone)
		status_line_field(out, "all", "1");
	if (request->pids_count) {
		char pids[CAPTURE_PIDS_MAX * sizeof("4294967295,")];
		size_t used = 0;

		for (uint32_t i = 0; i < request->pids_count; i++)
			used += (size_t)snprintf(pids + used, sizeof(pids) - used, "%s%" PRIu32, i ? "," : "",
						 request->pids[i]);
		status_line_field(out, "pids", "%s", pids);
	}
	if (request->has_comm)
		status_line_field(out, "comm", "%s%s", request->comm.text, request->comm.prefix ? "*" : "");
	if (request->unit[0])
		status_line_field(out, "unit", "%s", request->unit);
	if (request->cgroup[0])
		status_line_field(out, "cgroup", "%s", request->cgroup);
	if (request->note[0])
		status_line_field(out, "note", "%s", request->note);
	status_line_end(out);
}

/* ---- reading ---- */

static const char *read_number(const char *value, unsigned long long most, uint64_t *ret_number)
{
	unsigned long long number;

	if (options_number(value, 0, most, &number) < 0)
		return "a number is not one, or too large";
	*ret_number = number;
	return NULL;
}

static const char *read_text(const char *value, size_t room, char *into)
{
	if (!*value)
		return "a text is empty";
	if (strlen(value) >= room)
		return "a text is too long";
	strcpy(into, value);
	return NULL;
}

static const char *read_for(const char *value, struct capture_request *request)
{
	return read_number(value, CAPTURE_FOR_NS_MAX, &request->for_ns);
}

static const char *read_before(const char *value, struct capture_request *request)
{
	return read_number(value, CAPTURE_BEFORE_NS_MAX, &request->before_ns);
}

static const char *read_kinds(const char *value, struct capture_request *request)
{
	uint64_t kinds;
	const char *why = read_number(value, CAPTURE_ON_CPU | CAPTURE_OFF_CPU, &kinds);

	request->kinds = why ? 0 : (uint32_t)kinds;
	return why;
}

static const char *read_probes(const char *value, struct capture_request *request)
{
	uint64_t probes;
	const char *why = read_number(value, LATENCY_ALL, &probes);

	request->has_probes = true;
	request->probes = why ? 0 : (uint32_t)probes;
	return why;
}

static const char *read_all(const char *value, struct capture_request *request)
{
	request->everyone = true;
	return strcmp(value, "1") ? "all: expected 1" : NULL;
}

static const char *read_pids(const char *value, struct capture_request *request)
{
	while (*value) {
		char word[16];
		size_t bytes = strcspn(value, ",");
		uint64_t pid;

		if (request->pids_count == CAPTURE_PIDS_MAX)
			return "more than 16 processes";
		if (bytes >= sizeof(word))
			return "--pid: not the id of a process";
		memcpy(word, value, bytes);
		word[bytes] = '\0';
		if (read_number(word, INT32_MAX, &pid))
			return "--pid: not the id of a process";
		request->pids[request->pids_count++] = (uint32_t)pid;
		value += bytes;
		if (*value == ',' && !*++value)
			return "--pid: not the id of a process";
	}
	return request->pids_count ? NULL : "--pid: not the id of a process";
}

static const char *read_comm(const char *value, struct capture_request *request)
{
	const char *why = NULL;

	request->has_comm = true;
	return comm_pattern_parse(value, &request->comm, &why) < 0 ? why : NULL;
}

static const char *read_unit(const char *value, struct capture_request *request)
{
	return read_text(value, sizeof(request->unit), request->unit);
}

static const char *read_cgroup(const char *value, struct capture_request *request)
{
	return read_text(value, sizeof(request->cgroup), request->cgroup);
}

static const char *read_note(const char *value, struct capture_request *request)
{
	return read_text(value, sizeof(request->note), request->note);
}

const char *capture_request_read(const struct status_line *line, struct capture_request *ret_request)
{
	static const struct {
		const char *key;
		const char *(*read)(const char *value, struct capture_request *request);
	} fields[] = { { "for_ns", read_for },    { "before_ns", read_before }, { "kinds", read_kinds },
		       { "probes", read_probes }, { "all", read_all },          { "pids", read_pids },
		       { "comm", read_comm },     { "unit", read_unit },        { "cgroup", read_cgroup },
		       { "note", read_note } };
	struct capture_request request = { 0 };
	uint32_t seen = 0;
	const char *why = NULL;

	for (size_t i = 0; i < line->count && !why; i++) {
		_cleanup_free_ char *value = NULL;
		size_t field = 0;

		while (field < ARRAY_SIZE(fields) && strcmp(fields[field].key, line->keys[i]) != 0)
			field++;
		if (field == ARRAY_SIZE(fields))
			return "it has a field that this bourdond does not know";
		if (seen & 1U << field)
			return "it has a field twice";
		seen |= 1U << field;
		value = strdup(line->values[i]);
		if (!value)
			return "out of memory";
		escape_name_undo(value);
		why = fields[field].read(value, &request);
	}
	if (!why)
		why = capture_request_mistake(&request);
	if (!why)
		*ret_request = request;
	return why;
}

/* ---- text ---- */

/* In the largest unit that says it exactly. */
static void write_duration(FILE *out, const char *option, uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *unit;
	} units[] = { { 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" }, { 1, "ns" } };
	size_t i = 0;

	while (ns % units[i].ns)
		i++;
	fprintf(out, " %s %" PRIu64 "%s", option, ns / units[i].ns, units[i].unit);
}

static void write_probes(FILE *out, uint32_t probes)
{
	bool any = false;

	fprintf(out, " --probes %s", probes == LATENCY_ALL ? "all" : probes ? "" : "none");
	for (uint32_t i = 0; i < LATENCY_GROUPS && probes != LATENCY_ALL; i++) {
		if (!(probes >> i & 1))
			continue;
		fprintf(out, "%s%s", any ? "," : "", latency_group_names[i]);
		any = true;
	}
}

char *capture_request_text(const struct capture_request *request)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	for (uint32_t i = 0; i < request->pids_count; i++)
		fprintf(out, " --pid %" PRIu32, request->pids[i]);
	if (request->everyone)
		fputs(" --all", out);
	if (request->has_comm)
		fprintf(out, " --comm %s%s", request->comm.text, request->comm.prefix ? "*" : "");
	if (request->unit[0])
		fprintf(out, " --unit %s", request->unit);
	if (request->cgroup[0])
		fprintf(out, " --cgroup %s", request->cgroup);
	write_duration(out, "--for", request->for_ns);
	if (request->before_ns)
		write_duration(out, "--before", request->before_ns);
	if (request->kinds == CAPTURE_ON_CPU)
		fputs(" --on-cpu", out);
	if (request->kinds == CAPTURE_OFF_CPU)
		fputs(" --off-cpu", out);
	if (request->has_probes)
		write_probes(out, request->probes);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	if (text[0])
		memmove(text, text + 1, bytes); /* without the space in front, with the NUL */
	return text;
}

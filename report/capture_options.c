/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/capture_options.h"

#include "common/cleanup.h"
#include "common/log.h"
#include "common/options.h"
#include "common/units.h"

#include <string.h>

#define SEE "see 'bourdon capture --help'"

static int read_duration(const char *option, const char *word, uint64_t *ret_ns)
{
	if (!word || !units_duration(word, ret_ns))
		return OPTIONS_RUN;
	log_error("%s '%s' is not a time: give a number and a unit, such as 30s", option, word);
	return EXIT_USAGE;
}

static int read_pids(const struct capture_words *words, struct capture_request *request)
{
	for (size_t i = 0; i < words->pids_count; i++) {
		unsigned long long pid;

		if (options_number(words->pids[i], 1, INT32_MAX, &pid) < 0) {
			log_error("--pid '%s' is not the id of a process", words->pids[i]);
			return EXIT_USAGE;
		}
		request->pids[request->pids_count++] = (uint32_t)pid;
	}
	return OPTIONS_RUN;
}

static int read_comm(const char *word, struct capture_request *request)
{
	const char *why = NULL;

	request->has_comm = word != NULL;
	if (!word || !comm_pattern_parse(word, &request->comm, &why))
		return OPTIONS_RUN;
	log_error("--comm '%s': %s", word, why);
	return EXIT_USAGE;
}

static int read_text(const char *option, const char *word, size_t room, char *into)
{
	if (!word)
		return OPTIONS_RUN;
	if (strlen(word) >= room) {
		log_error("%s is longer than %zu bytes", option, room - 1);
		return EXIT_USAGE;
	}
	strcpy(into, word);
	return OPTIONS_RUN;
}

/* The shell's user may write the path with a slash behind it. */
static void cut_slash(char *path)
{
	size_t bytes = strlen(path);

	if (bytes > 1 && path[bytes - 1] == '/')
		path[bytes - 1] = '\0';
}

bool capture_format_is_known(const char *format)
{
	static const char *const formats[] = { "folded", "why", "json", "top" };

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (!strcmp(formats[i], format))
			return true;
	return false;
}

/* --who and --end stand alone. */
static int read_under_way(const struct capture_words *words, struct capture_under_way *ret_under_way)
{
	struct capture_under_way under_way = { .who = words->who != NULL };
	bool has_more = words->pids_count || words->comm || words->unit || words->cgroup || words->all ||
			words->duration || words->before || words->on_cpu || words->off_cpu || words->note ||
			(words->who && words->end);
	unsigned long long id;

	if (has_more) {
		log_error(
			"--who and --end are about captures that are under way: give one of them, alone: " SEE);
		return EXIT_USAGE;
	}
	if (words->format && (words->end || strcmp(words->format, "json") != 0)) {
		log_error("--who takes no other --format than json, and --end none: " SEE);
		return EXIT_USAGE;
	}
	if (words->end) {
		if (options_number(words->end, 1, INT64_MAX, &id) < 0) {
			log_error("--end '%s' is not a capture's ID: 'bourdon capture --who' shows them",
				  words->end);
			return EXIT_USAGE;
		}
		under_way.end_id = (int64_t)id;
	}
	*ret_under_way = under_way;
	return OPTIONS_RUN;
}

int capture_options_read(const struct capture_words *words, struct capture_request *ret_request,
			 struct capture_under_way *ret_under_way)
{
	struct capture_request request = { .everyone = words->all != NULL,
					   .kinds =
						   (words->off_cpu && !words->on_cpu ? 0 : CAPTURE_ON_CPU) |
						   (words->on_cpu && !words->off_cpu ? 0 : CAPTURE_OFF_CPU) };
	const char *mistake;

	if (words->who || words->end)
		return read_under_way(words, ret_under_way);
	if (!words->duration) {
		log_error("'capture' needs --for, how long to record, such as --for 30s: " SEE);
		return EXIT_USAGE;
	}
	if (words->format && !capture_format_is_known(words->format)) {
		log_error("--format '%s' is unknown: expected folded, why, json or top", words->format);
		return EXIT_USAGE;
	}
	if (read_duration("--for", words->duration, &request.for_ns) != OPTIONS_RUN ||
	    read_duration("--before", words->before, &request.before_ns) != OPTIONS_RUN ||
	    read_pids(words, &request) != OPTIONS_RUN || read_comm(words->comm, &request) != OPTIONS_RUN ||
	    read_text("--unit", words->unit, sizeof(request.unit), request.unit) != OPTIONS_RUN ||
	    read_text("--cgroup", words->cgroup, sizeof(request.cgroup), request.cgroup) != OPTIONS_RUN ||
	    read_text("--note", words->note, sizeof(request.note), request.note) != OPTIONS_RUN)
		return EXIT_USAGE;
	cut_slash(request.cgroup);
	mistake = capture_request_mistake(&request);
	if (mistake) {
		log_error("%s: " SEE, mistake);
		return EXIT_USAGE;
	}
	*ret_request = request;
	return OPTIONS_RUN;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* capture: asks the daemon for a capture on demand, and prints the result; or is about those that are under way. */
#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/text/units.h"
#include "report/context/subcommand.h"
#include "report/daemon/capture_talk.h"

#include <inttypes.h>
#include <string.h>

#define SEE "see 'bourdon capture --help'"

/* ---- options ---- */

struct capture_words {
	struct shared_words shared;
	const char *pid; /* the last; the list has all */
	const char *comm, *unit, *cgroup, *all, *duration, *before, *on_cpu, *off_cpu, *probes, *note,
		*format, *who, *end;
};

#define WORD(name) .at = offsetof(struct capture_words, name)

static const struct command_option options[] = {
	{ "db", "FILE", DB_HELP, SHARED(db) },
	{ "json", NULL, JSON_HELP, SHARED(json) },
	{ "off-cpu", NULL, "waiting alone", WORD(off_cpu) },
	{ "pid", "N", "this process; may be given 16 times", WORD(pid) },
	{ "comm", "PATTERN", "processes of this name; web-* is every name that begins so", WORD(comm) },
	{ "unit", "UNIT", "processes of this unit of systemd, such as nginx.service", WORD(unit) },
	{ "cgroup", "PATH", "processes of this cgroup and those below it", WORD(cgroup) },
	{ "all", NULL, "every process", WORD(all) },
	{ "for", "TIME", "how long to record: 1s to 1h", WORD(duration) },
	{ "before", "TIME", "and what the rings hold of this time before (default 0s)", WORD(before) },
	{ "on-cpu", NULL, "samples on CPU alone (default: on CPU and waiting)", WORD(on_cpu) },
	{ "probes", "LIST", "latencies to measure: block,lock...; all or none (default: all)", WORD(probes) },
	{ "who", NULL, "list the captures on demand under way: root all, others theirs", WORD(who) },
	{ "end", "ID", "end this one early, and keep it: root any, others theirs", WORD(end) },
	{ "note", "TEXT", "keep this text with the capture", WORD(note) },
	{ "format", "FORMAT", ONE_OF("print the result: ", "folded, why, json or top"), WORD(format) },
};

/* What prints the result, by the word of --format. */
static const struct capture_result {
	const char *format;
	const struct subcommand *subcommand;
	const char *option; /* whoever asks for a capture wants to see it: all of why */
} results[] = {
	{ "folded", &folded_subcommand, NULL },
	{ "why", &why_subcommand, "--full" },
	{ "json", &why_subcommand, "--json" },
	{ "top", &top_subcommand, NULL },
};

static int read_duration(const char *option, const char *word, uint64_t *ret_ns)
{
	if (!word || !units_duration(word, ret_ns))
		return OPTIONS_RUN;
	return log_failed(EXIT_USAGE, "%s '%s' is not a time: give a number and a unit, such as 30s", option,
			  word);
}

static int read_pids(const struct option_list *pids, struct capture_request *request)
{
	for (size_t i = 0; i < pids->count; i++) {
		unsigned long long pid;

		if (options_number(pids->values[i], 1, INT32_MAX, &pid) < 0)
			return log_failed(EXIT_USAGE, "--pid '%s' is not the id of a process",
					  pids->values[i]);
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
	return log_failed(EXIT_USAGE, "--comm '%s': %s", word, why);
}

static int read_text(const char *option, const char *word, size_t room, char *into)
{
	if (!word)
		return OPTIONS_RUN;
	if (strlen(word) >= room)
		return log_failed(EXIT_USAGE, "%s is longer than %zu bytes", option, room - 1);
	strcpy(into, word);
	return OPTIONS_RUN;
}

static int read_probes(const char *word, struct capture_request *request)
{
	const char *wrong = word ? latency_groups_parse(word, &request->probes) : NULL;

	request->has_probes = word;
	if (!wrong)
		return OPTIONS_RUN;
	return log_failed(
		EXIT_USAGE,
		"--probes %s: '%.*s' is no group; give runqueue, offcpu, block, lock, memory, softirq, exec, fork or request, parted by commas; or all, or none",
		word, (int)strcspn(wrong, " \t,"), wrong);
}

/* The shell's user may write the path with a slash behind it. */
static void cut_slash(char *path)
{
	size_t bytes = strlen(path);

	if (bytes > 1 && path[bytes - 1] == '/')
		path[bytes - 1] = '\0';
}

/* --who and --end stand alone. *ret_end_id is 0 for --who. */
static int read_under_way(const struct capture_words *words, int64_t *ret_end_id)
{
	bool has_more = words->pid || words->comm || words->unit || words->cgroup || words->all ||
			words->duration || words->before || words->on_cpu || words->off_cpu ||
			words->probes || words->note || (words->who && words->end);
	unsigned long long id = 0;

	if (has_more)
		return log_failed(
			EXIT_USAGE,
			"--who and --end are about captures that are under way: give one of them, alone: " SEE);
	if (words->format && (words->end || strcmp(words->format, "json") != 0))
		return log_failed(EXIT_USAGE,
				  "--who takes no other --format than json, and --end none: " SEE);
	if (words->end && options_number(words->end, 1, INT64_MAX, &id) < 0)
		return log_failed(EXIT_USAGE,
				  "--end '%s' is not a capture's ID: 'bourdon capture --who' shows them",
				  words->end);
	*ret_end_id = (int64_t)id;
	return OPTIONS_RUN;
}

static int read_request(const struct capture_words *words, struct capture_request *ret_request)
{
	struct capture_request request = { .everyone = words->all != NULL,
					   .kinds =
						   (words->off_cpu && !words->on_cpu ? 0 : CAPTURE_ON_CPU) |
						   (words->on_cpu && !words->off_cpu ? 0 : CAPTURE_OFF_CPU) };
	const char *mistake;

	if (!words->duration)
		return log_failed(EXIT_USAGE,
				  "'capture' needs --for, how long to record, such as --for 30s: " SEE);
	if (read_duration("--for", words->duration, &request.for_ns) != OPTIONS_RUN ||
	    read_duration("--before", words->before, &request.before_ns) != OPTIONS_RUN ||
	    read_pids(words->shared.list, &request) != OPTIONS_RUN ||
	    read_comm(words->comm, &request) != OPTIONS_RUN ||
	    read_probes(words->probes, &request) != OPTIONS_RUN ||
	    read_text("--unit", words->unit, sizeof(request.unit), request.unit) != OPTIONS_RUN ||
	    read_text("--cgroup", words->cgroup, sizeof(request.cgroup), request.cgroup) != OPTIONS_RUN ||
	    read_text("--note", words->note, sizeof(request.note), request.note) != OPTIONS_RUN)
		return EXIT_USAGE;
	cut_slash(request.cgroup);
	mistake = capture_request_mistake(&request);
	if (mistake)
		return log_failed(EXIT_USAGE, "%s: " SEE, mistake);
	*ret_request = request;
	return OPTIONS_RUN;
}

/* ---- the result ---- */

static int print_result(struct report *report, const char *format, uint32_t kinds, int64_t capture_id)
{
	const struct capture_result *result = results;
	const char *option;
	char id[24];
	char *arguments[5] = { (char[]){ "bourdon" }, (char[]){ "--db" }, (char *)report->database->path,
			       id };

	while (strcmp(result->format, format) != 0)
		result++;
	option = result->subcommand == &folded_subcommand && kinds == CAPTURE_OFF_CPU ? "--off-cpu"
										      : result->option;
	arguments[4] = (char *)option;
	snprintf(id, sizeof(id), "%" PRId64, capture_id);
	return subcommand_run(report, result->subcommand, option ? 5 : 4, arguments);
}

static int record(struct report *report, const struct capture_words *words)
{
	struct capture_request request;
	int64_t capture_id;
	int status = read_request(words, &request);

	if (status != OPTIONS_RUN)
		return status;
	if (capture_talk(report->database->path, &request, &capture_id) < 0)
		return EXIT_FAILED;
	if (words->format)
		return print_result(report, words->format, request.kinds, capture_id);
	fprintf(report->out, "capture %" PRId64 " is complete: 'bourdon why %" PRId64 "' explains it\n",
		capture_id, capture_id);
	return OPTIONS_RUN;
}

static int capture_main(struct report *report, int count, char **arguments)
{
	const char *pids[CAPTURE_PIDS_MAX];
	struct option_list list = { "pid", pids, ARRAY_SIZE(pids), 0 };
	struct capture_words words = { .shared = { .list = &list } };
	int64_t end_id;
	int status = subcommand_parse(report, &capture_subcommand, count, arguments, &words);

	if (status != OPTIONS_RUN)
		return status;
	if (report->json && !words.format)
		words.format = "json";
	if (!words.who && !words.end)
		return record(report, &words);
	status = read_under_way(&words, &end_id);
	report->json = words.format;
	if (status == OPTIONS_RUN)
		capture_under_way(report, end_id);
	return status;
}

SUBCOMMAND(
	capture, "capture", "", "capture some processes now, for as long as --for says",
	"Records processes now, without waiting for pressure, and stores a capture. Name them by --pid, by --comm\n"
	"and --unit or --cgroup, or by --all. Root's policy decides who may be recorded. Ctrl-C ends it early\n"
	"and keeps the result. Members of bourdond's group may ask. --who and --end are about those under way.",
	"bourdon capture --pid 4711 --for 30s --format folded | flamegraph.pl > now.svg");

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * await_status waits until a jq expression is true of what `bourdon status --json` prints. One process asks bourdond again
 * and again, so that waiting takes next to no CPU time from what the tests measure.
 */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/system/log.h"
#include "common/system/options.h"
#include "report/daemon/daemon_status.h"
#include "report/daemon/status_json.h"

#include <jq.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MILLISECOND_NS 1000000U
#define PACE "100"
#define DAY_SECONDS 86400U

static const char *pace = PACE;

static const struct option_spec options[] = {
	{ "every", "MS", "milliseconds from one question to the next (default " PACE ")", &pace },
};

static const struct command_spec command = { "await_status",
					     "[--every MS] DATABASE SECONDS EXPRESSION",
					     "Waits until the expression is true of the daemon's status.",
					     "await_status /var/lib/bourdon/bourdon.db 60 '.captures == []'",
					     options,
					     ARRAY_SIZE(options) };

/* The status of the daemon as JSON, which the caller frees; NULL: there is no answer. */
static char *ask(const char *database)
{
	_cleanup_(daemon_status_free) struct daemon_status status = { 0 };
	char *text = NULL;
	size_t bytes;
	FILE *out;

	if (daemon_status_ask(database, &status) < 0)
		return NULL;
	out = open_memstream(&text, &bytes);
	if (!out)
		return NULL;
	status_print_json(out, &status);
	fclose(out);
	return text;
}

/* As `jq -e`: the last value that the expression gives is neither false nor null. */
static bool is_true(jq_state *jq, const char *json)
{
	bool last = false;
	jv value;

	jq_start(jq, jv_parse(json), 0);
	for (value = jq_next(jq); jv_is_valid(value); value = jq_next(jq)) {
		last = jv_get_kind(value) != JV_KIND_FALSE && jv_get_kind(value) != JV_KIND_NULL;
		jv_free(value);
	}
	jv_free(value);
	return last;
}

static int await(const char *database, uint64_t deadline_ns, uint64_t pace_ns, jq_state *jq,
		 const char *expression)
{
	const struct timespec pause = { .tv_sec = (time_t)(pace_ns / CLOCK_SECOND_NS),
					.tv_nsec = (long)(pace_ns % CLOCK_SECOND_NS) };

	for (;;) {
		_cleanup_free_ char *json = ask(database);

		if (json && is_true(jq, json))
			return EXIT_DONE;
		if (clock_monotonic_ns() > deadline_ns) {
			fprintf(stderr, "'%s' is not true of %s\n", expression,
				json ? json : "a status: bourdond does not answer");
			return EXIT_FAILED;
		}
		nanosleep(&pause, NULL);
	}
}

int main(int argc, char **argv)
{
	unsigned long long seconds, pace_ms;
	int words, result;
	jq_state *jq;

	log_init(command.program);
	result = options_parse(&command, argc, argv, &words);
	if (result != OPTIONS_RUN)
		return result;
	if (words != 3 || options_number(argv[2], 0, DAY_SECONDS, &seconds) ||
	    options_number(pace, 1, DAY_SECONDS * 1000, &pace_ms)) {
		log_error("takes a database, seconds and an expression: see --help");
		return EXIT_USAGE;
	}
	jq = jq_init();
	if (!jq || !jq_compile(jq, argv[3])) /* it has written why */
		result = EXIT_USAGE;
	else
		result = await(argv[1], clock_monotonic_ns() + seconds * CLOCK_SECOND_NS,
			       pace_ms * MILLISECOND_NS, jq, argv[3]);
	jq_teardown(&jq);
	return result;
}

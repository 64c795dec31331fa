/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads any text as a request for a capture on demand: one that is accepted is within its limits, can be written as one line
 * of the control socket, and is the same after it was read again.
 */
#include "common/protocol/capture_request.h"
#include "tests/fuzz/fuzz.h"

static char *write_text(const struct capture_request *request)
{
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	HOLDS(stream);
	capture_request_write(request, stream);
	fclose(stream);
	HOLDS(bytes && strchr(text, '\n') == text + bytes - 1);
	text[bytes - 1] = '\0';
	return text;
}

static void check(const struct capture_request *request)
{
	bool matches = request->has_comm || request->unit[0] || request->cgroup[0];

	HOLDS(request->everyone + (request->pids_count > 0) + matches == 1);
	HOLDS(request->pids_count <= CAPTURE_PIDS_MAX);
	for (uint32_t i = 0; i < request->pids_count; i++)
		HOLDS(request->pids[i] && request->pids[i] <= INT32_MAX);
	HOLDS(request->for_ns >= CAPTURE_FOR_NS_MIN && request->for_ns <= CAPTURE_FOR_NS_MAX);
	HOLDS(request->before_ns <= CAPTURE_BEFORE_NS_MAX);
	HOLDS(request->kinds && !(request->kinds & ~(CAPTURE_ON_CPU | CAPTURE_OFF_CPU)));
	HOLDS(!(request->probes & ~LATENCY_ALL));
	HOLDS(memchr(request->unit, '\0', sizeof(request->unit)));
	HOLDS(memchr(request->cgroup, '\0', sizeof(request->cgroup)));
	HOLDS(memchr(request->note, '\0', sizeof(request->note)));
	HOLDS(!request->cgroup[0] || (request->cgroup[0] == '/' && !strstr(request->cgroup, "//")));
	HOLDS(!strstr(request->cgroup, "/../"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *text = copy_text(data, bytes), *first, *again, *options;
	struct capture_request request, back;
	struct status_line line;

	/* the daemon reads one line */
	if (!strchr(text, '\n') && !status_line_parse(text, &line) &&
	    !capture_request_read(&line, &request)) {
		check(&request);
		first = write_text(&request);
		again = strdup(first); /* parsing takes it apart */
		HOLDS(again && !status_line_parse(again, &line) && !strcmp(line.kind, "capture"));
		HOLDS(!capture_request_read(&line, &back));
		free(again);
		again = write_text(&back);
		HOLDS(!strcmp(first, again));
		options = capture_request_text(&request);
		HOLDS(options && !strncmp(options, "--", 2));
		free(options);
		free(first);
		free(again);
	}
	free(text);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/protocol/grant_request.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define DIGITS_MAX 20 /* of 2^64 - 1 */

/* The part of the request that is not parsed yet. */
struct rest {
	const char *at, *end;
};

static bool parse_text(struct rest *rest, const char *text)
{
	size_t bytes = strlen(text);

	if ((size_t)(rest->end - rest->at) < bytes || memcmp(rest->at, text, bytes))
		return false;
	rest->at += bytes;
	return true;
}

static bool parse_number(struct rest *rest, uint64_t *ret_number)
{
	const char *first = rest->at;
	uint64_t number = 0;

	for (; rest->at < rest->end && *rest->at >= '0' && *rest->at <= '9'; rest->at++)
		if (rest->at - first == DIGITS_MAX || __builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, (uint64_t)(*rest->at - '0'), &number))
			return false;
	if (rest->at == first || (*first == '0' && rest->at - first > 1))
		return false;
	*ret_number = number;
	return true;
}

static bool parse_resource(struct rest *rest, enum psi_resource *ret_resource)
{
	for (int i = 0; i < PSI_RESOURCES; i++)
		if (parse_text(rest, psi_resource_names[i])) {
			*ret_resource = (enum psi_resource)i;
			return true;
		}
	return false;
}

static bool parse_pressure(struct rest *rest, struct grant_request *request)
{
	return parse_number(rest, &request->cgroup_id) && parse_text(rest, " ") &&
	       parse_resource(rest, &request->resource) && parse_text(rest, " ") &&
	       parse_number(rest, &request->window_us) && request->cgroup_id &&
	       request->window_us >= PSI_WINDOW_MIN_US && request->window_us <= PSI_WINDOW_MAX_US;
}

static bool parse_process(struct rest *rest, struct grant_request *request)
{
	uint64_t tgid;

	if (!parse_number(rest, &tgid) || !tgid || tgid > GRANT_TGID_MAX || !parse_text(rest, " ") ||
	    !parse_number(rest, &request->started_ns))
		return false;
	request->tgid = (uint32_t)tgid;
	return true;
}

static bool parse_elf(struct rest *rest, struct grant_request *request)
{
	return parse_process(rest, request) && parse_text(rest, " ") &&
	       parse_number(rest, &request->begins) && request->begins % GRANT_BEGINS_MULTIPLE_OF == 0;
}

static const struct {
	const char *word;
	bool (*parse)(struct rest *rest, struct grant_request *request);
} kinds[GRANT_KINDS] = {
	[GRANT_PRESSURE] = { "pressure ", parse_pressure },
	[GRANT_ELF] = { "elf ", parse_elf },
	[GRANT_PERF_MAP] = { "perf-map ", parse_process },
};

int grant_request_parse(const char *text, size_t bytes, struct grant_request *ret_request)
{
	struct rest rest = { text, text + bytes };
	struct grant_request request = { 0 };

	if (bytes > GRANT_REQUEST_BYTES_MAX)
		return -E2BIG;
	if (!memchr(text, '\n', bytes))
		return bytes == GRANT_REQUEST_BYTES_MAX ? -E2BIG : -EAGAIN;
	while (!parse_text(&rest, kinds[request.kind].word))
		if (++request.kind == GRANT_KINDS)
			return -EINVAL;
	if (!kinds[request.kind].parse(&rest, &request) || !parse_text(&rest, "\n") || rest.at != rest.end)
		return -EINVAL;
	*ret_request = request;
	return 0;
}

size_t grant_request_format(const struct grant_request *request, char *into)
{
	int length = 0;

	switch (request->kind) {
	case GRANT_PRESSURE:
		length = snprintf(into, GRANT_REQUEST_BYTES_MAX, "pressure %" PRIu64 " %s %" PRIu64 "\n",
				  request->cgroup_id, psi_resource_names[request->resource],
				  request->window_us);
		break;
	case GRANT_ELF:
		length = snprintf(into, GRANT_REQUEST_BYTES_MAX, "elf %" PRIu32 " %" PRIu64 " %" PRIu64 "\n",
				  request->tgid, request->started_ns, request->begins);
		break;
	case GRANT_PERF_MAP:
		length = snprintf(into, GRANT_REQUEST_BYTES_MAX, "perf-map %" PRIu32 " %" PRIu64 "\n",
				  request->tgid, request->started_ns);
		break;
	case GRANT_KINDS:
		break;
	}
	return (size_t)length;
}

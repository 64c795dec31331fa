/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads any bytes as a request to bourdon-grant: each request has exactly one form. */
#include "common/protocol/grant_request.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <stdbool.h>

static bool is_in_range(const struct grant_request *request)
{
	if (request->kind == GRANT_PRESSURE)
		return request->cgroup_id && request->resource < PSI_RESOURCES &&
		       request->window_us >= PSI_WINDOW_MIN_US && request->window_us <= PSI_WINDOW_MAX_US &&
		       !request->tgid && !request->started_ns && !request->begins;
	return request->kind < GRANT_KINDS && !request->cgroup_id && !request->window_us && request->tgid &&
	       request->tgid <= GRANT_TGID_MAX && request->begins % GRANT_BEGINS_MULTIPLE_OF == 0 &&
	       (request->kind == GRANT_ELF || !request->begins);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *text = copy_bytes(data, bytes), again[GRANT_REQUEST_BYTES_MAX];
	struct grant_request request = { 0 };
	int result = grant_request_parse(text, bytes, &request);

	if (result) {
		HOLDS(result == -EAGAIN || result == -E2BIG || result == -EINVAL);
		HOLDS(!request.cgroup_id && !request.window_us && !request.tgid && !request.begins);
		HOLDS(result != -EAGAIN || bytes < GRANT_REQUEST_BYTES_MAX);
	} else {
		HOLDS(is_in_range(&request));
		HOLDS(grant_request_format(&request, again) == bytes && !memcmp(again, text, bytes));
	}
	free(text);
	return 0;
}

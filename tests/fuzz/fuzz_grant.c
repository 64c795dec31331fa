/* SPDX-License-Identifier: GPL-2.0-only */
/* Any bytes as a request to bourdon-grant: each request is written in one way, and no other is taken. */
#include "common/grant.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *text = copy_bytes(data, bytes), again[GRANT_REQUEST_BYTES_MAX];
	struct grant_request request = { 0 };
	int result = grant_parse(text, bytes, &request);

	if (result) {
		HOLDS(result == -EAGAIN || result == -E2BIG || result == -EINVAL);
		HOLDS(!request.cgroup_id && !request.window_us);
		HOLDS(result != -EAGAIN || bytes < GRANT_REQUEST_BYTES_MAX);
	} else {
		HOLDS(request.cgroup_id && request.resource < PSI_RESOURCES);
		HOLDS(request.window_us >= PSI_WINDOW_MIN_US && request.window_us <= PSI_WINDOW_MAX_US);
		HOLDS(grant_format(&request, again) == bytes && !memcmp(again, text, bytes));
	}
	free(text);
	return 0;
}

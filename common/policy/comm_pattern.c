/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/policy/comm_pattern.h"

#include <errno.h>
#include <string.h>

int comm_pattern_parse(const char *text, struct comm_pattern *ret_pattern, const char **ret_why)
{
	const char *star = strchr(text, '*');
	size_t bytes = star ? (size_t)(star - text) : strlen(text);
	struct comm_pattern pattern = { .prefix = star };

	*ret_why = NULL;
	if (!*text)
		*ret_why = "comm is empty: write '*' to match every process";
	else if (star && star[1])
		*ret_why = "'*' is allowed only at the end of a comm";
	else if (bytes >= ABI_COMM_BYTES)
		*ret_why =
			"longer than 15 bytes, so it never matches: the kernel truncates a comm to 15 bytes";
	if (*ret_why)
		return -EINVAL;
	memcpy(pattern.text, text, bytes);
	*ret_pattern = pattern;
	return 0;
}

struct pattern_key comm_pattern_key(const struct comm_pattern *pattern)
{
	size_t bytes = strnlen(pattern->text, ABI_COMM_BYTES);
	struct pattern_key key = { .prefix_bits = (__u32)(pattern->prefix ? bytes : bytes + 1) * 8 };

	memcpy(key.comm, pattern->text, bytes);
	return key;
}

struct pattern_key comm_lookup_key(const char comm[ABI_COMM_BYTES])
{
	struct pattern_key key = { .prefix_bits = ABI_COMM_BYTES * 8 };

	memcpy(key.comm, comm, strnlen(comm, ABI_COMM_BYTES));
	return key;
}

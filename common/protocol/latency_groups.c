/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/protocol/latency_groups.h"

#include <string.h>

#define BLANKS " \t"

const char *const latency_group_names[LATENCY_GROUPS] = { LATENCY_GROUP_NAMES };

/* 0: no such group. */
static uint32_t group_of(const char *word, size_t bytes)
{
	for (uint32_t i = 0; i < LATENCY_GROUPS; i++)
		if (strlen(latency_group_names[i]) == bytes && !memcmp(latency_group_names[i], word, bytes))
			return 1U << i;
	return 0;
}

const char *latency_groups_parse(const char *text, uint32_t *ret_groups)
{
	uint32_t groups = 0;

	if (!strcmp(text, "all") || !strcmp(text, "none")) {
		*ret_groups = *text == 'a' ? LATENCY_ALL : 0;
		return NULL;
	}
	for (const char *at = text;; at++) {
		uint32_t group;

		at += strspn(at, BLANKS);
		group = group_of(at, strcspn(at, BLANKS ","));
		if (!group)
			return at;
		groups |= group;
		at += strcspn(at, BLANKS ",");
		at += strspn(at, BLANKS);
		if (!*at)
			break;
		if (*at != ',')
			return at;
	}
	*ret_groups = groups;
	return NULL;
}

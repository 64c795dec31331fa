/* SPDX-License-Identifier: GPL-2.0-only */
/* optional_text.h compares texts that may be NULL, which is a value as any other. */
#ifndef BOURDON_COMMON_BASE_OPTIONAL_TEXT_H
#define BOURDON_COMMON_BASE_OPTIONAL_TEXT_H

#include <stdbool.h>
#include <string.h>

/* As strcmp(). NULL comes first. */
static inline int optional_text_compare(const char *one, const char *other)
{
	return one && other ? strcmp(one, other) : (one != NULL) - (other != NULL);
}

static inline bool optional_text_is_same(const char *one, const char *other)
{
	return !optional_text_compare(one, other);
}

#endif

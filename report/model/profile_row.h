/* SPDX-License-Identifier: GPL-2.0-only */
/* profile_row.h owns the texts of a row that a profile is read from: the profile keeps them. */
#ifndef BOURDON_REPORT_MODEL_PROFILE_ROW_H
#define BOURDON_REPORT_MODEL_PROFILE_ROW_H

#include "report/model/profile.h"
#include "report/model/query.h"

#include <stdint.h>
#include <string.h>

/* `ret_text` may have the text of the row before, which is often the same; else 0. */
static inline int row_intern(struct profile *profile, const struct query *query, int column,
			     uint32_t *ret_text)
{
	const char *text = query_text_at(query, column);

	if (!strcmp(profile_text(profile, *ret_text), text))
		return 0;
	return profile_intern(profile, text, ret_text);
}

/* Stores NULL for NULL. */
static inline int row_keep(struct profile *profile, const struct query *query, int column,
			   const char **ret_text)
{
	uint32_t text = 0;
	int result;

	*ret_text = NULL;
	if (query_is_null_at(query, column))
		return 0;
	result = row_intern(profile, query, column, &text);
	if (!result)
		*ret_text = profile_text(profile, text);
	return result;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * profile_row.h owns the columns of a row that a profile is read from, by their positions: such queries have too many rows to look
 * up names. Texts go into the profile.
 */
#ifndef BOURDON_REPORT_MODEL_PROFILE_ROW_H
#define BOURDON_REPORT_MODEL_PROFILE_ROW_H

#include "report/model/profile.h"
#include "report/model/query.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline const char *row_text(const struct query *query, int column)
{
	const char *text = (const char *)sqlite3_column_text(query->statement, column);

	return text ? text : "";
}

static inline bool row_is_null(const struct query *query, int column)
{
	return sqlite3_column_type(query->statement, column) == SQLITE_NULL;
}

static inline int64_t row_number(const struct query *query, int column)
{
	return sqlite3_column_int64(query->statement, column);
}

/* `ret_text` may have the text of the row before, which is often the same; else 0. */
static inline int row_intern(struct profile *profile, const struct query *query, int column,
			     uint32_t *ret_text)
{
	const char *text = row_text(query, column);

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
	if (row_is_null(query, column))
		return 0;
	result = row_intern(profile, query, column, &text);
	if (!result)
		*ret_text = profile_text(profile, text);
	return result;
}

#endif

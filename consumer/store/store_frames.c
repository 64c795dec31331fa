/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/store/store_frames.h"

#include "common/base/cleanup.h"

#include <errno.h>
#include <string.h>

/*
 * Finds all functions at one address, or none: an address whose function, not inlined, has no name counts as
 * unknown.
 */
int store_frames_prepare(struct sql *sql, sqlite3_stmt **ret_statement)
{
	/* the conditions match the index module_identity */
	return sql_prepare(
		sql, ret_statement,
		"WITH place AS (SELECT module_id, offset FROM module JOIN frame USING(module_id) "
		"WHERE path = ?1 AND build_id <> '' AND ifnull(build_id, '') = ?2 AND version = ?3 "
		"AND kind = 'file' AND offset = ?4 AND inlined = 0 AND function_offset IS NOT NULL) "
		"SELECT function, function_offset, file, line FROM frame "
		"WHERE (module_id, offset) = (SELECT module_id, offset FROM place) ORDER BY inlined");
}

static int read_row(sqlite3_stmt *statement, frame_name_add add, void *user)
{
	_cleanup_free_ char *function = sql_column_text(statement, 0), *file = sql_column_text(statement, 2);
	const struct frame_name name = { .function = function,
					 .function_bytes = function ? strlen(function) : 0,
					 .function_offset = sqlite3_column_int64(statement, 1),
					 .file = file,
					 .file_bytes = file ? strlen(file) : 0,
					 .line = (uint32_t)sqlite3_column_int64(statement, 3) };

	return function ? add(user, &name) : -ENOENT;
}

int store_frames_find(sqlite3_stmt *statement, const char *path, const char *build_id, const char *version,
		      int64_t offset, frame_name_add add, void *user)
{
	int result = sql_bind_text(statement, 1, path);

	if (!result)
		result = sql_bind_text(statement, 2, build_id);
	if (!result)
		result = sql_bind_text(statement, 3, version);
	sqlite3_bind_int64(statement, 4, offset);
	if (!result)
		result = sqlite3_step(statement) == SQLITE_ROW ? 0 : -ENOENT;
	while (!result) {
		result = read_row(statement, add, user);
		if (result < 0 || sqlite3_step(statement) != SQLITE_ROW)
			break;
	}
	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
	return result;
}

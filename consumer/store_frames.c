/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/store_frames.h"

#include <errno.h>

/* All functions there, or none: a real one without a name is as if nothing was known. */
int store_frames_prepare(struct sql *sql, sqlite3_stmt **ret_statement)
{
	/* as the index module_identity has it */
	return sql_prepare(
		sql, ret_statement,
		"WITH place AS (SELECT module_id, offset FROM module JOIN frame USING(module_id) "
		"WHERE path = ?1 AND ifnull(build_id, '') = ?2 AND version = '' AND kind = 'file' "
		"AND offset = ?3 AND inlined = 0 AND function_offset IS NOT NULL) "
		"SELECT function, function_offset, file, line FROM frame "
		"WHERE (module_id, offset) = (SELECT module_id, offset FROM place) ORDER BY inlined");
}

static struct frame_name read_name(sqlite3_stmt *statement)
{
	struct frame_name name = { .function = (const char *)sqlite3_column_text(statement, 0),
				   .function_bytes = (size_t)sqlite3_column_bytes(statement, 0),
				   .function_offset = sqlite3_column_int64(statement, 1),
				   .file = (const char *)sqlite3_column_text(statement, 2),
				   .file_bytes = (size_t)sqlite3_column_bytes(statement, 2),
				   .line = (uint32_t)sqlite3_column_int64(statement, 3) };

	return name;
}

int store_frames_find(sqlite3_stmt *statement, const char *path, const char *build_id, int64_t offset,
		      frame_name_take take, void *taker)
{
	int result = -ENOENT;

	sqlite3_bind_text(statement, 1, path, -1, SQLITE_STATIC);
	sqlite3_bind_text(statement, 2, build_id, -1, SQLITE_STATIC);
	sqlite3_bind_int64(statement, 3, offset);
	while (sqlite3_step(statement) == SQLITE_ROW) {
		const struct frame_name name = read_name(statement);

		result = name.function ? take(taker, &name) : -ENOENT;
		if (result < 0)
			break;
	}
	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
	return result;
}

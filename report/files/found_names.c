/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/files/found_names.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/text/escape_name.h"
#include "report/files/extend_stacks.h"
#include "report/model/query.h"

#include <errno.h>
#include <string.h>

/*
 * Functions that are noted before they are written, in one transaction. It bounds the memory (some 200 bytes each), and
 * how long the daemon waits for it: each transaction reads all stacks once.
 */
#define NOTED_MAX 65536U

int found_names_begin(struct found_names *names)
{
	struct database *database = names->database;
	int result = database_execute(
		database, "CREATE TEMP TABLE noted(frame_id INTEGER, function TEXT, function_offset INTEGER, "
			  "file TEXT, line INTEGER, inlined INTEGER, offset INTEGER, build_id TEXT);"
			  "CREATE INDEX temp.noted_frame ON noted(frame_id, inlined)");

	if (result < 0)
		return result;
	if (sqlite3_prepare_v2(database->sqlite, "INSERT INTO noted VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
			       -1, &names->note, NULL) == SQLITE_OK)
		return 0;
	database_fail(database);
	return -EIO;
}

/* Except to frames that the daemon has named or deleted meanwhile. */
static const char write_names[] =
	"DELETE FROM noted WHERE frame_id NOT IN (SELECT n.frame_id FROM noted n JOIN frame f "
	"USING(frame_id) "
	"JOIN module m USING(module_id) WHERE f.offset = n.offset AND m.build_id = n.build_id "
	"AND f.function_offset IS NULL);"
	"UPDATE frame_row SET (function, function_offset, file, line) = (SELECT n.function, n.function_offset, "
	"ifnull(n.file, frame_row.file), ifnull(n.line, frame_row.line) FROM noted n "
	"WHERE n.frame_id = frame_row.frame_id AND n.inlined = 0) "
	"WHERE frame_id IN (SELECT frame_id FROM noted WHERE inlined = 0);"
	"INSERT INTO frame_row(module_id, offset, function, function_offset, file, line, inlined) "
	"SELECT f.module_id, f.offset, n.function, n.function_offset, n.file, n.line, n.inlined "
	"FROM noted n JOIN frame f USING(frame_id) WHERE n.inlined > 0 ON CONFLICT DO NOTHING";

/*
 * What is inlined in the frames that got a name. A frame without that counts only if its file has a version: then its
 * name is a part of the hashes of its stacks (common/store/stack_hash.h).
 */
static const char extensions_sql[] =
	"SELECT frame_id, inner_id FROM ("
	"SELECT n.frame_id, n.inlined, i.frame_id AS inner_id FROM noted n JOIN frame f USING(frame_id) "
	"JOIN frame i ON i.module_id = f.module_id AND i.offset = f.offset AND i.inlined = n.inlined "
	"WHERE n.inlined > 0 "
	"UNION ALL SELECT n.frame_id, 0, 0 FROM noted n JOIN frame f USING(frame_id) "
	"JOIN module m USING(module_id) WHERE n.inlined = 0 AND m.version <> '' AND NOT EXISTS "
	"(SELECT 1 FROM noted i WHERE i.frame_id = n.frame_id AND i.inlined > 0)"
	") ORDER BY frame_id, inlined";

static int read_extensions(struct found_names *names, struct frame_extension **ret_extensions,
			   uint32_t *ret_count)
{
	_cleanup_query_ struct query query = query_begin(names->database, extensions_sql, 0, 0);
	_cleanup_free_ struct frame_extension *extensions = NULL;
	uint32_t count = 0, room = 0;

	while (query_next(&query)) {
		if (array_make_room(extensions, count, room, 1U))
			return log_failed(-ENOMEM, "out of memory");
		extensions[count++] = (struct frame_extension){ query_number(&query, "frame_id"),
								query_number(&query, "inner_id") };
	}
	*ret_extensions = TAKE_PTR(extensions);
	*ret_count = count;
	return names->database->failed ? -EIO : 0;
}

static int write_stacks(struct found_names *names)
{
	_cleanup_free_ struct frame_extension *extensions = NULL;
	struct database *database = names->database;
	uint64_t damaged = 0;
	uint32_t count = 0;
	int result = read_extensions(names, &extensions, &count);

	if (result < 0 || !count)
		return result;
	result = extend_stacks(database->sqlite, extensions, count, &damaged);
	names->damaged += damaged;
	if (result == -ENOMEM)
		log_error("out of memory");
	else if (result < 0)
		database_fail(database);
	return result;
}

int found_names_write(struct found_names *names)
{
	struct database *database = names->database;
	int result;

	if (!names->noted)
		return 0;
	result = database_execute(database, "BEGIN IMMEDIATE");
	if (result < 0)
		return result;
	result = database_execute(database, write_names);
	if (!result)
		result = write_stacks(names);
	if (!result)
		result = database_execute(database, "DELETE FROM noted; COMMIT");
	if (result < 0)
		sqlite3_exec(database->sqlite, "ROLLBACK", NULL, NULL, NULL);
	names->noted = 0;
	return result;
}

/* Stores names in the form in which the daemon does. */
static int bind_text(sqlite3_stmt *statement, int position, const struct symbolize_reply *reply, uint32_t at,
		     uint32_t bytes)
{
	_cleanup_free_ char *name = bytes ? strndup(reply->text + at, bytes) : NULL;
	char *form = name ? escape_name(name) : NULL;

	if (bytes && !form)
		return log_failed(-ENOMEM, "out of memory");
	return sqlite3_bind_text(statement, position, form, -1, free) == SQLITE_OK ? 0 : -ENOMEM;
}

int found_names_add(struct found_names *names, const char *build_id, const struct found_place *place,
		    const struct symbolize_reply *reply, uint32_t first, uint32_t depth)
{
	sqlite3_stmt *note = names->note;

	if (!reply->frames[first].name_bytes)
		return 0;
	for (uint32_t i = 0; i < depth; i++) {
		const struct symbolize_frame *frame = &reply->frames[first + i];

		sqlite3_reset(note);
		sqlite3_bind_int64(note, 1, place->frame_id);
		if (bind_text(note, 2, reply, frame->name, frame->name_bytes) ||
		    bind_text(note, 4, reply, frame->file, frame->file_bytes))
			return -ENOMEM;
		sqlite3_bind_int64(note, 3, (int64_t)frame->function_offset);
		if (frame->line)
			sqlite3_bind_int64(note, 5, frame->line);
		else
			sqlite3_bind_null(note, 5);
		sqlite3_bind_int64(note, 6, i);
		sqlite3_bind_int64(note, 7, place->offset);
		sqlite3_bind_text(note, 8, build_id, -1, SQLITE_STATIC);
		if (sqlite3_step(note) != SQLITE_DONE) {
			database_fail(names->database);
			return -EIO;
		}
	}
	sqlite3_reset(note);
	names->noted += depth;
	return names->noted >= NOTED_MAX ? found_names_write(names) : 0;
}

void found_names_end(struct found_names *names)
{
	sqlite3_finalize(names->note);
	names->note = NULL;
}

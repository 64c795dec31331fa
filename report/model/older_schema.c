/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/model/older_schema.h"

#include <errno.h>
#include <stddef.h>

/* The tables of the schema. */
#define TABLES "sqlite_schema s WHERE s.type = 'table' AND s.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"

/*
 * The statements that make the views. All text in them is the schema's: a hostile file has any names. `theirs` has the
 * columns of the file's tables.
 */
static const char views_sql[] =
	"SELECT printf('CREATE TEMP VIEW \"%w\" AS SELECT %s %s', s.name, (SELECT group_concat(iif(t.name IS NULL, "
	"ifnull(p.dflt_value, 'NULL') || ' AS ', '') || printf('\"%w\"', p.name), ', ') FROM pragma_table_info(s.name) p "
	"LEFT JOIN theirs t ON t.owner = s.name AND t.name = p.name), iif(EXISTS (SELECT 1 FROM theirs t WHERE "
	"t.owner = s.name), printf('FROM main.\"%w\"', s.name), 'WHERE 0')) FROM " TABLES
	" AND (SELECT group_concat(name) FROM pragma_table_info(s.name)) IS NOT "
	"(SELECT group_concat(name) FROM theirs WHERE owner = s.name) "
	"UNION ALL SELECT 'CREATE TEMP VIEW ' || substr(sql, length('CREATE VIEW ') + 1) FROM sqlite_schema "
	"WHERE type = 'view'";

static int open_model(const struct schema *schema, sqlite3 **ret_model)
{
	int code = sqlite3_open(":memory:", ret_model);

	if (code == SQLITE_OK)
		code = sqlite3_exec(*ret_model, schema->sql, NULL, NULL, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_exec(*ret_model, "CREATE TEMP TABLE theirs(owner TEXT, name TEXT)", NULL, NULL,
				    NULL);
	return code == SQLITE_OK ? 0 : -ENOMEM;
}

/* Notes the columns that one table has in the file. */
static int note_columns(sqlite3_stmt *columns, const char *table, sqlite3_stmt *note)
{
	int step;

	sqlite3_reset(columns);
	sqlite3_bind_text(columns, 1, table, -1, SQLITE_STATIC);
	while ((step = sqlite3_step(columns)) == SQLITE_ROW) {
		sqlite3_reset(note);
		sqlite3_bind_text(note, 1, table, -1, SQLITE_STATIC);
		sqlite3_bind_value(note, 2, sqlite3_column_value(columns, 0));
		if (sqlite3_step(note) != SQLITE_DONE)
			return -ENOMEM;
	}
	return step == SQLITE_DONE ? 0 : -EIO;
}

static int note_tables(sqlite3 *older, sqlite3 *model)
{
	sqlite3_stmt *tables = NULL, *columns = NULL, *note = NULL;
	int result = 0, step = SQLITE_DONE;

	if (sqlite3_prepare_v2(older, "SELECT name FROM pragma_table_info(?, 'main')", -1, &columns, NULL))
		result = -EIO;
	else if (sqlite3_prepare_v2(model, "SELECT s.name FROM " TABLES, -1, &tables, NULL) ||
		 sqlite3_prepare_v2(model, "INSERT INTO theirs VALUES(?, ?)", -1, &note, NULL))
		result = -ENOMEM;
	while (!result && (step = sqlite3_step(tables)) == SQLITE_ROW)
		result = note_columns(columns, (const char *)sqlite3_column_text(tables, 0), note);
	if (!result && step != SQLITE_DONE)
		result = -ENOMEM;
	sqlite3_finalize(tables);
	sqlite3_finalize(columns);
	sqlite3_finalize(note);
	return result;
}

static int make_views(sqlite3 *older, sqlite3 *model)
{
	sqlite3_stmt *views = NULL;
	int result = 0, step = SQLITE_DONE;

	if (sqlite3_prepare_v2(model, views_sql, -1, &views, NULL))
		result = -ENOMEM;
	while (!result && (step = sqlite3_step(views)) == SQLITE_ROW)
		if (sqlite3_exec(older, (const char *)sqlite3_column_text(views, 0), NULL, NULL, NULL))
			result = -EIO;
	if (!result && step != SQLITE_DONE)
		result = -ENOMEM;
	sqlite3_finalize(views);
	return result;
}

int older_schema_read(sqlite3 *older, const struct schema *schema)
{
	sqlite3 *model = NULL;
	int result = open_model(schema, &model);

	if (!result)
		result = note_tables(older, model);
	if (!result)
		result = make_views(older, model);
	sqlite3_close(model);
	return result;
}

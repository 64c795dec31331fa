/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/files/db_rows.h"

#include "common/base/cleanup.h"
#include "common/text/escape_name.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

static void name_form(sqlite3_context *context, int count, sqlite3_value **values)
{
	const char *text = NULL;
	char *name, *form = NULL;

	(void)count;
	if (sqlite3_value_type(values[0]) == SQLITE_TEXT)
		text = (const char *)sqlite3_value_text(values[0]);
	if (!text || escape_name_is_plain(text)) {
		sqlite3_result_value(context, values[0]);
		return;
	}
	name = strdup(text);
	if (name) {
		escape_name_undo(name);
		form = escape_name(name);
	}
	free(name);
	if (form)
		sqlite3_result_text(context, form, -1, free);
	else
		sqlite3_result_error_nomem(context);
}

int db_rows_prepare(struct sql *sql)
{
	return sqlite3_create_function_v2(sql->db, "name_form", 1,
					  SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL,
					  name_form, NULL, NULL, NULL) == SQLITE_OK
		       ? 0
		       : sql_failed(sql);
}

int db_rows_make_maps(struct sql *sql)
{
	return sql_execute_made(
		sql,
		"SELECT printf('CREATE TEMP TABLE \"%w_map\"(was INTEGER PRIMARY KEY, id INTEGER)', s.name) FROM "
		"main.sqlite_schema s WHERE type = 'table' AND (SELECT sum(pk) FROM pragma_table_info(s.name, 'main')) = 1");
}

/* ---- the statements of a table ---- */

/*
 * The parts of the statements for table ?1, from its columns in the output; ?2 has exceptions. An id that refers to nothing
 * becomes NULL or a text, which the table refuses.
 */
enum part {
	PART_ID,       /* the column that is the id; NULL: none is */
	PART_NAME,     /* the one that names a row where none is: the second one of the key */
	PART_KEY,      /* the numbers of the columns of such a key */
	PART_SELECTED, /* values from the source, each behind a comma, as the next two */
	PART_NAMES,
	PART_VALUES, /* parameters */
	PART_COUNT,  /* of the values */
};
static const char parts_sql[] =
	"WITH c AS (SELECT p.*, f.\"table\" AS parent, sum(p.pk > 0) OVER () = 1 AS has_id, printf('\"%w\"', p.name) AS quoted, "
	"printf('g.\"%w\"', p.name) AS given, (SELECT value FROM json_each(?2) WHERE key = p.name) AS instead FROM "
	"pragma_table_info(?1, 'main') p LEFT JOIN pragma_foreign_key_list(?1, 'main') f ON f.\"from\" = p.name), "
	"n AS (SELECT *, row_number() OVER (ORDER BY cid) AS number, (SELECT given FROM c WHERE pk AND has_id) AS id FROM c "
	"WHERE NOT (pk AND has_id) ORDER BY cid) "
	"SELECT (SELECT quoted FROM c WHERE pk AND has_id), (SELECT quoted FROM c WHERE pk = 2), group_concat(iif(pk, 1 + number, "
	"NULL), ', '), group_concat(', ' || CASE WHEN instead IS NOT NULL THEN instead "
	"WHEN name = 'recorded_as' THEN printf('ifnull(%s, %s)', given, id) "
	"WHEN parent IS NOT NULL AND \"notnull\" THEN printf('(SELECT id FROM \"%w_map\" WHERE was = %s)', parent, given) "
	"WHEN parent IS NOT NULL THEN printf('iif(%s IS NULL, NULL, ifnull((SELECT id FROM \"%w_map\" WHERE was = %s), ''no such "
	"row''))', given, parent, given) WHEN type = 'TEXT' THEN printf('name_form(%s)', given) ELSE given END || ' AS ' || "
	"quoted, ''), group_concat(', ' || quoted, ''), group_concat(printf(iif(name = 'recorded_as', ', nullif(?%d, n)', ', ?%d'), "
	"1 + number), ''), count(*) FROM n";

static int prepare_add(struct sql *sql, const struct table *table, const char *const parts[],
		       sqlite3_stmt **ret_add)
{
	if (table->id)
		return sql_prepare_format(
			sql, ret_add,
			"INSERT INTO main.\"%w\"(%s%s) SELECT n%s FROM (SELECT %s AS n) RETURNING %s",
			table->name, parts[PART_ID], parts[PART_NAMES], parts[PART_VALUES], table->id,
			parts[PART_ID]);
	return sql_prepare_format(sql, ret_add, "INSERT INTO main.\"%w\"(%s) VALUES(%s) %s%s", table->name,
				  parts[PART_NAMES] + 2, parts[PART_VALUES] + 2,
				  parts[PART_ID] ? "RETURNING " : "",
				  parts[PART_ID]  ? parts[PART_ID]
				  : table->clause ? table->clause
						  : "");
}

static int prepare_all(struct sql *sql, const struct table *table, const char *const parts[],
		       struct table_rows *rows)
{
	const char *name = table->name, *id = parts[PART_ID] ? parts[PART_ID] : "rowid";
	int result = sql_prepare_format(
		sql, &rows->select, "SELECT g.%s%s%s%s FROM given.\"%w\" g WHERE %s ORDER BY %s",
		parts[PART_NAME] ? parts[PART_NAME] : id, parts[PART_SELECTED], table->checked ? ", " : "",
		table->checked ? table->checked : "", name, table->where ? table->where : "true",
		parts[PART_NAME] ? parts[PART_KEY] : "1");

	if (!result)
		result = prepare_add(sql, table, parts, &rows->add);
	if (!result && table->find)
		result = sql_prepare_format(sql, &rows->find, "SELECT %s FROM main.\"%w\" WHERE %s", id, name,
					    table->find);
	if (!result && table->renew)
		result = sql_prepare_format(sql, &rows->renew, "UPDATE main.\"%w\" %s AND %s = :found", name,
					    table->renew, id);
	if (!result && parts[PART_ID])
		result = sql_prepare_format(sql, &rows->map, "INSERT INTO \"%w_map\"(was, id) VALUES(?1, ?2)",
					    name);
	return result;
}

int db_rows_begin(struct row_transfer *transfer, const struct table *table, struct table_rows *ret_rows)
{
	const char *parts[PART_COUNT];
	sqlite3_stmt *statement;
	int result = sql_prepare(transfer->sql, &statement, parts_sql);

	*ret_rows = (struct table_rows){ .table = table };
	snprintf(transfer->row, sizeof(transfer->row), "table %s", table->name);
	if (result < 0)
		return result;
	sqlite3_bind_text(statement, 1, table->name, -1, SQLITE_STATIC);
	sqlite3_bind_text(statement, 2, table->instead, -1, SQLITE_STATIC);
	if (sqlite3_step(statement) != SQLITE_ROW) {
		result = sql_failed(transfer->sql);
	} else if (!sqlite3_column_int(statement, PART_COUNT)) {
		snprintf(transfer->sql->error, sizeof(transfer->sql->error), "the output has no such table");
		result = -EUCLEAN;
	} else {
		for (int i = 0; i < PART_COUNT; i++)
			parts[i] = (const char *)sqlite3_column_text(statement, i);
		ret_rows->checked = 1 + sqlite3_column_int(statement, PART_COUNT);
		result = prepare_all(transfer->sql, table, parts, ret_rows);
	}
	sqlite3_finalize(statement);
	return result;
}

void db_rows_end(struct table_rows *rows)
{
	sqlite3_finalize(rows->select);
	sqlite3_finalize(rows->find);
	sqlite3_finalize(rows->renew);
	sqlite3_finalize(rows->add);
	sqlite3_finalize(rows->map);
}

/* ---- rows ---- */

static void name_row(struct row_transfer *transfer, const struct table *table, sqlite3_stmt *row)
{
	const unsigned char *key = sqlite3_column_text(row, 0);

	snprintf(transfer->row, sizeof(transfer->row), "%s %.160s", table->name,
		 key ? (const char *)key : "without an id");
	if (transfer->capture_id)
		snprintf(transfer->row + strlen(transfer->row), sizeof(transfer->row) - strlen(transfer->row),
			 " of capture %" PRId64, transfer->capture_id);
}

/* Parameter ?N is the selected column N, :NAME the one of that name. */
static void bind_row(sqlite3_stmt *statement, sqlite3_stmt *row)
{
	for (int i = sqlite3_bind_parameter_count(statement); i > 0; i--) {
		const char *name = sqlite3_bind_parameter_name(statement, i);
		int column = i - 1;

		if (!name)
			continue;
		if (*name == ':')
			for (column = sqlite3_column_count(row) - 1; column >= 0; column--)
				if (!strcmp(sqlite3_column_name(row, column), name + 1))
					break;
		if (column >= 0)
			sqlite3_bind_value(statement, i, sqlite3_column_value(row, column));
	}
}

/* Ignores a name that the statement does not have. */
static void bind_named(sqlite3_stmt *statement, const char *name, int64_t value)
{
	int parameter = sqlite3_bind_parameter_index(statement, name);

	if (parameter)
		sqlite3_bind_int64(statement, parameter, value);
}

/* Runs a statement to its end. *ret_id stays as it is if no row came. */
static int run_statement(struct sql *sql, sqlite3_stmt *statement, int64_t *ret_id)
{
	int step = sqlite3_step(statement), result;

	if (step == SQLITE_ROW) {
		*ret_id = sqlite3_column_int64(statement, 0);
		step = sqlite3_step(statement);
	}
	result = step == SQLITE_DONE || step == SQLITE_ROW ? 0 : sql_failed(sql);
	sqlite3_reset(statement);
	return result;
}

static int transfer_row(struct row_transfer *transfer, const struct table_rows *rows, int64_t *ret_id)
{
	sqlite3_stmt *row = rows->select;
	int64_t id = 0;
	int result = 0;

	if (rows->table->is_valid && !rows->table->is_valid(row, rows->checked)) {
		snprintf(transfer->sql->error, sizeof(transfer->sql->error),
			 "it has a value that bourdond does not write");
		return -EUCLEAN;
	}
	if (rows->find) {
		bind_row(rows->find, row);
		result = run_statement(transfer->sql, rows->find, &id);
	}
	if (!result && id && rows->renew) {
		bind_row(rows->renew, row);
		bind_named(rows->renew, ":found", id);
		result = run_statement(transfer->sql, rows->renew, &id);
	}
	if (!result && !id) {
		bind_row(rows->add, row);
		result = run_statement(transfer->sql, rows->add, &id);
	}
	if (!result && rows->map) {
		sqlite3_bind_value(rows->map, 1, sqlite3_column_value(row, 0));
		sqlite3_bind_int64(rows->map, 2, id);
		result = run_statement(transfer->sql, rows->map, &id);
	}
	*ret_id = id;
	return result;
}

int db_rows_run(struct row_transfer *transfer, const struct table_rows *rows, int64_t *ret_id)
{
	int64_t id = 0;
	int result = 0, step = SQLITE_DONE;

	snprintf(transfer->row, sizeof(transfer->row), "table %s", rows->table->name);
	bind_named(rows->select, ":capture", transfer->capture_id);
	bind_named(rows->select, ":whole", transfer->whole);
	while (!result && (step = sqlite3_step(rows->select)) == SQLITE_ROW) {
		result = transfer_row(transfer, rows, &id);
		if (result < 0)
			name_row(transfer, rows->table, rows->select);
	}
	if (!result && step != SQLITE_DONE)
		result = sql_failed(transfer->sql);
	sqlite3_reset(rows->select);
	if (!result)
		transfer->row[0] = '\0';
	if (ret_id)
		*ret_id = id;
	return result;
}

int db_rows_transfer(struct row_transfer *transfer, const struct table *table)
{
	struct table_rows rows;
	int result = db_rows_begin(transfer, table, &rows);

	if (!result)
		result = db_rows_run(transfer, &rows, NULL);
	db_rows_end(&rows);
	return result;
}

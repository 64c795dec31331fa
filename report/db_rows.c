/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/db_rows.h"

#include "common/cleanup.h"
#include "common/escape_name.h"

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

static const char columns_sql[] =
	"SELECT p.name, f.\"table\", p.type = 'TEXT', p.\"notnull\", p.pk, p.pk AND sum(p.pk > 0) OVER () = 1 FROM "
	"pragma_table_info(?1, 'main') p LEFT JOIN pragma_foreign_key_list(?1, 'main') f ON f.\"from\" = p.name ORDER BY p.cid";

/* A row of columns_sql. */
struct column {
	const char *name, *refers_to; /* the latter is a table, or NULL */
	bool is_text, is_required;
	int of_key; /* 1: the first one of the primary key, and so on; 0: none */
	bool is_id;
};

/* What grows with each column. */
enum part {
	PART_SELECTED,
	PART_NAMES,
	PART_VALUES,
	PART_KEY,
	PARTS,
};

struct making {
	const struct table *table;
	sqlite3_str *parts[PARTS];
	int count;  /* selected columns */
	char *id;   /* the column that is the id; NULL: the table has none */
	char *name; /* the column that names a row; NULL: none does */
};

/* The value for a column, from the table in the source. */
static void append_selected(struct making *making, const struct column *column)
{
	const struct table *table = making->table;
	sqlite3_str *selected = making->parts[PART_SELECTED];
	const char *name = column->name, *instead = NULL;

	for (size_t i = 0; i < TABLE_EXCEPTIONS_MAX && table->instead[i].column; i++)
		if (!strcmp(table->instead[i].column, name))
			instead = table->instead[i].value;
	if (instead)
		sqlite3_str_appendf(selected, ", %s", instead);
	else if (making->id && !strcmp(name, "recorded_as"))
		sqlite3_str_appendf(selected, ", ifnull(g.recorded_as, g.\"%w\")", making->id);
	else if (column->refers_to && column->is_required)
		sqlite3_str_appendf(selected, ", (SELECT id FROM \"%w_map\" WHERE was = g.\"%w\")",
				    column->refers_to, name);
	else if (column->refers_to) /* what refers to nothing becomes a text, which the table refuses */
		sqlite3_str_appendf(selected,
				    ", iif(g.\"%w\" IS NULL, NULL, ifnull((SELECT id FROM \"%w_map\" WHERE "
				    "was = g.\"%w\"), 'no such row'))",
				    name, column->refers_to, name);
	else
		sqlite3_str_appendf(selected, column->is_text ? ", name_form(g.\"%w\")" : ", g.\"%w\"", name);
	sqlite3_str_appendf(selected, " AS \"%w\"", name);
}

static int append_column(struct making *making, const struct column *column)
{
	bool is_recorded_as = making->id && !strcmp(column->name, "recorded_as");

	if (column->is_id)
		return (making->id = strdup(column->name)) ? 0 : -ENOMEM;
	making->count++;
	append_selected(making, column);
	sqlite3_str_appendf(making->parts[PART_NAMES], ", \"%w\"", column->name);
	sqlite3_str_appendf(making->parts[PART_VALUES], is_recorded_as ? ", nullif(?%d, n)" : ", ?%d",
			    making->count);
	/* rows come in the order of the output's key, which is fast; its first column tells what they belong to */
	if (column->of_key)
		sqlite3_str_appendf(making->parts[PART_KEY], column->of_key > 1 ? ", %d" : "%d",
				    making->count);
	return column->of_key != 2 || (making->name = strdup(column->name)) ? 0 : -ENOMEM;
}

static int append_columns(struct sql *sql, struct making *making)
{
	const char *const *checked = making->table->checked;
	sqlite3_stmt *columns;
	int result = sql_prepare(sql, &columns, columns_sql), step = SQLITE_DONE;

	for (making->count = 1; checked[making->count - 1]; making->count++)
		sqlite3_str_appendf(making->parts[PART_SELECTED], ", %s", checked[making->count - 1]);
	if (!result)
		sqlite3_bind_text(columns, 1, making->table->name, -1, SQLITE_STATIC);
	while (!result && (step = sqlite3_step(columns)) == SQLITE_ROW)
		result = append_column(making, &(struct column){
						       (const char *)sqlite3_column_text(columns, 0),
						       (const char *)sqlite3_column_text(columns, 1),
						       sqlite3_column_int(columns, 2),
						       sqlite3_column_int(columns, 3),
						       sqlite3_column_int(columns, 4),
						       sqlite3_column_int(columns, 5),
					       });
	if (!result && step != SQLITE_DONE)
		result = sql_failed(sql);
	sqlite3_finalize(columns);
	return result;
}

static int prepare_add(struct sql *sql, const struct making *making, char *const parts[PARTS],
		       sqlite3_stmt **ret_add)
{
	const struct table *table = making->table;

	if (table->id)
		return sql_prepare_format(
			sql, ret_add,
			"INSERT INTO main.\"%w\"(\"%w\"%s) SELECT n%s FROM (SELECT %s AS n) RETURNING \"%w\"",
			table->name, making->id, parts[PART_NAMES], parts[PART_VALUES], table->id,
			making->id);
	return sql_prepare_format(sql, ret_add,
				  making->id ? "INSERT INTO main.\"%w\"(%s) VALUES(%s) RETURNING \"%w\""
					     : "INSERT INTO main.\"%w\"(%s) VALUES(%s) %s",
				  table->name, parts[PART_NAMES] + 2, parts[PART_VALUES] + 2,
				  making->id      ? making->id
				  : table->clause ? table->clause
						  : "");
}

static int prepare_all(struct sql *sql, const struct making *making, char *const parts[PARTS],
		       struct table_rows *rows)
{
	const struct table *table = making->table;
	const char *name = table->name, *id = making->id ? making->id : "rowid";
	int result = sql_prepare_format(
		sql, &rows->select, "SELECT g.\"%w\"%s FROM given.\"%w\" g WHERE %s ORDER BY %s",
		making->name ? making->name : id, parts[PART_SELECTED], name,
		table->where ? table->where : "true", making->name ? parts[PART_KEY] : "1");

	if (!result)
		result = prepare_add(sql, making, parts, &rows->add);
	if (!result && table->find)
		result = sql_prepare_format(sql, &rows->find, "SELECT \"%w\" FROM main.\"%w\" WHERE %s", id,
					    name, table->find);
	if (!result && table->renew)
		result = sql_prepare_format(sql, &rows->renew, "UPDATE main.\"%w\" %s AND \"%w\" = :found",
					    name, table->renew, id);
	if (!result && making->id)
		result = sql_prepare_format(sql, &rows->map, "INSERT INTO \"%w_map\"(was, id) VALUES(?1, ?2)",
					    name);
	return result;
}

int db_rows_begin(struct row_transfer *transfer, const struct table *table, struct table_rows *ret_rows)
{
	struct making making = { .table = table };
	char *parts[PARTS];
	int result;

	*ret_rows = (struct table_rows){ .table = table };
	snprintf(transfer->row, sizeof(transfer->row), "table %s", table->name);
	for (size_t i = 0; i < PARTS; i++)
		making.parts[i] = sqlite3_str_new(transfer->sql->db);
	result = append_columns(transfer->sql, &making);
	for (size_t i = 0; i < PARTS; i++)
		parts[i] = sqlite3_str_finish(making.parts[i]);
	if (!result && (!parts[PART_SELECTED] || !parts[PART_NAMES] || !parts[PART_VALUES]))
		result = -ENOMEM;
	if (!result)
		result = prepare_all(transfer->sql, &making, parts, ret_rows);
	for (size_t i = 0; i < PARTS; i++)
		sqlite3_free(parts[i]);
	free(making.id);
	free(making.name);
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
static int run(struct sql *sql, sqlite3_stmt *statement, int64_t *ret_id)
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

	if (rows->table->is_valid && !rows->table->is_valid(row)) {
		snprintf(transfer->sql->error, sizeof(transfer->sql->error),
			 "it has a value that bourdond does not write");
		return -EUCLEAN;
	}
	if (rows->find) {
		bind_row(rows->find, row);
		result = run(transfer->sql, rows->find, &id);
	}
	if (!result && id && rows->renew) {
		bind_row(rows->renew, row);
		bind_named(rows->renew, ":found", id);
		result = run(transfer->sql, rows->renew, &id);
	}
	if (!result && !id) {
		bind_row(rows->add, row);
		result = run(transfer->sql, rows->add, &id);
	}
	if (!result && rows->map) {
		sqlite3_bind_value(rows->map, 1, sqlite3_column_value(row, 0));
		sqlite3_bind_int64(rows->map, 2, id);
		result = run(transfer->sql, rows->map, &id);
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

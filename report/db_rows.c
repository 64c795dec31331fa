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

static void bind_row(sqlite3_stmt *statement, sqlite3_stmt *row)
{
	int columns = sqlite3_column_count(row), parameters = sqlite3_bind_parameter_count(statement);

	for (int i = 0; i < columns && i < parameters; i++)
		sqlite3_bind_value(statement, i + 1, sqlite3_column_value(row, i));
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

struct table_statements {
	sqlite3_stmt *select, *find, *renew, *add, *map;
};

static int prepare_table(struct sql *sql, const struct table *table, struct table_statements *statements)
{
	const struct {
		sqlite3_stmt **statement;
		const char *text;
	} all[] = { { &statements->select, table->select },
		    { &statements->find, table->find },
		    { &statements->renew, table->renew },
		    { &statements->add, table->add },
		    { &statements->map, table->map } };
	int result = 0;

	*statements = (struct table_statements){ 0 };
	for (size_t i = 0; i < ARRAY_SIZE(all) && !result; i++)
		if (all[i].text)
			result = sql_prepare(sql, all[i].statement, all[i].text);
	return result;
}

static void finalize_table(struct table_statements *statements)
{
	sqlite3_finalize(statements->select);
	sqlite3_finalize(statements->find);
	sqlite3_finalize(statements->renew);
	sqlite3_finalize(statements->add);
	sqlite3_finalize(statements->map);
}

static int transfer_row(struct row_transfer *transfer, const struct table *table,
			const struct table_statements *statements, int64_t *ret_id)
{
	sqlite3_stmt *row = statements->select;
	int64_t id = 0;
	int result = 0;

	if (table->is_valid && !table->is_valid(row)) {
		snprintf(transfer->sql->error, sizeof(transfer->sql->error),
			 "it has a value that bourdond does not write");
		return -EUCLEAN;
	}
	if (statements->find) {
		bind_row(statements->find, row);
		result = run(transfer->sql, statements->find, &id);
	}
	if (!result && id && statements->renew) {
		bind_row(statements->renew, row);
		bind_named(statements->renew, ":id", id);
		result = run(transfer->sql, statements->renew, &id);
	}
	if (!result && !id) {
		bind_row(statements->add, row);
		result = run(transfer->sql, statements->add, &id);
	}
	if (!result && statements->map) {
		sqlite3_bind_value(statements->map, 1, sqlite3_column_value(row, 0));
		sqlite3_bind_int64(statements->map, 2, id);
		result = run(transfer->sql, statements->map, &id);
	}
	*ret_id = id;
	return result;
}

int db_rows_transfer(struct row_transfer *transfer, const struct table *table, int64_t *ret_id)
{
	struct table_statements statements;
	int64_t id = 0;
	int result = prepare_table(transfer->sql, table, &statements), step = SQLITE_DONE;

	snprintf(transfer->row, sizeof(transfer->row), "table %s", table->name);
	if (!result) {
		bind_named(statements.select, ":capture", transfer->capture_id);
		bind_named(statements.select, ":into", transfer->into);
		bind_named(statements.select, ":whole", transfer->whole);
	}
	while (!result && (step = sqlite3_step(statements.select)) == SQLITE_ROW) {
		result = transfer_row(transfer, table, &statements, &id);
		if (result < 0)
			name_row(transfer, table, statements.select);
	}
	if (!result && step != SQLITE_DONE)
		result = sql_failed(transfer->sql);
	finalize_table(&statements);
	if (!result)
		transfer->row[0] = '\0';
	if (ret_id)
		*ret_id = id;
	return result;
}

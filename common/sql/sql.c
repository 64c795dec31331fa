/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/sql/sql.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/text/escape_name.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUSY_RETRY_NS 50000000L

int sql_failed(struct sql *sql)
{
	int code = sqlite3_extended_errcode(sql->db);

	snprintf(sql->error, sizeof(sql->error), "%s (SQLite error %d)", sqlite3_errmsg(sql->db), code);
	switch (code & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_INTERRUPT:
		return -EINTR;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_NOTADB:
	case SQLITE_CORRUPT:
		return -EUCLEAN;
	case SQLITE_READONLY:
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
		return -EACCES;
	default:
		return -EIO;
	}
}

int sql_execute(struct sql *sql, const char *statements)
{
	return sqlite3_exec(sql->db, statements, NULL, NULL, NULL) == SQLITE_OK ? 0 : sql_failed(sql);
}

int sql_prepare(struct sql *sql, sqlite3_stmt **ret_statement, const char *statement)
{
	if (sqlite3_prepare_v3(sql->db, statement, -1, SQLITE_PREPARE_PERSISTENT, ret_statement, NULL) ==
	    SQLITE_OK)
		return 0;
	return sql_failed(sql);
}

int sql_prepare_all(struct sql *sql, const struct sql_prepared *each, size_t count)
{
	int result = 0;

	for (size_t i = 0; i < count && !result; i++)
		result = sql_prepare(sql, each[i].ret_statement, each[i].text);
	return result;
}

/* Frees the text, which may be NULL: there was no memory. */
static int prepare_text(struct sql *sql, sqlite3_stmt **ret_statement, char *text)
{
	int result = text ? sql_prepare(sql, ret_statement, text) : -ENOMEM;

	if (!text)
		snprintf(sql->error, sizeof(sql->error), "%s", strerror(ENOMEM));
	sqlite3_free(text);
	return result;
}

int sql_prepare_format(struct sql *sql, sqlite3_stmt **ret_statement, const char *format, ...)
{
	va_list values;
	char *text;

	va_start(values, format);
	text = sqlite3_vmprintf(format, values);
	va_end(values);
	return prepare_text(sql, ret_statement, text);
}

/* Runs a statement that returns at most one row. */
static int step(struct sql *sql, sqlite3_stmt *statement, sqlite3_int64 *ret_number)
{
	int code = sqlite3_step(statement);

	if (code == SQLITE_ROW && ret_number)
		*ret_number = sqlite3_column_int64(statement, 0);
	/* a statement with RETURNING takes effect only when it is stepped to its end */
	if (code == SQLITE_ROW)
		code = sqlite3_step(statement);
	return code == SQLITE_DONE ? 0 : sql_failed(sql);
}

int sql_bind_text(sqlite3_stmt *statement, int column, const char *text)
{
	char *form;

	if (!text || escape_name_is_plain(text))
		return sqlite3_bind_text(statement, column, text, -1, SQLITE_STATIC) == SQLITE_OK ? 0
												  : -ENOMEM;
	form = escape_name(text);
	if (!form)
		return -ENOMEM;
	return sqlite3_bind_text(statement, column, form, -1, free) == SQLITE_OK ? 0 : -ENOMEM;
}

char *sql_column_text(sqlite3_stmt *statement, int column)
{
	const unsigned char *form = sqlite3_column_text(statement, column);
	char *text = form ? strdup((const char *)form) : NULL;

	if (text)
		escape_name_undo(text);
	return text;
}

/* Runs a statement whose parameters were bound with this result. */
static int run_bound(struct sql *sql, sqlite3_stmt *statement, sqlite3_int64 *ret_number, int result)
{
	if (result < 0)
		snprintf(sql->error, sizeof(sql->error), "%s", strerror(-result));
	else
		result = step(sql, statement, ret_number);
	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
	return result;
}

/* Binds the values and runs the statement. */
static int run_values(struct sql *sql, sqlite3_stmt *statement, sqlite3_int64 *ret_number, const char *types,
		      va_list values)
{
	int column = 1, result = 0;

	for (; *types && !result; types++, column++) {
		if (*types == 'i') {
			sqlite3_bind_int64(statement, column, va_arg(values, int64_t));
		} else if (*types == 't') {
			result = sql_bind_text(statement, column, va_arg(values, const char *));
		} else {
			const void *bytes = va_arg(values, const void *);

			sqlite3_bind_blob(statement, column, bytes, (int)va_arg(values, size_t),
					  SQLITE_STATIC);
		}
	}
	return run_bound(sql, statement, ret_number, result);
}

int sql_run(struct sql *sql, sqlite3_stmt *statement, sqlite3_int64 *ret_number, const char *types, ...)
{
	va_list values;
	int result;

	va_start(values, types);
	result = run_values(sql, statement, ret_number, types, values);
	va_end(values);
	return result;
}

/* ---- rows by the names of their columns ---- */

/* Appends one text for each column: its name, if wanted, and the same end. */
static void append_columns(sqlite3_str *text, const struct sql_column *columns, bool named, const char *end)
{
	for (int i = 0; columns[i].name; i++)
		sqlite3_str_appendf(text, "%s%s%s", i ? ", " : "", named ? columns[i].name : "", end);
}

static int bind_columns(sqlite3_stmt *statement, const struct sql_column *columns)
{
	int result = 0;

	for (int i = 0; columns[i].name && !result; i++) {
		if (columns[i].type == SQLITE_INTEGER)
			sqlite3_bind_int64(statement, i + 1, columns[i].number);
		else if (columns[i].type == SQLITE_FLOAT)
			sqlite3_bind_double(statement, i + 1, columns[i].real);
		else if (columns[i].type == SQLITE_TEXT)
			result = sql_bind_text(statement, i + 1, columns[i].text);
		else if (columns[i].type == SQL_TYPE_STORED)
			sqlite3_bind_text(statement, i + 1, columns[i].text, -1, SQLITE_STATIC);
	}
	return result;
}

int sql_insert(struct sql *sql, sqlite3_stmt **statement, const char *table, const char *clause,
	       sqlite3_int64 *ret_number, const struct sql_column *columns)
{
	int result = 0;

	if (!*statement) {
		sqlite3_str *text = sqlite3_str_new(sql->db);

		sqlite3_str_appendf(text, "INSERT INTO %s(", table);
		append_columns(text, columns, true, "");
		sqlite3_str_appendall(text, ") VALUES(");
		append_columns(text, columns, false, "?");
		sqlite3_str_appendf(text, ") %s", clause ? clause : "");
		result = prepare_text(sql, statement, sqlite3_str_finish(text));
	}
	if (!result)
		result = run_bound(sql, *statement, clause ? ret_number : NULL,
				   bind_columns(*statement, columns));
	if (!result && ret_number && !clause)
		*ret_number = sqlite3_last_insert_rowid(sql->db);
	return result;
}

int sql_update(struct sql *sql, sqlite3_stmt **statement, const char *table, const char *key, int64_t id,
	       const struct sql_column *columns)
{
	int count = 0, result = 0;

	while (columns[count].name)
		count++;
	if (!*statement) {
		sqlite3_str *text = sqlite3_str_new(sql->db);

		sqlite3_str_appendf(text, "UPDATE %s SET ", table);
		append_columns(text, columns, true, " = ?");
		sqlite3_str_appendf(text, " WHERE %s = ?", key);
		result = prepare_text(sql, statement, sqlite3_str_finish(text));
	}
	if (result < 0)
		return result;
	sqlite3_bind_int64(*statement, count + 1, id);
	return run_bound(sql, *statement, NULL, bind_columns(*statement, columns));
}

int sql_run_once(struct sql *sql, sqlite3_int64 *ret_number, const char *text, const char *types, ...)
{
	sqlite3_stmt *statement;
	va_list values;
	int result = sql_prepare(sql, &statement, text);

	va_start(values, types);
	if (!result)
		result = run_values(sql, statement, ret_number, types, values);
	va_end(values);
	sqlite3_finalize(statement);
	return result;
}

/* ---- statements that a query makes ---- */

void sql_texts_free(struct sql_texts *texts)
{
	for (uint32_t i = 0; i < texts->count; i++)
		free(texts->texts[i]);
	free(texts->texts);
}

int sql_collect(struct sql *sql, const char *query, struct sql_texts *texts)
{
	sqlite3_stmt *statement;
	int result = sql_prepare(sql, &statement, query), step = SQLITE_DONE;

	while (!result && (step = sqlite3_step(statement)) == SQLITE_ROW) {
		const char *text = (const char *)sqlite3_column_text(statement, 0);

		if (array_make_room(texts->texts, texts->count, texts->room, 1U) || !text ||
		    !(texts->texts[texts->count] = strdup(text)))
			result = -ENOMEM;
		else
			texts->count++;
	}
	if (!result && step != SQLITE_DONE)
		result = sql_failed(sql);
	sqlite3_finalize(statement);
	return result;
}

int sql_execute_all(struct sql *sql, const struct sql_texts *texts)
{
	int result = 0;

	for (uint32_t i = 0; i < texts->count && !result; i++)
		result = sql_run_once(sql, NULL, texts->texts[i], "");
	return result;
}

int sql_execute_made(struct sql *sql, const char *query)
{
	_cleanup_sql_texts_ struct sql_texts texts = { 0 };
	int result = sql_collect(sql, query, &texts);

	return result < 0 ? result : sql_execute_all(sql, &texts);
}

/* Waiting is safe: only the worker thread waits here. */
static int wait_for_lock(void *user, int tries)
{
	const struct timespec pause = { .tv_nsec = BUSY_RETRY_NS };
	const struct sql *sql = user;
	uint64_t give_up_ns = atomic_load(sql->give_up_ns);

	(void)tries;
	if (give_up_ns && clock_monotonic_ns() >= give_up_ns)
		return 0;
	nanosleep(&pause, NULL);
	return 1;
}

void sql_wait_for_locks(struct sql *sql, bool wait)
{
	sqlite3_busy_handler(sql->db, wait ? wait_for_lock : NULL, sql);
}

int sql_open(struct sql *sql, const char *path)
{
	if (sqlite3_open_v2(path, &sql->db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW |
				    SQLITE_OPEN_NOMUTEX,
			    NULL) != SQLITE_OK)
		return sql_failed(sql);
	sqlite3_extended_result_codes(sql->db, 1);
	sql_wait_for_locks(sql, true);
	return 0;
}

void sql_close(struct sql *sql)
{
	sqlite3_stmt *statement;

	while (sql->db && (statement = sqlite3_next_stmt(sql->db, NULL)))
		sqlite3_finalize(statement);
	sqlite3_close(sql->db);
	sql->db = NULL;
}

int sql_finish(struct sql *sql, int result)
{
	if (!result)
		result = sql_execute(sql, "COMMIT");
	if (result < 0)
		sqlite3_exec(sql->db, "ROLLBACK", NULL, NULL, NULL);
	return result;
}

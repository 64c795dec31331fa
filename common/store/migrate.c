/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/store/migrate.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/store/schema.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define OPERATIONS_BETWEEN_LOOKS 10000 /* of SQLite's virtual machine, well below a millisecond */
#define PAUSE_NS 100000000UL

/* ---- the tables ---- */

/* Notes the names of all tables and views of the schema in the temporary table `ours`. */
static int note_names(struct sql *sql, const struct schema *schema)
{
	_cleanup_sql_texts_ struct sql_texts names = { 0 };
	struct sql fresh = { .give_up_ns = sql->give_up_ns };
	sqlite3_stmt *add = NULL;
	int result = sql_open(&fresh, ":memory:");

	if (!result)
		result = sql_execute(&fresh, schema->sql);
	if (!result)
		result = sql_collect(
			&fresh,
			"SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE "
			"'sqlite\\_%' ESCAPE '\\'",
			&names);
	if (result < 0)
		memcpy(sql->error, fresh.error, sizeof(sql->error));
	sql_close(&fresh);
	if (!result)
		result = sql_execute(
			sql, "DROP TABLE IF EXISTS temp.ours; CREATE TEMP TABLE ours(name TEXT PRIMARY KEY)");
	if (!result)
		result = sql_prepare(sql, &add, "INSERT INTO ours VALUES(?)");
	for (uint32_t i = 0; i < names.count && !result; i++)
		result = sql_run(sql, add, NULL, "t", names.texts[i]);
	sqlite3_finalize(add);
	return result;
}

/* Renames all tables to old_NAME and makes those of the schema, empty. */
static int make_tables(struct sql *sql, const struct schema *schema)
{
	int result = sql_execute_made(
		sql, "SELECT printf('DROP %s \"%w\"', type, name) FROM sqlite_schema "
		     "WHERE type IN ('view', 'trigger') OR (type = 'index' AND sql IS NOT NULL)");

	if (!result)
		result = sql_execute_made(
			sql, "SELECT printf('ALTER TABLE \"%w\" RENAME TO \"old_%w\"', name, name) "
			     "FROM sqlite_schema WHERE type = 'table' AND name IN (SELECT name FROM ours)");
	return result < 0 ? result : sql_execute(sql, schema->sql);
}

/* Copies the rows of each table that there was before, by the names of its columns. Ids stay. */
static int copy_rows(struct sql *sql)
{
	return sql_execute_made(
		sql,
		"SELECT printf('INSERT INTO \"%w\"(%s) SELECT %s FROM \"old_%w\"', name, columns, columns, name) FROM ("
		"SELECT name, (SELECT group_concat(printf('\"%w\"', n.name)) FROM pragma_table_info(t.name) n "
		"JOIN pragma_table_info('old_' || t.name) o ON o.name = n.name) AS columns "
		"FROM sqlite_schema t WHERE type = 'table' AND EXISTS "
		"(SELECT 1 FROM sqlite_schema o WHERE o.type = 'table' AND o.name = 'old_' || t.name)) "
		"WHERE columns IS NOT NULL");
}

static int drop_old_tables(struct sql *sql)
{
	/* the sequence of ids that were given to captures goes on */
	int result = sql_execute(
		sql, "DELETE FROM sqlite_sequence WHERE name IN (SELECT substr(name, 5) FROM "
		     "sqlite_sequence WHERE name LIKE 'old\\_%' ESCAPE '\\');"
		     "UPDATE sqlite_sequence SET name = substr(name, 5) WHERE name LIKE 'old\\_%' "
		     "ESCAPE '\\'");

	if (!result)
		result = sql_execute_made(
			sql, "SELECT printf('DROP TABLE \"%w\"', s.name) FROM sqlite_schema s JOIN ours o "
			     "ON s.name = 'old_' || o.name WHERE s.type = 'table'");
	return result;
}

/* ---- the whole ---- */

struct looking {
	struct sql *sql;
	migrate_pause pause;
	void *user;
	uint64_t paused_ns;
};

/* SQLite calls it now and then. Returns 1 to give the statement up. */
static int look(void *user)
{
	struct looking *looking = user;
	uint64_t now_ns = clock_monotonic_ns(), give_up_ns = atomic_load(looking->sql->give_up_ns);

	if (give_up_ns && now_ns >= give_up_ns)
		return 1;
	if (looking->pause && now_ns - looking->paused_ns >= PAUSE_NS) {
		looking->pause(looking->user);
		looking->paused_ns = clock_monotonic_ns();
	}
	return 0;
}

static int migrate_in_transaction(struct sql *sql, const struct schema *schema)
{
	_cleanup_sql_texts_ struct sql_texts views = { 0 };
	char version[64];
	int result = note_names(sql, schema);

	if (!result)
		result = sql_collect(
			sql,
			"SELECT sql FROM sqlite_schema WHERE type = 'view' AND sql LIKE 'CREATE VIEW %' AND "
			"name NOT IN (SELECT name FROM ours)",
			&views);
	if (!result)
		result = make_tables(sql, schema);
	if (!result)
		result = copy_rows(sql);
	if (!result)
		result = drop_old_tables(sql);
	if (!result)
		result = sql_execute_all(sql, &views);
	snprintf(version, sizeof(version), "DROP TABLE temp.ours; PRAGMA user_version = %d", schema->version);
	return result < 0 ? result : sql_execute(sql, version);
}

int migrate_database(struct sql *sql, const struct schema *schema, migrate_pause pause, void *user)
{
	struct looking looking = {
		.sql = sql, .pause = pause, .user = user, .paused_ns = clock_monotonic_ns()
	};
	sqlite3_int64 version = 0;
	int result = sql_execute(sql, "BEGIN IMMEDIATE");

	if (result < 0)
		return result;
	result = sql_run_once(sql, &version, "PRAGMA user_version", "");
	sqlite3_progress_handler(sql->db, OPERATIONS_BETWEEN_LOOKS, look, &looking);
	if (!result && version >= SCHEMA_OLDEST && version < schema->version)
		result = migrate_in_transaction(sql, schema);
	sqlite3_progress_handler(sql->db, 0, NULL, NULL);
	result = sql_finish(sql, result);
	/* the room of the old tables */
	return result < 0 ? result : sql_execute(sql, "PRAGMA incremental_vacuum");
}

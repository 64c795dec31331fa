/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/files/db_older.h"

#include "common/store/migrate.h"
#include "common/system/log.h"

static int migrate(struct sql *sql)
{
	const atomic_uint_fast64_t never = 0;
	int result;

	/* no statement of a hostile database opens another file */
	sqlite3_limit(sql->db, SQLITE_LIMIT_ATTACHED, 0);
	sql->give_up_ns = &never;
	result = migrate_database(sql, &schema_present, NULL, NULL);
	sql->give_up_ns = NULL;
	return result;
}

int db_older_convert(struct db_output *converted, struct database *database, const char *out)
{
	_cleanup_free_ char *path = NULL;
	int result;

	if (asprintf(&path, "%s.converted", out) < 0) {
		path = NULL;
		return log_failed(-ENOMEM, "out of memory");
	}
	result = db_output_make(converted, path);
	if (!result)
		result = db_output_copy(converted, database);
	if (!result) {
		result = migrate(&converted->sql);
		if (result == -ENOSPC)
			db_output_failed(converted, result);
		else if (result < 0)
			log_error(
				"cannot convert '%s' from schema version %d: %s; 'bourdon --db FILE db check' tells what is wrong with it",
				database->path, database->version, converted->sql.error);
	}
	sql_close(&converted->sql);
	converted->path = NULL;
	return result;
}

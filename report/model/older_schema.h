/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * older_schema.h owns reading databases of older schemas without a change to them: temporary views, of the
 * connection alone, give the names and columns of the current schema that docs/SCHEMA.md documents.
 */
#ifndef BOURDON_REPORT_MODEL_OLDER_SCHEMA_H
#define BOURDON_REPORT_MODEL_OLDER_SCHEMA_H

#include "common/store/schema.h"

#include <sqlite3.h>

/*
 * Creates in a connection to an older database all views of the schema, and one in place of each table that has other
 * columns there. They hide the names of the file, which remain as main.NAME. As after a migration, a column that the file does
 * not have has its default, and a table that it does not have is empty. Returns 0; -ENOMEM; or -EIO, and the reason is
 * sqlite3_errmsg(older).
 */
int older_schema_read(sqlite3 *older, const struct schema *schema);

#endif

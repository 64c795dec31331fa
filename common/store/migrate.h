/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * migrate.h owns the step from the schema of an older bourdon to this one's: in place and in one transaction, so that
 * a crash at any moment leaves the old database or the new one.
 */
#ifndef BOURDON_COMMON_STORE_MIGRATE_H
#define BOURDON_COMMON_STORE_MIGRATE_H

#include "common/sql/sql.h"
#include "common/store/schema.h"

/* Called between the parts of the work, some 100 ms each. */
typedef void (*migrate_pause)(void *user);

/*
 * Migrates an opened database to a schema, from version SCHEMA_OLDEST or a later one; does nothing to another. Tables are
 * made by the schema, and rows copied by the names of their columns: a column that is new has its default. Views and
 * tables that somebody added stay if they still have a meaning. Needs free room of about the size of the database, which
 * it gives back afterwards. Waits for locks as sql->give_up_ns says, and gives up at that time. Returns 0 or -errno; the
 * reason is in sql->error.
 */
int migrate_database(struct sql *sql, const struct schema *schema, migrate_pause pause, void *user);

#endif

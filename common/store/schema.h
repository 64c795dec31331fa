/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * schema.h embeds schema.sql in the binary and defines what identifies a database as bourdon's.
 *
 * Room: the rows that the daemon and bourdon both write or read: schema, migration, stacks, incidents,
 * retention. Called by the daemon's worker thread and by bourdon, within the caller's transaction; it touches
 * the database alone.
 */
#ifndef BOURDON_COMMON_STORE_SCHEMA_H
#define BOURDON_COMMON_STORE_SCHEMA_H

#define SCHEMA_APPLICATION_ID 0x62646f6e /* "bdon" */
#ifndef SCHEMA_VERSION                   /* tests/e2e/upgrade.bats builds with another number */
#define SCHEMA_VERSION 12
#endif
/* The oldest that bourdond migrates and bourdon reads. */
#define SCHEMA_OLDEST 10

/* In the state directory. */
#define DATABASE_FILE "bourdon.db"

/* Beside the database. The one daemon that writes to the database holds a lock (flock(2)) on this file. */
#define STORE_LOCK_FILE "bourdond.lock"

extern const char schema_sql[];

/* Of this version's databases. */
struct schema {
	int version;
	const char *sql;
};
extern const struct schema schema_present;

#endif

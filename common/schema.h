/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * schema.h owns schema.sql inside the binary, and what marks a database as ours.
 */
#ifndef BOURDON_SCHEMA_H
#define BOURDON_SCHEMA_H

#define SCHEMA_APPLICATION_ID 0x62646f6e /* "bdon" */
#ifndef SCHEMA_VERSION                   /* tests/e2e/upgrade.bats is told another one */
#define SCHEMA_VERSION 6
#endif

/* Beside the database: locked (flock(2)) by the one daemon that writes to it. */
#define STORE_LOCK_FILE "bourdond.lock"

extern const char schema_sql[];

#endif

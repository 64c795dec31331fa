/* SPDX-License-Identifier: GPL-2.0-only */
/* schema_fixture.h has tests/example.db, and a schema that is newer. */
#ifndef BOURDON_UNIT_SCHEMA_FIXTURE_H
#define BOURDON_UNIT_SCHEMA_FIXTURE_H

#include "common/store/schema.h"

/* The present schema and next_schema.sql, without the column `note` of `capture`. */
extern const struct schema next_schema;

/* Writes the example to a file of the test's own. */
void example_put(const char *path);

#endif

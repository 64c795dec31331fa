/* SPDX-License-Identifier: GPL-2.0-only */
/* kept_databases.h has the databases of older schemas from tests/databases, which tests write to files of their own. */
#ifndef BOURDON_TESTS_UNIT_KEPT_DATABASES_H
#define BOURDON_TESTS_UNIT_KEPT_DATABASES_H

#include <stddef.h>

struct kept_database {
	int version; /* of its schema */
	const unsigned char *bytes, *end;
};

#define KEPT_DATABASES 4
extern const struct kept_database kept_databases[KEPT_DATABASES];

/* Writes the file. */
void kept_database_put(const char *path, const struct kept_database *kept);

#endif

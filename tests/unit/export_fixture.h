/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * export_fixture.h owns a database with one capture, of which the tests of 'bourdon export' know everything: three roles, stalls of
 * several classes, an inlined function, pressure, kills, states.
 */
#ifndef BOURDON_UNIT_EXPORT_FIXTURE_H
#define BOURDON_UNIT_EXPORT_FIXTURE_H

#include <sqlite3.h>
#include <stdint.h>

struct export_fixture {
	char *directory, *path;
};

void export_fixture_make(struct export_fixture *fixture);
void export_fixture_free(struct export_fixture *fixture);

/* Runs statements that change the database. */
void export_fixture_run(const struct export_fixture *fixture, const char *sql);

/* Gives everything that has a name a hostile one, as raw bytes. */
void export_fixture_make_hostile(const struct export_fixture *fixture);

/*
 * The first column of the first row, as text; all_sample is the samples of all roles. ?1 is `parameter`, if that is not NULL. The
 * caller frees.
 */
char *export_fixture_ask(const struct export_fixture *fixture, const char *sql, const char *parameter);
int64_t export_fixture_number(const struct export_fixture *fixture, const char *sql);

#endif

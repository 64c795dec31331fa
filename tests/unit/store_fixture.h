/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * store_fixture.h owns what the tests of the store share: a database in a directory of its own, captures
 * made by hand, and assertions about the rows that a reader sees. store_fixture_free() checks that the
 * database is intact and has no row without an owner.
 */
#ifndef BOURDON_UNIT_STORE_FIXTURE_H
#define BOURDON_UNIT_STORE_FIXTURE_H

#include "common/base/cleanup.h"
#include "consumer/store/store.h"
#include "tests/unit/helpers.h"

#include <sqlite3.h>

#define SECOND 1000000000UL
#define MIB (1UL << 20)
#define TEST_MACHINE "0123456789abcdef0123456789abcdef"

/* When the trigger of every capture fires: CLOCK_MONOTONIC, and the wall clock of the same moment. */
#define TRIGGERED (1000 * SECOND)
#define TRIGGERED_AT 1700000000123456789

struct store_fixture {
	char *directory, *path, *wal;
	struct store *store;
	struct mappings *mappings;
	atomic_uint_fast64_t give_up_ns;
};

/* ---- the database ---- */

/* Makes the directory, without a database in it. */
void store_fixture_make(struct store_fixture *fixture);

/* Frees a fixture whose directory holds no database, or one that the store refused. */
void store_fixture_discard(struct store_fixture *fixture);

/* Opens the store; of at most `bytes_max` bytes. */
void store_fixture_open(struct store_fixture *fixture, uint64_t bytes_max);
void store_fixture_close(struct store_fixture *fixture);

/* Makes the directory, opens the store (of at most 64 MiB; of at most `bytes_max`) and begins a run. */
void store_fixture_start(struct store_fixture *fixture);
void store_fixture_start_limited(struct store_fixture *fixture, uint64_t bytes_max);

/* Closes the store, checks the database with expect_sound(), and removes it. */
void store_fixture_free(struct store_fixture *fixture);

/* A run with two rules, "web" and "all". */
void begin_run(struct store_fixture *fixture);

/* 0 where there is no such file. */
uint64_t file_bytes(const char *path);

/* ---- what a reader sees ---- */

/* A second connection to the database; the caller closes it. */
sqlite3 *reader_open(const struct store_fixture *fixture);

/* All rows of a query: columns separated by "|", each row ended by a newline. The caller frees. */
char *rows_in(sqlite3 *db, const char *sql);
char *rows(const struct store_fixture *fixture, const char *sql);

/* The first column of the first row. */
int64_t number(const struct store_fixture *fixture, const char *sql);
void run_sql(const struct store_fixture *fixture, const char *sql);

/* Asserts the rows of a query, in the form of rows_in(). */
void expect_rows(const struct store_fixture *fixture, const char *sql, const char *expected);

/* Asserts how many rows a table, or "TABLE WHERE CONDITION", has. */
void expect_count(const struct store_fixture *fixture, const char *table, int64_t expected);

/* Asserts what is true of every database: it is intact, and each row has an owner. */
void expect_sound(const struct store_fixture *fixture);

/* ---- captures ---- */

void capture_cleanup(struct capture **capture);
#define _cleanup_capture_ _cleanup_(capture_cleanup)

/* Every process runs as uid 33 in web.service and is named nginx-TGID; 666 is excluded from captures. */
bool describe(void *user, const struct sample *sample, struct capture_process *process);

/* An ended capture of these samples by the rule "web". The caller frees. */
struct capture *capture_make(const struct sample *samples, uint32_t count);

/* An ended capture of one sample of process 1, with a stack as sample_make() makes it. The caller frees. */
struct capture *capture_of_stack(int kernel_depth, int user_depth, uint64_t frames);

/* An ended capture of `stacks` random stacks, 20 frames deep; few are common to two seeds. The caller frees. */
struct capture *large_capture(struct dice *dice, uint32_t stacks);

/*
 * Names as the resolver makes them. A user frame N is function "user_N" of /usr/bin/app, or, where
 * `unnamed`, has no function; a kernel frame N is "kernel_N". The caller frees.
 */
void resolve_by_hand(const struct capture *capture, bool unnamed, const char *build_id,
		     struct resolved *resolved);

/* Commits the capture with names from resolve_by_hand(). Returns what store_commit_capture() returns. */
int commit(struct store_fixture *fixture, const struct capture *capture, bool unnamed);

/* The same, with names and without user functions' names; both assert that the store accepts the capture. */
void expect_commit(struct store_fixture *fixture, const struct capture *capture);
void expect_commit_unnamed(struct store_fixture *fixture, const struct capture *capture);

/* Asserts that the store accepts the capture with these names. */
void expect_commit_resolved(struct store_fixture *fixture, const struct capture *capture,
			    const struct resolved *resolved);

/* Commits `count` large captures, triggered one second apart, and asserts that the store accepts each. */
void expect_commit_large(struct store_fixture *fixture, struct dice *dice, int count, uint32_t stacks);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * store_verdict.h owns the columns of `capture` that are its verdict: it judges from the rows that were written, within the same
 * transaction. What the rows do not have is not judged, so bourdon, which has nothing else, comes to the same verdict.
 */
#ifndef BOURDON_COMMON_STORE_STORE_VERDICT_H
#define BOURDON_COMMON_STORE_STORE_VERDICT_H

#include "common/sql/sql.h"
#include "common/verdict/verdict.h"

/* What others than readers of the database are told of it. Names of processes and cgroups in the texts are not escaped. */
struct stored_verdict {
	enum verdict_kind kind; /* VERDICT_KINDS: nothing was judged, of a baseline */
	double blamed_percent;  /* 0: it blames nobody */
	char headline[VERDICT_TEXT_BYTES];
	char culprit
		[VERDICT_TEXT_BYTES]; /* the program that it blames most, or whose memory grew most; "": none */
};

/* Judges a capture whose other rows are written, and writes the columns. Returns 0 or -errno, as all functions of sql.h do. */
int store_verdict_write(struct sql *sql, sqlite3_stmt **statement, int64_t capture_id,
			struct stored_verdict *ret_verdict);

#define STORE_VERDICT_COLUMNS 13
#define STORE_VERDICT_VERSION 1 /* the position of verdict_version; the first is verdict */

/* The columns with their values, which live as long as the verdict, and the end of the list. */
void store_verdict_columns(const struct verdict *verdict,
			   struct sql_column ret_columns[STORE_VERDICT_COLUMNS + 1]);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * table_failures.h owns which files have no unwind table and why: in words, for the log, for `bourdon status` and for the
 * documents. The worker thread notes them; any thread may copy them.
 */
#ifndef BOURDON_CONSUMER_UNWIND_TABLE_FAILURES_H
#define BOURDON_CONSUMER_UNWIND_TABLE_FAILURES_H

#include <stdint.h>

/* What helps most comes first: in this order failures are shown, and keep their place in a full list. */
enum table_reason {
	TABLE_NO_ROOM,
	TABLE_REFUSED,
	TABLE_SYMBOLIZER_DIED,
	TABLE_INVALID,
	TABLE_TOO_LARGE,
	TABLE_TOO_SLOW,
	TABLE_NO_MEMORY,
	TABLE_FAILED,
	TABLE_WAITS,
	TABLE_NO_EH_FRAME,
	TABLE_NOT_ELF,
	TABLE_REASONS
};

struct table_reason_text {
	const char *word;   /* for programs */
	const char *reason; /* "no unwind table for PATH: " is before it */
	const char *remedy;
};

extern const struct table_reason_text table_reason_texts[TABLE_REASONS];

/* The reason of a negative errno. */
enum table_reason table_reason_of(int error);

/* The same in words: an errno without words of its own is named. Returns `into`. */
#define TABLE_REASON_BYTES 160
const char *table_reason_write(int error, char into[TABLE_REASON_BYTES]);

/* Of a file; of the vDSO 0. */
struct table_identity {
	uint64_t inode;
	uint32_t device_major, device_minor;
};

/* Of a longer path the end is kept, behind an ellipsis. */
#define TABLE_PATH_BYTES 512
#define TABLE_FAILURES_MOST 64U

struct table_failure {
	struct table_identity file;
	int error;         /* a negative errno */
	uint64_t since_ns; /* CLOCK_MONOTONIC: when it was first noted */
	uint64_t retry_ns; /* the same: not tried again before; 0: not before the file changes */
	char path[TABLE_PATH_BYTES];
};

struct table_failures;

/* Returns 0 or -ENOMEM. */
int table_failures_new(struct table_failures **ret_failures);
/* Accepts NULL, as all below do. */
void table_failures_free(struct table_failures *failures);

/*
 * Notes that a file has no table. One that is noted already keeps its time. A full list drops it, or another file with a reason
 * further down in the enum.
 */
void table_failures_note(struct table_failures *failures, const char *path, const struct table_identity *file,
			 int error, uint64_t now_ns, uint64_t retry_ns);

/* The file has a table, or needs none any more. */
void table_failures_remove(struct table_failures *failures, const struct table_identity *file);

void table_failures_clear(struct table_failures *failures);

/* Copies the list, in the order of the enum, then of time. Returns the number of files. */
uint32_t table_failures_copy(struct table_failures *failures, struct table_failure into[TABLE_FAILURES_MOST]);

#endif

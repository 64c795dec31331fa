/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * threads_text.h reads the text of the iterator `threads` (docs/THREADS.md). The kernel programs write it, but names in it
 * are chosen by others, and another version may have other columns: they are found by the header, and what is no line of
 * it is counted.
 */
#ifndef BOURDON_REPORT_LIVE_THREADS_TEXT_H
#define BOURDON_REPORT_LIVE_THREADS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the order of `bourdon threads --columns`; the first ones may name groups of threads. */
enum thread_column {
	THREAD_STATE,
	THREAD_SYSCALL,
	THREAD_COMM,
	THREAD_PROCESS, /* the name of the first thread */
	THREAD_UNIT,    /* of the cgroup */
	THREAD_CGROUP,
	THREAD_CONTAINER,
	THREAD_FUNCTION,
	THREAD_MODULE, /* the name of the file that the function is in */
	THREAD_KERNEL, /* whether it is a kernel thread */
	THREAD_UID,
	THREAD_FD,
	THREAD_FUTEX,
	THREAD_TGID,
	THREAD_TID,
	THREAD_GROUPING,
	/* these differ with each look */
	THREAD_CPU = THREAD_GROUPING,
	THREAD_STATE_NS,
	THREAD_RUN_DELAY_NS,
	THREAD_IO_DELAY_NS,
	THREAD_COLUMNS,
};

/* Where lines of threads come from. */
enum thread_origin {
	THREADS_NOW,     /* the iterator `threads` */
	THREADS_SAMPLED, /* samples on CPU */
	THREADS_STORED,  /* the activity in the database */
};

/* The columns, by enum thread_column. */
extern const struct thread_column_facts {
	const char *name;
	bool is_derived;      /* not in the text */
	unsigned int origins; /* one bit each: from where lines have it */
	int width;            /* in characters; 0: what is left */
	bool is_whole;        /* tells nothing if it is cut: made narrower last */
} thread_columns[THREAD_COLUMNS];

/* What stands for none, or not known. */
#define THREAD_NONE "-"

struct thread_line {
	const char *values[THREAD_COLUMNS]; /* never NULL; any bytes but NUL. They point into the text */
	const char *stack; /* of samples, innermost function first; NULL: of another source */
	uint32_t times;    /* samples; 1 for a thread that was looked at */
};

/* One look at all threads, or the samples of one second. */
struct thread_lines {
	char *text;
	size_t text_bytes;
	struct thread_line *lines;
	uint32_t count, room;
	uint32_t malformed; /* lines that were left out */
	int64_t at_ns;      /* Unix time */
	uint32_t looks;     /* 1; or how often the clock of each CPU ticked in the second */
	bool ends_second;
	/* of samples */
	uint32_t cpus;     /* that were sampled */
	uint32_t missed;   /* seconds before this one that nobody read in time */
	uint64_t left_out; /* samples that are in no line */
};

/*
 * Reads a text of `bytes` bytes, which a NUL follows, and takes it over, also if it fails. -ENODATA: it is empty, as that of
 * an iterator whose programs another load has replaced. -EPROTO: it has no header, or lacks a column. 0 or -ENOMEM. The caller
 * sets at_ns and ends_second.
 */
int threads_text_read(char *text, size_t bytes, struct thread_lines *ret_lines);

void thread_lines_free(struct thread_lines *lines);

#define _cleanup_thread_lines_ _cleanup_(thread_lines_free)

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * log.h writes messages to standard error, one line each: what failed, on what object, why, what to do. If
 * standard error is the journal, each line starts with its priority as "<N>" (sd-daemon(3)), and the journal
 * adds the program's name.
 */
#ifndef BOURDON_COMMON_SYSTEM_LOG_H
#define BOURDON_COMMON_SYSTEM_LOG_H

#include <stdbool.h>

/* The exit statuses of every binary. */
#define EXIT_DONE 0
#define EXIT_FAILED 1
#define EXIT_USAGE 2
#define EXIT_CANNOT 3 /* this kernel lacks something required */

/*
 * Call before anything else. `program` is kept, not copied. Opens /dev/null for descriptors 0 to 2 that are
 * closed. Otherwise the next opened file could become standard error and receive log lines.
 */
void log_init(const char *program);

/* Whether the journal gets the lines. */
bool log_is_journal(void);

/*
 * From here on, drops a line that standard error cannot accept at once: a full pipe must not block the
 * program.
 */
void log_never_wait(void);

void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Logs an error. Returns `result`, which the caller returns. */
int log_failed(int result, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Limits messages that a hostile or broken peer could repeat: returns true at most `burst` times a minute.
 * Not thread-safe: use one limit for each caller.
 */
struct log_limit {
	long minute;
	unsigned int said;
};
bool log_allowed(struct log_limit *limit, unsigned int burst);

#endif

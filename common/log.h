/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * log.h owns what the binaries say on standard error: one line a message, what failed, on what, why, what
 * to do. Where that is the journal, each line carries its priority as "<N>" (sd-daemon(3)), and the journal
 * says whose it is.
 */
#ifndef BOURDON_LOG_H
#define BOURDON_LOG_H

#include <stdbool.h>

/* The exit statuses of every binary. */
#define EXIT_DONE 0
#define EXIT_FAILED 1
#define EXIT_USAGE 2
#define EXIT_CANNOT 3 /* this kernel cannot */

/*
 * Call first of all. `program` is kept, not copied. Descriptors 0 to 2 that are closed become /dev/null, so
 * that nothing else is opened in their place and then written to as standard error.
 */
void log_init(const char *program);

/* From here on a line that standard error cannot take at once is dropped: a full pipe must stop nobody. */
void log_never_wait(void);

void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * A token bucket for messages that a hostile or broken peer could repeat: true at most `burst` times a
 * minute. Not thread-safe: one bucket a caller.
 */
struct log_limit {
	long minute;
	unsigned int said;
};
bool log_allowed(struct log_limit *limit, unsigned int burst);

#endif

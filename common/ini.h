/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ini.h owns how our INI files are read: inih splits the lines, and what it leaves out is done here: every
 * key with its line, every mistake (not only the first), overlong lines, bytes that are no text.
 */
#ifndef BOURDON_INI_H
#define BOURDON_INI_H

#include <stdbool.h>
#include <stddef.h>

/* Longest line, without its newline. */
#define INI_LINE_BYTES 1024

/* ---- mistakes, collected ---- */

#define CONFIG_ERRORS_KEPT 64

struct config_errors {
	char *messages[CONFIG_ERRORS_KEPT]; /* "file:line: what is wrong" */
	size_t count;                       /* may be more than are kept */
};

void config_error(struct config_errors *errors, const char *file, unsigned int line, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Logs each message as an error. */
void config_errors_log(const struct config_errors *errors);
void config_errors_free(struct config_errors *errors);

/* ---- reading ---- */

struct ini_entry {
	const char *file;
	unsigned int line;   /* from 1 */
	const char *section; /* "" before the first */
	const char *key;     /* NULL: a section begins here */
	const char *value;
};

typedef void (*ini_visit)(void *user, const struct ini_entry *entry);

/*
 * Calls `visit` for each section and each key in `text`, in order; the entry and its strings live for the
 * call only. A line that is neither is added to `errors`, and reading goes on. 0 or -ENOMEM.
 */
int ini_read_text(const char *file, const char *text, size_t bytes, ini_visit visit, void *user,
		  struct config_errors *errors);

/* The same for a file of at most 1 MiB. A file that cannot be read is an error in `errors` with line 0. */
int ini_read_file(const char *path, ini_visit visit, void *user, struct config_errors *errors);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ini.h reads bourdon's INI files. inih splits the lines. This module adds what inih lacks: the line number
 * of every key, every error (not only the first), checks for overlong lines and control characters.
 */
#ifndef BOURDON_COMMON_SYSTEM_INI_H
#define BOURDON_COMMON_SYSTEM_INI_H

#include <stddef.h>

/* Longest line in bytes, without its newline. */
#define INI_LINE_BYTES 1024

/* ---- collected errors ---- */

#define CONFIG_ERRORS_KEPT 64

struct config_errors {
	char *messages[CONFIG_ERRORS_KEPT]; /* "file:line: message" */
	size_t count;                       /* may exceed CONFIG_ERRORS_KEPT */
};

void config_error(struct config_errors *errors, const char *file, unsigned int line, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Logs each message as an error. */
void config_errors_log(const struct config_errors *errors);
void config_errors_free(struct config_errors *errors);

/* ---- reading ---- */

struct ini_entry {
	const char *file;
	unsigned int line;   /* counted from 1 */
	const char *section; /* "" before the first section */
	const char *key;     /* NULL: this line begins a section */
	const char *value;
};

typedef void (*ini_visit)(void *user, const struct ini_entry *entry);

/*
 * Calls `visit` for each section and each key in `text`, in order. The entry and its strings are valid during
 * the call only. A line that is neither section nor key is added to `errors`; reading continues. Returns 0 or
 * -ENOMEM.
 */
int ini_read_text(const char *file, const char *text, size_t bytes, ini_visit visit, void *user,
		  struct config_errors *errors);

/* As ini_read_text(), for a file of at most 1 MiB. An unreadable file is added to `errors` with line 0. */
int ini_read_file(const char *path, ini_visit visit, void *user, struct config_errors *errors);

#endif

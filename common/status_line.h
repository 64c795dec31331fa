/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * status_line.h owns the text that bourdond's control socket gives: a line for each thing, its kind and then
 * KEY=VALUE fields, separated by tabs. Values have the form of escape_name(), as the database has names: no
 * tab, newline or other control character is in one.
 */
#ifndef BOURDON_STATUS_LINE_H
#define BOURDON_STATUS_LINE_H

#include <stdio.h>

/* Beside the database; its group may connect, and gets one status. */
#define CONTROL_SOCKET_FILE "bourdond.sock"

/* Writing: a line is begun, given fields, and ended. */
void status_line_begin(FILE *out, const char *kind);
void status_line_field(FILE *out, const char *key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void status_line_end(FILE *out);

#define STATUS_FIELDS_MAX 24

struct status_line {
	const char *kind;
	const char *keys[STATUS_FIELDS_MAX], *values[STATUS_FIELDS_MAX];
	size_t count;
};

/*
 * Reading: parses one line, without its end, in place; the strings point into it, values in the form that
 * they were written in. 0 or -EBADMSG: a field without '=', or more fields than there may be.
 */
int status_line_parse(char *text, struct status_line *ret_line);

/* The value of a field; "" where the line has none. */
const char *status_line_get(const struct status_line *line, const char *key);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * status_line.h owns the text that bourdond's control socket gives: a line for each thing, its kind and then
 * KEY=VALUE fields, separated by tabs. In a value, tab, newline and backslash are written \t, \n and \\.
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
 * Reading: parses one line, without its end, in place; the strings point into it. 0 or -EBADMSG: a field
 * without
 * '=', more fields than there may be, an escape that is none.
 */
int status_line_parse(char *text, struct status_line *ret_line);

/* The value of a field; "" where the line has none. */
const char *status_line_get(const struct status_line *line, const char *key);

#endif

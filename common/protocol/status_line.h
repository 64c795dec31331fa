/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * status_line.h defines the text that bourdond's control socket sends: one line an object, its kind followed
 * by KEY=VALUE fields, separated by tabs. Values are escaped by escape_name(), as names in the database are:
 * they contain no tab, newline or other control character.
 */
#ifndef BOURDON_COMMON_PROTOCOL_STATUS_LINE_H
#define BOURDON_COMMON_PROTOCOL_STATUS_LINE_H

#include <stdio.h>

/* Beside the database. Members of its group may connect and receive one status. */
#define CONTROL_SOCKET_FILE "bourdond.sock"

/* Why the daemon turns a connection away. */
#define CONTROL_TOO_OFTEN "this user asks too often; try again in a few seconds"

/* Writing: begin a line, add fields, end it. */
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
 * Reading: parses one line, without its newline, in place. The strings point into `text`; values stay
 * escaped. Returns 0, or -EBADMSG if a field lacks '=' or there are more than STATUS_FIELDS_MAX.
 */
int status_line_parse(char *text, struct status_line *ret_line);

/* Returns the value of a field, "" if the line lacks it. */
const char *status_line_get(const struct status_line *line, const char *key);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* csv.h owns writing text as a field of CSV (RFC 4180). */
#ifndef BOURDON_REPORT_TEXT_CSV_H
#define BOURDON_REPORT_TEXT_CSV_H

#include <stdio.h>

/*
 * A field; an empty one for NULL. Escaped as on a terminal, so that no name of a thread is a control sequence where somebody looks
 * at the file. What a spreadsheet would compute, a name such as "=1+1", begins with an apostrophe; a number does not.
 */
void csv_text(FILE *out, const char *text);

/* The same without the quotes around it, for a field that is written in parts: the first of them, and each further one. */
void csv_begin(FILE *out, const char *text);
void csv_part(FILE *out, const char *text);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* wrap.h owns the printing of a sentence that may be longer than a line of REPORT_COLUMNS. */
#ifndef BOURDON_REPORT_WRAP_H
#define BOURDON_REPORT_WRAP_H

#include <stdio.h>

/* Wraps words at REPORT_COLUMNS bytes, each line at `indent`, where the first line already is. Changes the text. */
void print_wrapped(FILE *out, char *text, int indent);

#endif

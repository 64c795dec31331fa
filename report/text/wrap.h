/* SPDX-License-Identifier: GPL-2.0-only */
/* wrap.h owns the printing of a sentence that may be longer than a line. */
#ifndef BOURDON_REPORT_TEXT_WRAP_H
#define BOURDON_REPORT_TEXT_WRAP_H

#include "report/text/layout.h"

#include <stdio.h>

/*
 * Wraps words at REPORT_COLUMNS bytes, each line at `indent`, where the first line already is. A number and its unit stand in
 * one line.
 */
void print_wrapped(FILE *out, const char *text, int indent);

/* The same at the columns of the page. */
void print_wrapped_on(const struct layout *layout, const char *text, int indent);

/* Prints lines that are made for REPORT_COLUMNS; wraps them as above on a page that is narrower. Changes the text. */
void print_lines_on(const struct layout *layout, char *text, int indent);

/* Prints the text in lines of its own, behind a label that is further in than others. */
void print_labelled_on(const struct layout *layout, const char *label, const char *text);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * layout.h owns what a report knows of where it is read: how many columns there are, and whether it may use colour.
 */
#ifndef BOURDON_REPORT_TEXT_LAYOUT_H
#define BOURDON_REPORT_TEXT_LAYOUT_H

#include <stdbool.h>
#include <stdio.h>

/* Of the label of a fact, with the blanks around it. */
#define LAYOUT_LABEL_COLUMNS 12

/* Columns of a page that is no terminal, and within which every page is. */
#define LAYOUT_COLUMNS 80
#define LAYOUT_COLUMNS_LEAST 60
#define LAYOUT_COLUMNS_MOST 240

struct layout {
	FILE *out;
	int columns;
	bool colour;
};

enum layout_style {
	LAYOUT_PLAIN,
	LAYOUT_LABEL,
	LAYOUT_STRONG,
	LAYOUT_ALARM,
	LAYOUT_COMMAND,
	LAYOUT_RUNNING,
	LAYOUT_WAITING
};

/*
 * The page of `out`. Its columns are those of the variable COLUMNS, else of the terminal, else LAYOUT_COLUMNS. Colour is for
 * a terminal alone, and neither with `no_color` nor with the variable NO_COLOR.
 */
struct layout layout_of(FILE *out, bool no_color);

/* Writes the text, which is escaped, in this style. */
void layout_put(const struct layout *layout, enum layout_style style, const char *text);

/*
 * One fact: "  LABEL     text", in one line, cut to the page. The text is that of the database: it is escaped here.
 * Returns nothing; an error of `out` stays in it.
 */
void layout_fact(const struct layout *layout, const char *label, enum layout_style style, const char *text);

/* The same for text that is printed whole, however long it is: a command that is cut would be another one. */
void layout_fact_whole(const struct layout *layout, const char *label, enum layout_style style,
		       const char *text);

#endif

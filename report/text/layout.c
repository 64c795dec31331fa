/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/text/layout.h"

#include "common/base/cleanup.h"
#include "common/system/options.h"
#include "common/text/escape.h"
#include "report/text/format.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* What an escaped line of LAYOUT_COLUMNS_MOST characters takes at most, before it is cut. */
#define LINE_BYTES (4 * LAYOUT_COLUMNS_MOST + 16)

static int clamp_columns(unsigned long long columns)
{
	if (columns < LAYOUT_COLUMNS_LEAST)
		return LAYOUT_COLUMNS_LEAST;
	return columns > LAYOUT_COLUMNS_MOST ? LAYOUT_COLUMNS_MOST : (int)columns;
}

static int columns_of(int fd, bool is_terminal)
{
	const char *variable = getenv("COLUMNS");
	struct winsize size = { 0 };
	unsigned long long columns;

	if (variable && !options_number(variable, 1, 1000000, &columns))
		return clamp_columns(columns);
	if (is_terminal && !ioctl(fd, TIOCGWINSZ, &size) && size.ws_col)
		return clamp_columns(size.ws_col);
	return LAYOUT_COLUMNS;
}

struct layout layout_of(FILE *out, bool no_color)
{
	const char *variable = getenv("NO_COLOR"), *terminal = getenv("TERM");
	int fd = fileno(out); /* -1: a buffer in memory */
	bool is_terminal = fd >= 0 && isatty(fd);

	return (struct layout){ .out = out,
				.columns = columns_of(fd, is_terminal),
				/* https://no-color.org: if it is set and not empty */
				.colour = is_terminal && !no_color && !(variable && *variable) &&
					  (!terminal || strcmp(terminal, "dumb") != 0) };
}

void layout_put(const struct layout *layout, enum layout_style style, const char *text)
{
	/* those of the 8 colours that are read on light and on dark; blue beside yellow is told apart by who sees no red */
	static const char *const sequences[] = {
		[LAYOUT_PLAIN] = "",           [LAYOUT_LABEL] = "\033[36m",     [LAYOUT_STRONG] = "\033[1m",
		[LAYOUT_ALARM] = "\033[1;31m", [LAYOUT_COMMAND] = "\033[1;36m", [LAYOUT_RUNNING] = "\033[34m",
		[LAYOUT_WAITING] = "\033[33m"
	};
	bool is_styled = layout->colour && style != LAYOUT_PLAIN;

	fprintf(layout->out, "%s%s%s", is_styled ? sequences[style] : "", text, is_styled ? "\033[0m" : "");
}

static void put_label(const struct layout *layout, const char *label)
{
	char text[LAYOUT_LABEL_COLUMNS + 1];

	snprintf(text, sizeof(text), "%-*s", LAYOUT_LABEL_COLUMNS - 2, label);
	fputs("  ", layout->out);
	layout_put(layout, LAYOUT_LABEL, text);
}

void layout_fact(const struct layout *layout, const char *label, enum layout_style style, const char *text)
{
	char line[LINE_BYTES];

	escape_terminal(text, line, sizeof(line));
	put_label(layout, label);
	layout_put(layout, style,
		   format_cut(line, (size_t)(layout->columns - LAYOUT_LABEL_COLUMNS), sizeof(line)));
	fputc('\n', layout->out);
}

void layout_fact_whole(const struct layout *layout, const char *label, enum layout_style style,
		       const char *text)
{
	size_t bytes = 4 * strlen(text) + 1;
	_cleanup_free_ char *line = malloc(bytes);

	put_label(layout, label);
	if (line)
		layout_put(layout, style, escape_terminal(text, line, bytes));
	fputc('\n', layout->out);
}

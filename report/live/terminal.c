/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/live/terminal.h"

#include "common/base/clock.h"
#include "report/text/format.h"

#include <langinfo.h>
#include <locale.h>
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>

bool terminal_begin(struct terminal *terminal)
{
	const char *no_colour = getenv("NO_COLOR");

	setlocale(LC_CTYPE, "");
	*terminal = (struct terminal){ .is_utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8") };
	/* curses would believe these, also after the terminal's size changed */
	unsetenv("COLUMNS");
	unsetenv("LINES");
	if (!newterm(NULL, stdout, stdin))
		return false;
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(50);
	curs_set(0);
	/* https://no-color.org: set, and not empty */
	terminal->has_colours = has_colors() && !(no_colour && *no_colour) && start_color() == OK &&
				use_default_colors() == OK;
	return true;
}

void terminal_end(void)
{
	endwin();
}

void terminal_note_resize(struct terminal *terminal)
{
	terminal->resized_ns = clock_monotonic_ns();
}

void terminal_clear(const struct terminal *terminal)
{
	/* a terminal may move what it shows some moments after it has told its new size; curses would believe what it wrote */
	if (terminal->resized_ns && clock_monotonic_ns() - terminal->resized_ns < 2 * CLOCK_SECOND_NS)
		clearok(curscr, TRUE);
	erase();
}

void terminal_put(const struct terminal *terminal, int y, int x, int width, const char *text)
{
	char cut[FORMAT_BYTES * 2];

	if (width <= 0 || x >= COLS)
		return;
	width = width < COLS - x ? width : COLS - x;
	snprintf(cut, sizeof(cut), "%s", text);
	format_cut(cut, (size_t)width, sizeof(cut));
	if (terminal->is_utf8) {
		mvaddstr(y, x, cut);
		return;
	}
	move(y, x);
	for (const char *at = cut; *at; at++)
		if (((unsigned char)*at & 0xc0) != 0x80)
			addch((unsigned char)*at < 0x80 ? (chtype)(unsigned char)*at : '?');
}

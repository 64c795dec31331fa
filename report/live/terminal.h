/* SPDX-License-Identifier: GPL-2.0-only */
/* terminal.h owns the terminal of a screen, by ncurses: taking it over, safe text on it, and its size. */
#ifndef BOURDON_REPORT_LIVE_TERMINAL_H
#define BOURDON_REPORT_LIVE_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

/* Keys that ncurses has no names for. */
#define KEY_ESCAPE 27
#define KEY_DELETE 127

struct terminal {
	bool is_utf8, has_colours;
	uint64_t resized_ns; /* when its size changed last, CLOCK_MONOTONIC; 0: never */
};

/* Takes the terminal over; returns false, and nothing has changed, if it is one that ncurses does not know. */
bool terminal_begin(struct terminal *terminal);
void terminal_end(void);

/* A new size was told. */
void terminal_note_resize(struct terminal *terminal);

/* Before everything is drawn anew. */
void terminal_clear(const struct terminal *terminal);

/* Writes text that is safe for a terminal, cut to `width` columns; other characters than ASCII are '?' without UTF-8. */
void terminal_put(const struct terminal *terminal, int y, int x, int width, const char *text);

#endif

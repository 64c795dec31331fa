/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * threads_draw.h draws the screen of `bourdon threads` and `bourdon top --live`, by ncurses. Nothing is said by colour alone, and without a UTF-8
 * locale bars and sparklines are of ASCII characters.
 */
#ifndef BOURDON_REPORT_LIVE_THREADS_DRAW_H
#define BOURDON_REPORT_LIVE_THREADS_DRAW_H

#include "report/live/look_source.h"
#include "report/live/machine_load.h"
#include "report/live/past_looks.h"
#include "report/live/shown_time.h"
#include "report/live/terminal.h"
#include "report/live/thread_history.h"

#include <stdbool.h>
#include <stdint.h>

#define PROMPT_BYTES FILTER_BYTES

enum threads_mode {
	MODE_TABLE,
	MODE_HELP,
	MODE_FILTER, /* a person writes a filter, */
	MODE_SEARCH, /* or what to look for */
};

/* One of the tables that were gone into: groups, the threads of a group, one thread. */
struct threads_level {
	struct thread_view view;
	uint32_t selected, top; /* rows */
};

#define LEVEL_GROUPS 0U
#define LEVEL_THREADS 1U
#define LEVEL_THREAD 2U
#define LEVELS 3U

struct threads_screen {
	const struct thread_history *history;
	const struct look_source *source;
	struct threads_level levels[LEVELS];
	uint32_t level;
	struct thread_groups groups; /* of this level */
	struct past_looks past;      /* of threads the last look; of samples those of each second */
	struct machine_loads loads;
	char *stack;            /* of the one thread that is shown; NULL: not known */
	struct shown_time time; /* in seconds */
	enum threads_mode mode;
	char prompt[PROMPT_BYTES];
	char search[PROMPT_BYTES];
	char message[160]; /* until the next key */
	struct terminal terminal;
	/* set by threads_draw() */
	uint32_t rows_shown; /* of the table */
};

/* As terminal_begin(). */
bool threads_draw_begin(struct threads_screen *screen);

/* Draws everything anew, as large as the terminal is. */
void threads_draw(struct threads_screen *screen);

/* Whether it is of samples. */
static inline bool threads_is_live(const struct threads_screen *screen)
{
	return screen->levels[LEVEL_GROUPS].view.origin == THREADS_SAMPLED;
}

/* The number of the second that is shown. */
static inline uint32_t threads_shown_second(const struct threads_screen *screen)
{
	uint32_t seconds = screen->history->seconds_count;

	return screen->time.back < seconds ? seconds - 1 - screen->time.back : 0;
}

/* The look that tells more of the second that is shown than its history; NULL: there is none any more. */
static inline const struct thread_lines *threads_shown_look(const struct threads_screen *screen)
{
	const struct thread_history *history = screen->history;

	if (!threads_is_live(screen))
		return past_looks_last(&screen->past);
	return history->seconds_count
		       ? past_looks_find(&screen->past, history->seconds[threads_shown_second(screen)].at_ns)
		       : NULL;
}

#endif

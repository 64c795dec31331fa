/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/latency/latency_screen.h"

#include "common/base/array.h"
#include "common/system/log.h"
#include "common/text/escape.h"
#include "report/latency/latency_text.h"
#include "report/live/shown_time.h"
#include "report/live/terminal.h"
#include "report/text/format.h"

#include <inttypes.h>
#include <ncurses.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define KEPT 120U /* intervals: ten minutes */

struct screen {
	struct database *database;
	struct live_lines *lines;
	struct latency_choice choice;
	struct latency_interval kept[KEPT]; /* the oldest first */
	uint32_t count;                     /* of them */
	struct shown_time time;
	bool is_help, has_all_bars;
	char *text;  /* of the interval that is shown; NULL: there is none */
	char **rows; /* its lines */
	size_t rows_count, rows_room, top;
	struct terminal terminal;
};

static void forget_text(struct screen *screen)
{
	free(TAKE_PTR(screen->rows));
	free(TAKE_PTR(screen->text));
	screen->rows_count = screen->rows_room = 0;
}

static void screen_free(struct screen *screen)
{
	for (uint32_t i = 0; i < screen->count; i++)
		latency_interval_free(&screen->kept[i]);
	forget_text(screen);
}

static const struct latency_interval *shown(const struct screen *screen)
{
	return screen->count ? &screen->kept[screen->count - 1 - screen->time.back] : NULL;
}

/* ---- the text ---- */

/* Prints what is shown into memory, as wide as the terminal is. 0 or -ENOMEM. */
static int print_again(struct screen *screen)
{
	const struct latency_interval *interval = shown(screen);
	struct layout layout = { .columns = COLS < LAYOUT_COLUMNS_LEAST  ? LAYOUT_COLUMNS_LEAST
					    : COLS > LAYOUT_COLUMNS_MOST ? LAYOUT_COLUMNS_MOST
									 : COLS };
	size_t bytes;
	char *rest;
	int result;

	forget_text(screen);
	if (!interval)
		return 0;
	layout.out = open_memstream(&screen->text, &bytes);
	if (!layout.out)
		return -ENOMEM;
	result = latency_print(&layout, screen->database, &screen->choice, screen->has_all_bars,
			       &interval->latencies);
	if (fclose(layout.out))
		result = -ENOMEM;
	rest = result ? NULL : screen->text + strspn(screen->text, "\n");
	while (rest && *rest && !result) {
		if (array_make_room(screen->rows, screen->rows_count, screen->rows_room, 64UL))
			result = -ENOMEM;
		else
			screen->rows[screen->rows_count++] = strsep(&rest, "\n");
	}
	return result;
}

/* ---- drawing ---- */

static void draw_title(const struct screen *screen)
{
	const struct latency_interval *interval = shown(screen);
	char when[16] = "--:--:--", place[48] = "live", text[FORMAT_BYTES], label[FORMAT_BYTES / 2] = "",
	     more[64] = "";
	struct tm local;
	time_t seconds;

	if (interval) {
		seconds = (time_t)(interval->to_at / 1000000000);
		localtime_r(&seconds, &local);
		strftime(when, sizeof(when), "%H:%M:%S", &local);
		if (shown_time_is_past(&screen->time))
			snprintf(place, sizeof(place), "%s, %" PRId64 " s ago",
				 shown_time_word(&screen->time),
				 (screen->kept[screen->count - 1].to_at - interval->to_at + 500000000) /
					 1000000000);
		if (interval->missed)
			snprintf(more, sizeof(more), "  %u missed", interval->missed);
		if (interval->left_out)
			snprintf(more, sizeof(more), "  %" PRId64 " events left out", interval->left_out);
	}
	if (screen->choice.label)
		escape_terminal(screen->choice.label, label, sizeof(label));
	snprintf(text, sizeof(text), "%s  %s  latencies%s%s%s%s%s", when, place,
		 screen->choice.metrics ? " of " : "", screen->choice.metrics ? screen->choice.metrics : "",
		 *label ? "  label " : "", label, more);
	attron(A_BOLD);
	terminal_put(&screen->terminal, 0, 0, COLS, text);
	attroff(A_BOLD);
}

/* Lines between the title and that of the keys. */
static size_t page_lines(void)
{
	return LINES > 3 ? (size_t)LINES - 3 : 1;
}

static void draw_rows(struct screen *screen)
{
	size_t page = page_lines(), last = screen->rows_count > page ? screen->rows_count - page : 0;

	screen->top = screen->top > last ? last : screen->top;
	for (size_t i = 0; i < page && screen->top + i < screen->rows_count; i++)
		terminal_put(&screen->terminal, (int)i + 2, 0, COLS, screen->rows[screen->top + i]);
	if (!screen->count)
		terminal_put(&screen->terminal, 2, 2, COLS - 2, "the first interval of 5 s is not over yet");
}

static void draw_help(const struct screen *screen)
{
	static const char *const lines[] = {
		"bourdon latency --live: how long what waits now",
		"",
		"q, Esc     end",
		"Up, Down   scroll; PgUp, PgDn, Home, End, too",
		"b          bars of each label, or of the first of each metric",
		"r          order by time, or by growth of p99 since the interval before",
		"Space      freeze and go on; intervals are kept meanwhile",
		"Left/Right one interval back or forward; [ and ] ten",
		"           0: back to now",
		"",
		"An interval is 5 s. /S is events in each second. In bars, BEFORE is",
		"the interval before.",
		NULL,
	};

	attron(A_BOLD);
	terminal_put(&screen->terminal, 0, 0, COLS, lines[0]);
	attroff(A_BOLD);
	for (int i = 1; i < LINES - 1 && lines[i]; i++)
		terminal_put(&screen->terminal, i, 0, COLS, lines[i]);
	terminal_put(&screen->terminal, LINES - 1, 0, COLS - 1, "any key: back");
}

static void draw(struct screen *screen)
{
	terminal_clear(&screen->terminal);
	if (screen->is_help) {
		draw_help(screen);
	} else {
		draw_title(screen);
		draw_rows(screen);
		terminal_put(&screen->terminal, LINES - 1, 0, COLS - 1,
			     "? help  q quit  b bars  r order  Space freeze  Left/Right time");
	}
	refresh();
}

/* ---- keys ---- */

/* Returns false for other keys. */
static bool scroll_text(struct screen *screen, int key)
{
	size_t page = page_lines(), top = screen->top;

	switch (key) {
	case KEY_UP:
	case 'k':
		top -= top > 0;
		break;
	case KEY_DOWN:
	case 'j':
		top++;
		break;
	case KEY_PPAGE:
		top -= top < page ? top : page;
		break;
	case KEY_NPAGE:
		top += page;
		break;
	case KEY_HOME:
	case 'g':
		top = 0;
		break;
	case KEY_END:
	case 'G':
		top = screen->rows_count;
		break;
	default:
		return false;
	}
	screen->top = top;
	return true;
}

static void change_view(struct screen *screen, int key)
{
	switch (key) {
	case 'b':
		screen->has_all_bars = !screen->has_all_bars;
		break;
	case 'r':
		screen->choice.by_growth = !screen->choice.by_growth;
		break;
	case '?':
	case 'h':
		screen->is_help = true;
		break;
	default:
		shown_time_key(&screen->time, screen->count, key);
	}
}

/* Takes all keys that were pressed. Returns 0 to go on, 1 to end, or -errno. */
static int take_keys(struct screen *screen)
{
	int key, result = 0;

	while (!result && (key = getch()) != ERR) {
		if (key == KEY_RESIZE) {
			terminal_note_resize(&screen->terminal);
		} else if (screen->is_help) {
			screen->is_help = false;
			continue;
		} else if (key == 'q' || key == KEY_ESCAPE) {
			return 1;
		} else if (scroll_text(screen, key)) {
			continue;
		} else {
			change_view(screen, key);
		}
		result = print_again(screen);
	}
	return result;
}

/* ---- intervals ---- */

/* Keeps it, and shows it unless an earlier one is looked at: that one stays. */
static int add_interval(struct screen *screen, char *text)
{
	struct latency_interval interval;
	int result = latency_lines_read(text, &interval);

	if (result < 0) {
		latency_interval_free(&interval);
		return result;
	}
	if (screen->count == KEPT) {
		latency_interval_free(&screen->kept[0]);
		memmove(screen->kept, screen->kept + 1, --screen->count * sizeof(screen->kept[0]));
	}
	screen->kept[screen->count++] = interval;
	shown_time_add(&screen->time, screen->count);
	return print_again(screen);
}

/* Takes all intervals that are there. 0 or -errno; *ret_failure is why there are no more. */
static int take_intervals(struct screen *screen, int *ret_failure)
{
	int result = 0;

	while (!result) {
		_cleanup_free_ char *text = NULL;
		int taken = live_lines_take(screen->lines, &text);

		if (!taken)
			return 0;
		if (taken < 0) {
			*ret_failure = taken;
			return -ECANCELED;
		}
		result = add_interval(screen, text);
	}
	return result;
}

static int run_screen(struct screen *screen, int *ret_failure)
{
	struct pollfd polled[] = { { .fd = STDIN_FILENO, .events = POLLIN },
				   { .fd = screen->lines->fd, .events = POLLIN } };
	int result = 0;

	while (!result) {
		draw(screen);
		/* a new size of the terminal interrupts it, and getch() then says so */
		if (poll(polled, ARRAY_SIZE(polled), -1) < 0 && errno != EINTR)
			return -errno;
		if (polled[0].revents & (POLLHUP | POLLERR | POLLNVAL))
			return 0;
		result = take_keys(screen);
		if (!result)
			result = take_intervals(screen, ret_failure);
	}
	return result;
}

int latency_screen_run(struct report *report, const struct latency_choice *choice, struct live_lines *lines)
{
	_cleanup_free_ struct screen *screen = calloc(1, sizeof(*screen));
	int result, failure = 0;

	if (!screen)
		return -ENOMEM;
	screen->database = report->database;
	screen->lines = lines;
	screen->choice = *choice;
	screen->has_all_bars = choice->metrics || choice->label;
	if (!terminal_begin(&screen->terminal)) {
		log_error("this terminal is not known: set TERM, or give --once or --json");
		return -ECANCELED;
	}
	result = run_screen(screen, &failure);
	terminal_end();
	if (failure)
		live_lines_explain(lines, failure);
	screen_free(screen);
	return result < 0 ? result : 0;
}

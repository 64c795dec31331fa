/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/live/threads_draw.h"

#include "common/text/escape.h"
#include "common/text/plural.h"
#include "report/live/threads_output.h"
#include "report/text/format.h"

#include <inttypes.h>
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LINES_ABOVE 4 /* title, totals, what is shown, header */
#define AVERAGE_COLUMNS 7
#define SHARE_COLUMNS 4
#define BAR_COLUMNS 5
#define TOTALS_LINE 1
#define TOTALS_COLUMNS 70 /* without their bars */
#define TOTALS_BAR_MAX 20
#define PLACE_LINE 2

enum { COLOUR_RUNNING = 1, COLOUR_QUEUED, COLOUR_DISK, COLOUR_BAR };

bool threads_draw_begin(struct threads_screen *screen)
{
	if (!terminal_begin(&screen->terminal))
		return false;
	if (screen->terminal.has_colours) {
		init_pair(COLOUR_RUNNING, COLOR_GREEN, -1);
		init_pair(COLOUR_QUEUED, COLOR_YELLOW, -1);
		init_pair(COLOUR_DISK, COLOR_RED, -1);
		init_pair(COLOUR_BAR, COLOR_CYAN, -1);
	}
	return true;
}

/* ---- text ---- */

static void put_plain(const struct threads_screen *screen, int y, int x, int width, const char *text)
{
	terminal_put(&screen->terminal, y, x, width, text);
}

/* The same of text of others. */
static void put_text(const struct threads_screen *screen, int y, int x, int width, const char *text)
{
	char safe[FORMAT_BYTES];

	put_plain(screen, y, x, width, escape_terminal(text, safe, sizeof(safe)));
}

/* In eighths of a character; what is not 0 has one at least. */
static void put_bar(const struct threads_screen *screen, int y, int x, int width, double share)
{
	double filled = share * width, least = screen->terminal.is_utf8 ? 1.0 / 8 : 1;

	if (share > 0 && filled < least)
		filled = least;
	for (int i = 0; i < width && filled > i; i++)
		put_plain(screen, y, x + i, 1, format_eighths(filled - i, screen->terminal.is_utf8));
}

/* The last `width` seconds; a full character is one thread, or the most that there were. */
static void put_spark(const struct threads_screen *screen, int y, int x, int width,
		      const struct thread_group *group)
{
	double values[THREAD_CELLS], most = 1;

	for (uint32_t i = 0, cell = THREAD_CELLS - (uint32_t)width; cell < THREAD_CELLS; i++, cell++) {
		values[i] = thread_groups_cell(&screen->groups, group, cell, cell + 1);
		most = values[i] > most ? values[i] : most;
	}
	for (int i = 0; i < width; i++)
		put_plain(screen, y, x + i, 1, format_spark(values[i], most, screen->terminal.is_utf8));
}

/* ---- the table ---- */

struct layout {
	int widths[THREAD_GROUPING];
	int bar, spark; /* columns; 0: there is no room */
	int text;       /* where the view's columns begin */
};

static struct layout lay_out(const struct thread_view *view)
{
	struct layout layout = { .bar = COLS >= 60 ? BAR_COLUMNS : 0 };

	layout.spark = COLS >= 160 ? (int)THREAD_CELLS : COLS >= 100 ? 24 : COLS >= 72 ? 10 : 0;
	layout.text = AVERAGE_COLUMNS + 1 + SHARE_COLUMNS + 1 + (layout.bar ? layout.bar + 1 : 0);
	threads_fit_columns(view, COLS - layout.text - (layout.spark ? layout.spark + 1 : 0), layout.widths);
	return layout;
}

static void draw_header(const struct threads_screen *screen, const struct thread_view *view,
			const struct layout *layout, int y)
{
	char title[64];
	int x = layout->text;

	attron(A_REVERSE);
	mvhline(y, 0, ' ', COLS);
	put_plain(screen, y, 0, AVERAGE_COLUMNS, view->origin == THREADS_SAMPLED ? "   CPUS" : "AVERAGE");
	put_plain(screen, y, AVERAGE_COLUMNS + 1, SHARE_COLUMNS + 1 + layout->bar,
		  layout->bar ? "SHARE" : "SHAR");
	for (uint32_t i = 0; i < view->columns_count; i++) {
		const char *name = thread_columns[view->columns[i]].name;
		size_t bytes = 0;

		for (; name[bytes] && bytes + 2 < sizeof(title); bytes++)
			title[bytes] = (char)(name[bytes] - ('a' - 'A') * (name[bytes] >= 'a'));
		if (view->sort == i)
			title[bytes++] = view->is_reversed ? '-' : '+';
		title[bytes] = '\0';
		put_plain(screen, y, x, layout->widths[i], title);
		x += layout->widths[i] + 1;
	}
	if (layout->spark) {
		snprintf(title, sizeof(title), layout->spark > 20 ? "LAST %d SECONDS" : "LAST %d s",
			 layout->spark);
		put_plain(screen, y, COLS - layout->spark, layout->spark, title);
	}
	attroff(A_REVERSE);
}

static attr_t colour_of(const struct threads_screen *screen, const char *state)
{
	if (!screen->terminal.has_colours)
		return A_NORMAL;
	return !strcmp(state, "running")  ? COLOR_PAIR(COLOUR_RUNNING)
	       : !strcmp(state, "queued") ? COLOR_PAIR(COLOUR_QUEUED)
	       : !strcmp(state, "D")      ? COLOR_PAIR(COLOUR_DISK)
					  : A_NORMAL;
}

static void draw_group(const struct threads_screen *screen, const struct thread_view *view,
		       const struct layout *layout, int y, const struct thread_group *group, bool is_selected)
{
	attr_t colour = screen->terminal.has_colours ? COLOR_PAIR(COLOUR_BAR) : A_NORMAL;
	int x = layout->text;
	char text[64];

	if (is_selected) {
		/* the mark is for terminals without reverse video */
		attron(A_REVERSE);
		mvhline(y, 0, ' ', COLS);
		mvaddch(y, 0, '>');
	}
	snprintf(text, sizeof(text), "%6.2f", group->average);
	put_plain(screen, y, 1, AVERAGE_COLUMNS - 1, text);
	snprintf(text, sizeof(text), "%3.0f%%", group->share * 100);
	put_plain(screen, y, AVERAGE_COLUMNS + 1, SHARE_COLUMNS, text);
	attron(colour);
	put_bar(screen, y, AVERAGE_COLUMNS + 1 + SHARE_COLUMNS + 1, layout->bar, group->share);
	if (layout->spark)
		put_spark(screen, y, COLS - layout->spark, layout->spark, group);
	attroff(colour);
	for (uint32_t i = 0; i < view->columns_count; i++) {
		attr_t own = view->columns[i] == THREAD_STATE ? colour_of(screen, group->values[i])
							      : A_NORMAL;

		attron(own);
		put_text(screen, y, x, layout->widths[i], group->values[i]);
		attroff(own);
		x += layout->widths[i] + 1;
	}
	attroff(A_REVERSE);
}

/* Draws the table from line `y` on, down to the line above the last. */
static void draw_table(struct threads_screen *screen, int y)
{
	struct threads_level *level = &screen->levels[screen->level];
	struct layout layout = lay_out(&level->view);
	int rows = LINES - y - 2;

	if (rows < 1)
		return;
	screen->rows_shown = (uint32_t)rows;
	if (level->selected >= screen->groups.count)
		level->selected = screen->groups.count ? screen->groups.count - 1 : 0;
	if (level->selected < level->top)
		level->top = level->selected;
	if (level->selected >= level->top + screen->rows_shown)
		level->top = level->selected - screen->rows_shown + 1;
	draw_header(screen, &level->view, &layout, y);
	for (uint32_t i = level->top; i < screen->groups.count && i < level->top + screen->rows_shown; i++)
		draw_group(screen, &level->view, &layout, y + 1 + (int)(i - level->top),
			   &screen->groups.groups[i], i == level->selected);
	if (!screen->groups.count)
		put_plain(screen, y + 2, 2, COLS - 2,
			  !screen->history->seconds_count ? "the first second is not over yet"
			  : threads_is_live(screen)       ? "nothing on a CPU matches"
			  : level->view.all_states || level->view.filter.has_state
				  ? "no thread matches"
				  : "no thread runs, is queued, or is in D; press a to see all states");
}

/* ---- one thread ---- */

/* The first line of a thread from that one on. */
static const struct thread_line *find_line(const struct thread_lines *look, uint32_t first, const char *tid)
{
	for (uint32_t i = first; look && tid && i < look->count; i++)
		if (!strcmp(look->lines[i].values[THREAD_TID], tid))
			return &look->lines[i];
	return NULL;
}

static const char *duration(const char *ns, char *into, size_t into_bytes)
{
	if (!strcmp(ns, THREAD_NONE))
		snprintf(into, into_bytes, "%s", ns);
	else
		format_duration(strtod(ns, NULL), " ", into, into_bytes);
	return into;
}

#define TABLE_LINES 5 /* that the table below a stack has at least, with its header and the line of keys */

/* Draws a stack, as far as there is room above the table. Returns the line below. */
static int draw_stack(const struct threads_screen *screen, int y, const char *stack)
{
	char function[FORMAT_BYTES];

	for (bool is_first = true; *stack; is_first = false) {
		size_t bytes = strcspn(stack, ";");

		if (y >= LINES - TABLE_LINES) {
			put_plain(screen, y, 5, COLS - 5, "...");
			return y + 1;
		}
		snprintf(function, sizeof(function), "%s %.*s", is_first ? "in  " : "from", (int)bytes,
			 stack);
		put_text(screen, y++, 1, COLS - 1, function);
		stack += bytes + (stack[bytes] == ';');
	}
	return y;
}

static int draw_kernel_stack(const struct threads_screen *screen, int y)
{
	if (screen->stack && strcmp(screen->stack, THREAD_NONE) != 0)
		return draw_stack(screen, y, screen->stack);
	put_plain(screen, y, 1, COLS - 1, "no kernel stack");
	return y + 1;
}

/* The stacks of a thread's samples in the second that is shown: bourdond sends the most frequent first. */
static int draw_samples(const struct threads_screen *screen, int y, const struct thread_lines *look,
			const char *tid)
{
	const struct thread_line *line = find_line(look, 0, tid);
	uint64_t all = 0;
	char text[64];

	for (const struct thread_line *at = line; at;
	     at = find_line(look, (uint32_t)(at - look->lines) + 1, tid))
		all += at->times;
	for (; line && y < LINES - TABLE_LINES; y++) {
		snprintf(text, sizeof(text), "%u of %" PRIu64 " %s", line->times, all,
			 plural(all, "sample", "samples"));
		put_plain(screen, y, 1, COLS - 1, text);
		y = draw_stack(screen, y + 1, strcmp(line->stack, THREAD_NONE) != 0 ? line->stack : "");
		line = find_line(look, (uint32_t)(line - look->lines) + 1, tid);
	}
	return y;
}

/* What a thread is that is looked at. Returns the line below. */
static int draw_waiting(const struct threads_screen *screen, int y, const char *const *values)
{
	char text[FORMAT_BYTES], for_ns[32], run_ns[32], io_ns[32];

	snprintf(text, sizeof(text), "state %s for %s, CPU %s", values[THREAD_STATE],
		 duration(values[THREAD_STATE_NS], for_ns, sizeof(for_ns)), values[THREAD_CPU]);
	put_text(screen, y++, 1, COLS - 1, text);
	snprintf(text, sizeof(text), "system call %s  fd %s  futex %s", values[THREAD_SYSCALL],
		 values[THREAD_FD], values[THREAD_FUTEX]);
	put_text(screen, y++, 1, COLS - 1, text);
	snprintf(text, sizeof(text), "waited since its start: %s for a CPU, %s for block I/O",
		 duration(values[THREAD_RUN_DELAY_NS], run_ns, sizeof(run_ns)),
		 duration(values[THREAD_IO_DELAY_NS], io_ns, sizeof(io_ns)));
	put_text(screen, y++, 1, COLS - 1, text);
	return y;
}

/* Returns the line below. */
static int draw_thread(const struct threads_screen *screen, int y)
{
	const char *tid = screen->levels[LEVEL_THREAD].view.exact[THREAD_TID];
	const struct thread_lines *look = threads_shown_look(screen);
	const struct thread_line *line = find_line(look, 0, tid);
	bool is_live = threads_is_live(screen);
	char text[FORMAT_BYTES];
	const char *const *values;

	if (!line) {
		snprintf(text, sizeof(text),
			 is_live ? "thread %s was not on a CPU in this second"
				 : "thread %s has ended, or is not shown any more",
			 tid ? tid : "");
		put_text(screen, y, 1, COLS - 1, text);
		return y + 2;
	}
	values = line->values;
	snprintf(text, sizeof(text), "thread %s  %s", tid, values[THREAD_COMM]);
	put_text(screen, y++, 1, COLS - 1, text);
	snprintf(text, sizeof(text), "process %s  %s  uid %s", values[THREAD_TGID], values[THREAD_PROCESS],
		 values[THREAD_UID]);
	put_text(screen, y++, 1, COLS - 1, text);
	if (!is_live)
		y = draw_waiting(screen, y, values);
	snprintf(text, sizeof(text), "cgroup %s", values[THREAD_CGROUP]);
	put_text(screen, y++, 1, COLS - 1, text);
	if (is_live)
		return draw_samples(screen, y + 1, look, tid);
	return draw_kernel_stack(screen, y + 1) + 1;
}

/* ---- around it ---- */

static void draw_title(const struct threads_screen *screen)
{
	const struct thread_history *history = screen->history;
	const struct thread_groups *groups = &screen->groups;
	char text[FORMAT_BYTES * 2], what[FORMAT_BYTES], when[16] = "--:--:--", place[48] = "live";
	struct tm local;
	time_t seconds;

	if (history->seconds_count) {
		seconds = (time_t)(history->seconds[threads_shown_second(screen)].at_ns / 1000000000);
		localtime_r(&seconds, &local);
		strftime(when, sizeof(when), "%H:%M:%S", &local);
	}
	if (shown_time_is_past(&screen->time))
		snprintf(place, sizeof(place), "%s, %u s ago", shown_time_word(&screen->time),
			 screen->time.back);
	if (threads_is_live(screen))
		threads_describe_samples(groups, threads_shown_look(screen), what, sizeof(what));
	else
		snprintf(what, sizeof(what), "%.0f %s: %.1f running, %.1f queued, %.1f in D", groups->all,
			 plural((uint64_t)(groups->all + 0.5), "thread", "threads"),
			 groups->states[ACTIVITY_RUNNING], groups->states[ACTIVITY_QUEUED],
			 groups->states[ACTIVITY_DISK]);
	snprintf(text, sizeof(text), "%s  %s  %s", when, place, what);
	attron(A_BOLD);
	put_plain(screen, 0, 0, COLS, text);
	attroff(A_BOLD);
}

/* "CPU  41% ██▏  ", or without a bar where there is no room. Returns the column behind it. */
static int put_total(const struct threads_screen *screen, int x, const char *name, int bar, float part)
{
	attr_t colour = screen->terminal.has_colours ? COLOR_PAIR(COLOUR_BAR) : A_NORMAL;
	char text[32];

	snprintf(text, sizeof(text), part < 0 ? "%s    ?" : "%s %3.0f%%", name, (double)part * 100);
	put_plain(screen, TOTALS_LINE, x, COLS, text);
	x += (int)strlen(text) + 1;
	attron(colour);
	put_bar(screen, TOTALS_LINE, x, bar, part);
	attroff(colour);
	return x + bar + 1;
}

/* What the whole machine did in the second that is shown, whatever the filter is. */
static void draw_totals(const struct threads_screen *screen)
{
	const struct thread_history *history = screen->history;
	const struct machine_load *load =
		history->seconds_count
			? machine_load_find(&screen->loads,
					    history->seconds[threads_shown_second(screen)].at_ns)
			: NULL;
	int bar = (COLS - TOTALS_COLUMNS) / 2, x;
	char size[32], text[64];

	if (!load)
		return;
	bar = bar < BAR_COLUMNS ? 0 : bar > TOTALS_BAR_MAX ? TOTALS_BAR_MAX : bar;
	x = put_total(screen, 0, "CPU", bar, load->cpu);
	x = put_total(screen, x, "mem", bar, load->memory);
	if (load->disk_bytes < 0)
		snprintf(size, sizeof(size), "?");
	else
		format_size(load->disk_bytes, size, sizeof(size));
	snprintf(text, sizeof(text), "I/O %s/s", size);
	put_plain(screen, TOTALS_LINE, x, COLS, text);
	x += 16;
	put_plain(screen, TOTALS_LINE, x, COLS, "PSI");
	x += 4;
	for (int i = 0; i < LOAD_RESOURCES; i++) {
		static const char *const names[LOAD_RESOURCES] = { "cpu", "mem", "io" };

		snprintf(text, sizeof(text), load->psi[i] < 0 ? "%s ?" : "%s %.0f%%", names[i],
			 (double)load->psi[i] * 100);
		put_plain(screen, TOTALS_LINE, x, COLS, text);
		x += (int)strlen(text) + 2;
	}
}

static void draw_place(const struct threads_screen *screen)
{
	const struct threads_level *level = &screen->levels[screen->level];
	char text[FORMAT_BYTES * 2], safe[FORMAT_BYTES];
	size_t used = 0;

	if (screen->level == LEVEL_GROUPS) {
		used = (size_t)snprintf(text, sizeof(text), "groups");
	} else {
		used = (size_t)snprintf(text, sizeof(text), "%s",
					screen->level == LEVEL_THREADS ? "threads of"
								       : "one thread, last minute of");
		for (uint32_t i = 0; i < THREAD_GROUPING && used < sizeof(text); i++)
			if (level->view.exact[i])
				used += (size_t)snprintf(
					text + used, sizeof(text) - used, " %s=%s", thread_columns[i].name,
					escape_terminal(level->view.exact[i], safe, sizeof(safe)));
	}
	if (used < sizeof(text))
		snprintf(text + used, sizeof(text) - used, "  %s  average of %u s%s%s",
			 threads_is_live(screen)                                  ? "on CPU"
			 : level->view.all_states || level->view.filter.has_state ? "all states"
										  : "running, queued, D",
			 level->view.window, *level->view.filter.text ? "  filter: " : "",
			 escape_terminal(level->view.filter.text, safe, sizeof(safe)));
	put_plain(screen, PLACE_LINE, 0, COLS, text);
}

static void draw_foot(const struct threads_screen *screen)
{
	char text[FORMAT_BYTES + 16];

	if (screen->mode == MODE_FILTER || screen->mode == MODE_SEARCH) {
		char safe[FORMAT_BYTES];

		snprintf(text, sizeof(text), "%s: %s_", screen->mode == MODE_FILTER ? "filter" : "search",
			 escape_terminal(screen->prompt, safe, sizeof(safe)));
		put_plain(screen, LINES - 1, 0, COLS - 1, text);
		return;
	}
	if (*screen->message) {
		put_plain(screen, LINES - 1, 0, COLS - 1, screen->message);
		return;
	}
	put_plain(screen, LINES - 1, 0, COLS - 1,
		  screen->level == LEVEL_THREAD ? "? help  q back  Space freeze  Left/Right time"
		  : threads_is_live(screen)
			  ? "? help  q quit  Enter into  s sort  f filter  / search  Space freeze"
			  : "? help  q quit  Enter into  s sort  f filter  / search  a all  Space freeze");
}

static void draw_help(const struct threads_screen *screen)
{
	static const char *const of_threads[] = {
		"bourdon threads: what all threads of this machine do",
		"",
		"Enter      from a group to its threads, from a thread to what it does",
		"q, Esc     back; from the groups: end",
		"Up, Down   select; PgUp, PgDn, Home, End, too",
		"s, r       sort by the next column; reverse the order",
		"f          filter: COLUMN=GLOB, COLUMN!=GLOB or GLOB, several with blanks",
		"           columns: state syscall comm process unit cgroup function uid",
		"                    fd futex tgid tid",
		"/, n       search in the rows; the next one",
		"a          all states, or only running, queued and D",
		"u          groups by unit instead of comm, and back",
		"w          average over 1, 5, 15 or 60 seconds",
		"Space      freeze and go on; looks are kept meanwhile",
		"Left/Right one second back or forward; [ and ] ten",
		"           0: back to now",
		"",
		"AVERAGE is how many threads were in the group at a look. SHARE is of",
		"all that the table shows. Kernel functions leave the scheduler out.",
		NULL,
	};
	static const char *const of_samples[] = {
		"bourdon top --live: what is on the CPUs of this machine",
		"",
		"Enter      from a group to its threads, from a thread to its stacks",
		"q, Esc     back; from the groups: end",
		"Up, Down   select; PgUp, PgDn, Home, End, too",
		"s, r       sort by the next column; reverse the order",
		"f          filter: COLUMN=GLOB, COLUMN!=GLOB or GLOB, several with blanks",
		"           columns: function module comm process unit cgroup uid tgid tid",
		"/, n       search in the rows; the next one",
		"u          groups by unit instead of comm, and back",
		"w          average over 1, 5, 15 or 60 seconds",
		"Space      freeze and go on; seconds are kept meanwhile",
		"Left/Right one second back or forward; [ and ] ten",
		"           0: back to now",
		"",
		"CPUS is how many CPUs the group used. SHARE is of all that the table",
		"shows. In stacks, _[k] is behind functions of the kernel.",
		NULL,
	};
	const char *const *lines = threads_is_live(screen) ? of_samples : of_threads;

	attron(A_BOLD);
	put_plain(screen, 0, 0, COLS, lines[0]);
	attroff(A_BOLD);
	for (int i = 1; i < LINES - 1 && lines[i]; i++)
		put_plain(screen, i, 0, COLS, lines[i]);
	put_plain(screen, LINES - 1, 0, COLS - 1, "any key: back");
}

void threads_draw(struct threads_screen *screen)
{
	int y = LINES_ABOVE - 1;

	terminal_clear(&screen->terminal);
	screen->rows_shown = 0;
	if (screen->mode == MODE_HELP) {
		draw_help(screen);
	} else {
		draw_title(screen);
		draw_totals(screen);
		draw_place(screen);
		if (screen->level == LEVEL_THREAD)
			y = draw_thread(screen, y);
		draw_table(screen, y);
		draw_foot(screen);
	}
	refresh();
}

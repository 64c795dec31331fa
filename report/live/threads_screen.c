/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/live/threads_screen.h"

#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "report/live/threads_draw.h"

#include <errno.h>
#include <ncurses.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

static void forget_exact(struct thread_view *view)
{
	for (uint32_t i = 0; i < THREAD_GROUPING; i++)
		free(TAKE_PTR(view->exact[i]));
}

static void screen_free(struct threads_screen *screen)
{
	for (uint32_t i = 0; i < LEVELS; i++)
		forget_exact(&screen->levels[i].view);
	thread_groups_free(&screen->groups);
	past_looks_free(&screen->past);
	free(screen->stack);
}

/* Reads the stack of the one thread that is shown; samples have theirs. */
static void read_stack(struct threads_screen *screen)
{
	const char *tid = screen->levels[LEVEL_THREAD].view.exact[THREAD_TID];

	free(TAKE_PTR(screen->stack));
	if (screen->level == LEVEL_THREAD && tid && screen->source->stack)
		screen->stack = screen->source->stack(screen->source->user, tid);
}

static struct threads_level *level_of(struct threads_screen *screen)
{
	return &screen->levels[screen->level];
}

/* Groups again what is shown; the groups name the history's texts. */
static int group_again(struct threads_screen *screen)
{
	thread_groups_free(&screen->groups);
	if (!screen->history->seconds_count)
		return 0;
	return thread_history_group(screen->history, &level_of(screen)->view, threads_shown_second(screen),
				    &screen->groups);
}

/* ---- into and out of ---- */

static void set_columns(struct thread_view *view, const uint32_t *columns, uint32_t count)
{
	memcpy(view->columns, columns, count * sizeof(*columns));
	view->columns_count = count;
}

/* The columns of a level below the groups. */
static void choose_columns(struct thread_view *view, uint32_t level)
{
	static const uint32_t threads[] = { THREAD_TID, THREAD_COMM, THREAD_STATE, THREAD_SYSCALL,
					    THREAD_FUNCTION };
	static const uint32_t thread[] = { THREAD_STATE, THREAD_SYSCALL, THREAD_FD, THREAD_FUNCTION };
	static const uint32_t live_threads[] = { THREAD_TID, THREAD_COMM, THREAD_PROCESS, THREAD_FUNCTION };
	static const uint32_t live_thread[] = { THREAD_FUNCTION, THREAD_MODULE };

	if (level == LEVEL_THREADS && view->origin == THREADS_SAMPLED)
		set_columns(view, live_threads, ARRAY_SIZE(live_threads));
	else if (level == LEVEL_THREADS)
		set_columns(view, threads, ARRAY_SIZE(threads));
	else if (view->origin == THREADS_SAMPLED)
		set_columns(view, live_thread, ARRAY_SIZE(live_thread));
	else
		set_columns(view, thread, ARRAY_SIZE(thread));
}

/* Goes into the selected row: the level below shows only what has its values. */
static int go_into(struct threads_screen *screen)
{
	const struct threads_level *from = level_of(screen);
	const struct thread_group *group;
	struct threads_level into = { .view = { .all_states = true, .origin = from->view.origin } };

	if (screen->level + 1 >= LEVELS || from->selected >= screen->groups.count)
		return 0;
	group = &screen->groups.groups[from->selected];
	if (screen->level == LEVEL_GROUPS)
		into.view = from->view;
	else
		into.view.window = THREAD_CELLS;
	choose_columns(&into.view, screen->level + 1);
	into.view.sort = into.view.columns_count;
	into.view.is_reversed = false;
	memset(into.view.exact, 0, sizeof(into.view.exact));
	for (uint32_t i = 0; i < from->view.columns_count; i++) {
		uint32_t column = from->view.columns[i];

		if (screen->level != LEVEL_GROUPS && column != THREAD_TID)
			continue; /* a thread, whatever it does */
		into.view.exact[column] = strdup(group->values[i]);
		if (!into.view.exact[column]) {
			forget_exact(&into.view);
			return -ENOMEM;
		}
	}
	screen->level++;
	forget_exact(&level_of(screen)->view);
	*level_of(screen) = into;
	read_stack(screen);
	return group_again(screen);
}

/* Returns false at the end. */
static bool go_back(struct threads_screen *screen)
{
	if (screen->level == LEVEL_GROUPS)
		return false;
	screen->level--;
	return true;
}

/* ---- keys ---- */

static void select_row(struct threads_screen *screen, int64_t row)
{
	int64_t last = (int64_t)screen->groups.count - 1;

	row = row > last ? last : row;
	level_of(screen)->selected = row < 0 ? 0 : (uint32_t)row;
}

static void sort_by_next(struct thread_view *view)
{
	view->sort = view->sort == view->columns_count ? 0 : view->sort + 1;
	view->is_reversed = false;
}

static void change_window(struct thread_view *view)
{
	view->window = view->window < 5 ? 5 : view->window < 15 ? 15 : view->window < 60 ? 60 : 1;
}

/* Groups by unit where it was by comm, and back. */
static void swap_unit(struct threads_screen *screen)
{
	struct thread_view *view = &screen->levels[LEVEL_GROUPS].view;

	for (uint32_t i = 0; i < view->columns_count && screen->level == LEVEL_GROUPS; i++)
		if (view->columns[i] == THREAD_COMM)
			view->columns[i] = THREAD_UNIT;
		else if (view->columns[i] == THREAD_UNIT)
			view->columns[i] = THREAD_COMM;
}

static bool row_has(const struct threads_screen *screen, uint32_t row, const char *text)
{
	for (uint32_t i = 0; i < screen->levels[screen->level].view.columns_count; i++)
		if (strcasestr(screen->groups.groups[row].values[i], text))
			return true;
	return false;
}

/* Selects the next row that has what was looked for, from `first` rows below on. */
static void search_next(struct threads_screen *screen, uint32_t first)
{
	uint32_t count = screen->groups.count;

	for (uint32_t i = first; i < count + first && *screen->search; i++) {
		uint32_t row = (level_of(screen)->selected + i) % count;

		if (row_has(screen, row, screen->search)) {
			select_row(screen, row);
			return;
		}
	}
	snprintf(screen->message, sizeof(screen->message), "not found");
}

/* A mistake leaves the filter as it was. */
static void set_filter(struct threads_screen *screen)
{
	struct thread_view *view = &level_of(screen)->view;
	struct thread_filter filter;
	const char *word;
	int result = thread_filter_read(&filter, screen->prompt, &word);
	uint32_t unknown = result < 0 ? THREAD_GROUPING : thread_filter_unknown(&filter, view->origin);

	if (result == -ENOENT)
		snprintf(screen->message, sizeof(screen->message),
			 "filter: no column of the name before '=' in '%.40s'", word);
	else if (result < 0)
		snprintf(screen->message, sizeof(screen->message), "filter: too long");
	else if (unknown < THREAD_GROUPING)
		snprintf(screen->message, sizeof(screen->message), "filter: '%s' is not known here",
			 thread_columns[unknown].name);
	else
		view->filter = filter;
}

static void end_prompt(struct threads_screen *screen)
{
	if (screen->mode == MODE_SEARCH) {
		snprintf(screen->search, sizeof(screen->search), "%s", screen->prompt);
		search_next(screen, 0);
	} else {
		set_filter(screen);
	}
	screen->mode = MODE_TABLE;
}

static void edit_prompt(struct threads_screen *screen, int key)
{
	size_t bytes = strlen(screen->prompt);

	if (key == KEY_ESCAPE) {
		screen->mode = MODE_TABLE;
	} else if (key == '\r' || key == '\n' || key == KEY_ENTER) {
		end_prompt(screen);
	} else if (key == KEY_BACKSPACE || key == '\b' || key == KEY_DELETE) {
		if (bytes)
			screen->prompt[bytes - 1] = '\0';
	} else if (key == ('U' & 31)) {
		*screen->prompt = '\0';
	} else if (key >= ' ' && key < 256 && key != KEY_DELETE && bytes + 1 < sizeof(screen->prompt)) {
		screen->prompt[bytes] = (char)key;
		screen->prompt[bytes + 1] = '\0';
	}
}

static void begin_prompt(struct threads_screen *screen, enum threads_mode mode)
{
	snprintf(screen->prompt, sizeof(screen->prompt), "%s",
		 mode == MODE_FILTER ? level_of(screen)->view.filter.text : "");
	screen->mode = mode;
}

/* Keys that change only which row is selected. Returns false for others. */
static bool move_selection(struct threads_screen *screen, int key)
{
	int64_t row = level_of(screen)->selected, page = screen->rows_shown;

	switch (key) {
	case KEY_UP:
	case 'k':
		row--;
		break;
	case KEY_DOWN:
	case 'j':
		row++;
		break;
	case KEY_PPAGE:
		row -= page;
		break;
	case KEY_NPAGE:
		row += page;
		break;
	case KEY_HOME:
	case 'g':
		row = 0;
		break;
	case KEY_END:
	case 'G':
		row = screen->groups.count;
		break;
	default:
		return false;
	}
	select_row(screen, row);
	return true;
}

/* Keys that change what is shown. */
static void change_view(struct threads_screen *screen, int key)
{
	struct thread_view *view = &level_of(screen)->view;

	switch (key) {
	case 's':
		sort_by_next(view);
		break;
	case 'r':
		view->is_reversed = !view->is_reversed;
		break;
	case 'a':
		view->all_states = !view->all_states || view->origin == THREADS_SAMPLED;
		break;
	case 'u':
		swap_unit(screen);
		break;
	case 'w':
		change_window(view);
		break;
	case 'f':
		begin_prompt(screen, MODE_FILTER);
		break;
	case '/':
		begin_prompt(screen, MODE_SEARCH);
		break;
	case 'n':
		if (screen->groups.count)
			search_next(screen, 1);
		break;
	case '?':
	case 'h':
		screen->mode = MODE_HELP;
		break;
	default:
		shown_time_key(&screen->time, screen->history->seconds_count, key);
	}
}

/* Returns 0 to go on, 1 to end, or -errno. */
static int handle_key(struct threads_screen *screen, int key)
{
	if (key == KEY_RESIZE) {
		terminal_note_resize(&screen->terminal);
		return 0;
	}
	*screen->message = '\0';
	if (screen->mode == MODE_HELP) {
		screen->mode = MODE_TABLE;
		return 0;
	}
	if (screen->mode != MODE_TABLE)
		edit_prompt(screen, key);
	else if (key == '\r' || key == '\n' || key == KEY_ENTER)
		return go_into(screen);
	else if (key == 'q' || key == KEY_ESCAPE || key == KEY_BACKSPACE || key == KEY_DELETE) {
		if (!go_back(screen))
			return key == 'q';
	} else if (!move_selection(screen, key)) {
		change_view(screen, key);
	}
	return group_again(screen);
}

/* ---- looks ---- */

/* A second that has ended is shown, unless an earlier one is looked at: that one stays. */
static int end_second(struct threads_screen *screen, struct thread_history *history)
{
	int result;

	machine_load_note(&screen->loads, history->at_ns);
	/* the groups name texts that the history may forget now */
	thread_groups_free(&screen->groups);
	result = thread_history_end_second(history);
	if (result < 0)
		return result;
	shown_time_add(&screen->time, history->seconds_count);
	return group_again(screen);
}

/* Takes the look over. 0 or -errno. */
static int add_look(struct threads_screen *screen, struct thread_history *history, struct thread_lines *look)
{
	bool ends_second = look->ends_second;
	int result = thread_history_add(history, look);

	/* what a thread did is frozen, too; samples are of the second that is shown */
	if (!result && (!screen->time.is_frozen || threads_is_live(screen)))
		past_looks_keep(&screen->past, look, threads_is_live(screen) ? HISTORY_SECONDS : 1);
	if (result < 0 || !ends_second)
		return result;
	if (!screen->time.is_frozen)
		read_stack(screen);
	return end_second(screen, history);
}

/* Takes all looks that are there. 0; or -ECANCELED, and *ret_failure is why there is none. */
static int take_looks(struct threads_screen *screen, struct thread_history *history, int *ret_failure)
{
	int result = 0;

	while (!result) {
		_cleanup_thread_lines_ struct thread_lines look = { 0 };
		int taken = screen->source->take(screen->source->user, &look);

		if (!taken)
			return 0;
		if (taken < 0) {
			*ret_failure = taken;
			return -ECANCELED;
		}
		result = add_look(screen, history, &look);
	}
	return result;
}

/* Takes all keys that were pressed. Returns 0 to go on, 1 to end, or -errno. */
static int take_keys(struct threads_screen *screen)
{
	int key, result = 0;

	while (!result && (key = getch()) != ERR)
		result = handle_key(screen, key);
	return result;
}

static int run_screen(struct threads_screen *screen, struct thread_history *history, int *ret_failure)
{
	struct pollfd polled[] = { { .fd = STDIN_FILENO, .events = POLLIN },
				   { .fd = screen->source->fd, .events = POLLIN } };
	int result = 0;

	while (!result) {
		threads_draw(screen);
		/* a new size of the terminal interrupts it, and getch() then says so */
		if (poll(polled, ARRAY_SIZE(polled), -1) < 0 && errno != EINTR)
			return -errno;
		if (polled[0].revents & (POLLHUP | POLLERR | POLLNVAL))
			return 0;
		result = take_keys(screen);
		if (!result)
			result = take_looks(screen, history, ret_failure);
	}
	return result;
}

int threads_screen_run(const struct look_source *source, struct thread_history *history,
		       const struct thread_view *view)
{
	_cleanup_(screen_free) struct threads_screen screen = { .history = history, .source = source };
	int result, failure = 0;

	screen.levels[LEVEL_GROUPS].view = *view;
	if (!threads_draw_begin(&screen))
		return log_failed(-ECANCELED,
				  "this terminal is not known: set TERM, or give --once, --json or --csv");
	result = run_screen(&screen, history, &failure);
	terminal_end();
	if (failure)
		source->explain(source->user, failure);
	return result < 0 ? result : 0;
}

/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/live/shown_time.h"

#include <ncurses.h>

static void move_back(struct shown_time *time, uint32_t kept, int64_t count)
{
	int64_t back = (int64_t)time->back + count, most = (int64_t)kept - 1;

	back = back > most ? most : back;
	time->back = back < 0 ? 0 : (uint32_t)back;
}

bool shown_time_is_past(const struct shown_time *time)
{
	return time->is_frozen || time->back;
}

const char *shown_time_word(const struct shown_time *time)
{
	return time->is_frozen ? "FROZEN" : "PAST";
}

void shown_time_add(struct shown_time *time, uint32_t kept)
{
	if (shown_time_is_past(time))
		move_back(time, kept, 1);
}

void shown_time_key(struct shown_time *time, uint32_t kept, int key)
{
	switch (key) {
	case ' ':
		time->is_frozen = !time->is_frozen;
		if (!time->is_frozen)
			time->back = 0;
		break;
	case KEY_LEFT:
		move_back(time, kept, 1);
		break;
	case KEY_RIGHT:
		move_back(time, kept, -1);
		break;
	case '[':
		move_back(time, kept, 10);
		break;
	case ']':
		move_back(time, kept, -10);
		break;
	case '0':
		*time = (struct shown_time){ 0 };
		break;
	default:
		break;
	}
}

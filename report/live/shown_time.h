/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * shown_time.h owns which of the kept seconds or intervals a screen shows, and the keys that change it: the newest one as it comes, an
 * earlier one, or one that is frozen. Where one is added, an earlier or frozen one stays on the screen.
 */
#ifndef BOURDON_REPORT_LIVE_SHOWN_TIME_H
#define BOURDON_REPORT_LIVE_SHOWN_TIME_H

#include <stdbool.h>
#include <stdint.h>

struct shown_time {
	uint32_t back; /* between the newest and the shown one */
	bool is_frozen;
};

/* Whether what is new does not appear. */
bool shown_time_is_past(const struct shown_time *time);

/* For the title: "FROZEN" or "PAST", of one that is past. */
const char *shown_time_word(const struct shown_time *time);

/* One was added: now `kept` are kept. */
void shown_time_add(struct shown_time *time, uint32_t kept);

/* Does what Space, Left, Right, [, ] and 0 do; other keys do nothing. */
void shown_time_key(struct shown_time *time, uint32_t kept, int key);

#endif

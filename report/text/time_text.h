/* SPDX-License-Identifier: GPL-2.0-only */
/* time_text.h owns times as people read and write them: in UTC, or as so long ago. */
#ifndef BOURDON_REPORT_TEXT_TIME_TEXT_H
#define BOURDON_REPORT_TEXT_TIME_TEXT_H

#include <stdint.h>

#define TIME_TEXT_BYTES 48

/* Writes Unix time as "2026-11-25T14:03:00Z", without what is less than a second. Returns `into`. */
char *time_text_write(int64_t ns, char into[TIME_TEXT_BYTES]);

/* Writes the two largest units of a time of seconds and more: "2 h 5 min", "1 min 50 s", "7 d"; less as "250 ms". Returns `into`. */
char *time_text_write_duration(int64_t ns, char into[TIME_TEXT_BYTES]);

/*
 * Reads a time of RFC 3339, such as 2026-11-25T14:03:00Z or 2026-11-25T15:03:00+01:00; or a duration, such as 90s, 1h or 7d, which
 * is so long before `now_ns`. Returns 0; -EINVAL: another text; -ERANGE: Unix time in ns has no such time.
 */
int time_text_read(const char *text, int64_t now_ns, int64_t *ret_ns);

#endif

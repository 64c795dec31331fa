/* SPDX-License-Identifier: GPL-2.0-only */
/* text.h owns what becomes of names that others chose, before anybody has to print them. */
#ifndef BOURDON_SYMBOLIZER_TEXT_H
#define BOURDON_SYMBOLIZER_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* How many of the first `bytes` bytes of a longer text are whole characters (UTF-8). */
static inline size_t text_cut(const char *text, size_t bytes)
{
	size_t tail = 0, needed;
	unsigned char first;

	while (tail < 3 && tail < bytes && ((unsigned char)text[bytes - 1 - tail] & 0xc0) == 0x80)
		tail++;
	first = tail < bytes ? (unsigned char)text[bytes - 1 - tail] : 0;
	needed = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
	return needed > tail ? bytes - 1 - tail : bytes;
}

/* No name of a function or a file has these, and a terminal obeys them. */
static inline bool text_is_control(char byte)
{
	return (unsigned char)byte < 0x20 || byte == 0x7f;
}

#endif

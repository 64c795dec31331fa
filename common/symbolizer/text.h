/* SPDX-License-Identifier: GPL-2.0-only */
/* text.h makes names chosen by other programs safe before they leave the symbolizer. */
#ifndef BOURDON_COMMON_SYMBOLIZER_TEXT_H
#define BOURDON_COMMON_SYMBOLIZER_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Returns how many of the first `bytes` bytes of a longer text are complete UTF-8 characters. */
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

/* Control characters: no function or file name needs them, and a terminal would obey them. */
static inline bool text_is_control(char byte)
{
	return (unsigned char)byte < 0x20 || byte == 0x7f;
}

#endif

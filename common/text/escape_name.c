/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/text/escape_name.h"

#include "common/text/escape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ESCAPE_BYTES 4U /* \xHH */

static int digit_of(char digit)
{
	return digit >= '0' && digit <= '9'   ? digit - '0'
	       : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
					      : -1;
}

/*
 * Returns the byte that is escaped here, or 0. systemd's own escapes in unit names, such as \x2d, do not
 * count.
 */
static unsigned char escaped_byte(const char *text)
{
	int high, low, byte;

	if (text[0] != '\\' || text[1] != 'x')
		return 0;
	high = digit_of(text[2]);
	low = high < 0 ? -1 : digit_of(text[3]);
	byte = low < 0 ? 0 : high << 4 | low;
	return byte < 0x20 || byte >= 0x7f || byte == '\\' ? (unsigned char)byte : 0;
}

/* Returns how many bytes at the start need no escape; 0: the first byte does. */
static unsigned int plain_bytes(const char *name)
{
	unsigned int code = 0, length = escape_utf8(name, &code);

	return length && !escape_is_deceptive(code) && !escaped_byte(name) ? length : 0;
}

bool escape_name_is_plain(const char *name)
{
	unsigned int length = 1;

	for (; *name && length; name += length)
		length = plain_bytes(name);
	return length > 0;
}

char *escape_name(const char *name)
{
	char *text = malloc(ESCAPE_BYTES * strlen(name) + 1), *to = text;

	while (text && *name) {
		unsigned int length = plain_bytes(name);

		if (length) {
			memcpy(to, name, length);
			to += length;
			name += length;
		} else {
			to += sprintf(to, "\\x%02x", (unsigned char)*name++);
		}
	}
	if (text)
		*to = '\0';
	return text;
}

void escape_name_undo(char *text)
{
	char *to = text;

	while (*text) {
		unsigned char byte = escaped_byte(text);

		*to++ = byte ? (char)byte : *text;
		text += byte ? ESCAPE_BYTES : 1;
	}
	*to = '\0';
}

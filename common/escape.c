/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/escape.h"

#include <stdio.h>
#include <string.h>

unsigned int escape_utf8(const char *text, unsigned int *ret_code)
{
	static const unsigned int smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *bytes = (const unsigned char *)text;
	unsigned int length, code;

	if (bytes[0] < 0x80) {
		*ret_code = bytes[0];
		return bytes[0] ? 1 : 0;
	}
	if ((bytes[0] & 0xe0) == 0xc0)
		length = 2;
	else if ((bytes[0] & 0xf0) == 0xe0)
		length = 3;
	else if ((bytes[0] & 0xf8) == 0xf0)
		length = 4;
	else
		return 0;

	code = bytes[0] & (0xffU >> (length + 1));
	for (unsigned int i = 1; i < length; i++) {
		if ((bytes[i] & 0xc0) != 0x80) /* also stops at a NUL */
			return 0;
		code = code << 6 | (bytes[i] & 0x3fU);
	}
	if (code < smallest[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	*ret_code = code;
	return length;
}

bool escape_is_deceptive(unsigned int code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0xad ||
	       (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2060 && code <= 0x206f) || code == 0xfeff || code == 0x61c || code == 0x180e ||
	       (code >= 0xe0000 && code <= 0xe007f);
}

/* ---- for a terminal ---- */

/* Appends `piece` if all of it fits; returns false if not. */
static bool append(char *into, size_t into_bytes, size_t *used, const char *piece, size_t bytes)
{
	if (*used + bytes >= into_bytes)
		return false;
	memcpy(into + *used, piece, bytes);
	*used += bytes;
	return true;
}

char *escape_terminal(const char *text, char *into, size_t into_bytes)
{
	size_t used = 0;

	while (*text) {
		unsigned int code = 0, length = escape_utf8(text, &code);
		char hex[5];

		if (length && !escape_is_deceptive(code)) {
			if (!append(into, into_bytes, &used, text, length))
				break;
			text += length;
			continue;
		}
		snprintf(hex, sizeof(hex), "\\x%02x", (unsigned char)*text);
		if (!append(into, into_bytes, &used, hex, 4))
			break;
		text++;
	}
	into[used] = '\0';
	return into;
}

/* ---- for JSON ---- */

char *escape_json(const char *text, char *into, size_t into_bytes)
{
	size_t used = 0;

	while (*text) {
		unsigned int code = 0, length = escape_utf8(text, &code);
		char piece[8];
		size_t bytes;

		if (!length) {
			memcpy(piece, "\xef\xbf\xbd", 4);
			bytes = 3;
			length = 1;
		} else if (code == '"' || code == '\\') {
			bytes = (size_t)snprintf(piece, sizeof(piece), "\\%c", (char)code);
		} else if (code < 0x20 || (code >= 0x7f && code < 0xa0)) {
			bytes = (size_t)snprintf(piece, sizeof(piece), "\\u%04x", code);
		} else {
			memcpy(piece, text, length);
			bytes = length;
		}
		if (!append(into, into_bytes, &used, piece, bytes))
			break;
		text += length;
	}
	into[used] = '\0';
	return into;
}

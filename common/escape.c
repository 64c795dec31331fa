/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/escape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ESCAPE_BYTES 4U /* \xHH */

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

/*
 * True for C0, DEL, C1, and for characters that are invisible or change the text direction: with them one
 * name could look like another.
 */
static bool is_deceptive(unsigned int code)
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

		if (length && !is_deceptive(code)) {
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

/* ---- for names ---- */

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

	return length && !is_deceptive(code) && !escaped_byte(name) ? length : 0;
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

/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/text/escape.h"

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

/*
 * In ascending order. Default_Ignorable_Code_Point is a property of Unicode (DerivedCoreProperties.txt): a
 * program that cannot act on such a character shows nothing. Its ranges contain unassigned code points, so they
 * hold for later versions, too.
 */
static const struct range {
	unsigned int first, last;
} deceptive[] = {
	{ 0x00, 0x1f },                           /* C0 */
	{ 0x7f, 0xa0 },                           /* DEL, C1, and a space that does not break */
	{ 0xad, 0xad },       { 0x34f, 0x34f },   /* joins graphemes */
	{ 0x61c, 0x61c },     { 0x115f, 0x1160 }, /* Hangul fillers */
	{ 0x1680, 0x1680 },                       /* a space */
	{ 0x17b4, 0x17b5 },   { 0x180b, 0x180f }, /* Mongolian variation selectors, and a separator */
	{ 0x2000, 0x200f },                       /* spaces; zero width, direction */
	{ 0x2028, 0x202f },                       /* line and paragraph, direction, a space */
	{ 0x205f, 0x206f },                       /* a space; invisible operators, direction */
	{ 0x2800, 0x2800 },                       /* Braille without a dot */
	{ 0x3000, 0x3000 },                       /* a space */
	{ 0x3164, 0x3164 },                       /* a Hangul filler */
	{ 0xfe00, 0xfe0f },                       /* variation selectors */
	{ 0xfeff, 0xfeff },   { 0xffa0, 0xffa0 }, /* a Hangul filler */
	{ 0xfff0, 0xfffb },                       /* the last three annotate other characters */
	{ 0x13430, 0x1343f },                     /* place hieroglyphs */
	{ 0x1bca0, 0x1bca3 },                     /* shorthand */
	{ 0x1d159, 0x1d159 },                     /* a note without a head */
	{ 0x1d173, 0x1d17a },                     /* beams and slurs */
	{ 0xe0000, 0xe0fff },                     /* tags, variation selectors */
};

bool escape_is_deceptive(unsigned int code)
{
	size_t low = 0, high = sizeof(deceptive) / sizeof(*deceptive);

	if (code >= 0x20 && code < 0x7f) /* almost always */
		return false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (code > deceptive[middle].last)
			low = middle + 1;
		else if (code < deceptive[middle].first)
			high = middle;
		else
			return true;
	}
	return false;
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

/* In hexadecimal digits, and beyond U+FFFF as the two surrogates of UTF-16 (RFC 8259, 7). */
static size_t escape_code(unsigned int code, char into[JSON_ESCAPE_BYTES])
{
	if (code < 0x10000)
		return (size_t)snprintf(into, JSON_ESCAPE_BYTES, "\\u%04x", code);
	code -= 0x10000;
	return (size_t)snprintf(into, JSON_ESCAPE_BYTES, "\\u%04x\\u%04x", 0xd800 | code >> 10,
				0xdc00 | (code & 0x3ff));
}

char *escape_json(const char *text, char *into, size_t into_bytes)
{
	size_t used = 0;

	while (*text) {
		unsigned int code = 0, length = escape_utf8(text, &code);
		char piece[JSON_ESCAPE_BYTES];
		size_t bytes;

		if (!length) {
			memcpy(piece, "\xef\xbf\xbd", 4);
			bytes = 3;
			length = 1;
		} else if (code == '"' || code == '\\') {
			bytes = (size_t)snprintf(piece, sizeof(piece), "\\%c", (char)code);
		} else if (escape_is_deceptive(code)) {
			bytes = escape_code(code, piece);
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

/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/text/hexadecimal.h"

char *hexadecimal_write(const void *bytes, size_t length, char *text)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *from = bytes;
	char *to = text;

	for (size_t i = 0; i < length; i++) {
		*to++ = digits[from[i] >> 4];
		*to++ = digits[from[i] & 0xf];
	}
	*to = '\0';
	return text;
}

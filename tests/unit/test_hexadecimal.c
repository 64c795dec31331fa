/* SPDX-License-Identifier: GPL-2.0-only */
/* Shows that each byte is written as two lower-case digits, and no more than there is room for. */
#include "common/base/cleanup.h"
#include "common/text/hexadecimal.h"
#include "tests/unit/suites.h"

#include <stdio.h>
#include <string.h>

START_TEST(every_byte)
{
	for (unsigned int i = 0; i < 256; i++) {
		const unsigned char bytes[2] = { (unsigned char)i, (unsigned char)~i };
		char text[HEXADECIMAL_BYTES(sizeof(bytes)) + 1], expected[8];

		memset(text, 'x', sizeof(text));
		snprintf(expected, sizeof(expected), "%02x%02x", bytes[0], bytes[1]);
		ck_assert_ptr_eq(hexadecimal_write(bytes, sizeof(bytes), text), text);
		ck_assert_str_eq(text, expected);
		ck_assert_int_eq(text[sizeof(text) - 1], 'x');
	}
}
END_TEST

START_TEST(no_bytes)
{
	char text[HEXADECIMAL_BYTES(0)] = { 'x' };

	ck_assert_str_eq(hexadecimal_write("", 0, text), "");
}
END_TEST

SUITE(hexadecimal)
{
	Suite *suite = suite_create("hexadecimal");
	TCase *tests = tcase_create("hexadecimal");

	tcase_add_test(tests, every_byte);
	tcase_add_test(tests, no_bytes);
	suite_add_tcase(suite, tests);
	return suite;
}

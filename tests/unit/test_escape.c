/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that foreign text reaches a terminal or JSON as plain text: which bytes are characters, what is
 * escaped, and that long text is cut between characters.
 */
#include "common/base/cleanup.h"
#include "common/text/escape.h"
#include "common/text/escape_name.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <string.h>

/* ---- UTF-8 ---- */

struct utf8_case {
	const char *text;
	unsigned int length, code;
};

static const struct utf8_case utf8_cases[] = {
	{ "a", 1, 'a' },
	{ "\x01", 1, 1 },
	{ "\x7f", 1, 0x7f },
	{ "\xc2\x80", 2, 0x80 },
	{ "\xc3\xa9", 2, 0xe9 },
	{ "\xdf\xbf", 2, 0x7ff },
	{ "\xe0\xa0\x80", 3, 0x800 },
	{ "\xe2\x82\xac", 3, 0x20ac },
	{ "\xed\x9f\xbf", 3, 0xd7ff },
	{ "\xee\x80\x80", 3, 0xe000 },
	{ "\xef\xbf\xbf", 3, 0xffff },
	{ "\xf0\x90\x80\x80", 4, 0x10000 },
	{ "\xf0\x9f\x98\x80", 4, 0x1f600 },
	{ "\xf4\x8f\xbf\xbf", 4, 0x10ffff },
	{ "", 0, 0 },
	{ "\x80", 0, 0 },
	{ "\xbf", 0, 0 },
	{ "\xc0\x80", 0, 0 }, /* overlong NUL */
	{ "\xc1\xbf", 0, 0 },
	{ "\xe0\x80\x80", 0, 0 },
	{ "\xe0\x9f\xbf", 0, 0 },
	{ "\xf0\x80\x80\x80", 0, 0 },
	{ "\xf0\x8f\xbf\xbf", 0, 0 },
	{ "\xed\xa0\x80", 0, 0 }, /* surrogates */
	{ "\xed\xbf\xbf", 0, 0 },
	{ "\xf4\x90\x80\x80", 0, 0 }, /* beyond U+10FFFF */
	{ "\xf7\xbf\xbf\xbf", 0, 0 },
	{ "\xf8\x88\x80\x80\x80", 0, 0 },
	{ "\xfe", 0, 0 },
	{ "\xff", 0, 0 },
	{ "\xc3", 0, 0 }, /* cut */
	{ "\xe2\x82", 0, 0 },
	{ "\xf0\x9f\x98", 0, 0 },
	{ "\xc3z", 0, 0 },
	{ "\xe2\x82z", 0, 0 },
	{ "\xf0\x9fz\x80", 0, 0 },
	{ "\xc3\xc3", 0, 0 },
};

START_TEST(utf8)
{
	const struct utf8_case *one = &utf8_cases[_i];
	unsigned int code = 0;

	ck_assert_uint_eq(escape_utf8(one->text, &code), one->length);
	if (one->length)
		ck_assert_uint_eq(code, one->code);
}
END_TEST

static size_t encode(unsigned int code, char *into)
{
	if (code < 0x80) {
		into[0] = (char)code;
		into[1] = '\0';
		return 1;
	}
	if (code < 0x800) {
		snprintf(into, 5, "%c%c", (char)(0xc0 | code >> 6), (char)(0x80 | (code & 0x3f)));
		return 2;
	}
	if (code < 0x10000) {
		snprintf(into, 5, "%c%c%c", (char)(0xe0 | code >> 12), (char)(0x80 | (code >> 6 & 0x3f)),
			 (char)(0x80 | (code & 0x3f)));
		return 3;
	}
	snprintf(into, 5, "%c%c%c%c", (char)(0xf0 | code >> 18), (char)(0x80 | (code >> 12 & 0x3f)),
		 (char)(0x80 | (code >> 6 & 0x3f)), (char)(0x80 | (code & 0x3f)));
	return 4;
}

/* Every number of 21 bits: the code points are characters, and no other number is. */
START_TEST(every_code_point)
{
	for (unsigned int code = 1; code < 0x200000; code++) {
		bool is_character = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
		unsigned int decoded = 0, length;
		char text[8];
		size_t bytes = encode(code, text);

		length = escape_utf8(text, &decoded);
		HOLDS(length == (is_character ? bytes : 0));
		HOLDS(!is_character || decoded == code);
	}
}
END_TEST

/* ---- for a terminal ---- */

struct text_case {
	const char *text, *escaped;
};

static const struct text_case terminal_cases[] = {
	{ "", "" },
	{ "nginx: worker", "nginx: worker" },
	{ "a\\x41", "a\\x41" },
	{ "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80" },
	{ "a\nb\tc\rd", "a\\x0ab\\x09c\\x0dd" },
	{ "\x1b[31m", "\\x1b[31m" },
	{ "\x7f", "\\x7f" },
	{ "\xc2\x9b"
	  "31m",
	  "\\xc2\\x9b31m" }, /* C1: CSI */
	{ "\xc2\x80\xc2\x9f", "\\xc2\\x80\\xc2\\x9f" },
	{ "\xc2\xa0\xc2\xa1", "\\xc2\\xa0\xc2\xa1" }, /* a space that does not break; a letter */
	{ "ngi\xcd\x8fnx", "ngi\\xcd\\x8fnx" },
	{ "\xe3\x85\xa4", "\\xe3\\x85\\xa4" },
	{ "a\xef\xb8\x8f", "a\\xef\\xb8\\x8f" },
	{ "\xf3\xa0\x84\x80", "\\xf3\\xa0\\x84\\x80" },
	{ "\xff\xfe", "\\xff\\xfe" },
	{ "\xc0\xaf", "\\xc0\\xaf" },
	{ "\xed\xa0\x80", "\\xed\\xa0\\x80" },
	{ "\xc3", "\\xc3" },
	{ "\xe2\x82"
	  "a",
	  "\\xe2\\x82a" },
	{ "a\xc3\xa9\xa9", "a\xc3\xa9\\xa9" },
	{ "\xe2\x80\xae"
	  "exe",
	  "\\xe2\\x80\\xaeexe" },
	{ "\xef\xbb\xbf", "\\xef\\xbb\\xbf" },
};

START_TEST(terminal)
{
	const struct text_case *one = &terminal_cases[_i];
	char into[128];

	ck_assert_ptr_eq(escape_terminal(one->text, into, sizeof(into)), into);
	ck_assert_str_eq(into, one->escaped);
}
END_TEST

/*
 * Unicode's Default_Ignorable_Code_Point (DerivedCoreProperties.txt, 14.0 to 16.0), and its spaces
 * (General_Category Zs) but U+0020; then characters that are none of these and look like nothing. No other
 * character is escaped.
 */
static const struct {
	unsigned int first, last;
} look_like_nothing[] = {
	{ 0xad, 0xad },
	{ 0x34f, 0x34f },
	{ 0x61c, 0x61c },
	{ 0x115f, 0x1160 },
	{ 0x17b4, 0x17b5 },
	{ 0x180b, 0x180f },
	{ 0x200b, 0x200f },
	{ 0x202a, 0x202e },
	{ 0x2060, 0x206f },
	{ 0x3164, 0x3164 },
	{ 0xfe00, 0xfe0f },
	{ 0xfeff, 0xfeff },
	{ 0xffa0, 0xffa0 },
	{ 0xfff0, 0xfff8 },
	{ 0x1bca0, 0x1bca3 },
	{ 0x1d173, 0x1d17a },
	{ 0xe0000, 0xe0fff },
	/* spaces */
	{ 0xa0, 0xa0 },
	{ 0x1680, 0x1680 },
	{ 0x2000, 0x200a },
	{ 0x202f, 0x202f },
	{ 0x205f, 0x205f },
	{ 0x3000, 0x3000 },
	/* separators, Braille without a dot, annotations, hieroglyphs' places, a note without a head */
	{ 0x2028, 0x2029 },
	{ 0x2800, 0x2800 },
	{ 0xfff9, 0xfffb },
	{ 0x13430, 0x1343f },
	{ 0x1d159, 0x1d159 },
};

static bool is_visible(unsigned int code)
{
	if (code < 0x20 || (code >= 0x7f && code < 0xa0))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(look_like_nothing); i++)
		if (code >= look_like_nothing[i].first && code <= look_like_nothing[i].last)
			return false;
	return true;
}

START_TEST(every_visible_character_stays_and_no_other)
{
	unsigned int hidden = 0;

	for (unsigned int code = 1; code <= 0x10ffff; code++) {
		char text[8], into[32];

		if (code == 0xd800)
			code = 0xe000;
		encode(code, text);
		escape_terminal(text, into, sizeof(into));
		if (!strcmp(text, into) != is_visible(code))
			ck_abort_msg("U+%04X: %s", code, into);
		if (!is_visible(code)) {
			HOLDS(into[0] == '\\' && !escape_name_is_plain(text));
			escape_json(text, into, sizeof(into));
			HOLDS(into[0] == '\\' && into[1] == 'u');
			hidden++;
		}
	}
	/* 31 of C0, 33 of DEL and C1, 4,174 that may be ignored, 16 spaces, 23 others */
	ck_assert_uint_eq(hidden, 31 + 33 + 4174 + 16 + 23);
}
END_TEST

START_TEST(nothing_but_text_reaches_a_terminal)
{
	static const char usual[] = "\xe2\x80\xc2\x9b\xf0"
				    "a";
	struct dice dice = dice_new(120);

	for (int round = 0; round < 50000; round++) {
		char text[24] = "", into[100];
		size_t length = dice_below(&dice, sizeof(text));

		for (size_t i = 0; i < length; i++)
			text[i] = dice_below(&dice, 2) ? (char)dice_roll(&dice) : usual[dice_below(&dice, 6)];
		escape_terminal(text, into, sizeof(into));
		for (const char *at = into; *at;) {
			unsigned int code = 0, bytes = escape_utf8(at, &code);

			HOLDS(bytes > 0);
			HOLDS(code >= 0x20 && code != 0x7f && (code < 0x80 || code >= 0xa0));
			at += bytes;
		}
	}
}
END_TEST

struct cut_case {
	const char *text;
	size_t room;
	const char *escaped;
};

/* Asserts the text, and that no byte behind its room is written. */
static void expect_cut(char *(*escape)(const char *, char *, size_t), const struct cut_case *one)
{
	char into[16];

	memset(into, 'x', sizeof(into));
	escape(one->text, into, one->room);
	ck_assert_str_eq(into, one->escaped);
	for (size_t i = one->room; i < sizeof(into); i++)
		ck_assert_int_eq(into[i], 'x');
}

static const struct cut_case terminal_cuts[] = {
	{ "abc", 1, "" },
	{ "abc", 3, "ab" },
	{ "abc", 4, "abc" },
	{ "a\xc3\xa9", 3, "a" },
	{ "a\xc3\xa9", 4, "a\xc3\xa9" },
	{ "a\xe2\x82\xac", 4, "a" },
	{ "a\xf0\x9f\x98\x80", 5, "a" },
	{ "a\xf0\x9f\x98\x80", 6, "a\xf0\x9f\x98\x80" },
	{ "a\n", 5, "a" },
	{ "a\n", 6, "a\\x0a" },
	{ "a\nbc", 5, "a" }, /* nothing follows what did not fit */
	{ "\xff\xff", 8, "\\xff" },
};

START_TEST(terminal_is_cut_between_characters)
{
	expect_cut(escape_terminal, &terminal_cuts[_i]);
}
END_TEST

/* ---- names ---- */

static const struct text_case name_cases[] = {
	{ "", "" },
	{ "nginx: worker", "nginx: worker" },
	{ "caf\xc3\xa9 \xf0\x9f\x98\x80", "caf\xc3\xa9 \xf0\x9f\x98\x80" },
	{ "\x1b]0;x\x07", "\\x1b]0;x\\x07" },
	{ "a\nb\tc\rd", "a\\x0ab\\x09c\\x0dd" },
	{ "\x9b"
	  "31m",
	  "\\x9b31m" },
	{ "\xc2\x9b"
	  "31m",
	  "\\xc2\\x9b31m" },
	{ "\xff\xc0\xaf\x80", "\\xff\\xc0\\xaf\\x80" },
	{ "\xe2\x80\xaegpj.exe", "\\xe2\\x80\\xaegpj.exe" },
	{ "'\"`<script>&;%s=-", "'\"`<script>&;%s=-" },
	/* a backslash stays, unless it would be read as an escape */
	{ "a\\b\\", "a\\b\\" },
	{ "dev-disk-by\\x2duuid", "dev-disk-by\\x2duuid" },
	{ "\\x1b", "\\x5cx1b" },
	{ "\\x7f\\xff", "\\x5cx7f\\x5cxff" },
	{ "\\x5c", "\\x5cx5c" },
	{ "\\x5cx5c", "\\x5cx5cx5c" },
	{ "\\\\x1b", "\\\\x5cx1b" },
	{ "\\x1B\\X1b\\x1\\x1", "\\x1B\\X1b\\x1\\x1" },
	{ "\\x00", "\\x00" }, /* no name has a NUL */
	{ "\\\x1b", "\\\\x1b" },
	{ "\\x1\x1b", "\\x1\\x1b" },
	{ "\\x\x01", "\\x\\x01" },
};

START_TEST(names_are_escaped)
{
	const struct text_case *one = &name_cases[_i];
	_cleanup_free_ char *form = escape_name(one->text);

	ck_assert_str_eq(form, one->escaped);
	ck_assert_int_eq(escape_name_is_plain(one->text), !strcmp(one->text, one->escaped));
	escape_name_undo(form);
	ck_assert_str_eq(form, one->text);
}
END_TEST

START_TEST(any_name_can_be_restored)
{
	static const char usual[] = "\\\\x15cf\x1b\xff\xe2\x80\xae";
	struct dice dice = dice_new(121);

	for (int round = 0; round < 50000; round++) {
		char name[24] = "", shown[100];
		size_t length = dice_below(&dice, sizeof(name));
		_cleanup_free_ char *form = NULL;

		for (size_t i = 0; i < length; i++)
			name[i] = dice_below(&dice, 8) ? usual[dice_below(&dice, sizeof(usual) - 1)]
						       : (char)dice_roll(&dice);
		form = escape_name(name);
		HOLDS(escape_name_is_plain(name) == !strcmp(name, form));
		/* a terminal, and so the log, shows the escaped form unchanged */
		HOLDS(!strcmp(escape_terminal(form, shown, sizeof(shown)), form));
		escape_name_undo(form);
		HOLDS(!strcmp(form, name));
	}
}
END_TEST

/* ---- JSON ---- */

static const struct text_case json_cases[] = {
	{ "", "" },
	{ "plain", "plain" },
	{ "say \"hi\"", "say \\\"hi\\\"" },
	{ "a\\b/c", "a\\\\b/c" },
	{ "a\nb\tc\r", "a\\u000ab\\u0009c\\u000d" },
	{ "\x01\x1f\x7f", "\\u0001\\u001f\\u007f" },
	{ "\xc2\x85", "\\u0085" },
	{ "caf\xc3\xa9 \xf0\x9f\x98\x80", "caf\xc3\xa9 \xf0\x9f\x98\x80" },
	{ "\xff", "\xef\xbf\xbd" },
	{ "\xc0\x80", "\xef\xbf\xbd\xef\xbf\xbd" },
	{ "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
	{ "a\xe2\x82", "a\xef\xbf\xbd\xef\xbf\xbd" },
	/* they turn the direction, have no width, end a line of a script */
	{ "\xe2\x80\xaegpj.exe", "\\u202egpj.exe" },
	{ "ngi\xe2\x80\x8bnx", "ngi\\u200bnx" },
	{ "\xe2\x80\xa8\xe2\x80\xa9", "\\u2028\\u2029" },
	{ "\xef\xbb\xbf", "\\ufeff" },
	{ "\xf3\xa0\x81\x81", "\\udb40\\udc41" },
};

START_TEST(json)
{
	const struct text_case *one = &json_cases[_i];
	char into[128];

	ck_assert_ptr_eq(escape_json(one->text, into, sizeof(into)), into);
	ck_assert_str_eq(into, one->escaped);
}
END_TEST

static const struct cut_case json_cuts[] = {
	{ "abc", 1, "" },
	{ "ab\"", 4, "ab" },
	{ "ab\"", 5, "ab\\\"" },
	{ "a\n", 7, "a" },
	{ "a\n", 8, "a\\u000a" },
	{ "a\xff", 4, "a" },
	{ "a\xff", 5, "a\xef\xbf\xbd" },
	{ "a\xe2\x82\xac", 4, "a" },
	{ "a\xe2\x82\xac", 5, "a\xe2\x82\xac" },
	{ "a\xf3\xa0\x81\x81", 13, "a" },
	{ "a\xf3\xa0\x81\x81", 14, "a\\udb40\\udc41" },
};

START_TEST(json_is_cut_between_characters)
{
	expect_cut(escape_json, &json_cuts[_i]);
}
END_TEST

SUITE(escape)
{
	Suite *suite = suite_create("escape");
	TCase *escape = tcase_create("escape");

	tcase_add_loop_test(escape, utf8, 0, ARRAY_SIZE(utf8_cases));
	tcase_add_test(escape, every_code_point);
	tcase_add_loop_test(escape, terminal, 0, ARRAY_SIZE(terminal_cases));
	tcase_add_test(escape, every_visible_character_stays_and_no_other);
	tcase_add_test(escape, nothing_but_text_reaches_a_terminal);
	tcase_add_loop_test(escape, terminal_is_cut_between_characters, 0, ARRAY_SIZE(terminal_cuts));
	tcase_add_loop_test(escape, names_are_escaped, 0, ARRAY_SIZE(name_cases));
	tcase_add_test(escape, any_name_can_be_restored);
	tcase_add_loop_test(escape, json, 0, ARRAY_SIZE(json_cases));
	tcase_add_loop_test(escape, json_is_cut_between_characters, 0, ARRAY_SIZE(json_cuts));
	suite_add_tcase(suite, escape);
	return suite;
}

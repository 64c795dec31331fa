/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that names of C++ and Rust are demangled, that other names stay as they are, and that no name needs
 * more than its room, however long its demangled form is.
 */
#include "common/base/cleanup.h"
#include "common/symbolizer/demangle.h"
#include "common/symbolizer/text.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <string.h>

struct name_case {
	const char *mangled, *written;
};

static const struct name_case name_cases[] = {
	{ "main", "main" },
	{ "", "" },
	{ "_Z", "_Z" },
	{ "_ZN3hog5outerEj", "hog::outer(unsigned int)" },
	{ "_ZN3hog5twiceINS_7CounterEEEvRT_j", "void hog::twice<hog::Counter>(hog::Counter&, unsigned int)" },
	{ "_Z3fooi.isra.0", "foo(int) [clone .isra.0]" },
	{ "_Z3fooi.cold", "foo(int) [clone .cold]" },
	{ "_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()() const" },
	{ "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad" },
	{ "_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$"
	  "3bar17h930b740aa94f1d3aE",
	  "<Test + 'static as foo::Bar<Test>>::bar" },
	{ "_RNvC6_123foo3bar", "123foo::bar" },
	{ "_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_", "cc::spawn::{closure#0}::{closure#0}" },
	{ "memcpy@@GLIBC_2.14", "memcpy" },
	{ "odd@GLIBC_2.2.5", "odd" },
	{ "@alone", "@alone" },
	{ "_ZN3hog5outerEj\x1b[31m", "_ZN3hog5outerEj\x1b[31m" },
};

START_TEST(names)
{
	char into[256] = "";
	size_t bytes = demangle(name_cases[_i].mangled, into, sizeof(into) - 1);

	into[bytes] = '\0';
	ck_assert_str_eq(into, name_cases[_i].written);
}
END_TEST

/* Each S_ is twice the one before it: some hundred bytes stand for 2^40 names. */
START_TEST(a_name_that_stands_for_gigabytes)
{
	char name[512] = "_Z1fI1AIiiEE", into[600];
	size_t bytes;

	strcpy(name, "_Z1f1AIiiE");
	for (int i = 0; i < 30; i++) {
		char pair[32];

		if (i)
			snprintf(pair, sizeof(pair), "S_IS%c_S%c_E", i < 11 ? '0' + i - 1 : 'A' + i - 11,
				 i < 11 ? '0' + i - 1 : 'A' + i - 11);
		else
			strcpy(pair, "S_IS0_S0_E");
		strcat(name, pair);
	}
	for (size_t room = 0; room <= sizeof(into); room += 75) {
		memset(into, 'x', sizeof(into));
		bytes = demangle(name, into, room);
		ck_assert_uint_le(bytes, room);
		for (size_t i = room; i < sizeof(into); i++)
			ck_assert_int_eq(into[i], 'x');
	}
}
END_TEST

START_TEST(long_names_are_cut)
{
	char name[2000], into[100];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	ck_assert_uint_eq(demangle(name, into, sizeof(into)), sizeof(into));
	strcpy(name, "aä€𝄞");
	ck_assert_uint_eq(strlen(name), 10);
	for (size_t room = 0; room <= 10; room++)
		ck_assert_uint_eq(demangle(name, into, room), room < 1    ? 0U
							      : room < 3  ? 1U
							      : room < 6  ? 3U
							      : room < 10 ? 6U
									  : 10U);
}
END_TEST

START_TEST(long_names_are_cut_between_characters)
{
	ck_assert_uint_eq(text_cut("", 0), 0);
	ck_assert_uint_eq(text_cut("\xc3", 1), 0);
	ck_assert_uint_eq(text_cut("\xc3\xa4", 2), 2);
	ck_assert_uint_eq(text_cut("\x80\x80\x80\x80", 4), 4); /* not UTF-8: no name at all */
	ck_assert_uint_eq(text_cut("a\xf0\x9d\x84", 4), 1);
}
END_TEST

SUITE(demangle)
{
	Suite *suite = suite_create("demangle");
	TCase *demangling = tcase_create("demangle");

	tcase_add_loop_test(demangling, names, 0, ARRAY_SIZE(name_cases));
	tcase_add_test(demangling, a_name_that_stands_for_gigabytes);
	tcase_add_test(demangling, long_names_are_cut);
	tcase_add_test(demangling, long_names_are_cut_between_characters);
	suite_add_tcase(suite, demangling);
	return suite;
}

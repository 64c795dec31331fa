/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * suites.h owns the list of all suites: each is in a file tests/unit/test_NAME.c, which registers it by defining it, with
 * SUITE(NAME) { ... return suite; }. The linker collects the entries.
 */
#ifndef BOURDON_UNIT_SUITES_H
#define BOURDON_UNIT_SUITES_H

#include <check.h>

typedef Suite *suite_make(void);

#define SUITE(name)                                                                                          \
	static suite_make name##_suite;                                                                      \
	static suite_make *const name##_is_registered                                                        \
		__attribute__((used, section("suites"))) = name##_suite;                                     \
	static Suite *name##_suite(void)

/* The entries, in the order of the files that are linked. */
extern suite_make *const __start_suites[], *const __stop_suites[];

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that a capture gets its memory from the reserve, without a system call, and returns it when it ends.
 */
#include "consumer/process/heap.h"
#include "tests/unit/suites.h"

#include <malloc.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define CAPTURE_BYTES (16 << 20) /* the limits of consumer/capture/capture.c */

/* An array is doubled up to the size of a capture, as array_make_room() does. */
static void *grow_capture(void)
{
	char *array = NULL;

	for (size_t bytes = 1024; bytes <= CAPTURE_BYTES; bytes *= 2) {
		array = realloc(array, bytes);
		ck_assert_ptr_nonnull(array);
		memset(array, 1, bytes);
	}
	return array;
}

START_TEST(a_capture_uses_the_reserve)
{
	size_t mapped;
	void *before, *capture;

	heap_start();
	ck_assert_int_eq(prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0), 1);
	before = sbrk(0);
	mapped = mallinfo2().hblks;
	capture = grow_capture();
	ck_assert_ptr_eq(sbrk(0), before);
	ck_assert_uint_eq(mallinfo2().hblks, mapped);
	free(capture);
	ck_assert_ptr_eq(sbrk(0), before);
	heap_settle();
	ck_assert((char *)sbrk(0) <= (char *)before + (1 << 20));
}
END_TEST

Suite *heap_suite(void)
{
	Suite *suite = suite_create("heap");
	TCase *tcase = tcase_create("heap");

	tcase_add_test(tcase, a_capture_uses_the_reserve);
	suite_add_tcase(suite, tcase);
	return suite;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that a capture gets its memory from the reserve, without a system call, and returns it when it ends.
 */
#include "consumer/process/heap.h"

#include "common/base/cleanup.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <malloc.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
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

/* Of whole pages within a block, how many the process has. */
static size_t resident(uintptr_t block, size_t bytes)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t first = block + (page - block % page) % page;
	unsigned char pages[256];
	size_t count = (size_t)(block + bytes - first) / page, sum = 0;

	HOLDS(count <= sizeof(pages));
	HOLDS(!mincore((void *)first, count * page, pages));
	for (size_t i = 0; i < count; i++)
		sum += pages[i] & 1;
	return sum;
}

START_TEST(what_is_free_between_blocks_goes_back_although_it_is_locked)
{
	size_t bytes = 700 << 10;
	char *block, *behind;
	volatile uintptr_t address; /* not a freed pointer */

	heap_start();
	block = malloc(bytes);
	behind = malloc(bytes);
	ck_assert_ptr_nonnull(block);
	HOLDS(behind > block);
	memset(block, 1, bytes);
	address = (uintptr_t)block;
	/* RLIMIT_MEMLOCK allows as much nearly everywhere: 8 MiB since Linux 5.16 */
	ck_assert_int_eq(mlock(block, bytes), 0);
	ck_assert_uint_ge(resident(address, bytes), 174);
	free(TAKE_PTR(block));
	heap_settle();
	/* the rest is the first page of each piece, in which malloc has written, and what is smaller than one */
	ck_assert_uint_le(resident(address, bytes), 24);
	ck_assert_int_eq(munlock((void *)address, bytes), 0);
	free(behind);
}
END_TEST

SUITE(heap)
{
	Suite *suite = suite_create("heap");
	TCase *tcase = tcase_create("heap");

	tcase_add_test(tcase, a_capture_uses_the_reserve);
	if (!SANITIZED) /* AddressSanitizer has a malloc of its own */
		tcase_add_test(tcase, what_is_free_between_blocks_goes_back_although_it_is_locked);
	suite_add_tcase(suite, tcase);
	return suite;
}

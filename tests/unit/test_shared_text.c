/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/base/shared_text.h"

#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

START_TEST(equal_texts_are_in_memory_once)
{
	char copy[] = "/system.slice/web";
	const char *one = shared_text_new("/system.slice/web"), *other = shared_text_new(copy),
		   *different = shared_text_new("/system.slice/web2");

	ck_assert_ptr_eq(one, other);
	ck_assert_str_eq(one, copy);
	ck_assert_str_eq(different, "/system.slice/web2");
	ck_assert_str_eq(shared_text_new(""), "");
	ck_assert_ptr_null(shared_text_new(NULL));
	shared_text_free(NULL);
	/* one owner is left */
	shared_text_free(one);
	shared_text_sweep();
	ck_assert_str_eq(other, copy);
	ck_assert_ptr_eq(shared_text_new(copy), other);
}
END_TEST

START_TEST(texts_without_an_owner_are_freed)
{
	const char *kept = shared_text_new("kept");
	char text[4096];
	size_t used = mallinfo2().uordblks, most = 0;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (uint32_t i = 0; i < 10000; i++) {
		snprintf(text, 8, "%07" PRIu32, i);
		text[7] = 'x';
		shared_text_free(shared_text_new(text));
		if (!(i % 100) && most < mallinfo2().uordblks)
			most = mallinfo2().uordblks;
	}
	/* of 40 MiB */
	ck_assert_uint_lt(most - used, 2 << 20);
	shared_text_sweep();
	ck_assert_uint_lt(mallinfo2().uordblks - used, 64 << 10);
	ck_assert_str_eq(kept, "kept");
}
END_TEST

#define TEXTS 20000U

struct ended {
	const char *texts[TEXTS];
	uint32_t made; /* atomic */
};

/* Ends the ownership of each text when it has read it. */
static void *end_texts(void *user)
{
	struct ended *texts = user;

	for (uint32_t i = 0; i < TEXTS; i++) {
		char wanted[16];

		while (__atomic_load_n(&texts->made, __ATOMIC_ACQUIRE) <= i)
			sched_yield();
		snprintf(wanted, sizeof(wanted), "text %" PRIu32, i / 3 % 50);
		HOLDS(!strcmp(texts->texts[i], wanted));
		shared_text_free(texts->texts[i]);
	}
	return NULL;
}

START_TEST(another_thread_ends_them_meanwhile)
{
	static struct ended texts;
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, end_texts, &texts), 0);
	for (uint32_t i = 0; i < TEXTS; i++) {
		char text[16];

		snprintf(text, sizeof(text), "text %" PRIu32, i / 3 % 50);
		texts.texts[i] = shared_text_new(text);
		HOLDS(texts.texts[i]);
		__atomic_store_n(&texts.made, i + 1, __ATOMIC_RELEASE);
		if (!(i % 7))
			shared_text_sweep();
	}
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
}
END_TEST

SUITE(shared_text)
{
	Suite *suite = suite_create("shared_text");
	TCase *tests = tcase_create("shared_text");

	tcase_add_test(tests, equal_texts_are_in_memory_once);
	tcase_add_test(tests, texts_without_an_owner_are_freed);
	tcase_add_test(tests, another_thread_ends_them_meanwhile);
	suite_add_tcase(suite, tests);
	return suite;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows, on real tries, that rules are written whole to the trie that is not live before it becomes live, and
 * that a failure does not change the live trie.
 */
#include "common/base/cleanup.h"
#include "consumer/host/patterns.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <bpf/bpf.h>
#include <string.h>

static int trie_make(uint32_t most)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_NO_PREALLOC);
	int fd = bpf_map_create(BPF_MAP_TYPE_LPM_TRIE, "unit_patterns", sizeof(struct pattern_key),
				sizeof(uint32_t), most, &options);

	ck_assert_msg(fd >= 0, "bpf_map_create: %s", strerror(-fd));
	return fd;
}

static struct kernel_objects pinned_make(struct control *control, uint32_t most)
{
	struct kernel_objects kernel = { .control = control };

	kernel.map_fds[PIN_PATTERNS_A] = trie_make(most);
	kernel.map_fds[PIN_PATTERNS_B] = trie_make(most);
	return kernel;
}

static void pinned_free(const struct kernel_objects *kernel)
{
	close(kernel->map_fds[PIN_PATTERNS_A]);
	close(kernel->map_fds[PIN_PATTERNS_B]);
}

/* A rule for each word, with ids from `first_id` on. */
static void rules_make(struct rule_set *set, uint32_t first_id, const char *const *comms, size_t count)
{
	struct config_errors errors = { 0 };
	struct rule_ids ids = { first_id, first_id };
	char text[1024] = "";

	for (size_t i = 0; i < count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "[rule r%zu]\ncomm=%s\nio.some=1%%\n", i, comms[i]);
	ck_assert_int_eq(rules_read_text("r", text, strlen(text), set, &errors), 0);
	ck_assert_int_eq(rules_assign_ids(set, NULL, &ids), 0);
}

static uint32_t look_up(const struct kernel_objects *kernel, bool second, const char *comm)
{
	char padded[ABI_COMM_BYTES] = { 0 };
	struct pattern_key key;
	uint32_t id = 0;

	memcpy(padded, comm, strlen(comm));
	key = comm_lookup_key(padded);
	bpf_map_lookup_elem(kernel->map_fds[second ? PIN_PATTERNS_B : PIN_PATTERNS_A], &key, &id);
	return id;
}

START_TEST(each_reload_fills_the_other_trie)
{
	SKIP_IF(no_bpf());
	static const char *const first[] = { "nginx", "n*", "nginx" }, *const second[] = { "*", "redis" };
	struct control control = { .live_patterns = 0 };
	struct kernel_objects kernel = pinned_make(&control, PATTERNS_MAX);
	struct rule_set set;

	rules_make(&set, 1, first, ARRAY_SIZE(first));
	ck_assert_int_eq(patterns_publish(&kernel, &set), 0);
	ck_assert_uint_eq(control.live_patterns, 1);
	ck_assert_uint_eq(look_up(&kernel, true, "nginx"), 1);
	ck_assert_uint_eq(look_up(&kernel, true, "nginx2"), 2);
	ck_assert_uint_eq(look_up(&kernel, true, "redis"), 0);
	ck_assert_uint_eq(look_up(&kernel, false, "nginx"), 0);
	rules_free(&set);
	rules_make(&set, 100, second, ARRAY_SIZE(second));
	ck_assert_int_eq(patterns_publish(&kernel, &set), 0);
	ck_assert_uint_eq(control.live_patterns, 0);
	ck_assert_uint_eq(look_up(&kernel, false, "redis"), 101);
	ck_assert_uint_eq(look_up(&kernel, false, "nginx"), 100);
	/* a look-up that has begun still uses the old trie */
	ck_assert_uint_eq(look_up(&kernel, true, "nginx"), 1);
	/* the third publication replaces the patterns of the first */
	ck_assert_int_eq(patterns_publish(&kernel, &set), 0);
	ck_assert_uint_eq(control.live_patterns, 1);
	ck_assert_uint_eq(look_up(&kernel, true, "nginx"), 100);
	rules_free(&set);
	/* without rules no process matches */
	memset(&set, 0, sizeof(set));
	ck_assert_int_eq(patterns_publish(&kernel, &set), 0);
	ck_assert_uint_eq(control.live_patterns, 0);
	ck_assert_uint_eq(look_up(&kernel, false, "nginx"), 0);
	pinned_free(&kernel);
}
END_TEST

START_TEST(a_failure_does_not_change_the_live_trie)
{
	SKIP_IF(no_bpf());
	static const char *const few[] = { "a", "b" }, *const many[] = { "a", "b", "c", "d" };
	struct control control = { .live_patterns = 0 };
	struct kernel_objects kernel = pinned_make(&control, 3);
	struct rule_set set;

	rules_make(&set, 1, few, ARRAY_SIZE(few));
	ck_assert_int_eq(patterns_publish(&kernel, &set), 0);
	rules_free(&set);
	rules_make(&set, 10, many, ARRAY_SIZE(many));
	ck_assert_int_eq(patterns_publish(&kernel, &set), -ENOSPC);
	ck_assert_uint_eq(control.live_patterns, 1);
	ck_assert_uint_eq(look_up(&kernel, true, "a"), 1);
	ck_assert_uint_eq(look_up(&kernel, true, "c"), 0);
	rules_free(&set);
	/* the entries that the failed publication left are removed by the next */
	rules_make(&set, 20, few, ARRAY_SIZE(few));
	ck_assert_int_eq(patterns_publish(&kernel, &set), 0);
	ck_assert_uint_eq(control.live_patterns, 0);
	ck_assert_uint_eq(look_up(&kernel, false, "b"), 21);
	ck_assert_uint_eq(look_up(&kernel, false, "c"), 0);
	rules_free(&set);
	pinned_free(&kernel);
}
END_TEST

START_TEST(descriptors_that_are_no_maps)
{
	static const char *const one[] = { "a" };
	struct control control = { .live_patterns = 0 };
	struct kernel_objects kernel = { .control = &control };
	struct rule_set set;

	SKIP_IF(no_bpf()); /* without the right to use maps, no descriptor is looked at */
	kernel.map_fds[PIN_PATTERNS_A] = kernel.map_fds[PIN_PATTERNS_B] = -1;
	rules_make(&set, 1, one, 1);
	ck_assert_int_eq(patterns_publish(&kernel, &set), -EBADF);
	ck_assert_uint_eq(control.live_patterns, 0);
	rules_free(&set);
}
END_TEST

SUITE(patterns)
{
	Suite *suite = suite_create("patterns");
	TCase *patterns = tcase_create("patterns");

	tcase_add_test(patterns, each_reload_fills_the_other_trie);
	tcase_add_test(patterns, a_failure_does_not_change_the_live_trie);
	tcase_add_test(patterns, descriptors_that_are_no_maps);
	suite_add_tcase(suite, patterns);
	return suite;
}

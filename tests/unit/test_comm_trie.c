/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that a comm finds the same pattern in user space as in the kernel: random patterns and comms are
 * looked up in a real LPM trie of this kernel, and all less specific patterns are compared with a plain
 * search.
 */
#include "common/base/cleanup.h"
#include "common/policy/comm_trie.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <bpf/bpf.h>
#include <string.h>

/* ---- patterns ---- */

struct parse_case {
	const char *text;
	const char *why; /* a part of the message; NULL: the pattern is valid */
	const char *parsed;
	bool prefix;
};

static const struct parse_case parse_cases[] = {
	{ "nginx", NULL, "nginx", false },
	{ "worker-*", NULL, "worker-", true },
	{ "*", NULL, "", true },
	{ "a", NULL, "a", false },
	{ "a b", NULL, "a b", false },
	{ "123456789012345", NULL, "123456789012345", false },
	{ "123456789012345*", NULL, "123456789012345", true },
	{ "caf\xc3\xa9", NULL, "caf\xc3\xa9", false },
	{ "", "empty", NULL, false },
	{ "1234567890123456", "15 bytes", NULL, false },
	{ "1234567890123456*", "15 bytes", NULL, false },
	{ "a longer one than any comm can ever be", "15 bytes", NULL, false },
	{ "a*b", "only at the end", NULL, false },
	{ "*a", "only at the end", NULL, false },
	{ "**", "only at the end", NULL, false },
	{ "a**", "only at the end", NULL, false },
};

START_TEST(patterns_are_parsed)
{
	const struct parse_case *one = &parse_cases[_i];
	struct comm_pattern pattern, untouched;
	const char *why = "unset";

	memset(&pattern, 0x5a, sizeof(pattern));
	untouched = pattern;
	ck_assert_int_eq(comm_pattern_parse(one->text, &pattern, &why), one->why ? -EINVAL : 0);
	if (one->why) {
		ck_assert_msg(why && strstr(why, one->why), "'%s' for '%s'", why, one->text);
		ck_assert_mem_eq(&pattern, &untouched, sizeof(pattern));
		return;
	}
	ck_assert_str_eq(pattern.text, one->parsed);
	ck_assert_int_eq(pattern.prefix, one->prefix);
	for (size_t i = strlen(one->parsed); i < ABI_COMM_BYTES; i++)
		ck_assert_int_eq(pattern.text[i], 0);
}
END_TEST

struct key_case {
	const char *text;
	uint32_t bits;
};

static const struct key_case key_cases[] = {
	{ "*", 0 },
	{ "a*", 8 },
	{ "a", 16 },
	{ "nginx", 48 },
	{ "nginx*", 40 },
	{ "123456789012345", 128 },
	{ "123456789012345*", 120 },
};

START_TEST(keys_cover_the_bytes_that_have_to_match)
{
	const struct key_case *one = &key_cases[_i];
	struct comm_pattern pattern;
	struct pattern_key key;
	char expected[ABI_COMM_BYTES] = { 0 };
	const char *why;

	ck_assert_int_eq(comm_pattern_parse(one->text, &pattern, &why), 0);
	key = comm_pattern_key(&pattern);
	memcpy(expected, one->text, strcspn(one->text, "*"));
	ck_assert_uint_eq(key.prefix_bits, one->bits);
	ck_assert_mem_eq(key.comm, expected, sizeof(expected));
}
END_TEST

START_TEST(a_lookup_key_has_the_comm_and_zeros)
{
	struct pattern_key key = comm_lookup_key("ab\0garbage here"), full;
	char expected[ABI_COMM_BYTES] = "ab", comm[ABI_COMM_BYTES];

	ck_assert_uint_eq(key.prefix_bits, 128);
	ck_assert_mem_eq(key.comm, expected, sizeof(expected));
	memset(comm, 'x', sizeof(comm));
	full = comm_lookup_key(comm);
	ck_assert_mem_eq(full.comm, comm, sizeof(comm));
}
END_TEST

/* ---- the trie ---- */

static void add(struct comm_trie *trie, const char *text, uint32_t id, int expected)
{
	struct comm_pattern pattern;
	const char *why;

	ck_assert_int_eq(comm_pattern_parse(text, &pattern, &why), 0);
	ck_assert_int_eq(comm_trie_add(trie, &pattern, id), expected);
}

static void expect_path(const struct comm_trie *trie, const char *comm, const uint32_t *path, size_t count)
{
	char padded[ABI_COMM_BYTES] = { 0 };
	uint32_t ids[COMM_TRIE_PATH];

	memcpy(padded, comm, strlen(comm));
	ck_assert_uint_eq(comm_trie_match(trie, padded, ids), count);
	for (size_t i = 0; i < count; i++)
		ck_assert_uint_eq(ids[i], path[i]);
}

#define PATH(...) ((const uint32_t[]){ __VA_ARGS__ }), ARRAY_SIZE(((const uint32_t[]){ __VA_ARGS__ }))

START_TEST(most_specific_first)
{
	struct comm_trie *trie = comm_trie_new();

	expect_path(trie, "anything", NULL, 0);
	add(trie, "*", 1, 0);
	add(trie, "n*", 2, 0);
	add(trie, "ng*", 3, 0);
	add(trie, "nginx*", 4, 0);
	add(trie, "nginx", 5, 0);
	add(trie, "nginx-worker", 6, 0);
	expect_path(trie, "nginx", PATH(5, 4, 3, 2, 1));
	expect_path(trie, "nginx-worker", PATH(6, 4, 3, 2, 1));
	expect_path(trie, "nginx-worke", PATH(4, 3, 2, 1));
	expect_path(trie, "ngin", PATH(3, 2, 1));
	expect_path(trie, "n", PATH(2, 1));
	expect_path(trie, "x", PATH(1));
	expect_path(trie, "", PATH(1));
	comm_trie_free(trie);
}
END_TEST

START_TEST(a_pattern_is_there_once)
{
	struct comm_trie *trie = comm_trie_new();

	add(trie, "a", 1, 0);
	add(trie, "a*", 2, 0);
	add(trie, "*", 3, 0);
	add(trie, "a", 4, -EEXIST);
	add(trie, "a*", 4, -EEXIST);
	add(trie, "*", 4, -EEXIST);
	expect_path(trie, "a", PATH(1, 2, 3));
	comm_trie_free(trie);
	comm_trie_free(NULL);
}
END_TEST

/* The most patterns that one comm can match: "*", 15 prefixes, and the comm itself. */
START_TEST(the_longest_path)
{
	struct comm_trie *trie = comm_trie_new();
	char text[ABI_COMM_BYTES + 1];
	uint32_t path[COMM_TRIE_PATH];

	for (uint32_t bytes = 0; bytes < ABI_COMM_BYTES; bytes++) {
		snprintf(text, sizeof(text), "%.*s*", (int)bytes, "123456789012345");
		add(trie, text, bytes + 1, 0);
		path[COMM_TRIE_PATH - 1 - bytes] = bytes + 1;
	}
	add(trie, "123456789012345", 99, 0);
	path[0] = 99;
	expect_path(trie, "123456789012345", path, COMM_TRIE_PATH);
	comm_trie_free(trie);
}
END_TEST

/* ---- random patterns, the kernel's trie, and a plain search ---- */

#define PATTERNS 300U
#define LOOKUPS 4000U

struct patterns {
	struct comm_pattern list[PATTERNS]; /* id is the position plus 1 */
	uint32_t count;
};

/* Three letters, so that comms share prefixes; sometimes a byte that is negative as a char. */
static void random_text(struct dice *dice, char text[ABI_COMM_BYTES], uint32_t longest)
{
	uint32_t bytes = dice_below(dice, longest + 1);

	memset(text, 0, ABI_COMM_BYTES);
	for (uint32_t i = 0; i < bytes; i++)
		text[i] = "ab\xe9"[dice_below(dice, 16) ? dice_below(dice, 2) : 2];
}

/* Mostly similar to a pattern: longer, shorter, or with another end. */
static void random_comm(struct dice *dice, const struct patterns *patterns, char comm[ABI_COMM_BYTES])
{
	size_t bytes;

	if (!dice_below(dice, 4)) {
		random_text(dice, comm, 15);
		return;
	}
	memcpy(comm, patterns->list[dice_below(dice, patterns->count)].text, ABI_COMM_BYTES);
	bytes = strlen(comm);
	switch (dice_below(dice, 4)) {
	case 0:
		if (bytes)
			memset(comm + bytes - 1, 0, 1);
		break;
	case 1:
		if (bytes < 15)
			comm[bytes] = "ab\xe9"[dice_below(dice, 3)];
		break;
	case 2:
		if (bytes)
			comm[bytes - 1] = "ab\xe9"[dice_below(dice, 3)];
		break;
	default:
		break;
	}
}

static void make_patterns(struct dice *dice, struct patterns *patterns, struct comm_trie *trie)
{
	while (patterns->count < PATTERNS) {
		struct comm_pattern pattern = { .prefix = dice_below(dice, 2) };
		bool there = false;

		random_text(dice, pattern.text, dice_below(dice, 3) ? 5 : 15);
		if (!pattern.prefix && !pattern.text[0])
			continue;
		for (uint32_t i = 0; i < patterns->count && !there; i++)
			there = !memcmp(&patterns->list[i], &pattern, sizeof(pattern));
		HOLDS(comm_trie_add(trie, &pattern, patterns->count + 1) == (there ? -EEXIST : 0));
		if (!there)
			patterns->list[patterns->count++] = pattern;
	}
}

static size_t search(const struct patterns *patterns, const char *comm, uint32_t ids[COMM_TRIE_PATH])
{
	size_t count = 0;

	for (uint32_t i = 0; i < patterns->count; i++)
		if (!patterns->list[i].prefix && !strcmp(patterns->list[i].text, comm))
			ids[count++] = i + 1;
	for (size_t bytes = ABI_COMM_BYTES; bytes--;) {
		for (uint32_t i = 0; i < patterns->count; i++) {
			const struct comm_pattern *pattern = &patterns->list[i];

			if (pattern->prefix && strlen(pattern->text) == bytes &&
			    !strncmp(pattern->text, comm, bytes))
				ids[count++] = i + 1;
		}
	}
	return count;
}

static void look_up(struct dice *dice, const struct patterns *patterns, const struct comm_trie *trie, int map)
{
	uint32_t ids[COMM_TRIE_PATH], expected[COMM_TRIE_PATH], kernel_id = 0;
	char comm[ABI_COMM_BYTES];
	size_t count, bytes;

	random_comm(dice, patterns, comm);
	count = search(patterns, comm, expected);
	bytes = strlen(comm);
	for (size_t i = bytes + 1; i < ABI_COMM_BYTES; i++)
		comm[i] = (char)dice_roll(dice); /* is not compared */
	HOLDS(comm_trie_match(trie, comm, ids) == count);
	HOLDS(!memcmp(ids, expected, count * sizeof(ids[0])));
	if (map >= 0) {
		struct pattern_key key = comm_lookup_key(comm);

		HOLDS(bpf_map_lookup_elem(map, &key, &kernel_id) == (count ? 0 : -ENOENT));
		HOLDS(!count || kernel_id == ids[0]);
	}
}

static void check_random(uint64_t salt, int map)
{
	struct patterns patterns = { .count = 0 };
	struct comm_trie *trie = comm_trie_new();
	struct dice dice = dice_new(salt);

	make_patterns(&dice, &patterns, trie);
	for (uint32_t i = 0; i < patterns.count && map >= 0; i++) {
		struct pattern_key key = comm_pattern_key(&patterns.list[i]);
		uint32_t id = i + 1;

		HOLDS(bpf_map_update_elem(map, &key, &id, BPF_NOEXIST) == 0);
	}
	for (uint32_t i = 0; i < LOOKUPS; i++)
		look_up(&dice, &patterns, trie, map);
	comm_trie_free(trie);
}

START_TEST(random_patterns_against_a_search)
{
	check_random(100 + (uint64_t)_i, -1);
}
END_TEST

START_TEST(random_patterns_against_the_kernel)
{
	SKIP_IF(no_bpf());
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_NO_PREALLOC);
	_cleanup_close_ int map = bpf_map_create(BPF_MAP_TYPE_LPM_TRIE, "unit_patterns",
						 sizeof(struct pattern_key), sizeof(uint32_t), PATTERNS_MAX,
						 &options);

	ck_assert_msg(map >= 0, "bpf_map_create: %s", strerror(-map));
	check_random(200 + (uint64_t)_i, map);
}
END_TEST

SUITE(comm_trie)
{
	Suite *suite = suite_create("comm_trie");
	TCase *patterns = tcase_create("patterns"), *random = tcase_create("random");

	tcase_add_loop_test(patterns, patterns_are_parsed, 0, ARRAY_SIZE(parse_cases));
	tcase_add_loop_test(patterns, keys_cover_the_bytes_that_have_to_match, 0, ARRAY_SIZE(key_cases));
	tcase_add_test(patterns, a_lookup_key_has_the_comm_and_zeros);
	tcase_add_test(patterns, most_specific_first);
	tcase_add_test(patterns, a_pattern_is_there_once);
	tcase_add_test(patterns, the_longest_path);
	tcase_add_loop_test(random, random_patterns_against_a_search, 0, 5);
	tcase_add_loop_test(random, random_patterns_against_the_kernel, 0, 5);
	suite_add_tcase(suite, patterns);
	suite_add_tcase(suite, random);
	return suite;
}

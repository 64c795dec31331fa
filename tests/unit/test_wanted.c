/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows, on a real map, that the kernel has exactly what is wanted, which kinds of it control.wanted names, and that more
 * than there is room for is counted.
 */
#include "common/base/cleanup.h"
#include "consumer/host/wanted.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <bpf/bpf.h>
#include <string.h>

static int map_make(uint32_t most)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_NO_PREALLOC);
	int fd = bpf_map_create(BPF_MAP_TYPE_HASH, "unit_wanted", sizeof(struct wanted_key),
				sizeof(struct wanted_until), most, &options);

	ck_assert_msg(fd >= 0, "bpf_map_create: %s", strerror(-fd));
	return fd;
}

static uint32_t count_elements(int fd)
{
	struct wanted_key key, *before = NULL;
	uint32_t count = 0;

	while (!bpf_map_get_next_key(fd, before, &key)) {
		before = &key;
		count++;
	}
	return count;
}

static uint64_t until_of(int fd, const struct wanted_key *key)
{
	struct wanted_until value = { 0 };

	return bpf_map_lookup_elem(fd, key, &value) ? 0 : value.until_ns;
}

static struct comm_pattern pattern(const char *text)
{
	struct comm_pattern parsed;
	const char *why;

	ck_assert_int_eq(comm_pattern_parse(text, &parsed, &why), 0);
	return parsed;
}

START_TEST(keys_are_what_the_programs_look_up)
{
	struct comm_pattern exact = pattern("web"), prefix = pattern("web-*"), everyone = pattern("*");
	struct want want = want_comm(&exact, 7);

	ck_assert_uint_eq(want.key.kind, WANTED_COMM);
	ck_assert_uint_eq(want.key.bytes, ABI_COMM_BYTES);
	ck_assert_mem_eq(want.key.what, "web\0\0\0\0\0\0\0\0\0\0\0\0\0", ABI_COMM_BYTES);
	want = want_comm(&prefix, 7);
	ck_assert_uint_eq(want.key.bytes, 4);
	ck_assert_mem_eq(want.key.what, "web-\0\0\0\0\0\0\0\0\0\0\0\0", ABI_COMM_BYTES);
	want = want_comm(&everyone, 7);
	ck_assert_uint_eq(want.key.bytes, 0);
	want = want_process(42, 4200, 7);
	ck_assert_uint_eq(want.key.kind, WANTED_PROCESS);
	ck_assert_uint_eq(want.key.what[0], 42);
	ck_assert_uint_eq(want.value.started_ns, 4200);
	ck_assert_uint_eq(want.value.until_ns, 7);
}
END_TEST

START_TEST(the_map_follows_what_is_wanted)
{
	SKIP_IF(no_bpf());
	struct comm_pattern prefix = pattern("web-*");
	struct wants before = { 0 }, now = { 0 }, none = { 0 };
	struct want process = want_process(42, 4200, 7), later = want_process(42, 4200, 9),
		    cgroup = want_cgroup(42, 8), comm = want_comm(&prefix, 6);
	struct control control = { 0 };
	_cleanup_close_ int fd = map_make(WANTED_MAX);

	wants_add(&now, &process);
	wants_add(&now, &later);
	wants_add(&now, &process);
	wants_add(&now, &cgroup);
	wants_add(&now, &comm);
	ck_assert_uint_eq(now.count, 3);
	ck_assert_int_eq(wanted_publish(fd, &control, &before, &now), 0);
	ck_assert_uint_eq(count_elements(fd), 3);
	ck_assert_uint_eq(until_of(fd, &process.key), 9); /* the later one of the two */
	ck_assert_uint_eq(until_of(fd, &cgroup.key), 8);
	ck_assert_uint_eq(control.wanted, WANTED_IN_PROCESSES | WANTED_IN_CGROUPS | 1U << 4);
	now = (struct wants){ 0 };
	wants_add(&now, &process);
	ck_assert_int_eq(wanted_publish(fd, &control, &before, &now), 0);
	ck_assert_uint_eq(count_elements(fd), 1);
	ck_assert_uint_eq(until_of(fd, &process.key), 7);
	ck_assert_uint_eq(control.wanted, WANTED_IN_PROCESSES);
	ck_assert_int_eq(wanted_publish(fd, &control, &before, &none), 0);
	ck_assert_uint_eq(count_elements(fd), 0);
	ck_assert_uint_eq(control.wanted, 0);
}
END_TEST

START_TEST(what_a_daemon_left_is_removed)
{
	SKIP_IF(no_bpf());
	struct wants before = { 0 }, now = { 0 };
	struct control control = { 0 };
	_cleanup_close_ int fd = map_make(WANTED_MAX);

	for (uint32_t i = 1; i <= WANTED_MAX; i++) {
		struct want want = want_process(i, i, 7);

		wants_add(&now, &want);
	}
	ck_assert_int_eq(wanted_publish(fd, &control, &before, &now), 0);
	ck_assert_uint_eq(count_elements(fd), WANTED_MAX);
	ck_assert_int_eq(wanted_clear(fd, &control), 0);
	ck_assert_uint_eq(count_elements(fd), 0);
	ck_assert_uint_eq(control.wanted, 0);
}
END_TEST

START_TEST(more_than_there_is_room_for)
{
	SKIP_IF(no_bpf());
	struct wants before = { 0 }, now = { 0 };
	struct control control = { 0 };
	_cleanup_close_ int fd = map_make(16);

	for (uint32_t i = 1; i <= WANTED_MAX + 5; i++) {
		struct want want = want_cgroup(i, 7);

		wants_add(&now, &want);
	}
	ck_assert_uint_eq(now.count, WANTED_MAX);
	ck_assert_uint_eq(now.left_out, 5);
	/* the map is smaller than it should be: what fits is there, and the failure is told */
	ck_assert_int_eq(wanted_publish(fd, &control, &before, &now), -E2BIG);
	ck_assert_uint_eq(count_elements(fd), 16);
	ck_assert_uint_eq(control.wanted, WANTED_IN_CGROUPS);
}
END_TEST

SUITE(wanted)
{
	Suite *suite = suite_create("wanted");
	TCase *wanted = tcase_create("wanted");

	tcase_add_test(wanted, keys_are_what_the_programs_look_up);
	tcase_add_test(wanted, the_map_follows_what_is_wanted);
	tcase_add_test(wanted, what_a_daemon_left_is_removed);
	tcase_add_test(wanted, more_than_there_is_room_for);
	suite_add_tcase(suite, wanted);
	return suite;
}

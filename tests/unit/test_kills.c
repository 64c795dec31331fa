/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that one user's kills do not drive out others', that a capture has the kills of its span in order, with the
 * path of the limit, that denied processes stay without names, and that the rest is one row of each kind.
 */
#include "common/base/cleanup.h"
#include "consumer/capture/kill_rows.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <string.h>

static void put(struct kills *kills, uint32_t how, uint32_t account, uint64_t time_ns, uint32_t tgid)
{
	const struct kill_record record = { .how = how,
					    .time_ns = time_ns,
					    .account = account,
					    .tgid = tgid,
					    .cgroup_id = 7,
					    .by_cgroup_id = 8,
					    .comm = "victim",
					    .by_comm = "killer" };
	struct kill_record left_out = { 0 };
	bool is_full = kills->count == KILLS_MAX;

	ck_assert(kills_add(kills, &record, KILLS_MAX, &left_out) == is_full);
	/* always one of the user with most */
	ck_assert(!is_full || (left_out.account == 1000 && left_out.how == KILL_SIGNAL));
}

static void put_record(struct kills *kills, const struct kill_record *record)
{
	struct kill_record left_out;

	ck_assert(!kills_add(kills, record, KILLS_MAX, &left_out));
}

static uint32_t count_of(const struct kills *kills, uint32_t how, uint32_t account)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < kills->count; i++)
		count += kills->each[i].how == how && kills->each[i].account == account;
	return count;
}

START_TEST(one_user_does_not_drive_out_others)
{
	struct kills kills = { 0 };

	put(&kills, KILL_OOM, 1000, 1, 1);
	put(&kills, KILL_SIGNAL, 0, 2, 2);
	for (uint32_t i = 0; i < 3 * KILLS_MAX; i++)
		put(&kills, KILL_SIGNAL, 1000, 3 + i, i);
	ck_assert_uint_eq(kills.count, KILLS_MAX);
	ck_assert_uint_eq(count_of(&kills, KILL_OOM, 1000), 1);
	ck_assert_uint_eq(count_of(&kills, KILL_SIGNAL, 0), 1);
	/* the newest stay, in the order of time */
	ck_assert_uint_eq(kills.each[KILLS_MAX - 1].tgid, 3 * KILLS_MAX - 1);
	for (uint32_t i = 1; i < kills.count; i++)
		ck_assert_uint_lt(kills.each[i - 1].time_ns, kills.each[i].time_ns);
	kills_free(&kills);
	ck_assert_ptr_null(kills.each);
}
END_TEST

static bool describe(void *user, const char comm[ABI_COMM_BYTES], uint64_t cgroup_id, const char **ret_cgroup)
{
	*ret_cgroup = cgroup_id == 7 ? user : cgroup_id == 8 ? "/killers" : NULL;
	return !strcmp(comm, "victim");
}

static void make(const struct kills *kills, uint64_t from_ns, uint64_t to_ns, const char *cgroup,
		 struct kill_rows *ret_rows)
{
	ck_assert_int_eq(kill_rows_make(kills, from_ns, to_ns, describe, (void *)cgroup, ret_rows), 0);
}

START_TEST(a_capture_has_the_kills_of_its_span)
{
	struct kills kills = { 0 };
	struct kill_rows rows;

	make(&kills, 0, UINT64_MAX, "/a", &rows);
	ck_assert_uint_eq(rows.count, 0);
	kill_rows_free(&rows);
	for (uint32_t time = 1; time <= 5; time++)
		put(&kills, time % 2, 0, 10 * time, time);
	kills.each[2].how = KILL_KINDS; /* a hostile record */
	make(&kills, 20, 40, "/a", &rows);
	ck_assert_uint_eq(rows.count, 2);
	ck_assert_uint_eq(rows.rows[0].record.tgid, 2);
	ck_assert_uint_eq(rows.rows[1].record.tgid, 4);
	ck_assert(rows.rows[0].is_target && rows.rows[0].processes == 1);
	ck_assert_str_eq(rows.rows[0].cgroup, "/a");
	ck_assert_str_eq(rows.rows[0].by_cgroup, "/killers");
	ck_assert_ptr_null(rows.rows[0].limit_cgroup);
	kill_rows_free(&rows);
	kills_free(&kills);
}
END_TEST

START_TEST(denied_processes_are_not_described)
{
	struct kills kills = { 0 };
	struct kill_rows rows;

	put_record(&kills, &(struct kill_record){ .flags = KILL_DENIED | KILL_BY_DENIED,
						  .cgroup_id = 7,
						  .by_cgroup_id = 8,
						  .comm = "victim" });
	make(&kills, 0, UINT64_MAX, "/a", &rows);
	ck_assert(!rows.rows[0].is_target && !rows.rows[0].cgroup && !rows.rows[0].by_cgroup);
	kill_rows_free(&rows);
	kills_free(&kills);
}
END_TEST

static const struct limit_case {
	const char *cgroup;
	uint32_t level, flags;
	uint64_t limit_bytes;
	const char *limit_cgroup;
} limit_cases[] = {
	{ "/a/b/c", 2, 0, 64, "/a/b" },
	{ "/a/b/c", 3, 0, 64, "/a/b/c" },
	{ "/a/b/c", 1, 0, 64, "/a" },
	/* the host's memory */
	{ "/a/b/c", 0, 0, 0, NULL },
	/* what cannot be: it was moved, or the record is forged */
	{ "/a/b/c", 4, 0, 64, NULL },
	{ "/a/b/c", UINT32_MAX, 0, 64, NULL },
	{ "/a/b/c", 0, 0, 64, NULL },
	{ "/", 1, 0, 64, NULL },
	{ NULL, 1, 0, 64, NULL },
	{ "/a/b/c", 1, KILL_LIMIT_V1, 64, "of-v1" },
};

START_TEST(a_limit_has_a_path_or_a_name)
{
	const struct limit_case *one = &limit_cases[_i];
	struct kills kills = { 0 };
	struct kill_rows rows;

	put_record(&kills, &(struct kill_record){ .how = KILL_OOM,
						  .cgroup_id = 7,
						  .limit_bytes = one->limit_bytes,
						  .limit_level = one->level,
						  .flags = one->flags,
						  .limit_name = "of-v1" });
	make(&kills, 0, UINT64_MAX, one->cgroup, &rows);
	ck_assert_pstr_eq(rows.rows[0].limit_cgroup, one->limit_cgroup);
	kill_rows_free(&rows);
	kills_free(&kills);
}
END_TEST

START_TEST(beyond_the_limit_the_earliest_of_the_user_with_most_are_one_row)
{
	struct kills kills = { 0 };
	struct kill_rows rows;

	put(&kills, KILL_SIGNAL, 1, 1, 1000);
	put(&kills, KILL_OOM, 0, 2, 2000);
	for (uint32_t i = 1; i <= KILL_ROWS_MAX + 1; i++)
		put(&kills, KILL_SIGNAL, 0, 2 + i, i);
	make(&kills, 0, UINT64_MAX, "/a", &rows);
	ck_assert_uint_eq(rows.count, KILL_ROWS_MAX + 1);
	ck_assert_uint_eq(rows.rows[0].record.tgid, 1000);
	ck_assert_uint_eq(rows.rows[1].record.tgid, 2000);
	ck_assert_uint_eq(rows.rows[2].record.tgid, 4);
	ck_assert(!rows.rows[KILL_ROWS_MAX - 1].is_rest);
	ck_assert(rows.rows[KILL_ROWS_MAX].is_rest);
	ck_assert_uint_eq(rows.rows[KILL_ROWS_MAX].processes, 3);
	ck_assert_uint_eq(rows.rows[KILL_ROWS_MAX].record.time_ns, 5);
	ck_assert_uint_eq(rows.rows[KILL_ROWS_MAX].record.how, KILL_SIGNAL);
	kill_rows_free(&rows);
	kills_free(&kills);
}
END_TEST

struct oomd_case {
	uint32_t how;
	const char *comm, *cgroup;
	bool is_by_oomd;
};

static const struct oomd_case oomd_cases[] = {
	{ KILL_SIGNAL, "systemd-oomd", "/system.slice/systemd-oomd.service", true },
	{ KILL_SIGNAL, "systemd-oomd", "/a.slice/systemd-oomd.service", true },
	/* anybody may use the name, and make such a cgroup in one that is delegated to him */
	{ KILL_SIGNAL, "systemd-oomd", "/user.slice/user-1000.slice/user@1000.service/systemd-oomd.service",
	  false },
	{ KILL_SIGNAL, "systemd-oomd", "/system.slice/ssh.service", false },
	{ KILL_SIGNAL, "systemd-oomd", "/", false },
	{ KILL_SIGNAL, "systemd-oomd", NULL, false },
	{ KILL_SIGNAL, "bash", "/system.slice/systemd-oomd.service", false },
	{ KILL_SIGNAL, "", "/system.slice/systemd-oomd.service", false },
	{ KILL_OOM, "systemd-oomd", "/system.slice/systemd-oomd.service", false },
};

START_TEST(systemd_oomd_is_known_by_its_unit)
{
	const struct oomd_case *one = &oomd_cases[_i];
	struct kill_record record = { .how = one->how };

	snprintf(record.by_comm, sizeof(record.by_comm), "%s", one->comm);
	ck_assert(kill_is_by_oomd(&record, one->cgroup) == one->is_by_oomd);
	ck_assert(kill_is_for_memory(&record, one->cgroup) == (one->is_by_oomd || one->how == KILL_OOM));
}
END_TEST

SUITE(kills)
{
	Suite *suite = suite_create("kills");
	TCase *tests = tcase_create("kills");

	tcase_add_test(tests, one_user_does_not_drive_out_others);
	tcase_add_test(tests, a_capture_has_the_kills_of_its_span);
	tcase_add_test(tests, denied_processes_are_not_described);
	tcase_add_loop_test(tests, a_limit_has_a_path_or_a_name, 0, ARRAY_SIZE(limit_cases));
	tcase_add_loop_test(tests, systemd_oomd_is_known_by_its_unit, 0, ARRAY_SIZE(oomd_cases));
	tcase_add_test(tests, beyond_the_limit_the_earliest_of_the_user_with_most_are_one_row);
	suite_add_tcase(suite, tests);
	return suite;
}

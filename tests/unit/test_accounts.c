/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that a capture's accounts are the kernel's sums of its span, that each waiting nanosecond is blamed once, on whom, and
 * that the database says the same.
 */
#include "common/base/clock.h"
#include "common/base/shared_text.h"
#include "consumer/capture/blame.h"
#include "tests/unit/fake_kernel.h"
#include "tests/unit/store_fixture.h"
#include "tests/unit/suites.h"

#include <linux/types.h>
#include <math.h>
#include <string.h>

#include "bpf/part.h"

#define BITS ACCOUNT_SLOT_BITS
#define SLOT (1UL << BITS)
#define NOW (1000 * SLOT + SLOT / 2)

/* ---- slots ---- */

/* The sum of the slot in which `at_ns` is. */
static void put(__u64 *slots, uint64_t at_ns, uint64_t ns)
{
	slots[(at_ns >> BITS) % ACCOUNT_SLOTS] = at_ns >> BITS << ACCOUNT_SLOT_NS_BITS | ns;
}

START_TEST(slots_are_summed_as_far_as_they_are_in_the_span)
{
	__u64 slots[ACCOUNT_SLOTS] = { 0 };

	for (uint64_t i = 0; i < ACCOUNT_SLOTS; i++)
		put(slots, NOW - i * SLOT, 100);
	ck_assert_uint_eq(accounts_slots_ns(slots, BITS, 990 * SLOT, 995 * SLOT, NOW), 500);
	/* half of the first one */
	ck_assert_uint_eq(accounts_slots_ns(slots, BITS, 990 * SLOT + SLOT / 2, 995 * SLOT, NOW), 450);
	/* the one that is not over is there as a whole */
	ck_assert_uint_eq(accounts_slots_ns(slots, BITS, 999 * SLOT, NOW, NOW), 200);
	ck_assert_uint_eq(accounts_slots_ns(slots, BITS, 1000 * SLOT + SLOT / 4, NOW, NOW), 50);
	ck_assert_uint_eq(accounts_slots_ns(slots, BITS, NOW, NOW, NOW), 0);
	ck_assert_uint_eq(accounts_slots_ns(slots, BITS, NOW, NOW - 5, NOW), 0);
	/* a span that is longer than the ring */
	ck_assert_uint_eq(accounts_slots_ns(slots, BITS, 0, 30 * SLOT, NOW), 0);
}
END_TEST

START_TEST(a_slot_of_an_earlier_round_is_empty)
{
	__u64 slots[ACCOUNT_SLOTS] = { 0 };

	put(slots, NOW - ACCOUNT_SLOTS * SLOT, 100);
	put(slots, NOW - SLOT, 7);
	ck_assert_uint_eq(accounts_slots_ns(slots, BITS, NOW - 10 * SLOT, NOW, NOW), 7);
}
END_TEST

/* It would count all that the ring has of the time before it. */
START_TEST(a_capture_that_began_later_than_its_tick_keeps_its_begin)
{
	struct control control = { 0 };
	struct kernel_objects kernel = { .control = &control };
	struct accounts accounts;

	accounts_begin(&accounts, &kernel, NOW, 0, NOW);
	accounts_follow(&accounts, &kernel, NOW - 1000, NULL);
	ck_assert_uint_eq(accounts.until_ns, NOW);
}
END_TEST

/* ---- a capture ---- */

/* Covers all but the cgroup 9; cgroups 1 and 2 are of one unit. */
static bool covers(void *user, const char comm[ABI_COMM_BYTES], uint64_t cgroup_id, uint32_t tgid,
		   const char **ret_cgroup)
{
	(void)user;
	(void)comm;
	(void)tgid;
	*ret_cgroup = cgroup_id == 1   ? "/system.slice/web.service"
		      : cgroup_id == 2 ? "/system.slice/web.service/in"
				       : NULL;
	return cgroup_id != 9;
}

static const char *path(void *user, uint64_t cgroup_id)
{
	const char *cgroup = NULL;

	covers(user, NULL, cgroup_id, 0, &cgroup);
	return cgroup_id == 3 ? "/batch" : cgroup;
}

static const struct accounts_scope scope = { .covers = covers, .path = path };

/* A capture whose accounts are those that a test adds by its reading. */
struct accounts_fixture {
	struct capture *capture;
	struct accounts_reading reading;
};

static void fixture_make(struct accounts_fixture *fixture)
{
	const struct sample sample = sample_make(10, TRIGGERED, 2, 3, 100);

	fixture->capture = capture_make(&sample, 1);
	fixture->reading = (struct accounts_reading){ .accounts = &fixture->capture->accounts,
						      .scope = &scope,
						      .from_ns = NOW - 20 * SLOT,
						      .to_ns = NOW,
						      .now_ns = NOW,
						      .bits = BITS };
	fixture->capture->accounts.is_complete = true;
}

static void fixture_free(struct accounts_fixture *fixture)
{
	hash_index_free(&fixture->reading.ids);
	free(fixture->reading.read);
	capture_cleanup(&fixture->capture);
}

static void add_victim(struct accounts_fixture *fixture, uint32_t id, const char *comm, uint64_t cgroup_id,
		       uint32_t account, uint64_t ns)
{
	struct victim_sums sums = { .cgroup_id = cgroup_id };

	memset(sums.comm, 'x', sizeof(sums.comm)); /* behind the NUL, too */
	snprintf(sums.comm, sizeof(sums.comm), "%s", comm);
	put(sums.slots[account], NOW - SLOT, ns);
	ck_assert_int_eq(accounts_add_victim(&fixture->reading, id, &sums), 0);
}

static struct blame_key key_of(uint32_t victim, uint8_t wait, uint8_t by, const char *comm,
			       uint64_t cgroup_id)
{
	struct blame_key key = {
		.victim = victim, .wait = wait, .by = by, .then = ACCOUNTS, .cgroup_id = cgroup_id
	};

	snprintf(key.comm, sizeof(key.comm), "%s", comm);
	return key;
}

static void add_blame(struct accounts_fixture *fixture, const struct blame_key *key, uint64_t ns)
{
	struct blame_sums sums = { 0 };

	put(sums.slots, NOW - SLOT, ns);
	ck_assert_int_eq(accounts_add_blame(&fixture->reading, key, &sums), 0);
}

static void add_away(struct accounts_fixture *fixture, const char *comm, uint64_t cgroup_id, uint32_t account,
		     uint64_t since_ns, uint64_t until_ns)
{
	struct away_record record = { .header = { RECORD_AWAY, sizeof(record) },
				      .account = account,
				      .since_ns = since_ns,
				      .until_ns = until_ns,
				      .cgroup_id = cgroup_id };

	snprintf(record.comm, sizeof(record.comm), "%s", comm);
	ck_assert_int_eq(accounts_add_away(&fixture->reading, (const char *)&record, sizeof(record)),
			 sizeof(record));
}

static struct blame_rows make_rows(struct accounts_fixture *fixture)
{
	struct blame_rows rows;

	accounts_settle(&fixture->capture->accounts, &scope);
	ck_assert_int_eq(blame_make(fixture->capture, NULL, NULL, &rows), 0);
	return rows;
}

START_TEST(victims_of_one_program_and_unit_are_one)
{
	struct accounts_fixture fixture;
	struct blame_rows rows;

	fixture_make(&fixture);
	add_victim(&fixture, 1, "web", 1, ACCOUNT_RAN, 100);
	add_victim(&fixture, 2, "web", 2, ACCOUNT_RAN, 20);
	add_victim(&fixture, 3, "web", 3, ACCOUNT_RAN, 7);
	add_victim(&fixture, 4, "db", 1, ACCOUNT_RAN, 3);
	add_victim(&fixture, 5, "other", 9, ACCOUNT_RAN, 1000); /* the rule does not cover it */
	add_victim(&fixture, 6, "web", 1, ACCOUNT_SLEEP,
		   5); /* the kernel forgot the first, and made another */
	add_away(&fixture, "web", 1, ACCOUNTS, 0, 0);
	add_away(&fixture, "web", 2, ACCOUNT_SLEEP, NOW - 50, 0);
	rows = make_rows(&fixture);
	ck_assert_uint_eq(rows.victims_count, 3);
	ck_assert_str_eq(rows.victims[0].program, "web");
	ck_assert_str_eq(rows.victims[0].place.unit, "web.service");
	ck_assert_uint_eq(rows.victims[0].ns[ACCOUNT_RAN], 120);
	ck_assert_uint_eq(rows.victims[0].ns[ACCOUNT_SLEEP], 55);
	ck_assert_uint_eq(rows.victims[0].threads, 2);
	ck_assert_ptr_null(rows.victims[1].place.unit);
	ck_assert_uint_eq(rows.victims[1].ns[ACCOUNT_RAN], 7);
	ck_assert_str_eq(rows.victims[2].program, "db");
	blame_free(&rows);
	fixture_free(&fixture);
}
END_TEST

static const struct {
	uint8_t by;
	const char *comm;
	uint64_t cgroup_id;
	enum blame_role role;
	const char *program, *where;
} parties[] = {
	{ BLAME_PROCESS, "hog", 3, ROLE_OTHER, "hog", NULL },
	{ BLAME_PROCESS, "web", 2, ROLE_OWN, "web", NULL },
	{ BLAME_PROCESS, "web", 3, ROLE_OTHER, "web", NULL },
	{ BLAME_KERNEL, "kworker", 0, ROLE_KERNEL, "kworker", NULL },
	{ BLAME_RECORDER, "bourdond", 3, ROLE_RECORDER, "bourdond", NULL },
	{ BLAME_QUOTA, "web.service", 1, ROLE_QUOTA, NULL, "/system.slice/web.service" },
	{ BLAME_QUOTA, "v1", 77, ROLE_QUOTA, NULL, "v1" },
	{ BLAME_IRQ, "", 0, ROLE_IRQ, NULL, NULL },
	{ BLAME_STEAL, "", 0, ROLE_STEAL, NULL, NULL },
	{ BLAME_NOBODY, "", 0, ROLE_NOBODY, NULL, NULL },
	{ BLAME_DENIED, "", 0, ROLE_UNKNOWN, NULL, "denied" },
	{ BLAME_UNSEEN, "", 0, ROLE_UNKNOWN, NULL, "unseen" },
	{ BLAME_LIMIT, "web.service", 1, ROLE_LIMIT, NULL, "/system.slice/web.service" },
	{ BLAME_LIMIT, "v1", 0, ROLE_LIMIT, NULL, "v1" },
	{ BLAME_LIMIT, "", 0, ROLE_LIMIT, NULL, NULL },
};

START_TEST(each_party_has_its_role)
{
	const struct blame_key key =
		key_of(1, ACCOUNT_QUEUED, parties[_i].by, parties[_i].comm, parties[_i].cgroup_id);
	struct accounts_fixture fixture;
	struct blame_rows rows;

	fixture_make(&fixture);
	add_victim(&fixture, 1, "web", 1, ACCOUNT_QUEUED, 100);
	add_blame(&fixture, &key, 100);
	rows = make_rows(&fixture);
	ck_assert_uint_eq(rows.count, 1);
	ck_assert_int_eq(rows.rows[0].role, parties[_i].role);
	ck_assert_uint_eq(rows.rows[0].ns, 100);
	ck_assert_pstr_eq(rows.rows[0].program, parties[_i].program);
	ck_assert_pstr_eq(rows.rows[0].where, parties[_i].where);
	blame_free(&rows);
	fixture_free(&fixture);
}
END_TEST

/* What lost its place in the kernel's map is in no party's sum. */
START_TEST(what_no_party_has_is_unknown)
{
	const struct blame_key key = key_of(1, ACCOUNT_QUEUED, BLAME_PROCESS, "hog", 3),
			       stranger = key_of(7, ACCOUNT_QUEUED, BLAME_PROCESS, "hog", 3);
	struct accounts_fixture fixture;
	struct blame_rows rows;

	fixture_make(&fixture);
	add_victim(&fixture, 1, "web", 1, ACCOUNT_QUEUED, 100000);
	add_blame(&fixture, &key, 60000);
	add_blame(&fixture, &stranger, 5); /* a victim that is not there */
	rows = make_rows(&fixture);
	ck_assert_uint_eq(rows.count, 2);
	ck_assert_uint_eq(rows.rows[0].ns, 60000);
	ck_assert_int_eq(rows.rows[1].role, ROLE_UNKNOWN);
	ck_assert_uint_eq(rows.rows[1].ns, 40000);
	ck_assert_str_eq(rows.rows[1].where, "not recorded");
	blame_free(&rows);
	fixture_free(&fixture);
}
END_TEST

/* The rows of usage of two processes, by the members that waits are divided by. */
static void put_usage(struct capture *capture, uint64_t own_bytes, uint64_t other_bytes)
{
	struct usage_row *rows = calloc(2, sizeof(*rows));

	rows[0] = (struct usage_row){ .role = USAGE_TARGET,
				      .process = { .tgid = 10, .comm = "web" },
				      .cgroup = shared_text_new("/system.slice/web.service") };
	rows[0].process.sums.task.read_bytes = own_bytes;
	rows[1] = (struct usage_row){ .role = USAGE_OTHER,
				      .process = { .tgid = 77, .comm = "hog" },
				      .cgroup = shared_text_new("/batch") };
	rows[1].process.sums.task.write_bytes = other_bytes;
	rows[1].process.sums.grown_bytes = 1;
	capture->usage.rows = rows;
	capture->usage.count = 2;
}

START_TEST(waits_for_a_disk_are_divided_by_bytes)
{
	struct accounts_fixture fixture;
	struct blame_rows rows;

	fixture_make(&fixture);
	put_usage(fixture.capture, 100, 200);
	fixture.capture->usage.bytes =
		(struct machine_bytes){ .known = true, .read = { [BYTES_UNACCOUNTED] = 100 } };
	add_victim(&fixture, 1, "web", 1, ACCOUNT_IO, 4001);
	rows = make_rows(&fixture);
	ck_assert_uint_eq(rows.count, 3);
	ck_assert_int_eq(rows.rows[0].role, ROLE_OTHER);
	ck_assert_str_eq(rows.rows[0].program, "hog");
	ck_assert_uint_eq(rows.rows[0].tgid, 77);
	ck_assert_uint_eq(rows.rows[0].processes, 1);
	ck_assert_uint_eq(rows.rows[0].ns, 2000);
	ck_assert_uint_eq(rows.rows[1].ns + rows.rows[2].ns, 2001);
	ck_assert_int_eq(rows.rows[1].role == ROLE_OWN || rows.rows[2].role == ROLE_OWN, 1);
	blame_free(&rows);
	fixture_free(&fixture);
}
END_TEST

/* A hundredth of the bytes, and most requests. Kernel threads write for the cgroup "/batch", too. */
START_TEST(waits_for_a_disk_are_of_those_whose_requests_it_had)
{
	const struct blame_key own = key_of(1, ACCOUNT_IO, BLAME_PROCESS, "web", 1),
			       hog = key_of(1, ACCOUNT_IO, BLAME_PROCESS, "hog", 3),
			       written = key_of(1, ACCOUNT_IO, BLAME_PROCESS, "", 3),
			       denied = key_of(1, ACCOUNT_IO, BLAME_DENIED, "", 0);
	struct accounts_fixture fixture;
	struct blame_rows rows;

	fixture_make(&fixture);
	put_usage(fixture.capture, 99000, 1000);
	add_victim(&fixture, 1, "web", 1, ACCOUNT_IO, 4001);
	add_blame(&fixture, &own, 100);
	add_blame(&fixture, &hog, 200);
	rows = make_rows(&fixture);
	/* its requests explain less than a tenth of its wait: bytes tell more */
	ck_assert_int_eq(rows.rows[0].role, ROLE_OWN);
	ck_assert_uint_gt(rows.rows[0].ns, 3900);
	blame_free(&rows);
	add_blame(&fixture, &own, 1900);
	add_blame(&fixture, &hog, 4300);
	add_blame(&fixture, &written, 1000);
	add_blame(&fixture, &denied, 500);
	rows = make_rows(&fixture);
	ck_assert_uint_eq(rows.count, 3);
	ck_assert_int_eq(rows.rows[0].role, ROLE_OTHER);
	ck_assert_str_eq(rows.rows[0].program, "hog");
	ck_assert_uint_eq(rows.rows[0].tgid, 77);
	ck_assert_uint_ge(rows.rows[0].ns, 2750);
	ck_assert_int_eq(rows.rows[1].role, ROLE_OWN);
	ck_assert_uint_ge(rows.rows[1].ns, 1000);
	ck_assert_int_eq(rows.rows[2].role, ROLE_UNKNOWN);
	ck_assert_str_eq(rows.rows[2].where, "denied");
	ck_assert_uint_ge(rows.rows[2].ns, 250);
	ck_assert_uint_eq(rows.rows[0].ns + rows.rows[1].ns + rows.rows[2].ns, 4001);
	blame_free(&rows);
	fixture_free(&fixture);
}
END_TEST

START_TEST(a_wait_for_memory_is_the_limits_or_who_grew)
{
	const struct blame_key limit = key_of(1, ACCOUNT_MEMORY, BLAME_LIMIT, "web.service", 1);
	struct accounts_fixture fixture;
	struct blame_rows rows;

	fixture_make(&fixture);
	put_usage(fixture.capture, 0, 0);
	add_victim(&fixture, 1, "web", 1, ACCOUNT_MEMORY, 1000);
	rows = make_rows(&fixture);
	ck_assert_uint_eq(rows.count, 1);
	ck_assert_str_eq(rows.rows[0].program, "hog");
	blame_free(&rows);
	/* waits for pages that a limit has evicted are in no reclaim */
	add_blame(&fixture, &limit, 400);
	rows = make_rows(&fixture);
	ck_assert_uint_eq(rows.count, 1);
	ck_assert_int_eq(rows.rows[0].role, ROLE_LIMIT);
	ck_assert_str_eq(rows.rows[0].where, "/system.slice/web.service");
	ck_assert_uint_eq(rows.rows[0].ns, 1000);
	blame_free(&rows);
	fixture_free(&fixture);
}
END_TEST

/* What a disk did in a span of 10 s, of which the victim waits 9 s for it; whether it is slow. */
static const struct {
	int64_t requests, bytes, busy_ms, read_ms;
	bool is_slow;
} disks[] = {
	{ 90, 368640, 9000, 9000, true },
	{ 0, 0, 9000, 0, true },              /* it hangs */
	{ 1800, 7372800, 9000, 9000, false }, /* a hard disk */
	{ 0, 0, 4000, 0, false },             /* mostly idle */
	{ 90, 94371840, 9000, 9000, false },  /* large requests */
	{ 300, 1228800, 9000, 30000, false }, /* others have requests before the victim's */
};

START_TEST(a_wait_for_a_disk_that_is_slow_without_work_is_the_devices)
{
	struct kernel_stat stats[] = {
		{ .source = "diskstats", .device = "sdb", .name = "reads", .after = disks[_i].requests },
		{ .source = "diskstats", .device = "sdb", .name = "read_bytes", .after = disks[_i].bytes },
		{ .source = "diskstats", .device = "sdb", .name = "busy_ms", .after = disks[_i].busy_ms },
		{ .source = "diskstats", .device = "sdb", .name = "read_ms", .after = disks[_i].read_ms },
		{ .source = "diskstats", .device = "sda", .name = "busy_ms", .after = 100 },
	};
	struct accounts_fixture fixture;
	struct blame_rows rows;

	fixture_make(&fixture);
	put_usage(fixture.capture, 4096, 0);
	fixture.capture->accounts.from_ns = 1;
	fixture.capture->accounts.until_ns = 10 * CLOCK_SECOND_NS + 1;
	fixture.capture->kernel_stats = (struct kernel_stats){
		.stats = stats, .count = ARRAY_SIZE(stats), .from_ns = 1, .to_ns = 10 * CLOCK_SECOND_NS + 1
	};
	add_victim(&fixture, 1, "web", 1, ACCOUNT_IO, 9 * CLOCK_SECOND_NS);
	rows = make_rows(&fixture);
	ck_assert_uint_eq(rows.count, 1);
	ck_assert_int_eq(rows.rows[0].role, disks[_i].is_slow ? ROLE_DEVICE : ROLE_OWN);
	ck_assert_pstr_eq(rows.rows[0].where, disks[_i].is_slow ? "sdb" : NULL);
	ck_assert_uint_eq(rows.rows[0].ns, 9 * CLOCK_SECOND_NS);
	blame_free(&rows);
	fixture.capture->kernel_stats = (struct kernel_stats){ 0 };
	fixture_free(&fixture);
}
END_TEST

static double part_of(void *user, const struct victim_row *victim)
{
	ck_assert_str_eq(victim->program, "web");
	return *(const double *)user;
}

/* Of what the victim's threads waited for each other; another program's is no lock. */
START_TEST(locks_that_only_stacks_tell_are_moved)
{
	const struct blame_key own = key_of(1, ACCOUNT_PEER, BLAME_PROCESS, "web", 1),
			       other = key_of(1, ACCOUNT_PEER, BLAME_PROCESS, "hog", 3);
	const double parts[] = { 0.5, 1 };
	struct accounts_fixture fixture;

	fixture_make(&fixture);
	add_victim(&fixture, 1, "web", 1, ACCOUNT_PEER, 1000);
	add_blame(&fixture, &own, 800);
	add_blame(&fixture, &other, 200);
	accounts_settle(&fixture.capture->accounts, &scope);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		struct blame_rows rows;

		ck_assert_int_eq(blame_make(fixture.capture, part_of, (void *)&parts[i], &rows), 0);
		ck_assert_uint_eq(rows.victims[0].ns[ACCOUNT_LOCK], (uint64_t)(800 * parts[i]));
		ck_assert_uint_eq(rows.victims[0].ns[ACCOUNT_PEER], 1000 - (uint64_t)(800 * parts[i]));
		ck_assert_uint_eq(rows.count, i ? 2 : 3);
		ck_assert_uint_eq(rows.rows[0].wait, ACCOUNT_LOCK);
		ck_assert_int_eq(rows.rows[0].role, ROLE_OWN);
		blame_free(&rows);
	}
	fixture_free(&fixture);
}
END_TEST

/* Of two processes of one name and cgroup, one was asked for. */
static bool covers_one(void *user, const char comm[ABI_COMM_BYTES], uint64_t cgroup_id, uint32_t tgid,
		       const char **ret_cgroup)
{
	covers(user, comm, cgroup_id, tgid, ret_cgroup);
	return tgid == 10;
}

START_TEST(a_single_process_counts_without_its_siblings)
{
	static const struct accounts_scope one = { .covers = covers_one, .path = path, .of_processes = true };
	struct accounts_fixture fixture;
	struct blame_rows rows;
	const uint32_t tgids[] = { 0, 10, 11 };

	fixture_make(&fixture);
	fixture.reading.scope = &one;
	for (uint32_t i = 0; i < ARRAY_SIZE(tgids); i++) {
		struct victim_sums sums = { .comm = "web", .cgroup_id = 1, .tgid = tgids[i] };
		struct away_record record = { .header = { RECORD_AWAY, sizeof(record) },
					      .account = ACCOUNTS,
					      .tgid = tgids[i],
					      .cgroup_id = 1,
					      .comm = "web" };

		put(sums.slots[ACCOUNT_RAN], NOW - SLOT, 100U << i);
		ck_assert_int_eq(accounts_add_victim(&fixture.reading, i + 1, &sums), 0);
		ck_assert_int_eq(accounts_add_away(&fixture.reading, (const char *)&record, sizeof(record)),
				 sizeof(record));
	}
	rows = make_rows(&fixture);
	ck_assert_uint_eq(rows.victims_count, 1);
	ck_assert_uint_eq(rows.victims[0].ns[ACCOUNT_RAN], 200);
	ck_assert_uint_eq(rows.victims[0].threads, 1);
	blame_free(&rows);
	fixture_free(&fixture);
}
END_TEST

START_TEST(a_crowd_keeps_its_time_and_loses_its_names)
{
	struct accounts_fixture fixture;
	struct blame_rows rows;
	uint64_t sum = 0;

	fixture_make(&fixture);
	add_victim(&fixture, 1, "web", 1, ACCOUNT_QUEUED, 3 * BLAME_PARTIES_MAX * 1000000UL);
	for (uint32_t i = 0; i < 3 * BLAME_PARTIES_MAX; i++) {
		struct blame_key key = key_of(1, ACCOUNT_QUEUED, BLAME_PROCESS, "", 3);

		snprintf(key.comm, sizeof(key.comm), "crowd%u", i);
		add_blame(&fixture, &key, 1000000);
	}
	rows = make_rows(&fixture);
	ck_assert_uint_eq(rows.count, BLAME_PARTIES_MAX + 1);
	ck_assert_ptr_null(rows.rows[0].program); /* the largest: the sum of all others */
	ck_assert_uint_eq(rows.rows[0].ns, 2 * BLAME_PARTIES_MAX * 1000000UL);
	for (uint32_t i = 0; i < rows.count; i++)
		sum += rows.rows[i].ns;
	ck_assert_uint_eq(sum, rows.victims[0].ns[ACCOUNT_QUEUED]);
	blame_free(&rows);
	fixture_free(&fixture);
}
END_TEST

START_TEST(records_that_are_none_are_refused)
{
	const struct blame_key wait = key_of(1, ACCOUNTS, BLAME_PROCESS, "hog", 3),
			       by = key_of(1, ACCOUNT_QUEUED, BLAME_KINDS, "hog", 3);
	const struct blame_sums sums = { 0 };
	struct away_record record = { .header = { RECORD_AWAY, sizeof(record) }, .account = ACCOUNTS + 1 };
	struct accounts_fixture fixture;

	fixture_make(&fixture);
	ck_assert_int_eq(accounts_add_blame(&fixture.reading, &wait, &sums), -EBADMSG);
	ck_assert_int_eq(accounts_add_blame(&fixture.reading, &by, &sums), -EBADMSG);
	ck_assert_int_eq(accounts_add_away(&fixture.reading, (const char *)&record, sizeof(record)),
			 -EBADMSG);
	record.account = ACCOUNTS;
	record.header.bytes--;
	ck_assert_int_eq(accounts_add_away(&fixture.reading, (const char *)&record, sizeof(record)),
			 -EBADMSG);
	/* one that is not whole comes again */
	ck_assert_int_eq(accounts_add_away(&fixture.reading, (const char *)&record, sizeof(record) - 1), 0);
	fixture_free(&fixture);
}
END_TEST

/* A thread counts where it is in the span. */
START_TEST(what_has_not_ended_counts_from_the_begin_to_the_end)
{
	struct accounts_fixture fixture;
	struct accounts *accounts;

	fixture_make(&fixture);
	accounts = &fixture.capture->accounts;
	accounts->from_ns = NOW - SLOT;
	add_away(&fixture, "web", 1, ACCOUNT_SLEEP, 5, 0);
	ck_assert_uint_eq(accounts->victims[0].ns[ACCOUNT_SLEEP], SLOT);
	add_away(&fixture, "web", 1, ACCOUNT_IO, NOW - 300, NOW - 100);
	ck_assert_uint_eq(accounts->victims[0].ns[ACCOUNT_IO], 200);
	add_away(&fixture, "web", 1, ACCOUNT_IO, 5, 6);
	ck_assert_uint_eq(accounts->victims[0].ns[ACCOUNT_IO], 200);
	ck_assert_uint_eq(accounts->victims[0].threads, 3);
	fixture_free(&fixture);
}
END_TEST

/* A thread runs, and sleeps from a moment in the first slot on: both times add up to the span, whichever moment that is. */
START_TEST(the_first_slot_is_divided_evenly)
{
	static const struct {
		uint64_t from_ns, since_ns;
	} cases[] = { { NOW - SLOT, NOW - SLOT / 4 * 3 }, /* the span begins in the slot before */
		      { NOW - SLOT, NOW - SLOT / 8 * 9 },
		      { NOW - SLOT / 4, NOW - SLOT / 8 * 3 }, /* it is within one slot */
		      { NOW - SLOT / 4, NOW - SLOT / 8 } };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct victim_sums sums = { .comm = "web", .cgroup_id = 1 };
		struct accounts_fixture fixture;
		const uint64_t *ns;

		fixture_make(&fixture);
		fixture.capture->accounts.from_ns = fixture.reading.from_ns = cases[i].from_ns;
		put(sums.slots[ACCOUNT_RAN], cases[i].since_ns, cases[i].since_ns % SLOT);
		ck_assert_int_eq(accounts_add_victim(&fixture.reading, 1, &sums), 0);
		add_away(&fixture, "web", 1, ACCOUNT_SLEEP, cases[i].since_ns, 0);
		ns = fixture.capture->accounts.victims[0].ns;
		ck_assert_uint_eq(ns[ACCOUNT_RAN] + ns[ACCOUNT_SLEEP], NOW - cases[i].from_ns);
		fixture_free(&fixture);
	}
}
END_TEST

/* Its history begins when the kernel's sums are valid, which may be after its end. */
START_TEST(a_span_that_ends_before_it_begins_is_empty)
{
	struct accounts_fixture fixture;

	fixture_make(&fixture);
	fixture.capture->accounts.from_ns = NOW - 100;
	fixture.reading.to_ns = NOW - 200;
	add_away(&fixture, "web", 1, ACCOUNT_SLEEP, NOW - SLOT / 4, 0);
	ck_assert_uint_eq(fixture.capture->accounts.victims[0].ns[ACCOUNT_SLEEP], 0);
	fixture_free(&fixture);
}
END_TEST

/* However many others there are, those that are covered have a place, and they alone stay. */
START_TEST(those_who_are_not_covered_take_no_place)
{
	struct blame_key hog = key_of(5000, ACCOUNT_QUEUED, BLAME_PROCESS, "hog", 3);
	struct accounts_fixture fixture;
	struct accounts *accounts;

	fixture_make(&fixture);
	accounts = &fixture.capture->accounts;
	for (uint32_t i = 1; i <= 3000; i++) {
		char comm[ABI_COMM_BYTES];

		snprintf(comm, sizeof(comm), "other-%u", i);
		add_victim(&fixture, i, comm, 9, ACCOUNT_RAN, 1);
	}
	add_victim(&fixture, 5000, "web", 1, ACCOUNT_QUEUED, 100);
	add_blame(&fixture, &hog, 100);
	ck_assert_uint_le(accounts->victims_count, 1024);
	accounts_settle(accounts, &scope);
	ck_assert_uint_eq(accounts->victims_count, 1);
	ck_assert_str_eq(accounts->victims[0].comm, "web");
	ck_assert_uint_eq(accounts->parties_count, 1);
	ck_assert_uint_eq(accounts->parties[0].key.victim, 0);
	fixture_free(&fixture);
}
END_TEST

START_TEST(the_database_says_the_same)
{
	struct blame_key hog = key_of(1, ACCOUNT_QUEUED, BLAME_PROCESS, "hog", 3),
			 lock = key_of(1, ACCOUNT_LOCK, BLAME_PROCESS, "web", 1),
			 quota = key_of(1, ACCOUNT_THROTTLED, BLAME_QUOTA, "v1", 77);
	struct accounts_fixture fixture;
	struct store_fixture store;

	lock.then = ACCOUNT_IO;
	fixture_make(&fixture);
	put_usage(fixture.capture, 0, 0);
	add_victim(&fixture, 1, "web", 1, ACCOUNT_QUEUED, 400);
	add_victim(&fixture, 1, "web", 1, ACCOUNT_LOCK, 50);
	add_victim(&fixture, 1, "web", 1, ACCOUNT_THROTTLED, 20);
	add_victim(&fixture, 1, "web", 1, ACCOUNT_RAN, 7);
	add_away(&fixture, "web", 1, ACCOUNTS, 0, 0);
	add_blame(&fixture, &hog, 300);
	add_blame(&fixture, &lock, 50);
	add_blame(&fixture, &quota, 20);
	hog.by = BLAME_IRQ;
	hog.cgroup_id = 0;
	memset(hog.comm, 0, sizeof(hog.comm));
	add_blame(&fixture, &hog, 100);
	accounts_settle(&fixture.capture->accounts, &scope);
	store_fixture_start(&store);
	expect_commit(&store, fixture.capture);
	expect_rows(&store, "SELECT * FROM account ORDER BY account",
		    "1|web in web.service|lock|1|50\n1|web in web.service|queued|1|400\n"
		    "1|web in web.service|ran|1|7\n1|web in web.service|throttled|1|20\n");
	expect_rows(
		&store,
		"SELECT wait, role, program, unit, cgroup, tgid, processes, ns, where_text, then_account FROM blame "
		"ORDER BY wait, ns",
		"lock|own|web|web.service|/system.slice/web.service|10|1|50|NULL|io\n"
		"queued|irq|NULL|NULL|NULL|NULL|NULL|100|NULL|NULL\n"
		"queued|other|hog|NULL|/batch|77|1|300|NULL|NULL\n"
		"throttled|quota|NULL|NULL|NULL|NULL|NULL|20|v1|NULL\n");
	expect_rows(&store,
		    "SELECT victim, wait, role, party, ns, percent FROM blame_share WHERE capture_id = 1",
		    "web in web.service|lock|own|web in web.service|50|100.0\n"
		    "web in web.service|queued|other|hog in /batch|300|75.0\n"
		    "web in web.service|queued|irq|NULL|100|25.0\n"
		    "web in web.service|throttled|quota|v1|20|100.0\n");
	store_fixture_free(&store);
	fixture_free(&fixture);
}
END_TEST

/* ---- parts of a slice ---- */

/* Interrupts or a hypervisor may take most of a slice of any length, of which any number of threads wait for a part. */
START_TEST(a_wait_is_divided_as_its_slice_was)
{
	static const uint64_t times[] = {
		0,          1,          1023,       1024,        999999,        20000000,
		3999999999, 4294967296, 5000000000, 90000000000, 3600000000000,
	};

	for (size_t i = 0; i < ARRAY_SIZE(times); i++)
		for (size_t j = 0; j < ARRAY_SIZE(times); j++)
			for (size_t k = j; k < ARRAY_SIZE(times); k++) {
				double exact = (double)times[i] * (double)times[j] / (double)times[k];
				uint64_t part = part_of_slice(times[i], times[j], times[k]);

				ck_assert_uint_le(part, times[i]);
				/* a unit of 1,024 ns is all that may be missing of each */
				if (times[i] > 999999 && times[k] > 999999)
					ck_assert_msg(fabs((double)part - exact) <= 2048 + exact / 400,
						      "%ju of %ju of %ju: %ju", times[i], times[j], times[k],
						      part);
			}
}
END_TEST

/* ---- the end ---- */

#define WAIT_NS 50000000U

/* A thread that comes back while threads are read: others have the CPU, until it has come back so often. */
struct coming_back {
	struct fake_kernel kernel;
	uint64_t now_ns;
	uint32_t times;
};

static void put_sum(struct coming_back *coming, uint64_t ns)
{
	struct victim_sums sums = { .comm = "web", .cgroup_id = 1 };
	uint32_t id = 1;

	put(sums.slots[ACCOUNT_PEER], NOW - SLOT, ns);
	fake_kernel_put(&coming->kernel, PIN_VICTIMS, &id, &sums);
}

static void come_back(void *user, enum pin_iterator iterator, FILE *out)
{
	struct coming_back *coming = user;

	(void)out;
	ck_assert_int_eq(iterator, PIN_AWAY);
	if (!coming->times)
		return;
	put_sum(coming, (3 - --coming->times) * WAIT_NS);
	coming->now_ns += WAIT_NS;
}

static uint64_t read_coming_back(void *user, clockid_t clock)
{
	return clock == CLOCK_THREAD_CPUTIME_ID ? 0 : ((const struct coming_back *)user)->now_ns;
}

/* Its wait is neither in sums that were read before, nor is the thread away. */
START_TEST(a_wait_that_ends_while_they_are_read_counts_once)
{
	struct coming_back coming = { .now_ns = NOW, .times = 2 };
	const struct clock clock = { read_coming_back, &coming };
	struct accounts accounts;

	fake_kernel_make(&coming.kernel, 1, 1);
	coming.kernel.iterate = come_back;
	coming.kernel.user = &coming;
	put_sum(&coming, WAIT_NS);
	accounts_begin(&accounts, &coming.kernel.objects, NOW - 10 * SLOT, 0, NOW);
	ck_assert_int_eq(accounts_end(&accounts, &coming.kernel.objects, NOW, &clock, &scope), 0);
	ck_assert_uint_eq(coming.times, 0);
	ck_assert_uint_eq(accounts.victims_count, 1);
	ck_assert_uint_eq(accounts.victims[0].ns[ACCOUNT_PEER], 3 * WAIT_NS);
	accounts_free(&accounts);
	fake_kernel_free(&coming.kernel);
}
END_TEST

SUITE(accounts)
{
	Suite *suite = suite_create("accounts");
	TCase *slots = tcase_create("slots"), *rows = tcase_create("rows"), *parts = tcase_create("parts");

	tcase_add_test(parts, a_wait_is_divided_as_its_slice_was);
	suite_add_tcase(suite, parts);
	tcase_add_test(slots, slots_are_summed_as_far_as_they_are_in_the_span);
	tcase_add_test(slots, a_slot_of_an_earlier_round_is_empty);
	tcase_add_test(slots, a_capture_that_began_later_than_its_tick_keeps_its_begin);
	tcase_add_test(slots, what_has_not_ended_counts_from_the_begin_to_the_end);
	tcase_add_test(slots, the_first_slot_is_divided_evenly);
	tcase_add_test(slots, a_span_that_ends_before_it_begins_is_empty);
	tcase_add_test(slots, records_that_are_none_are_refused);
	tcase_add_test(slots, a_wait_that_ends_while_they_are_read_counts_once);
	suite_add_tcase(suite, slots);
	tcase_add_test(rows, victims_of_one_program_and_unit_are_one);
	tcase_add_loop_test(rows, each_party_has_its_role, 0, ARRAY_SIZE(parties));
	tcase_add_test(rows, what_no_party_has_is_unknown);
	tcase_add_test(rows, waits_for_a_disk_are_divided_by_bytes);
	tcase_add_test(rows, waits_for_a_disk_are_of_those_whose_requests_it_had);
	tcase_add_test(rows, a_wait_for_memory_is_the_limits_or_who_grew);
	tcase_add_loop_test(rows, a_wait_for_a_disk_that_is_slow_without_work_is_the_devices, 0,
			    ARRAY_SIZE(disks));
	tcase_add_test(rows, locks_that_only_stacks_tell_are_moved);
	tcase_add_test(rows, a_single_process_counts_without_its_siblings);
	tcase_add_test(rows, a_crowd_keeps_its_time_and_loses_its_names);
	tcase_add_test(rows, those_who_are_not_covered_take_no_place);
	tcase_add_test(rows, the_database_says_the_same);
	suite_add_tcase(suite, rows);
	return suite;
}

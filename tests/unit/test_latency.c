/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that each value is in a bucket at most an eighth wide, that the table's slots and tallies are read for what they are, that
 * epochs go to the span in which their middle lies, that what the table has lost is told, and which rows a capture has of it.
 */
#include "common/protocol/latency_groups.h"
#include "common/store/schema.h"
#include "consumer/capture/latency.h"
#include "consumer/store/latency_rows.h"
#include "consumer/store/store_latency.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <string.h>

/* ---- buckets ---- */

static void expect_bucket(uint64_t value)
{
	uint32_t bucket = bucket_of(value);
	uint64_t begins = bucket_begins(bucket), ends = bucket_begins(bucket + 1);

	ck_assert_uint_le(begins, value);
	ck_assert_uint_gt(ends, value);
	/* a value below 8 has a bucket of its own */
	ck_assert_uint_le((ends - begins) * 8, begins < 8 ? 8 : begins);
}

START_TEST(each_value_has_a_narrow_bucket)
{
	for (uint64_t value = 0; value < 100000; value++)
		expect_bucket(value);
	for (unsigned int bit = 3; bit < 63; bit++)
		for (uint64_t off = 0; off < 5; off++)
			expect_bucket((1ULL << bit) - 2 + off);
	ck_assert_uint_lt(bucket_of(UINT64_MAX), 512);
	/* stable: rows in databases have these numbers */
	ck_assert_uint_eq(bucket_of(7), 7);
	ck_assert_uint_eq(bucket_of(8), 8);
	ck_assert_uint_eq(bucket_of(1000000), 143);
	ck_assert_uint_eq(bucket_begins(143), 983040);
}
END_TEST

/* ---- words ---- */

START_TEST(groups_are_read_by_name)
{
	uint32_t groups;
	const char *text = "block, locks";

	ck_assert_ptr_null(latency_groups_parse("all", &groups));
	ck_assert_uint_eq(groups, LATENCY_ALL);
	ck_assert_ptr_null(latency_groups_parse("none", &groups));
	ck_assert_uint_eq(groups, 0);
	ck_assert_ptr_null(latency_groups_parse(" lock,block ,\tfork", &groups));
	ck_assert_uint_eq(groups, 1U << LATENCY_LOCK | 1U << LATENCY_BLOCK | 1U << LATENCY_FORK);
	ck_assert_ptr_null(latency_groups_parse("request", &groups));
	ck_assert_uint_eq(groups, LATENCY_ALL & ~LATENCY_DEFAULT);
	ck_assert_str_eq(latency_groups_parse(text, &groups), "locks");
	ck_assert_str_eq(latency_groups_parse("", &groups), "");
	ck_assert_str_eq(latency_groups_parse("block,", &groups), "");
	ck_assert_str_eq(latency_groups_parse("block lock", &groups), "lock");
	ck_assert_str_eq(latency_groups_parse("block, all", &groups), "all");
}
END_TEST

/* ---- reading ---- */

static struct histogram_slot slot(uint64_t epoch, uint8_t metric, uint16_t bucket, uint64_t count)
{
	return (struct histogram_slot){ .id = epoch << 32 | 77,
					.key = { .metric = metric, .bucket = bucket },
					.count = count,
					.sum = count * 10 };
}

START_TEST(slots_are_read_for_what_they_are)
{
	struct histogram_set set = { .slots = { slot(100, METRIC_LOCK, 5, 1),
						slot(99, METRIC_LOCK, 5, 2),
						slot(101, METRICS, 5, 4),
						slot(101, METRIC_LOCK, 512, 8),
						slot(101, METRIC_LOCK, 5, 0),
						{ .id = HISTOGRAM_BUSY, .count = 16 },
						slot(102, METRIC_BLOCK, 7, 32) } };
	struct histogram_reading reading = { 0 };

	ck_assert_int_eq(histograms_add_set(&reading, &set, 100), 0);
	ck_assert_uint_eq(reading.count, 2);
	ck_assert_uint_eq(reading.counts[0].count, 1);
	ck_assert_uint_eq(reading.counts[0].epoch, 100);
	ck_assert_uint_eq(reading.counts[1].count, 32);
	ck_assert_uint_eq(reading.counts[1].sum, 320);
	histograms_free(&reading);
}
END_TEST

START_TEST(tallies_are_of_the_newest_epoch)
{
	struct histogram_reading reading = { 0 };
	/* the second CPU was idle for a round of the epochs */
	const struct histogram_tally tallies[] = {
		{ .epoch = 100, .events = 5, .overflow = 1 },
		{ .epoch = 100 - TALLY_EPOCHS, .events = 1000 },
		{ .epoch = 100, .events = 7, .unpaired = 2, .absurd = 3 }
	};
	const struct histogram_events *sum;

	histograms_add_tally(&reading, METRIC_LOCK * TALLY_EPOCHS + 100 % TALLY_EPOCHS, tallies, 3);
	sum = &reading.tallies[METRIC_LOCK][100 % TALLY_EPOCHS];
	ck_assert_uint_eq(sum->epoch, 100);
	ck_assert_uint_eq(sum->events, 12);
	ck_assert_uint_eq(sum->overflow, 1);
	ck_assert_uint_eq(sum->unpaired, 2);
	ck_assert_uint_eq(sum->absurd, 3);
	histograms_free(&reading);
}
END_TEST

/* ---- spans ---- */

#define EPOCH HISTOGRAM_EPOCH_NS

/* Of a capture from 100 epochs and a half on to the middle of 103. */
static struct latency latency_made(void)
{
	return (struct latency){ .groups = 1U << LATENCY_LOCK,
				 .before_ns = 98 * EPOCH,
				 .from_ns = 100 * EPOCH + EPOCH / 2 + 1,
				 .until_ns = 103 * EPOCH + EPOCH / 2,
				 .next_epoch = 98 };
}

static void add(struct histogram_reading *reading, uint64_t epoch, uint64_t count, uint64_t events)
{
	struct histogram_set set = { .slots = { slot(epoch, METRIC_LOCK, 9, count) } };
	const struct histogram_tally tally = { .epoch = epoch, .events = events };

	ck_assert_int_eq(histograms_add_set(reading, &set, 0), 0);
	histograms_add_tally(reading, METRIC_LOCK * TALLY_EPOCHS + (uint32_t)epoch % TALLY_EPOCHS, &tally, 1);
}

static void expect_span(const struct latency *latency, uint32_t span, uint64_t count, uint64_t events,
			uint64_t lost)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < latency->values_count; i++)
		if (latency->values[i].span == span)
			sum += latency->values[i].count;
	ck_assert_uint_eq(sum, count);
	ck_assert_uint_eq(latency->events[span][METRIC_LOCK].events, events);
	ck_assert_uint_eq(latency->events[span][METRIC_LOCK].lost, lost);
}

START_TEST(epochs_go_where_their_middle_is)
{
	struct latency latency = latency_made();
	struct histogram_reading reading = { 0 };
	uint64_t from_ns, to_ns;

	add(&reading, 97, 1000, 1000); /* too old */
	add(&reading, 98, 1, 1);
	add(&reading, 100, 2, 2); /* its middle is just before the capture */
	add(&reading, 101, 4, 5); /* one event found no slot */
	add(&reading, 103, 8, 8); /* under way: its turn comes at the end */
	ck_assert_int_eq(latency_take(&latency, &reading, 103, false), 0);
	expect_span(&latency, LATENCY_BEFORE, 3, 3, 0);
	expect_span(&latency, LATENCY_DURING, 4, 5, 1);
	histograms_free(&reading);

	add(&reading, 101, 4, 5);   /* again, and counted already */
	add(&reading, 103, 16, 15); /* one more than the tally, which was read before */
	ck_assert_int_eq(latency_take(&latency, &reading, 104, true), 0);
	expect_span(&latency, LATENCY_BEFORE, 3, 3, 0);
	expect_span(&latency, LATENCY_DURING, 20, 21, 1);
	histograms_free(&reading);

	latency_measured(&latency, LATENCY_LOCK, LATENCY_DURING, &from_ns, &to_ns);
	ck_assert_uint_eq(from_ns, 101 * EPOCH);
	ck_assert_uint_eq(to_ns, latency.until_ns);
	latency.since_ns[LATENCY_LOCK] = 99 * EPOCH;
	latency_measured(&latency, LATENCY_LOCK, LATENCY_BEFORE, &from_ns, &to_ns);
	ck_assert_uint_eq(from_ns, 99 * EPOCH);
	ck_assert_uint_eq(to_ns, 101 * EPOCH);
	latency_free(&latency);
}
END_TEST

START_TEST(a_capture_within_one_epoch_has_it)
{
	struct latency latency = latency_made();
	struct histogram_reading reading = { 0 };
	uint64_t from_ns, to_ns;

	latency.from_ns = 103 * EPOCH + EPOCH / 2 + 1;
	latency.until_ns = 103 * EPOCH + EPOCH - 1;
	add(&reading, 103, 8, 8);
	ck_assert_int_eq(latency_take(&latency, &reading, 104, true), 0);
	expect_span(&latency, LATENCY_DURING, 8, 8, 0);
	latency_measured(&latency, LATENCY_LOCK, LATENCY_DURING, &from_ns, &to_ns);
	ck_assert_uint_eq(from_ns, 103 * EPOCH);
	ck_assert_uint_eq(to_ns, latency.until_ns);
	histograms_free(&reading);
	latency_free(&latency);
}
END_TEST

START_TEST(what_has_no_room_is_lost)
{
	struct latency latency = latency_made();
	struct histogram_reading reading = { 0 };
	const struct histogram_tally tally = { .epoch = 102, .events = LATENCY_VALUES_MAX + 10 };

	for (uint64_t i = 0; i < LATENCY_VALUES_MAX + 10; i++) {
		struct histogram_set set = { .slots = { slot(102, METRIC_LOCK, 9, 1) } };

		set.slots[0].key.object = i;
		ck_assert_int_eq(histograms_add_set(&reading, &set, 0), 0);
	}
	histograms_add_tally(&reading, METRIC_LOCK * TALLY_EPOCHS + 102 % TALLY_EPOCHS, &tally, 1);
	ck_assert_int_eq(latency_take(&latency, &reading, 103, false), 0);
	expect_span(&latency, LATENCY_DURING, LATENCY_VALUES_MAX, LATENCY_VALUES_MAX + 10, 10);
	histograms_free(&reading);
	latency_free(&latency);
}
END_TEST

/* ---- rows ---- */

struct stored {
	struct capture capture;
	struct latency_value values[6000];
	struct latency_owner owners[1];
	struct latency_caller callers[1];
	struct sql sql;
};

static void store_value(struct stored *stored, struct histogram_key key, uint64_t span, uint64_t count)
{
	stored->values[stored->capture.latency.values_count++] =
		(struct latency_value){ .key = key, .span = span, .count = count, .sum = count * 100 };
}

static void store_make(struct stored *stored)
{
	static char function[] = "do_unlinkat";

	*stored = (struct stored){ .owners = { { 7, "web.service" } }, .callers = { { 0x10, function } } };
	stored->capture.trigger.triggered_ns = stored->capture.latency.from_ns = 100 * EPOCH;
	stored->capture.latency.before_ns = 99 * EPOCH;
	stored->capture.latency.until_ns = 101 * EPOCH;
	stored->capture.trigger.triggered_at = 1000000000000;
	stored->capture.latency.groups = LATENCY_ALL;
	stored->capture.latency.values = stored->values;
	stored->capture.latency.owners = stored->owners;
	stored->capture.latency.owners_count = 1;
	stored->capture.latency.callers = stored->callers;
	stored->capture.latency.callers_count = 1;
	ck_assert_int_eq(sqlite3_open(":memory:", &stored->sql.db), SQLITE_OK);
	ck_assert_int_eq(sql_execute(&stored->sql, schema_sql), 0);
}

static void store_write(struct stored *stored)
{
	struct latency_statements statements = { 0 };
	struct resolved resolved = { 0 };

	ck_assert_int_eq(store_latency_write(&stored->sql, &statements, 1, &stored->capture, &resolved), 0);
}

static void expect_number(struct stored *stored, const char *query, sqlite3_int64 expected)
{
	sqlite3_int64 number = -1;

	ck_assert_int_eq(sql_run_once(&stored->sql, &number, query, ""), 0);
	ck_assert_msg(number == expected, "%s: %lld, not %lld", query, number, expected);
}

static void expect_label(struct stored *stored, const char *metric, const char *label, sqlite3_int64 count)
{
	sqlite3_int64 found = -1;

	ck_assert_int_eq(sql_run_once(&stored->sql, &found,
				      "SELECT sum(count) FROM histogram WHERE metric = ? AND label = ?", "tt",
				      metric, label),
			 0);
	ck_assert_msg(found == count, "%s %s: %lld, not %lld", metric, label, found, count);
}

START_TEST(labels_say_what_people_know)
{
	static struct stored stored;

	store_make(&stored);
	store_value(&stored, (struct histogram_key){ .metric = METRIC_RUNQUEUE, .owner = 7, .bucket = 50 },
		    LATENCY_DURING, 1);
	store_value(&stored, (struct histogram_key){ .metric = METRIC_RUNQUEUE, .owner = 8, .bucket = 50 },
		    LATENCY_DURING, 2);
	store_value(&stored, (struct histogram_key){ .metric = METRIC_RUNQUEUE, .owner = 9, .bucket = 50 },
		    LATENCY_DURING, 4); /* another one that is not told */
	store_value(&stored,
		    (struct histogram_key){
			    .metric = METRIC_OFFCPU, .detail = ACCOUNT_IO, .owner = 7, .bucket = 50 },
		    LATENCY_BEFORE, 8);
	store_value(&stored,
		    (struct histogram_key){
			    .metric = METRIC_LOCK, .detail = LOCK_MUTEX, .object = 0x10, .bucket = 50 },
		    LATENCY_DURING, 16);
	store_value(&stored,
		    (struct histogram_key){ .metric = METRIC_LOCK, .detail = LOCK_SPIN, .bucket = 50 },
		    LATENCY_DURING, 32);
	store_value(&stored,
		    (struct histogram_key){ .metric = METRIC_LOCK,
					    .detail = LOCK_FUTEX,
					    .object = 0xabc,
					    .owner = 7,
					    .bucket = 50 },
		    LATENCY_DURING, 64);
	store_value(&stored,
		    (struct histogram_key){
			    .metric = METRIC_MEMORY, .detail = MEMORY_LIMIT, .owner = 7, .bucket = 50 },
		    LATENCY_DURING, 128);
	store_value(&stored, (struct histogram_key){ .metric = METRIC_SOFTIRQ, .detail = 3, .bucket = 50 },
		    LATENCY_DURING, 256);
	store_value(&stored,
		    (struct histogram_key){ .metric = METRIC_BLOCK_QUEUE,
					    .detail = 1 | BLOCK_FAILED,
					    .object = 4095ULL << 20 | 12345,
					    .owner = 7,
					    .bucket = 50 },
		    LATENCY_DURING, 512);
	store_value(
		&stored,
		(struct histogram_key){ .metric = METRIC_REQUEST, .object = 80, .owner = 7, .bucket = 50 },
		LATENCY_DURING, 1024);
	store_value(&stored,
		    (struct histogram_key){ .metric = METRIC_REQUEST_QUEUED,
					    .detail = REQUEST_SHARED,
					    .object = 65535,
					    .owner = 7,
					    .bucket = 50 },
		    LATENCY_DURING, 2048);
	store_value(&stored,
		    (struct histogram_key){ .metric = METRIC_REQUEST_MULTIPLEXED,
					    .object = REQUEST_PORT_OTHER,
					    .owner = 7,
					    .bucket = 50 },
		    LATENCY_DURING, 4096);
	store_write(&stored);
	expect_label(&stored, "request", "web.service:80", 1024);
	expect_label(&stored, "request.queued", "web.service:65535 shared", 2048);
	expect_label(&stored, "request.multiplexed", "web.service", 4096);
	expect_label(&stored, "runqueue", "web.service", 1);
	expect_label(&stored, "runqueue", "other", 6);
	expect_label(&stored, "offcpu", "io web.service", 8);
	expect_label(&stored, "lock", "mutex do_unlinkat", 16);
	expect_label(&stored, "lock", "spinlock", 32);
	expect_label(&stored, "lock", "futex 0000000000000abc web.service", 64);
	expect_label(&stored, "memory", "memcg reclaim web.service", 128);
	expect_label(&stored, "softirq", "NET_RX", 256);
	expect_label(&stored, "block.queue", "4095:12345 write failed web.service", 512);
	expect_number(&stored, "SELECT count(*) FROM latency_measured", 2 * METRICS);
	expect_number(&stored, "SELECT p99_ns FROM latency_percentile WHERE label = 'NET_RX'",
		      (sqlite3_int64)bucket_begins(51));
	expect_number(&stored, "SELECT sum(is_partial) FROM latency_percentile", 0);
	expect_number(&stored, "SELECT sum_ns FROM histogram WHERE label = 'NET_RX'", 25600);
	sql_close(&stored.sql);
}
END_TEST

/* The database keeps what took longest apart, and loses nothing. */
START_TEST(many_labels_become_one)
{
	static struct stored stored;

	store_make(&stored);
	for (uint32_t i = 0; i < 6000; i++)
		store_value(
			&stored,
			(struct histogram_key){
				.metric = METRIC_LOCK, .detail = LOCK_FUTEX, .object = i + 1, .bucket = 9 },
			LATENCY_DURING, 1 + i);
	store_write(&stored);
	expect_number(&stored, "SELECT sum(count) FROM histogram", 6000 * 6001 / 2);
	expect_number(&stored, "SELECT count(*) FROM histogram_row", LATENCY_ROWS_MAX + 1);
	expect_label(&stored, "lock", "other", 2000 * 2001 / 2);
	expect_label(&stored, "lock", "futex 0000000000001770", 6000);
	sql_close(&stored.sql);
}
END_TEST

SUITE(latency)
{
	Suite *suite = suite_create("latency");
	TCase *kernel = tcase_create("kernel"), *spans = tcase_create("spans"),
	      *stored = tcase_create("stored");

	tcase_add_test(kernel, each_value_has_a_narrow_bucket);
	tcase_add_test(kernel, groups_are_read_by_name);
	tcase_add_test(kernel, slots_are_read_for_what_they_are);
	tcase_add_test(kernel, tallies_are_of_the_newest_epoch);
	suite_add_tcase(suite, kernel);
	tcase_add_test(spans, epochs_go_where_their_middle_is);
	tcase_add_test(spans, a_capture_within_one_epoch_has_it);
	tcase_add_test(spans, what_has_no_room_is_lost);
	suite_add_tcase(suite, spans);
	tcase_add_test(stored, labels_say_what_people_know);
	tcase_add_test(stored, many_labels_become_one);
	suite_add_tcase(suite, stored);
	return suite;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that a reader of a sample ring gets every sample once, in order and whole, or counts it as lost:
 * on rings that are empty, filled in part, wrapped, lapped, being written, and with slots that cannot be.
 */
#include "common/cleanup.h"
#include "consumer/capture/ring.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#define SLOTS 8U
#define TIME_OF(seq) ((seq)*1000U)

/* What a reader was given. */
struct seen {
	uint64_t count, first, last;
	struct sample sample;
};

static void see(void *user, const struct sample *sample)
{
	struct seen *seen = user;

	HOLDS(sample->time_ns == TIME_OF(sample->seq));
	HOLDS(sample->seq > seen->last);
	if (!seen->count++)
		seen->first = sample->seq;
	seen->last = sample->seq;
	seen->sample = *sample;
}

static void write_samples(struct fake_ring *ring, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		struct sample sample = sample_make(1, TIME_OF(ring->written + 1), 1, 2, ring->written + 1);

		fake_ring_write(ring, &sample);
	}
}

struct begin_case {
	uint64_t written;
	uint64_t first;  /* that is delivered, 0: none */
	uint64_t oldest; /* seq whose time ring_begin() tells, 0: it tells 0 */
};

/* The oldest slot of a full ring is the next to be overwritten, and left alone. */
static const struct begin_case begin_cases[] = {
	{ 0, 0, 0 },
	{ 1, 1, 0 },
	{ SLOTS / 2, 1, 0 },
	{ SLOTS - 1, 1, 0 },
	{ SLOTS, 2, 2 },
	{ SLOTS + 1, 3, 3 },
	{ 2 * SLOTS - 1, SLOTS + 1, SLOTS + 1 },
	{ 2 * SLOTS, SLOTS + 2, SLOTS + 2 },
	{ 5 * SLOTS + 3, 4 * SLOTS + 5, 4 * SLOTS + 5 },
};

START_TEST(begins_at_the_oldest_safe_sample)
{
	const struct begin_case *one = &begin_cases[_i];
	struct ring_reader reader;
	struct fake_ring ring;
	struct seen seen = { 0 };
	uint64_t oldest_ns = 1;

	fake_ring_make(&ring, SLOTS);
	write_samples(&ring, one->written);
	ring_begin(&reader, ring.slots, SLOTS, &oldest_ns);
	ck_assert_uint_eq(oldest_ns, TIME_OF(one->oldest));
	ring_read(&reader, see, &seen);
	ck_assert_uint_eq(seen.first, one->first);
	ck_assert_uint_eq(seen.last, one->written);
	ck_assert_uint_eq(seen.count, one->first ? one->written - one->first + 1 : 0);
	ck_assert_uint_eq(reader.lost, 0);
	ck_assert_uint_eq(reader.torn, 0);
	/* what has been read does not come again, and what is new comes */
	ring_read(&reader, see, &seen);
	ck_assert_uint_eq(seen.last, one->written);
	write_samples(&ring, 3);
	ring_read(&reader, see, &seen);
	ck_assert_uint_eq(seen.last, one->written + 3);
	ck_assert_uint_eq(reader.lost, 0);
	fake_ring_free(&ring);
}
END_TEST

/* From 1 to three laps written behind a reader that has read `before`. */
START_TEST(counts_a_gap)
{
	for (uint64_t before = 0; before < 2 * SLOTS; before++) {
		uint64_t more = (uint64_t)_i + 1, delivered = more < SLOTS ? more : SLOTS;
		struct ring_reader reader;
		struct seen seen = { 0 };
		struct fake_ring ring;
		uint64_t oldest_ns;

		fake_ring_make(&ring, SLOTS);
		ring_begin(&reader, ring.slots, SLOTS, &oldest_ns);
		for (uint64_t i = 0; i < before; i++) {
			write_samples(&ring, 1);
			ring_read(&reader, see, &seen);
		}
		ck_assert_uint_eq(seen.count, before);
		write_samples(&ring, more);
		ring_read(&reader, see, &seen);
		ck_assert_uint_eq(seen.last, before + more);
		ck_assert_uint_eq(seen.count, before + delivered);
		ck_assert_uint_eq(reader.lost, more - delivered);
		ck_assert_uint_eq(reader.torn, 0);
		fake_ring_free(&ring);
	}
}
END_TEST

START_TEST(waits_for_a_slot_that_is_being_written)
{
	struct ring_reader reader;
	struct seen seen = { 0 };
	struct fake_ring ring;
	struct sample *slot;
	uint64_t oldest_ns;

	fake_ring_make(&ring, SLOTS);
	write_samples(&ring, SLOTS + 3);
	slot = fake_ring_begin(&ring); /* sample 4's slot */
	ring_begin(&reader, ring.slots, SLOTS, &oldest_ns);
	ck_assert_uint_eq(oldest_ns, TIME_OF(5));
	ring_read(&reader, see, &seen);
	ck_assert_uint_eq(seen.first, 5);
	ck_assert_uint_eq(seen.last, SLOTS + 3);
	slot->time_ns = TIME_OF(SLOTS + 4);
	fake_ring_publish(&ring);
	ring_read(&reader, see, &seen);
	ck_assert_uint_eq(seen.last, SLOTS + 4);
	ck_assert_uint_eq(reader.lost, 0);
	fake_ring_free(&ring);
}
END_TEST

/* A reader that was lapped meets the writer at work in the very slot that it wants. */
START_TEST(survives_a_writer_in_its_next_slot)
{
	struct ring_reader reader;
	struct seen seen = { 0 };
	struct fake_ring ring;
	struct sample *slot;
	uint64_t oldest_ns;

	fake_ring_make(&ring, SLOTS);
	write_samples(&ring, 3);
	ring_begin(&reader, ring.slots, SLOTS, &oldest_ns);
	ring_read(&reader, see, &seen);
	write_samples(&ring, SLOTS);
	slot = fake_ring_begin(&ring); /* overwrites sample 4 */
	ring_read(&reader, see, &seen);
	ck_assert_uint_eq(seen.last, 3);
	slot->time_ns = TIME_OF(SLOTS + 4);
	fake_ring_publish(&ring);
	ring_read(&reader, see, &seen);
	ck_assert_uint_eq(seen.last, SLOTS + 4);
	ck_assert_uint_eq(seen.count, 3 + SLOTS);
	ck_assert_uint_eq(reader.lost, 1);
	fake_ring_free(&ring);
}
END_TEST

START_TEST(readers_do_not_disturb_each_other)
{
	struct seen all = { 0 }, late = { 0 };
	struct ring_reader early, later;
	struct fake_ring ring;
	uint64_t oldest_ns;

	fake_ring_make(&ring, SLOTS);
	ring_begin(&early, ring.slots, SLOTS, &oldest_ns);
	write_samples(&ring, 2);
	ring_read(&early, see, &all);
	ring_begin(&later, ring.slots, SLOTS, &oldest_ns);
	write_samples(&ring, 2);
	ring_read(&later, see, &late);
	ring_read(&early, see, &all);
	ck_assert_uint_eq(all.count, 4);
	ck_assert_uint_eq(late.count, 4);
	fake_ring_free(&ring);
}
END_TEST

/* One slot is the least that a ring can have: a full one has no sample that is safe to read. */
START_TEST(a_ring_of_one_slot)
{
	struct ring_reader reader;
	struct seen seen = { 0 };
	struct fake_ring ring;
	uint64_t oldest_ns;

	fake_ring_make(&ring, 1);
	write_samples(&ring, 1);
	ring_begin(&reader, ring.slots, 1, &oldest_ns);
	ring_read(&reader, see, &seen);
	ck_assert_uint_eq(seen.count, 0);
	write_samples(&ring, 1);
	ring_read(&reader, see, &seen);
	ck_assert_uint_eq(seen.count, 1);
	write_samples(&ring, 5);
	ring_read(&reader, see, &seen);
	ck_assert_uint_eq(seen.count, 2);
	ck_assert_uint_eq(reader.lost, 4);
	fake_ring_free(&ring);
}
END_TEST

struct slot_case {
	uint16_t type, bytes;
	int16_t kernel_depth, user_depth;
	bool sane;
};

static const struct slot_case slot_cases[] = {
	{ RECORD_SAMPLE, sizeof(struct sample), 0, 0, true },
	{ RECORD_SAMPLE, sizeof(struct sample), SAMPLE_KERNEL_FRAMES, SAMPLE_USER_FRAMES, true },
	{ RECORD_SAMPLE, sizeof(struct sample), -EFAULT, -EFAULT, true },
	{ RECORD_SAMPLE, sizeof(struct sample), INT16_MIN, INT16_MIN, true },
	{ RECORD_SAMPLE, sizeof(struct sample), SAMPLE_KERNEL_FRAMES + 1, 0, false },
	{ RECORD_SAMPLE, sizeof(struct sample), 0, SAMPLE_USER_FRAMES + 1, false },
	{ RECORD_SAMPLE, sizeof(struct sample), INT16_MAX, INT16_MAX, false },
	{ RECORD_PROCESS, sizeof(struct sample), 1, 1, false },
	{ 0, 0, 1, 1, false },
	{ RECORD_SAMPLE, sizeof(struct sample) - 1, 1, 1, false },
	{ RECORD_SAMPLE, sizeof(struct sample) + 1, 1, 1, false },
};

START_TEST(what_a_slot_says_is_checked)
{
	const struct slot_case *one = &slot_cases[_i];
	struct ring_reader reader;
	struct seen seen = { 0 };
	struct fake_ring ring;
	struct sample *slot;
	uint64_t oldest_ns;

	fake_ring_make(&ring, SLOTS);
	write_samples(&ring, 1);
	slot = fake_ring_begin(&ring);
	slot->header = (struct record_header){ one->type, one->bytes };
	slot->time_ns = TIME_OF(2);
	slot->kernel_depth = one->kernel_depth;
	slot->user_depth = one->user_depth;
	fake_ring_publish(&ring);
	write_samples(&ring, 1);
	ring_begin(&reader, ring.slots, SLOTS, &oldest_ns);
	ring_read(&reader, see, &seen);
	ck_assert_uint_eq(seen.last, 3);
	ck_assert_uint_eq(seen.count, one->sane ? 3 : 2);
	ck_assert_uint_eq(reader.lost, !one->sane);
	ck_assert_uint_eq(reader.torn, !one->sane);
	fake_ring_free(&ring);
}
END_TEST

/*
 * Slot 0 has the numbers 1, 9, 17: whatever else it says, its neighbours are read and no number is made up.
 */
START_TEST(a_number_of_another_slot)
{
	struct ring_reader reader;
	struct seen seen = { 0 };
	struct fake_ring ring;
	uint64_t oldest_ns;

	fake_ring_make(&ring, SLOTS);
	write_samples(&ring, 4);
	ring.slots[0].seq = SLOTS - 1;
	ring_begin(&reader, ring.slots, SLOTS, &oldest_ns);
	ring_read(&reader, see, &seen);
	ck_assert_uint_eq(seen.count, 3);
	ck_assert_uint_eq(seen.first, 2);
	ck_assert_uint_eq(reader.next_seq, 5);
	ck_assert_uint_eq(reader.lost, 1);
	ck_assert_uint_eq(reader.torn, 1);
	fake_ring_free(&ring);
}
END_TEST

/* Behind it a reader would begin again at 0, which is the number of slots that are being written. */
START_TEST(the_last_number_of_all)
{
	struct ring_reader reader;
	struct seen seen = { 0 };
	struct fake_ring ring;
	uint64_t oldest_ns;

	fake_ring_make(&ring, 1);
	write_samples(&ring, 1);
	ring.slots[0].seq = UINT64_MAX;
	ring_begin(&reader, ring.slots, 1, &oldest_ns);
	ring_read(&reader, see, &seen);
	ck_assert_uint_eq(seen.count, 0);
	ck_assert_uint_eq(reader.lost, 0);
	ck_assert_uint_eq(reader.next_seq, 1);
	fake_ring_free(&ring);
}
END_TEST

START_TEST(copies_what_is_there)
{
	struct sample sample = sample_make(42, TIME_OF(1), 64, 127, 0x1234);
	struct ring_reader reader;
	struct seen seen = { 0 };
	struct fake_ring ring;
	uint64_t oldest_ns;

	memset(sample.comm, 'x', sizeof(sample.comm)); /* no terminator */
	sample.kernel_frames[63] = KERNEL_FRAME_UNKNOWN;
	sample.user_frames[126] = UINT64_MAX;
	fake_ring_make(&ring, SLOTS);
	fake_ring_write(&ring, &sample);
	ring_begin(&reader, ring.slots, SLOTS, &oldest_ns);
	ring_read(&reader, see, &seen);
	ck_assert_uint_eq(seen.count, 1);
	ck_assert_str_eq(seen.sample.comm, "xxxxxxxxxxxxxxx");
	sample.comm[ABI_COMM_BYTES - 1] = '\0';
	sample.seq = 1;
	ck_assert_mem_eq(&seen.sample, &sample, sizeof(sample));
	fake_ring_free(&ring);
}
END_TEST

/* ---- a writer that never waits ---- */

#define RACE_SLOTS 16U
#define RACE_SAMPLES 400000U

struct race {
	struct fake_ring ring;
	bool ended;
	struct dice pauses;
};

/* Everything in a sample says its number, and its depths are made of it. */
static void *write_race(void *user)
{
	struct race *race = user;

	for (uint64_t seq = 1; seq <= RACE_SAMPLES; seq++) {
		struct sample *slot = fake_ring_begin(&race->ring);

		slot->time_ns = TIME_OF(seq);
		slot->weight_ns = slot->started_ns = slot->cgroup_id = seq;
		slot->tgid = slot->tid = slot->pattern_id = (uint32_t)seq;
		slot->kernel_depth = (int16_t)(seq % (SAMPLE_KERNEL_FRAMES + 1));
		slot->user_depth = (int16_t)(seq % (SAMPLE_USER_FRAMES + 1));
		for (int i = 0; i < slot->kernel_depth; i++)
			slot->kernel_frames[i] = (int32_t)seq;
		for (int i = 0; i < slot->user_depth; i++)
			slot->user_frames[i] = seq;
		fake_ring_publish(&race->ring);
		if (!dice_below(&race->pauses, 4096))
			sched_yield();
	}
	__atomic_store_n(&race->ended, true, __ATOMIC_RELEASE);
	return NULL;
}

static void see_whole(void *user, const struct sample *sample)
{
	uint64_t seq = sample->seq;

	see(user, sample);
	HOLDS(sample->weight_ns == seq && sample->started_ns == seq && sample->cgroup_id == seq);
	HOLDS(sample->tgid == (uint32_t)seq && sample->tid == (uint32_t)seq);
	HOLDS(sample->pattern_id == (uint32_t)seq);
	HOLDS(sample->kernel_depth == (int)(seq % (SAMPLE_KERNEL_FRAMES + 1)));
	HOLDS(sample->user_depth == (int)(seq % (SAMPLE_USER_FRAMES + 1)));
	for (int i = 0; i < sample->kernel_depth; i++)
		HOLDS(sample->kernel_frames[i] == (int32_t)seq);
	for (int i = 0; i < sample->user_depth; i++)
		HOLDS(sample->user_frames[i] == seq);
}

START_TEST(no_torn_sample_is_delivered)
{
	struct race race = { .pauses = dice_new(1) };
	struct ring_reader reader;
	struct seen seen = { 0 };
	pthread_t writer;
	uint64_t oldest_ns;
	bool ended;

	fake_ring_make(&race.ring, RACE_SLOTS);
	ring_begin(&reader, race.ring.slots, RACE_SLOTS, &oldest_ns);
	ck_assert_int_eq(pthread_create(&writer, NULL, write_race, &race), 0);
	do {
		ended = __atomic_load_n(&race.ended, __ATOMIC_ACQUIRE);
		ring_read(&reader, see_whole, &seen);
	} while (!ended);
	pthread_join(writer, NULL);
	ck_assert_uint_eq(seen.last, RACE_SAMPLES);
	ck_assert_uint_eq(seen.count + reader.lost, RACE_SAMPLES);
	ck_assert_uint_ge(reader.lost, reader.torn);
	ck_assert_uint_ge(seen.count, RACE_SLOTS);
	fake_ring_free(&race.ring);
}
END_TEST

Suite *ring_suite(void)
{
	Suite *suite = suite_create("ring");
	TCase *still = tcase_create("at rest"), *race = tcase_create("race");

	tcase_add_loop_test(still, begins_at_the_oldest_safe_sample, 0, ARRAY_SIZE(begin_cases));
	tcase_add_loop_test(still, counts_a_gap, 0, 3 * SLOTS + 2);
	tcase_add_test(still, waits_for_a_slot_that_is_being_written);
	tcase_add_test(still, survives_a_writer_in_its_next_slot);
	tcase_add_test(still, readers_do_not_disturb_each_other);
	tcase_add_test(still, a_ring_of_one_slot);
	tcase_add_loop_test(still, what_a_slot_says_is_checked, 0, ARRAY_SIZE(slot_cases));
	tcase_add_test(still, a_number_of_another_slot);
	tcase_add_test(still, the_last_number_of_all);
	tcase_add_test(still, copies_what_is_there);
	tcase_set_timeout(race, 120);
	tcase_add_test(race, no_torn_sample_is_delivered);
	suite_add_tcase(suite, still);
	suite_add_tcase(suite, race);
	return suite;
}

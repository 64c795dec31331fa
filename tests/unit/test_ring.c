/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that a reader of a sample ring delivers each sample once, whole and in order, or counts it as lost:
 * on rings that are empty, partly filled, wrapped, lapped, being written, and with slots that are invalid.
 */
#include "common/base/cleanup.h"
#include "consumer/capture/ring.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#define SLOTS 8U
#define TIME_OF(seq) ((seq)*1000U)

/* What a reader delivered. */
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

/* A ring, its reader, and what the reader delivered. */
struct scene {
	struct fake_ring ring;
	struct ring_reader reader;
	struct seen seen;
	uint64_t oldest_ns; /* as ring_begin() sets it */
};

static void scene_make(struct scene *scene, uint32_t slots)
{
	*scene = (struct scene){ .oldest_ns = 1 };
	fake_ring_make(&scene->ring, slots);
}

static void scene_begin(struct scene *scene)
{
	ring_begin(&scene->reader, scene->ring.slots, scene->ring.slots_count, &scene->oldest_ns);
}

static void scene_read(struct scene *scene)
{
	ring_read(&scene->reader, see, &scene->seen);
}

static void scene_free(struct scene *scene)
{
	fake_ring_free(&scene->ring);
}

struct begin_case {
	uint64_t written;
	uint64_t first;  /* the seq delivered first; 0: none is */
	uint64_t oldest; /* the seq whose time ring_begin() returns; 0: it returns 0 */
};

/* The oldest slot of a full ring is the next that the writer overwrites: the reader skips it. */
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
	struct scene scene;

	scene_make(&scene, SLOTS);
	write_samples(&scene.ring, one->written);
	scene_begin(&scene);
	ck_assert_uint_eq(scene.oldest_ns, TIME_OF(one->oldest));
	scene_read(&scene);
	ck_assert_uint_eq(scene.seen.first, one->first);
	ck_assert_uint_eq(scene.seen.last, one->written);
	ck_assert_uint_eq(scene.seen.count, one->first ? one->written - one->first + 1 : 0);
	ck_assert_uint_eq(scene.reader.lost, 0);
	ck_assert_uint_eq(scene.reader.torn, 0);
	/* a second read delivers new samples only */
	scene_read(&scene);
	ck_assert_uint_eq(scene.seen.last, one->written);
	write_samples(&scene.ring, 3);
	scene_read(&scene);
	ck_assert_uint_eq(scene.seen.last, one->written + 3);
	ck_assert_uint_eq(scene.reader.lost, 0);
	scene_free(&scene);
}
END_TEST

/* The reader has read `before` samples; the writer adds 1 to three laps before the next read. */
START_TEST(counts_a_gap)
{
	for (uint64_t before = 0; before < 2 * SLOTS; before++) {
		uint64_t more = (uint64_t)_i + 1, delivered = more < SLOTS ? more : SLOTS;
		struct scene scene;

		scene_make(&scene, SLOTS);
		scene_begin(&scene);
		for (uint64_t i = 0; i < before; i++) {
			write_samples(&scene.ring, 1);
			scene_read(&scene);
		}
		ck_assert_uint_eq(scene.seen.count, before);
		write_samples(&scene.ring, more);
		scene_read(&scene);
		ck_assert_uint_eq(scene.seen.last, before + more);
		ck_assert_uint_eq(scene.seen.count, before + delivered);
		ck_assert_uint_eq(scene.reader.lost, more - delivered);
		ck_assert_uint_eq(scene.reader.torn, 0);
		scene_free(&scene);
	}
}
END_TEST

START_TEST(waits_for_a_slot_that_is_being_written)
{
	struct scene scene;
	struct sample *slot;

	scene_make(&scene, SLOTS);
	write_samples(&scene.ring, SLOTS + 3);
	slot = fake_ring_begin(&scene.ring); /* the slot of sample 4 */
	scene_begin(&scene);
	ck_assert_uint_eq(scene.oldest_ns, TIME_OF(5));
	scene_read(&scene);
	ck_assert_uint_eq(scene.seen.first, 5);
	ck_assert_uint_eq(scene.seen.last, SLOTS + 3);
	slot->time_ns = TIME_OF(SLOTS + 4);
	fake_ring_publish(&scene.ring);
	scene_read(&scene);
	ck_assert_uint_eq(scene.seen.last, SLOTS + 4);
	ck_assert_uint_eq(scene.reader.lost, 0);
	scene_free(&scene);
}
END_TEST

/* The writer has lapped the reader and is writing the slot that the reader reads next. */
START_TEST(a_writer_in_the_next_slot)
{
	struct scene scene;
	struct sample *slot;

	scene_make(&scene, SLOTS);
	write_samples(&scene.ring, 3);
	scene_begin(&scene);
	scene_read(&scene);
	write_samples(&scene.ring, SLOTS);
	slot = fake_ring_begin(&scene.ring); /* overwrites sample 4 */
	scene_read(&scene);
	ck_assert_uint_eq(scene.seen.last, 3);
	slot->time_ns = TIME_OF(SLOTS + 4);
	fake_ring_publish(&scene.ring);
	scene_read(&scene);
	ck_assert_uint_eq(scene.seen.last, SLOTS + 4);
	ck_assert_uint_eq(scene.seen.count, 3 + SLOTS);
	ck_assert_uint_eq(scene.reader.lost, 1);
	scene_free(&scene);
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

/* The smallest ring: when it is full, the writer may overwrite its only sample at any time. */
START_TEST(a_ring_of_one_slot)
{
	struct scene scene;

	scene_make(&scene, 1);
	write_samples(&scene.ring, 1);
	scene_begin(&scene);
	scene_read(&scene);
	ck_assert_uint_eq(scene.seen.count, 0);
	write_samples(&scene.ring, 1);
	scene_read(&scene);
	ck_assert_uint_eq(scene.seen.count, 1);
	write_samples(&scene.ring, 5);
	scene_read(&scene);
	ck_assert_uint_eq(scene.seen.count, 2);
	ck_assert_uint_eq(scene.reader.lost, 4);
	scene_free(&scene);
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

START_TEST(invalid_slots_are_lost)
{
	const struct slot_case *one = &slot_cases[_i];
	struct scene scene;
	struct sample *slot;

	scene_make(&scene, SLOTS);
	write_samples(&scene.ring, 1);
	slot = fake_ring_begin(&scene.ring);
	slot->header = (struct record_header){ one->type, one->bytes };
	slot->time_ns = TIME_OF(2);
	slot->kernel_depth = one->kernel_depth;
	slot->user_depth = one->user_depth;
	fake_ring_publish(&scene.ring);
	write_samples(&scene.ring, 1);
	scene_begin(&scene);
	scene_read(&scene);
	ck_assert_uint_eq(scene.seen.last, 3);
	ck_assert_uint_eq(scene.seen.count, one->sane ? 3 : 2);
	ck_assert_uint_eq(scene.reader.lost, !one->sane);
	ck_assert_uint_eq(scene.reader.torn, !one->sane);
	scene_free(&scene);
}
END_TEST

/* Slot 0 can hold 1, 9, 17 ...: with any other number it is lost, and the other slots are read. */
START_TEST(a_slot_with_the_number_of_another)
{
	struct scene scene;

	scene_make(&scene, SLOTS);
	write_samples(&scene.ring, 4);
	scene.ring.slots[0].seq = SLOTS - 1;
	scene_begin(&scene);
	scene_read(&scene);
	ck_assert_uint_eq(scene.seen.count, 3);
	ck_assert_uint_eq(scene.seen.first, 2);
	ck_assert_uint_eq(scene.reader.next_seq, 5);
	ck_assert_uint_eq(scene.reader.lost, 1);
	ck_assert_uint_eq(scene.reader.torn, 1);
	scene_free(&scene);
}
END_TEST

/* The number after UINT64_MAX is 0, which marks a slot that is being written. */
START_TEST(the_largest_number)
{
	struct scene scene;

	scene_make(&scene, 1);
	write_samples(&scene.ring, 1);
	scene.ring.slots[0].seq = UINT64_MAX;
	scene_begin(&scene);
	scene_read(&scene);
	ck_assert_uint_eq(scene.seen.count, 0);
	ck_assert_uint_eq(scene.reader.lost, 0);
	ck_assert_uint_eq(scene.reader.next_seq, 1);
	scene_free(&scene);
}
END_TEST

START_TEST(copies_the_whole_sample)
{
	struct sample sample = sample_make(42, TIME_OF(1), 64, 127, 0x1234);
	struct scene scene;

	memset(sample.comm, 'x', sizeof(sample.comm)); /* no terminator */
	sample.kernel_frames[63] = KERNEL_FRAME_UNKNOWN;
	sample.user_frames[126] = UINT64_MAX;
	scene_make(&scene, SLOTS);
	fake_ring_write(&scene.ring, &sample);
	scene_begin(&scene);
	scene_read(&scene);
	ck_assert_uint_eq(scene.seen.count, 1);
	ck_assert_str_eq(scene.seen.sample.comm, "xxxxxxxxxxxxxxx");
	sample.comm[ABI_COMM_BYTES - 1] = '\0';
	sample.seq = 1;
	ck_assert_mem_eq(&scene.seen.sample, &sample, sizeof(sample));
	scene_free(&scene);
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

/* Each field of a sample is its number, or made from it. */
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

SUITE(ring)
{
	Suite *suite = suite_create("ring");
	TCase *still = tcase_create("at rest"), *race = tcase_create("race");

	tcase_add_loop_test(still, begins_at_the_oldest_safe_sample, 0, ARRAY_SIZE(begin_cases));
	tcase_add_loop_test(still, counts_a_gap, 0, 3 * SLOTS + 2);
	tcase_add_test(still, waits_for_a_slot_that_is_being_written);
	tcase_add_test(still, a_writer_in_the_next_slot);
	tcase_add_test(still, readers_do_not_disturb_each_other);
	tcase_add_test(still, a_ring_of_one_slot);
	tcase_add_loop_test(still, invalid_slots_are_lost, 0, ARRAY_SIZE(slot_cases));
	tcase_add_test(still, a_slot_with_the_number_of_another);
	tcase_add_test(still, the_largest_number);
	tcase_add_test(still, copies_the_whole_sample);
	tcase_add_test(race, no_torn_sample_is_delivered);
	suite_add_tcase(suite, still);
	suite_add_tcase(suite, race);
	return suite;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that a capture which begins while another one drains the rings has the intervals that they no longer hold, from
 * the time that is told and no other, and that what is kept for it has a bound.
 */
#include "consumer/capture/capture_samples.h"
#include "consumer/capture/past.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <stdlib.h>

#define SECOND 1000000000UL
#define MS 1000000UL
#define ARMED (100 * SECOND)
#define CPUS 2U
#define SLOTS 16U
#define NEVER 0U

struct scene {
	struct fake_ring offcpu[CPUS];
	struct rings rings;
	struct past past;
	struct capture *capture;
};

static void scene_make(struct scene *scene)
{
	struct sample *oncpu = calloc(CPUS * SLOTS, sizeof(*oncpu)),
		      *offcpu = calloc(CPUS * SLOTS, sizeof(*offcpu));

	*scene = (struct scene){ .rings = { oncpu, SLOTS, CPUS, ARMED, offcpu } };
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		scene->offcpu[cpu] = (struct fake_ring){ offcpu + cpu * SLOTS, SLOTS, 0 };
	ck_assert_int_eq(past_begin(&scene->past, &scene->rings), 0);
}

static void scene_free(struct scene *scene)
{
	capture_free(scene->capture);
	past_free(&scene->past);
	free(scene->offcpu[0].slots);
	free((void *)scene->rings.slots);
}

/* An interval of 1 ms that ends at `time_ns`. */
static struct sample interval(uint64_t time_ns, int user_depth)
{
	struct sample sample = sample_make(1, time_ns, 3, user_depth, 0x1000);

	sample.kind = SAMPLE_OFF_CPU;
	sample.left_ns = time_ns - MS;
	sample.woken_ns = time_ns;
	sample.weight_ns = MS;
	return sample;
}

static void wait(struct scene *scene, uint32_t cpu, uint64_t time_ns, int user_depth)
{
	const struct sample sample = interval(time_ns, user_depth);

	fake_ring_write(&scene->offcpu[cpu], &sample);
}

static bool describe(void *user, const struct sample *sample, struct capture_process *process)
{
	(void)user;
	(void)sample;
	process->role = USAGE_TARGET;
	return true;
}

static void begin_at(struct scene *scene, uint64_t triggered_ns, uint64_t history_ns)
{
	const struct capture_trigger trigger = { .mode = TRIGGER_KERNEL,
						 .triggered_ns = triggered_ns,
						 .wanted_history_ns = history_ns,
						 .capture_ns = SECOND };

	past_read(&scene->past, NEVER);
	scene->capture = capture_begin(&trigger, &scene->rings);
	past_join(&scene->past, scene->capture);
	past_add(&scene->past, scene->capture, describe, NULL);
	capture_drain(scene->capture, describe, NULL);
}

static uint64_t intervals_of(const struct capture *capture)
{
	uint64_t intervals = 0;

	for (uint32_t i = 0; i < capture->rows_count; i++)
		intervals += capture->rows[i].samples;
	return intervals;
}

START_TEST(what_the_rings_hold_no_longer)
{
	struct scene scene;
	uint64_t now_ns = ARMED;

	scene_make(&scene);
	/* six times what a ring holds, and half of it behind the last reading */
	for (uint32_t i = 0; i < 13; i++) {
		for (uint32_t j = 0; j < SLOTS / 2; j++)
			wait(&scene, i % CPUS, now_ns += 10 * MS, 2 + (int)(j % 2));
		if (i < 12)
			past_read(&scene.past, NEVER);
	}
	begin_at(&scene, now_ns + 1, 2 * SECOND);
	ck_assert_uint_eq(intervals_of(scene.capture), 13 * SLOTS / 2);
	ck_assert_uint_eq(scene.capture->stacks.count, 2);
	ck_assert_uint_eq(scene.capture->taken, 13 * SLOTS / 2);
	/* since the rings are armed: all of them */
	ck_assert_uint_eq(scene.capture->offcpu_from_ns, ARMED);
	/* and what comes then, once */
	wait(&scene, 0, now_ns + MS, 2);
	capture_drain(scene.capture, describe, NULL);
	ck_assert_uint_eq(scene.capture->taken, 13 * SLOTS / 2 + 1);
	capture_end(scene.capture, now_ns + SECOND, false);
	ck_assert_uint_eq(scene.capture->losses[LOSS_OVERWRITTEN], 0);
	scene_free(&scene);
}
END_TEST

START_TEST(where_memory_grew_is_kept_too)
{
	struct sample sample = sample_make(1, ARMED + MS, 3, 2, 0x1000);
	struct scene scene;

	scene_make(&scene);
	sample.kind = SAMPLE_GROWTH;
	sample.weight_ns = 1 << 20;
	fake_ring_write(&scene.offcpu[1], &sample);
	past_read(&scene.past, NEVER);
	begin_at(&scene, ARMED + SECOND, SECOND);
	ck_assert_uint_eq(scene.capture->growths.count, 1);
	ck_assert_uint_eq(scene.capture->growths.rows[0].bytes, 1 << 20);
	ck_assert_uint_eq(scene.capture->taken, 0);
	scene_free(&scene);
}
END_TEST

START_TEST(no_more_than_the_rule_wants)
{
	struct scene scene;
	uint64_t now_ns = ARMED;

	scene_make(&scene);
	for (uint32_t i = 0; i < 100; i++) {
		wait(&scene, 0, now_ns += 10 * MS, 2);
		past_read(&scene.past, NEVER);
	}
	begin_at(&scene, now_ns + 1, 300 * MS);
	ck_assert_uint_eq(scene.capture->taken, 30);
	ck_assert_uint_eq(scene.capture->offcpu_from_ns, now_ns + 1 - 300 * MS);
	scene_free(&scene);
}
END_TEST

/* Older ones are forgotten when they are told to be, and then the history begins later. */
START_TEST(what_is_too_old)
{
	struct scene scene;
	uint64_t now_ns = ARMED;

	scene_make(&scene);
	for (uint32_t i = 0; i < 10000; i++) {
		wait(&scene, 0, now_ns += 10 * MS, 2);
		past_read(&scene.past, now_ns - 5 * SECOND);
	}
	begin_at(&scene, now_ns + 1, 100 * SECOND);
	/* by the block */
	ck_assert_uint_ge(scene.capture->taken, 501);
	ck_assert_uint_le(scene.capture->taken, 1200);
	ck_assert_uint_eq(scene.capture->offcpu_from_ns, now_ns - scene.capture->taken * 10 * MS + 1);
	scene_free(&scene);
}
END_TEST

/* Nothing reads the rings between two captures: what they lost meanwhile is no history. */
START_TEST(a_gap_begins_the_history_anew)
{
	struct scene scene;
	uint64_t now_ns = ARMED;

	scene_make(&scene);
	wait(&scene, 0, now_ns += 10 * MS, 2);
	past_read(&scene.past, NEVER);
	for (uint32_t i = 0; i < 3 * SLOTS; i++)
		wait(&scene, 0, now_ns += 10 * MS, 2);
	begin_at(&scene, now_ns + 1, 2 * SECOND);
	ck_assert_uint_eq(scene.capture->taken, SLOTS);
	ck_assert_uint_eq(scene.capture->offcpu_from_ns, now_ns - (SLOTS - 1) * 10 * MS);
	scene_free(&scene);
}
END_TEST

START_TEST(the_memory_has_a_bound)
{
	struct scene scene;
	uint64_t now_ns = ARMED;
	uint64_t taken;
	size_t most = 0;

	scene_make(&scene);
	for (uint32_t i = 0; i < 20000; i++) {
		struct sample sample = interval(now_ns += MS, (int)(i % (SAMPLE_USER_FRAMES + 1)));

		/* what cannot be compressed */
		for (int j = 0; j < sample.user_depth; j++)
			sample.user_frames[j] = (uint64_t)rand() << 32 | (uint32_t)rand();
		fake_ring_write(&scene.offcpu[i % CPUS], &sample);
		past_read(&scene.past, NEVER);
		most = scene.past.room > most ? scene.past.room : most;
	}
	ck_assert_uint_le(most, 5U << 19);
	ck_assert_uint_gt(scene.past.from_ns, ARMED);
	begin_at(&scene, now_ns + 1, 20 * SECOND);
	/* what is told to be there is there */
	taken = scene.capture->taken + scene.capture->losses[LOSS_CAPTURE_FULL];
	ck_assert_uint_eq(taken, (now_ns - scene.capture->offcpu_from_ns) / MS + 1);
	ck_assert_uint_gt(taken, 3000);
	scene_free(&scene);
}
END_TEST

SUITE(past)
{
	Suite *suite = suite_create("past");
	TCase *kept = tcase_create("intervals off CPU");

	tcase_add_test(kept, what_the_rings_hold_no_longer);
	tcase_add_test(kept, where_memory_grew_is_kept_too);
	tcase_add_test(kept, no_more_than_the_rule_wants);
	tcase_add_test(kept, what_is_too_old);
	tcase_add_test(kept, a_gap_begins_the_history_anew);
	tcase_add_test(kept, the_memory_has_a_bound);
	suite_add_tcase(suite, kept);
	return suite;
}

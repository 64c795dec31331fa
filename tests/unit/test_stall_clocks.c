/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows, on a real map, that PSI's formula is applied to the clocks of the CPUs: the stall of each CPU is
 * weighted by its busy time between two readings, and a state that still holds counts until now.
 */
#include "common/base/cleanup.h"
#include "consumer/capture/stall_clocks.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <bpf/bpf.h>
#include <string.h>

#define SECOND 1000000000UL
#define STARTED (100 * SECOND)
#define CPUS 3U

static struct control control;
static struct kernel_objects kernel;
static struct stall_clocks clocks;

static void set_up(void)
{
	memset(&control, 0, sizeof(control));
	kernel = (struct kernel_objects){ .control = &control, .manifest = { .cpus = CPUS } };
	/* without BPF each test is skipped */
	kernel.map_fds[PIN_CLOCKS] =
		bpf_map_create(BPF_MAP_TYPE_ARRAY, "clocks", 4, sizeof(struct stall_clock), CPUS, NULL);
	clocks = (struct stall_clocks){ .kernel = &kernel };
}

static void tear_down(void)
{
	stall_clocks_stop(&clocks);
	cleanup_close(&kernel.map_fds[PIN_CLOCKS]);
}

/* Writes the clock of a CPU as the kernel programs do. */
static void put(uint32_t cpu, struct stall_clock clock)
{
	clock.epoch = control.clocks_epoch;
	ck_assert_int_eq(bpf_map_update_elem(kernel.map_fds[PIN_CLOCKS], &cpu, &clock, BPF_ANY), 0);
}

static void read_at(uint64_t now_ns, uint64_t cpu_us, uint64_t memory_us, uint64_t io_us)
{
	uint64_t some_us[CLOCK_RESOURCES];

	ck_assert(stall_clocks_read(&clocks, now_ns, some_us));
	ck_assert_uint_eq(some_us[CLOCK_CPU], cpu_us);
	ck_assert_uint_eq(some_us[CLOCK_MEMORY], memory_us);
	ck_assert_uint_eq(some_us[CLOCK_IO], io_us);
}

START_TEST(one_capture_at_a_time_has_the_clocks)
{
	SKIP_IF(no_bpf());
	uint64_t some_us[CLOCK_RESOURCES];
	uint32_t epoch;

	ck_assert(stall_clocks_start(&clocks, 77, 2, STARTED));
	epoch = control.clocks_epoch;
	ck_assert_uint_ne(epoch, 0);
	ck_assert_uint_eq(control.clocks_cgroup, 77);
	ck_assert_uint_eq(control.clocks_level, 2);
	ck_assert(!stall_clocks_start(&clocks, 78, 3, STARTED + SECOND));
	ck_assert_uint_eq(control.clocks_cgroup, 77);
	ck_assert(!stall_clocks_read(&clocks, STARTED + SECOND - 1, some_us));
	stall_clocks_stop(&clocks);
	ck_assert_uint_eq(control.clocks_epoch, 0);
	ck_assert(stall_clocks_start(&clocks, 0, 0, STARTED + SECOND));
	ck_assert_uint_ne(control.clocks_epoch, epoch);
}
END_TEST

START_TEST(each_cpu_is_weighted_by_its_busy_time)
{
	SKIP_IF(no_bpf());
	ck_assert(stall_clocks_start(&clocks, 0, 0, STARTED));
	put(0, (struct stall_clock){
		       .since_ns = STARTED + SECOND, .nonidle_ns = SECOND, .some_ns = { SECOND } });
	/* sums from before the first reading do not count */
	read_at(STARTED + SECOND, 0, 0, 0);
	put(0, (struct stall_clock){ .since_ns = STARTED + 3 * SECOND,
				     .nonidle_ns = 3 * SECOND,
				     .some_ns = { 3 * SECOND, 0, SECOND } });
	/* busy as long, without a stall; the third CPU is idle */
	put(1, (struct stall_clock){ .since_ns = STARTED + 3 * SECOND, .nonidle_ns = 2 * SECOND });
	read_at(STARTED + 3 * SECOND, 1000000, 0, 500000);
	/* a quarter of the weight */
	put(0, (struct stall_clock){ .since_ns = STARTED + 4 * SECOND,
				     .nonidle_ns = 3 * SECOND + SECOND / 3,
				     .some_ns = { 3 * SECOND, SECOND / 3, SECOND } });
	put(1, (struct stall_clock){ .since_ns = STARTED + 4 * SECOND, .nonidle_ns = 3 * SECOND });
	read_at(STARTED + 4 * SECOND, 1000000, 83333, 500000);
	/* no CPU was busy */
	read_at(STARTED + 5 * SECOND, 1000000, 83333, 500000);
}
END_TEST

struct going_on {
	uint64_t counts, cpu_us, memory_us, io_us;
};

static const struct going_on goings_on[] = {
	{ 0, 0, 0, 0 },
	{ CLOCK_RUNNABLE | CLOCK_ON_CPU, 0, 0, 0 },
	{ 2 * CLOCK_RUNNABLE | CLOCK_ON_CPU, 500000, 0, 0 },
	{ CLOCK_RUNNABLE, 500000, 0, 0 },
	{ CLOCK_RUNNABLE | CLOCK_ON_CPU | CLOCK_IN_MEMSTALL, 0, 500000, 0 },
	{ 3 * CLOCK_IN_IOWAIT, 0, 0, 500000 },
	{ CLOCK_IN_IOWAIT | CLOCK_IN_MEMSTALL | 2 * CLOCK_RUNNABLE, 500000, 500000, 500000 },
};

START_TEST(a_state_that_holds_counts_until_now)
{
	SKIP_IF(no_bpf());
	const struct going_on *one = &goings_on[_i];

	ck_assert(stall_clocks_start(&clocks, 0, 0, STARTED));
	read_at(STARTED + SECOND, 0, 0, 0);
	put(2, (struct stall_clock){ .since_ns = STARTED + SECOND, .counts = one->counts });
	read_at(STARTED + SECOND * 3 / 2, one->cpu_us, one->memory_us, one->io_us);
	/* a time later than the one given */
	put(2, (struct stall_clock){ .since_ns = STARTED + 3 * SECOND, .counts = one->counts });
	read_at(STARTED + 2 * SECOND, one->cpu_us, one->memory_us, one->io_us);
}
END_TEST

START_TEST(sums_of_another_epoch_do_not_count)
{
	SKIP_IF(no_bpf());
	struct stall_clock stale = { .epoch = 1,
				     .nonidle_ns = SECOND,
				     .some_ns = { SECOND, SECOND, SECOND } };
	uint32_t cpu = 1;

	ck_assert(stall_clocks_start(&clocks, 0, 0, STARTED));
	read_at(STARTED + SECOND, 0, 0, 0);
	ck_assert_int_eq(bpf_map_update_elem(kernel.map_fds[PIN_CLOCKS], &cpu, &stale, BPF_ANY), 0);
	read_at(STARTED + 2 * SECOND, 0, 0, 0);
}
END_TEST

SUITE(stall_clocks)
{
	Suite *suite = suite_create("stall_clocks");
	TCase *tcase = tcase_create("stall_clocks");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, one_capture_at_a_time_has_the_clocks);
	tcase_add_test(tcase, each_cpu_is_weighted_by_its_busy_time);
	tcase_add_loop_test(tcase, a_state_that_holds_counts_until_now, 0,
			    sizeof(goings_on) / sizeof(goings_on[0]));
	tcase_add_test(tcase, sums_of_another_epoch_do_not_count);
	suite_add_tcase(suite, tcase);
	return suite;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that the usage of a process is summed over its threads, that two walks are told apart, and that a
 * capture has a row for each process that stands out by some measure, and one for all others; that processes which end
 * count once; and that the parts of the machine's time add up.
 */
#include "common/base/cleanup.h"
#include "consumer/capture/capture_usage.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void meet(struct usage *usage, uint32_t tgid, uint64_t cpu_ns, uint64_t rss_bytes)
{
	struct task_record record = { .tgid = tgid,
				      .uid = 1000,
				      .started_ns = 10 * tgid,
				      .cgroup_id = 5,
				      .comm = "process",
				      .usage = { .cpu_ns = cpu_ns },
				      .rss_bytes = rss_bytes };

	usage_walk_process(usage, &record);
}

static void meet_thread(struct usage *usage, uint32_t tgid, uint64_t cpu_ns)
{
	struct thread_record record = { .tgid = tgid,
					.started_ns = 10 * tgid,
					.usage = { .cpu_ns = cpu_ns } };

	usage_walk_thread(usage, &record);
}

static const struct usage_process *process_of(const struct usage *usage, uint32_t tgid);

/* Memory is compared with that of the walk before the capture; a process that began meanwhile had none. */
START_TEST(memory_that_grew_is_told_from_memory_that_is_held)
{
	struct usage usage, before;
	struct usage_sums sums;

	usage_init(&usage);
	usage_walk_begin(&usage, UINT64_MAX);
	meet(&usage, 7, 1, 100);
	meet(&usage, 8, 1, 100);
	usage_walk_end(&usage, 1, UINT32_MAX);
	ck_assert_int_eq(usage_copy(&usage, &before), 0);
	usage_walk_begin(&usage, UINT64_MAX);
	meet(&usage, 7, 1, 130);
	meet(&usage, 8, 1, 60);
	meet(&usage, 9, 1, 20);
	usage_walk_end(&usage, 2, UINT32_MAX);
	sums = usage_since(&before, process_of(&usage, 7));
	ck_assert(sums.rss_before_bytes == 100 && sums.rss_bytes == 130 && sums.grown_bytes == 30);
	sums = usage_since(&before, process_of(&usage, 8));
	ck_assert(sums.rss_before_bytes == 100 && sums.rss_bytes == 60 && sums.grown_bytes == 0);
	sums = usage_since(&before, process_of(&usage, 9));
	ck_assert(sums.rss_before_bytes == 0 && sums.rss_bytes == 20 && sums.grown_bytes == 20);
	usage_free(&usage);
	usage_free(&before);
}
END_TEST

static const struct usage_process *process_of(const struct usage *usage, uint32_t tgid)
{
	for (uint32_t i = 0; i < usage->count; i++)
		if (usage->processes[i].tgid == tgid)
			return &usage->processes[i];
	return NULL;
}

START_TEST(threads_add_up_in_any_order)
{
	struct usage usage;

	usage_init(&usage);
	for (unsigned int walk = 1; walk <= 2; walk++) {
		usage_walk_begin(&usage, UINT64_MAX);
		meet_thread(&usage, 7, 100 * walk);
		meet(&usage, 7, 10 * walk, 4096);
		meet_thread(&usage, 7, walk);
		usage_walk_end(&usage, walk, UINT32_MAX);
		ck_assert_uint_eq(usage.count, 1);
		ck_assert_uint_eq(usage.processes[0].sums.task.cpu_ns, 111 * walk);
		ck_assert_str_eq(usage.processes[0].comm, "process");
		ck_assert_uint_eq(usage.walked_ns, walk);
	}
	usage_free(&usage);
}
END_TEST

START_TEST(an_ended_process_is_forgotten_unless_a_capture_needs_it)
{
	struct usage usage;

	usage_init(&usage);
	usage_walk_begin(&usage, UINT64_MAX);
	for (uint32_t tgid = 1; tgid <= 500; tgid++)
		meet(&usage, tgid, tgid, 0);
	usage_walk_end(&usage, 1, UINT32_MAX);
	usage_walk_begin(&usage, UINT64_MAX);
	for (uint32_t tgid = 2; tgid <= 500; tgid += 2)
		meet(&usage, tgid, tgid + 1, 0);
	usage_walk_end(&usage, 2, 0);
	ck_assert_uint_eq(usage.count, 500);
	ck_assert_uint_eq(process_of(&usage, 3)->sums.task.cpu_ns, 3);
	usage_walk_begin(&usage, UINT64_MAX);
	for (uint32_t tgid = 2; tgid <= 500; tgid += 2)
		meet(&usage, tgid, tgid + 2, 0);
	usage_walk_end(&usage, 3, UINT32_MAX);
	ck_assert_uint_eq(usage.count, 250);
	ck_assert_ptr_null(process_of(&usage, 3));
	/* the index still finds each process: no process has two entries */
	usage_walk_begin(&usage, UINT64_MAX);
	meet(&usage, 500, 9, 0);
	ck_assert_uint_eq(usage.count, 250);
	ck_assert_uint_eq(process_of(&usage, 500)->sums.task.cpu_ns, 9);
	usage_free(&usage);
}
END_TEST

START_TEST(a_capture_keeps_what_ended_after_its_walk)
{
	struct usage usage;

	usage_init(&usage);
	for (uint32_t walk = 1; walk <= 4; walk++) {
		usage_walk_begin(&usage, UINT64_MAX);
		meet(&usage, 100, 1, 0);
		meet(&usage, walk, 1, 0); /* each is met once */
		usage_walk_end(&usage, walk, 2);
	}
	/* no walk after the second met processes 1 and 2 */
	ck_assert_uint_eq(usage.count, 3);
	ck_assert_uint_eq(usage.ended, 1);
	ck_assert_ptr_null(process_of(&usage, 2));
	ck_assert_ptr_nonnull(process_of(&usage, 3));
	ck_assert_ptr_nonnull(process_of(&usage, 4));
	usage_free(&usage);
}
END_TEST

/* Processes 1 to 100 of 110 have ended; the higher the number, the more CPU time. */
static void end_a_hundred(struct usage *usage)
{
	usage_walk_begin(usage, UINT64_MAX);
	for (uint32_t tgid = 1; tgid <= 110; tgid++)
		meet(usage, tgid, tgid < 60 ? 7 : tgid, 0);
	usage_walk_end(usage, 2, 0);
	usage_walk_begin(usage, UINT64_MAX);
	for (uint32_t tgid = 101; tgid <= 110; tgid++)
		meet(usage, tgid, tgid, 0);
	usage_walk_end(usage, 3, 0);
	ck_assert_uint_eq(usage->ended, 100);
}

START_TEST(too_many_ended_processes_lose_those_that_ran_least)
{
	struct usage usage;

	usage_init(&usage);
	end_a_hundred(&usage);
	ck_assert(!usage_choose(&usage, 100));
	ck_assert(usage_choose(&usage, 99));
	usage_sweep(&usage);
	ck_assert_uint_eq(usage.ended, 49);
	ck_assert_uint_eq(usage.count, 59);
	ck_assert_ptr_nonnull(process_of(&usage, 100));
	ck_assert_ptr_nonnull(process_of(&usage, 101));
	/* of those with equal times, the latest stay */
	ck_assert_ptr_nonnull(process_of(&usage, 59));
	ck_assert_ptr_nonnull(process_of(&usage, 52));
	ck_assert_ptr_null(process_of(&usage, 51));
	ck_assert(!usage_choose(&usage, 99));
	ck_assert(usage_choose(&usage, 1));
	usage_sweep(&usage);
	ck_assert_uint_eq(usage.ended, 0);
	ck_assert_uint_eq(usage.count, 10);
	usage_free(&usage);
}
END_TEST

static bool describe(void *user, const struct usage_process *process, const char **ret_cgroup)
{
	(void)user;
	*ret_cgroup = process->tgid % 2 ? "/odd" : NULL;
	return process->tgid == 1;
}

static bool describe_ended(void *user, const struct ended_key *key, const char **ret_cgroup)
{
	(void)user;
	*ret_cgroup = key->cgroup_id ? "/cgroup" : NULL;
	return !strcmp(key->comm, "target");
}

static const struct capture_usage_scope scope = { describe, describe_ended, NULL };

static const struct usage_row *row_of(const struct capture_usage *taken, uint32_t tgid)
{
	for (uint32_t i = 0; i < taken->count; i++)
		if (taken->rows[i].process.tgid == tgid)
			return &taken->rows[i];
	return NULL;
}

START_TEST(a_capture_has_the_usage_since_the_walk_before_it)
{
	struct capture_usage taken;
	struct usage usage;

	usage_init(&usage);
	usage_walk_begin(&usage, UINT64_MAX);
	meet(&usage, 1, 1000, 4096);
	meet(&usage, 2, 5000, 0);
	meet(&usage, 3, 100, 0); /* ended before the capture; kept because a capture may need it */
	usage_walk_end(&usage, 100, UINT32_MAX);
	usage_walk_begin(&usage, UINT64_MAX);
	meet(&usage, 1, 1100, 4096);
	meet(&usage, 2, 5500, 0);
	usage_walk_end(&usage, 200, 0);
	ck_assert_int_eq(capture_usage_begin(&taken, &usage), 0);
	usage_walk_begin(&usage, UINT64_MAX);
	meet(&usage, 1, 1150, 8192);
	meet(&usage, 2, 5400, 0); /* a sum that shrank is not used */
	meet(&usage, 9, 77, 0);   /* started during the capture */
	usage_walk_end(&usage, 300, 0);
	ck_assert_int_eq(capture_usage_end(&taken, &usage, &scope), 0);
	ck_assert_uint_eq(taken.before.walked_ns, 200);
	ck_assert_uint_eq(taken.to_ns, 300);
	ck_assert_uint_eq(taken.count, 3);
	ck_assert_uint_eq(row_of(&taken, 1)->process.sums.task.cpu_ns, 50);
	ck_assert_uint_eq(row_of(&taken, 1)->process.sums.rss_bytes, 8192);
	ck_assert_int_eq(row_of(&taken, 1)->role, USAGE_TARGET);
	ck_assert_str_eq(row_of(&taken, 1)->cgroup, "/odd");
	ck_assert_uint_eq(row_of(&taken, 9)->process.sums.task.cpu_ns, 77);
	ck_assert_int_eq(row_of(&taken, 9)->role, USAGE_OTHER);
	ck_assert_ptr_eq(row_of(&taken, 9)->cgroup, row_of(&taken, 1)->cgroup); /* one copy for the cgroup */
	ck_assert_ptr_null(row_of(&taken, 2));
	ck_assert_int_eq(taken.rows[2].role, USAGE_REST);
	capture_usage_free(&taken);
	usage_free(&usage);
}
END_TEST

/* A sum that a capture had before it began does not count in it, and no sum counts twice. */
START_TEST(what_is_settled_counts_in_the_rest)
{
	struct capture_usage taken, later;
	uint64_t others_ns = 0;
	struct usage usage;

	usage_init(&usage);
	usage_walk_begin(&usage, UINT64_MAX);
	meet(&usage, 1, 3, 0); /* the target had used 3 ns before, and 7 in all */
	usage_walk_end(&usage, 1, 0);
	ck_assert_int_eq(capture_usage_begin(&taken, &usage), 0);
	end_a_hundred(&usage);
	ck_assert_int_eq(capture_usage_begin(&later, &usage), 0);
	ck_assert_uint_eq(later.before.count, 110);
	ck_assert(usage_choose(&usage, 20));
	capture_usage_settle(&taken, &usage, &scope);
	capture_usage_settle(&later, &usage, &scope);
	usage_sweep(&usage);
	ck_assert_int_eq(capture_usage_end(&taken, &usage, &scope), 0);
	ck_assert_int_eq(capture_usage_end(&later, &usage, &scope), 0);
	ck_assert_uint_eq(taken.rest_targets.task.cpu_ns, 4);
	ck_assert_uint_eq(taken.count, 20 + 1);
	for (uint32_t i = 0; i < taken.count; i++)
		others_ns += taken.rows[i].process.sums.task.cpu_ns;
	for (uint32_t tgid = 1; tgid <= 110; tgid++)
		others_ns -= tgid < 60 ? 7 : tgid;
	ck_assert_uint_eq(others_ns + 3, 0);
	ck_assert_uint_eq(later.count, 1); /* nothing ran after its walk */
	ck_assert_uint_eq(later.rest_others.task.cpu_ns, 0);
	ck_assert_uint_eq(taken.before.count, 0); /* its memory is given back */
	ck_assert_uint_eq(taken.before.walked_ns, 1);
	capture_usage_free(&taken);
	capture_usage_free(&later);
	usage_free(&usage);
}
END_TEST

START_TEST(the_first_hundred_of_each_measure_and_the_rest)
{
	uint64_t cpu_ns = 0, rss_bytes = 0;
	struct capture_usage taken;
	struct usage usage;

	usage_init(&usage);
	ck_assert_int_eq(capture_usage_begin(&taken, &usage), 0);
	usage_walk_begin(&usage, UINT64_MAX);
	/* those with the most CPU time have the least memory, and sixty-one are equal at the limit */
	for (uint32_t tgid = 1; tgid <= 1000; tgid++)
		meet(&usage, tgid, tgid > 814 && tgid < 875 ? 950 : tgid, 2000 - tgid);
	usage_walk_end(&usage, 1, 0);
	ck_assert_int_eq(capture_usage_end(&taken, &usage, &scope), 0);
	ck_assert_uint_eq(taken.count, 2 * USAGE_ROWS_A_MEASURE + 1);
	ck_assert_ptr_nonnull(row_of(&taken, 1000));
	ck_assert_ptr_nonnull(row_of(&taken, 1));
	ck_assert_ptr_null(row_of(&taken, 500));
	for (uint32_t i = 0; i < taken.count; i++) {
		cpu_ns += taken.rows[i].process.sums.task.cpu_ns;
		rss_bytes += taken.rows[i].process.sums.rss_bytes;
	}
	for (uint32_t tgid = 1; tgid <= 1000; tgid++) {
		cpu_ns -= tgid > 814 && tgid < 875 ? 950 : tgid;
		rss_bytes -= 2000 - tgid;
	}
	ck_assert_uint_eq(cpu_ns, 0);
	ck_assert_uint_eq(rss_bytes, 0);
	capture_usage_free(&taken);
	usage_free(&usage);
}
END_TEST

/* ---- processes that end ---- */

static void end(struct usage *usage, uint32_t tgid, uint64_t cpu_ns)
{
	usage_end(usage, &(struct ended_record){
				 .tgid = tgid, .started_ns = 10 * tgid, .usage = { .cpu_ns = cpu_ns } });
}

START_TEST(last_sums_count_in_the_walk_that_follows)
{
	struct capture_usage taken;
	struct usage usage;

	usage_init(&usage);
	usage_walk_begin(&usage, UINT64_MAX);
	meet(&usage, 1, 1000, 0);
	meet(&usage, 2, 1000, 0);
	usage_walk_end(&usage, 100, UINT32_MAX);
	/* before the capture begins, but after the walk that its span begins with */
	end(&usage, 1, 1400);
	end(&usage, 99, 50); /* no walk has told its name */
	ck_assert_int_eq(capture_usage_begin(&taken, &usage), 0);
	usage_walk_begin(&usage, UINT64_MAX);
	meet(&usage, 1, 1300, 0); /* until its parent waits for it, a walk still meets it */
	meet(&usage, 2, 1500, 0);
	usage_walk_end(&usage, 200, taken.before.walk);
	end(&usage, 2, 1700);
	usage_walk_begin(&usage, UINT64_MAX);
	meet(&usage, 1, 1300, 0);
	usage_walk_end(&usage, 300, taken.before.walk);
	ck_assert_int_eq(capture_usage_end(&taken, &usage, &scope), 0);
	ck_assert_uint_eq(row_of(&taken, 1)->process.sums.task.cpu_ns, 400);
	ck_assert_uint_eq(row_of(&taken, 2)->process.sums.task.cpu_ns, 700);
	ck_assert_uint_eq(usage_denied_ns(&usage), 50);
	capture_usage_free(&taken);
	/* nobody needs them any more */
	usage_walk_begin(&usage, UINT64_MAX);
	usage_walk_end(&usage, 400, UINT32_MAX);
	ck_assert_uint_eq(usage.count, 0);
	usage_free(&usage);
}
END_TEST

/* Its last sums may be lost. The kernel programs know nothing of it any more, but a walk still meets it. */
START_TEST(the_waits_of_a_process_that_ended_stay)
{
	struct task_record record = { .tgid = 1,
				      .started_ns = 10,
				      .usage = { .cpu_ns = 1000 },
				      .stalled_cpu_ns = 100,
				      .stalled_memory_ns = 10,
				      .stalled_io_ns = 20,
				      .unstacked_ns = 30,
				      .unstacked = 3 };
	struct usage_sums since;
	struct usage before, usage;

	usage_init(&usage);
	usage_walk_begin(&usage, UINT64_MAX);
	usage_walk_process(&usage, &record);
	usage_walk_end(&usage, 100, UINT32_MAX);
	ck_assert_int_eq(usage_copy(&usage, &before), 0);
	usage_walk_begin(&usage, UINT64_MAX);
	record.usage.cpu_ns = 1500;
	record.stalled_cpu_ns = 400;
	record.stalled_io_ns = 25;
	usage_walk_process(&usage, &record);
	usage_walk_end(&usage, 200, UINT32_MAX);
	usage_walk_begin(&usage, UINT64_MAX);
	usage_walk_thread(&usage,
			  &(struct thread_record){ .tgid = 1, .started_ns = 10, .usage = { .cpu_ns = 7 } });
	usage_walk_process(&usage,
			   &(struct task_record){ .tgid = 1, .started_ns = 10, .usage = { .cpu_ns = 1600 } });
	usage_walk_end(&usage, 300, UINT32_MAX);
	since = usage_since(&before, process_of(&usage, 1));
	ck_assert_uint_eq(since.task.cpu_ns, 607);
	ck_assert_uint_eq(since.stalled_cpu_ns, 300);
	ck_assert_uint_eq(since.stalled_memory_ns, 0);
	ck_assert_uint_eq(since.stalled_io_ns, 5);
	ck_assert_uint_eq(since.unstacked_ns, 0);
	ck_assert_uint_eq(process_of(&usage, 1)->sums.unstacked, 3);
	usage_free(&before);
	usage_free(&usage);
}
END_TEST

START_TEST(a_walk_leaves_out_who_started_after_its_begin)
{
	struct usage usage;

	usage_init(&usage);
	usage_walk_begin(&usage, 20);
	meet(&usage, 1, 1000, 0); /* started at 10 */
	meet(&usage, 2, 1000, 0); /* at 20: if it ends before the next walk, it is in `ended` */
	meet_thread(&usage, 2, 1);
	usage_walk_end(&usage, 100, UINT32_MAX);
	ck_assert_uint_eq(usage.count, 1);
	ck_assert_uint_eq(usage.processes[0].tgid, 1);
	usage_free(&usage);
}
END_TEST

static void end_short_lived(struct usage *usage, const char *comm, uint32_t parent_tgid, uint32_t flags,
			    uint64_t cpu_ns)
{
	struct ended_key key = {
		.parent = "bash", .cgroup_id = 7, .parent_tgid = parent_tgid, .flags = flags
	};
	struct ended_sums sums = { .processes = 2, .cpu_ns = cpu_ns, .write_bytes = 1 };

	strcpy(key.comm, comm);
	ended_add(&usage->short_lived, &key, &sums, usage->walk);
}

START_TEST(short_lived_processes_are_summed_over_the_walks_of_the_span)
{
	struct capture_usage taken;
	struct usage usage;

	usage_init(&usage);
	usage_walk_begin(&usage, UINT64_MAX);
	end_short_lived(&usage, "early", 1, 0, 1000);
	usage_walk_end(&usage, 100, UINT32_MAX);
	ck_assert_uint_eq(usage.short_lived.count, 0);
	ck_assert_int_eq(capture_usage_begin(&taken, &usage), 0);
	for (unsigned int walk = 1; walk <= 3; walk++) {
		usage_walk_begin(&usage, UINT64_MAX);
		end_short_lived(&usage, "true", 1, 0, 100);
		end_short_lived(&usage, "true", 2, 0, 10);
		end_short_lived(&usage, "target", 2, 0, 5);
		end_short_lived(&usage, "", 0, ENDED_DENIED, 3);
		end_short_lived(&usage, "", 0, ENDED_OVERFLOW, 2);
		end_short_lived(&usage, "kworker/0:1", 0, ENDED_KERNEL, 1);
		usage_walk_end(&usage, 100 + walk, taken.before.walk);
	}
	ck_assert_int_eq(capture_usage_end(&taken, &usage, &scope), 0);
	ck_assert_uint_eq(taken.ended_count, 6);
	ck_assert_str_eq(taken.ended[0].key.comm, "true");
	ck_assert_uint_eq(taken.ended[0].key.parent_tgid, 1);
	ck_assert_uint_eq(taken.ended[0].sums.cpu_ns, 300);
	ck_assert_uint_eq(taken.ended[0].sums.processes, 6);
	ck_assert_int_eq(taken.ended[0].role, USAGE_OTHER);
	ck_assert_str_eq(taken.ended[0].cgroup, "/cgroup");
	ck_assert_uint_eq(taken.ended[1].sums.cpu_ns, 30);
	ck_assert_int_eq(taken.ended[2].role, USAGE_TARGET);
	ck_assert_uint_eq(taken.ended[3].key.flags, ENDED_DENIED);
	ck_assert_int_eq(taken.ended[3].role, USAGE_REST);
	ck_assert_int_eq(taken.ended[4].role, USAGE_REST);
	ck_assert_int_eq(taken.ended[5].role, USAGE_KERNEL);
	capture_usage_free(&taken);
	usage_free(&usage);
}
END_TEST

START_TEST(many_short_lived_programs_have_the_largest_rows_and_the_rest)
{
	struct capture_usage taken;
	struct usage usage;
	uint64_t cpu_ns = 0, processes = 0;
	char comm[ABI_COMM_BYTES];

	usage_init(&usage);
	ck_assert_int_eq(capture_usage_begin(&taken, &usage), 0);
	usage_walk_begin(&usage, UINT64_MAX);
	for (uint32_t i = 1; i <= 20000; i++) { /* more than are kept, too */
		snprintf(comm, sizeof(comm), "program%u", i);
		end_short_lived(&usage, comm, i, 0, i);
	}
	usage_walk_end(&usage, 100, 0);
	ck_assert_uint_le(usage.short_lived.count, 8192);
	/* those that ran longest are there */
	ck_assert_str_eq(usage.short_lived.programs[usage.short_lived.count - 1].key.comm, "program20000");
	ck_assert_int_eq(capture_usage_end(&taken, &usage, &scope), 0);
	ck_assert_uint_eq(taken.ended_count, ENDED_ROWS_MAX + 1);
	for (uint32_t i = 0; i < taken.ended_count; i++) {
		cpu_ns += taken.ended[i].sums.cpu_ns;
		processes += taken.ended[i].sums.processes;
	}
	ck_assert_uint_eq(cpu_ns, 20000ULL * 20001 / 2);
	ck_assert_uint_eq(processes, 40000);
	capture_usage_free(&taken);
	usage_free(&usage);
}
END_TEST

/* ---- the machine's time ---- */

START_TEST(the_text_of_proc_stat)
{
	static const char text[] = "cpu  10 20 30 4000 500 6 7 8 9 1\ncpu0 1 1 1 1 1 1 1 1 1 1\n"
				   "cpu11 1 1 1 1 1 1 1 1 1 1\nintr 5 0\nctxt 9\n";
	uint64_t tick_ns = 1000000000UL / (uint64_t)sysconf(_SC_CLK_TCK);
	struct cpu_times times;

	ck_assert_int_eq(cpu_times_parse(text, &times), 0);
	ck_assert_uint_eq(times.cpus, 2);
	ck_assert_uint_eq(times.idle_ns, 4500 * tick_ns);
	ck_assert_uint_eq(times.irq_ns, 6 * tick_ns);
	ck_assert_uint_eq(times.softirq_ns, 7 * tick_ns);
	ck_assert_uint_eq(times.steal_ns, 8 * tick_ns);
	ck_assert_uint_eq(times.guest_ns, 10 * tick_ns);
	ck_assert_int_eq(cpu_times_parse("cpu 1 2 3\ncpu0 1\n", &times), -EBADMSG);
	ck_assert_int_eq(cpu_times_parse("cpu  10 20 30 4000 500 6 7 8 9 1\n", &times), -EBADMSG);
	ck_assert_int_eq(cpu_times_parse("", &times), -EBADMSG);
}
END_TEST

struct machine_case {
	uint32_t flags;
	uint64_t idle_ns;
	uint64_t parts_ns[MACHINE_PARTS]; /* of tasks: as they are given; all: as they come out */
};

/* Two CPUs for 1,000 ns; tasks ran 1,000, 100 of them in guests. */
static const struct machine_case machine_cases[] = {
	{ TASK_IRQ_APART | TASK_STEAL_APART, 800, { 90, 540, 180, 0, 90, 50, 70, 30, 100, 800, 50 } },
	/* the kernel counts interrupts as time of whoever they interrupted: all of them interrupted idle CPUs */
	{ TASK_STEAL_APART, 800, { 90, 540, 180, 0, 90, 50, 70, 30, 100, 800, 50 } },
	/* 72 of their 120 ns interrupted tasks */
	{ TASK_STEAL_APART, 922, { 83, 497, 166, 0, 83, 50, 70, 30, 100, 922, 0 } },
	/* of 150 ns of interrupts and of what the hypervisor took, 100 interrupted tasks */
	{ 0, 950, { 80, 480, 160, 0, 80, 50, 70, 30, 100, 950, 0 } },
};

START_TEST(the_parts_add_up)
{
	const struct machine_case *one = &machine_cases[_i];
	const struct cpu_times before = { 2, 7, 7, 7, 7, 7 },
			       after = { 2, 7 + one->idle_ns, 57, 77, 37, 107 };
	struct machine_time machine = { .from_ns = 5000,
					.to_ns = 6000,
					.parts_ns = { 100, 600, 200, 0, 100 } };
	uint64_t sum = 0;

	machine_time_close(&machine, &before, &after, one->flags);
	for (size_t i = 0; i < MACHINE_PARTS; i++) {
		ck_assert_msg(machine.parts_ns[i] - one->parts_ns[i] + 2 <= 4,
			      "%s: %" PRIu64 ", not %" PRIu64, machine_part_names[i], machine.parts_ns[i],
			      one->parts_ns[i]);
		sum += machine.parts_ns[i];
	}
	ck_assert_uint_eq(machine.total_ns, 2000);
	ck_assert_uint_eq(sum, 2000);
}
END_TEST

START_TEST(without_proc_stat_there_is_no_account)
{
	struct machine_time machine = { .from_ns = 5000, .to_ns = 6000, .parts_ns = { 100 } };

	machine_time_close(&machine, &(struct cpu_times){ .cpus = 2 }, &(struct cpu_times){ 0 }, 0);
	ck_assert_uint_eq(machine.total_ns, 0);
}
END_TEST

/* ---- bytes ---- */

static const char diskstats[] = "   7       0 loop0 141 1 1000 5 247 174 1000 191 0 156 342 0 0 0 0 140 146\n"
				"   8       0 sda 10 0 20 1 10 0 40 1 0 2 2\n"
				"   8       1 sda1 10 0 16 1 10 0 32 1 0 2 2\n"
				" 259       0 nvme0n1 10 0 4 1 10 0 0 1 0 2 2 0 0 0 0 0 0\n"
				" 259       1 nvme0n1p1 10 0 4 1 10 0 0 1 0 2 2 0 0 0 0 0 0\n"
				" 253       0 dm-0 10 0 20 1 10 0 40 1 0 2 2\n"
				"   9       0 md127 10 0 20 1 10 0 40 1 0 2 2\n"
				" 252       0 zram0 10 0 20 1 10 0 40 1 0 2 2\n"
				" 254       0 vda 10 0 1 1 10 0 2 1 0 2 2 ";

START_TEST(each_byte_of_the_disks_counts_once)
{
	struct disk_bytes disks = disk_bytes_parse(diskstats);

	ck_assert(disks.known);
	ck_assert_uint_eq(disks.read, 512 * (20 + 4 + 1));
	ck_assert_uint_eq(disks.written, 512 * (40 + 2));
	disks = disk_bytes_parse("");
	ck_assert_uint_eq(disks.read + disks.written, 0);
	disks = disk_bytes_parse("\n\n 8 0 sda\nsda1 x\n 8 0 sdb 1 2 x 4\n");
	ck_assert_uint_eq(disks.read + disks.written, 0);
}
END_TEST

START_TEST(what_the_disks_counted_is_compared)
{
	static const struct disk_bytes before = { true, 100, 100 }, after = { true, 200, 150 };
	struct machine_bytes bytes = { .read = { 10, 20, 30, 5 }, .written = { 40, 0, 30, 0 } };

	machine_bytes_close(&bytes, &before, &after);
	ck_assert(bytes.known);
	ck_assert_int_eq(bytes.read[BYTES_DISKS], 100);
	ck_assert_int_eq(bytes.read[BYTES_UNACCOUNTED], 35);
	ck_assert_int_eq(bytes.written[BYTES_DISKS], 50);
	ck_assert_int_eq(bytes.written[BYTES_UNACCOUNTED], -20);
	/* a disk was taken away, and a file that could not be read */
	machine_bytes_close(&bytes, &after, &before);
	ck_assert_int_eq(bytes.read[BYTES_DISKS], 0);
	machine_bytes_close(&bytes, &before, &(struct disk_bytes){ 0 });
	ck_assert(!bytes.known);
}
END_TEST

SUITE(usage)
{
	Suite *suite = suite_create("usage");
	TCase *walks = tcase_create("walks"), *rows = tcase_create("rows"), *ended = tcase_create("ended"),
	      *machine = tcase_create("machine"), *bytes = tcase_create("bytes");

	tcase_add_test(walks, memory_that_grew_is_told_from_memory_that_is_held);
	tcase_add_test(walks, threads_add_up_in_any_order);
	tcase_add_test(walks, an_ended_process_is_forgotten_unless_a_capture_needs_it);
	tcase_add_test(walks, a_capture_keeps_what_ended_after_its_walk);
	tcase_add_test(walks, too_many_ended_processes_lose_those_that_ran_least);
	suite_add_tcase(suite, walks);
	tcase_add_test(rows, a_capture_has_the_usage_since_the_walk_before_it);
	tcase_add_test(rows, what_is_settled_counts_in_the_rest);
	tcase_add_test(rows, the_first_hundred_of_each_measure_and_the_rest);
	suite_add_tcase(suite, rows);
	tcase_add_test(ended, last_sums_count_in_the_walk_that_follows);
	tcase_add_test(ended, the_waits_of_a_process_that_ended_stay);
	tcase_add_test(ended, a_walk_leaves_out_who_started_after_its_begin);
	tcase_add_test(ended, short_lived_processes_are_summed_over_the_walks_of_the_span);
	tcase_add_test(ended, many_short_lived_programs_have_the_largest_rows_and_the_rest);
	suite_add_tcase(suite, ended);
	tcase_add_test(machine, the_text_of_proc_stat);
	tcase_add_loop_test(machine, the_parts_add_up, 0, ARRAY_SIZE(machine_cases));
	tcase_add_test(machine, without_proc_stat_there_is_no_account);
	suite_add_tcase(suite, machine);
	tcase_add_test(bytes, each_byte_of_the_disks_counts_once);
	tcase_add_test(bytes, what_the_disks_counted_is_compared);
	suite_add_tcase(suite, bytes);
	return suite;
}

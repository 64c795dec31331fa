/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that captures go oldest first, by age and by number, with all that only they referred to; that the captures which stay
 * lose nothing; and that those on demand leave room to those of rules.
 */
#include "common/base/clock.h"
#include "common/store/retention.h"
#include "tests/unit/store_fixture.h"
#include "tests/unit/suites.h"

#include <string.h>

#define HOUR (3600 * (int64_t)SECOND)

/* What readers see of the captures that stay. */
static const char contents[] =
	"SELECT s.capture_id, p.comm, s.tid, s.thread, s.kind, s.stall, s.second, s.samples, s.weight_ns, s.times, hex(k.hash), "
	"(SELECT group_concat(m.path || function || offset) FROM (SELECT module_id, function, offset FROM stack_frame f "
	"JOIN frame USING(frame_id) WHERE f.stack_id = s.stack_id ORDER BY position) JOIN module m USING(module_id)) "
	"FROM sample s JOIN process p USING(process_id) JOIN stack k USING(stack_id) WHERE s.capture_id > %d ORDER BY 1, 3, 5, 6, 7, 11";

/* Beside expect_sound(): nothing is kept that nothing needs. */
static void expect_no_orphans(const struct store_fixture *fixture)
{
	expect_sound(fixture);
	expect_rows(
		fixture,
		"SELECT (SELECT count(*) FROM stack_node n WHERE class IS NULL AND NOT EXISTS (SELECT 1 FROM stack_node c "
		"WHERE c.parent_id = n.node_id)), (SELECT count(*) FROM thread WHERE thread_id NOT IN (SELECT thread_id "
		"FROM sample_row UNION ALL SELECT thread_id FROM wake_row UNION ALL SELECT waker_thread_id FROM wake_row WHERE "
		"waker_thread_id IS NOT NULL)), (SELECT count(*) FROM cgroup WHERE path NOT IN (SELECT cgroup FROM process)), "
		"(SELECT count(*) FROM run WHERE run_id <> (SELECT max(run_id) FROM run) AND run_id NOT IN (SELECT run_id "
		"FROM capture))",
		"0|0|0|0\n");
}

static char *dump(const struct store_fixture *fixture, int after)
{
	char sql[sizeof(contents) + 16];

	snprintf(sql, sizeof(sql), contents, after);
	return rows(fixture, sql);
}

static void expire(struct store_fixture *fixture, int64_t age_ns, uint64_t *ret_next_ns)
{
	const struct store_limits limits = { .bytes_max = 64 * MIB, .age_ns_max = (uint64_t)age_ns };
	int saved = log_divert();

	ck_assert_int_eq(store_limit(fixture->store, &limits), 0);
	ck_assert_int_eq(store_expire(fixture->store, ret_next_ns), 0);
	free(log_diverted(saved));
}

/* Commits a capture that was triggered so long ago. */
static void commit_of_age(struct store_fixture *fixture, struct capture *capture, int64_t age_ns)
{
	capture->trigger.triggered_at = clock_wall_ns() - age_ns;
	expect_commit(fixture, capture);
}

START_TEST(captures_beyond_max_age_go)
{
	struct dice dice = dice_new(85);
	_cleanup_capture_ struct capture *capture = large_capture(&dice, 50);
	struct store_fixture fixture;
	uint64_t next_ns, now_ns;

	capture->usage.ended = calloc(1, sizeof(*capture->usage.ended));
	capture->usage.ended[capture->usage.ended_count++] = (struct ended_row){ .sums = { .processes = 1 } };
	capture->usage.interrupts.rest.sums.count = 1;
	capture->cgroup_memory.rows = calloc(1, sizeof(*capture->cgroup_memory.rows));
	capture->cgroup_memory.rows[capture->cgroup_memory.count++] =
		(struct cgroup_memory_row){ .cgroup = strdup("/") };
	capture->usage.kills.rows = calloc(1, sizeof(*capture->usage.kills.rows));
	capture->usage.kills.rows[capture->usage.kills.count++] = (struct kill_row){ .processes = 1 };
	capture->usage.machine = (struct machine_time){ .to_ns = 1, .total_ns = 1 };
	capture->usage.bytes.known = true;
	ck_assert_int_eq(thread_states_begin_look(&capture->thread_states, 0), 0);
	ck_assert_int_eq(thread_states_add(&capture->thread_states,
					   &(struct thread_state){
						   .tid = 3, .thread = "sleeps", .call = -1, .fd = -1 }),
			 0);
	capture->accounts = (struct accounts){ .victims = calloc(1, sizeof(*capture->accounts.victims)),
					       .victims_count = 1,
					       .is_complete = true };
	capture->accounts.victims[0] =
		(struct account_victim){ .comm = "waits", .is_covered = true, .ns = { [ACCOUNT_LOCK] = 5 } };
	capture->wakes.rows = calloc(1, sizeof(*capture->wakes.rows));
	capture->wakes.rows[capture->wakes.count++] = (struct wake){
		.tid = 1, .thread = "waits", .waker_tid = 2, .waker = "wakes", .waker_stack = 1
	};
	store_fixture_start(&fixture);
	for (int64_t age = 5; age; age--)
		commit_of_age(&fixture, capture, age * HOUR);
	expire(&fixture, 0, &next_ns); /* no limit */
	expect_count(&fixture, "capture", 5);
	ck_assert_uint_eq(next_ns, 0);
	expire(&fixture, 5 * HOUR / 2, &next_ns);
	now_ns = clock_monotonic_ns();
	expect_rows(&fixture, "SELECT capture_id FROM capture", "4\n5\n");
	expect_rows(&fixture, "SELECT capture_id FROM ended", "4\n5\n");
	expect_rows(&fixture, "SELECT DISTINCT capture_id FROM machine_time", "4\n5\n");
	expect_rows(&fixture, "SELECT DISTINCT capture_id FROM machine_bytes", "4\n5\n");
	expect_rows(&fixture, "SELECT capture_id FROM account", "4\n5\n");
	expect_rows(&fixture, "SELECT capture_id FROM blame", "4\n5\n");
	expect_rows(&fixture, "SELECT capture_id, thread, waker_comm FROM waker",
		    "5|waits|wakes\n4|waits|wakes\n");
	expect_rows(&fixture, "SELECT capture_id FROM interrupt", "4\n5\n");
	expect_rows(&fixture, "SELECT capture_id, thread FROM thread_state", "4|sleeps\n5|sleeps\n");
	expect_rows(&fixture, "SELECT capture_id, looks FROM thread_look", "4|1\n5|1\n");
	expect_rows(&fixture, "SELECT capture_id FROM killed", "4\n5\n");
	expect_rows(&fixture, "SELECT capture_id FROM cgroup_memory", "4\n5\n");
	/* capture 4 gets too old in half an hour */
	ck_assert_uint_gt(next_ns, now_ns + 29 * 60 * SECOND);
	ck_assert_uint_le(next_ns, now_ns + 30 * 60 * SECOND);
	expect_no_orphans(&fixture);
	expire(&fixture, HOUR / 2, &next_ns);
	ck_assert_uint_eq(next_ns, 0);
	expect_rows(
		&fixture,
		"SELECT (SELECT count(*) FROM capture), (SELECT count(*) FROM sample_row), (SELECT count(*) FROM stack_node), "
		"(SELECT count(*) FROM frame), (SELECT count(*) FROM module), (SELECT count(*) FROM thread), (SELECT count(*) "
		"FROM process), (SELECT count(*) FROM cgroup), (SELECT count(*) FROM loss), (SELECT count(*) FROM wake_row)",
		"0|0|0|0|0|0|0|0|0|0\n");
	expect_commit(&fixture, capture);
	expect_rows(&fixture, "SELECT capture_id FROM capture", "6\n"); /* ids are not given twice */
	store_fixture_free(&fixture);
}
END_TEST

/* Commits a capture of that age whose frames are all of one function. */
static void commit_function(struct store_fixture *fixture, struct capture *capture, int64_t age_ns)
{
	struct resolved resolved;

	capture->trigger.triggered_at = clock_wall_ns() - age_ns;
	resolve_by_hand(capture, false, "aa", &resolved);
	resolved.modules[0].kind = MODULE_NONE;
	for (uint32_t i = 0; i < resolved.frames_count; i++) {
		free(resolved.frames[i].function);
		resolved.frames[i].function = strdup("shared");
		resolved.frames[i].file = strdup("app.c");
		resolved.frames[i].line = 10 + i;
	}
	expect_commit_resolved(fixture, capture, &resolved);
	resolved_free(&resolved);
}

START_TEST(a_shared_name_outlives_the_frame_that_had_it)
{
	_cleanup_capture_ struct capture *old = capture_of_stack(0, 3, 0x40),
					 *new = capture_of_stack(0, 1, 0x41);
	struct store_fixture fixture;
	uint64_t next_ns;

	store_fixture_start(&fixture);
	commit_function(&fixture, old, 2 * HOUR);
	expect_rows(&fixture, "SELECT count(*), count(function), count(file) FROM frame_row", "3|1|1\n");
	expect_rows(&fixture, "SELECT offset, function, file, line FROM frame ORDER BY offset",
		    "64|shared|app.c|10\n65|shared|app.c|11\n66|shared|app.c|12\n");
	expect_rows(&fixture, "SELECT offset FROM frame_row WHERE function IS NOT NULL", "64\n");
	commit_function(&fixture, new, 0);
	expect_rows(&fixture, "SELECT count(*), count(function) FROM frame_row", "3|1\n");
	expire(&fixture, HOUR, &next_ns);
	expect_rows(&fixture,
		    "SELECT offset, function, file, line, (SELECT named_by FROM frame_row) FROM frame",
		    "65|shared|app.c|11|NULL\n");
	expect_no_orphans(&fixture);
	store_fixture_free(&fixture);
}
END_TEST

/* Stacks, frames, threads and processes are shared between captures in any way. */
START_TEST(what_other_captures_have_stays)
{
	struct dice dice = dice_new(86 + (uint64_t)_i);
	struct store_fixture fixture;
	uint64_t next_ns;

	store_fixture_start(&fixture);
	for (int i = 0; i < 8; i++) {
		struct dice own = dice_new(200 + dice_below(&dice, 3)); /* some captures are equal */
		_cleanup_capture_ struct capture *capture = large_capture(&own, 20 + dice_below(&dice, 200));

		commit_of_age(&fixture, capture, (10 - i) * HOUR);
	}
	for (int gone = 1; gone < 8; gone += 2) {
		_cleanup_free_ char *before = dump(&fixture, gone), *after = NULL;

		expire(&fixture, (10 - gone) * HOUR + HOUR / 2, &next_ns);
		expect_rows(&fixture, "SELECT min(capture_id) FROM capture",
			    (char[]){ (char)('1' + gone), '\n', '\0' });
		after = dump(&fixture, gone);
		ck_assert_str_eq(before, after);
		expect_no_orphans(&fixture);
	}
	store_fixture_free(&fixture);
}
END_TEST

START_TEST(latencies_and_growth_go_with_their_capture)
{
	_cleanup_capture_ struct capture *old = capture_of_stack(0, 3, 0x40),
					 *new = capture_of_stack(0, 1, 0x51);
	struct store_fixture fixture;
	uint64_t next_ns;

	store_fixture_start(&fixture);
	commit_of_age(&fixture, old, 2 * HOUR);
	commit_of_age(&fixture, new, 0);
	run_sql(&fixture,
		"INSERT INTO histogram_label VALUES(1, 'lock', 'old'), (2, 'lock', 'both');"
		"INSERT INTO histogram_row VALUES(1, 1, 'during', 9, 1, 9), (1, 2, 'during', 9, 1, 9), (2, 2, 'before', 9, 1, 9);"
		"INSERT INTO latency_measured VALUES(1, 'lock', 'during', 1, 2, 3, 2, 0, 0, 0), (2, 'lock', 'before', 1, 2, 3, 1, 0, 0, 0);"
		"INSERT INTO process(run_id, tgid, started_ns, comm) VALUES(1, 77, 1, 'old'), (1, 78, 1, 'new');"
		/* where the new one grew is a stack of the old one's samples */
		"INSERT INTO growth_row SELECT 1, (SELECT process_id FROM process WHERE comm = 'old'), max(stack_id), 1, 4096 FROM "
		"sample_row WHERE capture_id = 2;"
		"INSERT INTO growth_row SELECT 2, (SELECT process_id FROM process WHERE comm = 'new'), max(stack_id), 1, 8192 FROM "
		"sample_row WHERE capture_id = 1");
	expire(&fixture, HOUR, &next_ns);
	expect_rows(&fixture, "SELECT label FROM histogram_label", "both\n");
	expect_rows(&fixture, "SELECT capture_id, label FROM histogram", "2|both\n");
	expect_rows(&fixture, "SELECT capture_id FROM latency_measured", "2\n");
	expect_rows(
		&fixture,
		"SELECT p.comm, g.bytes, k.depth FROM growth_stack g JOIN process p USING(process_id) JOIN stack k "
		"USING(stack_id)",
		"new|8192|3\n");
	expect_rows(&fixture, "SELECT count(*) FROM process WHERE comm = 'old'", "0\n");
	expect_no_orphans(&fixture);
	store_fixture_free(&fixture);
}
END_TEST

START_TEST(old_runs_and_rules_go_with_their_captures)
{
	struct dice dice = dice_new(87);
	_cleanup_capture_ struct capture *capture = large_capture(&dice, 20);
	struct store_fixture fixture;
	struct rule_ids ids;
	uint64_t next_ns;

	store_fixture_start(&fixture);
	commit_of_age(&fixture, capture, 4 * HOUR);
	begin_run(&fixture);
	begin_run(&fixture); /* each has two rules */
	capture->trigger.rule_id = 5;
	commit_of_age(&fixture, capture, HOUR);
	begin_run(&fixture);
	expire(&fixture, 5 * HOUR, &next_ns);
	expect_rows(&fixture, "SELECT group_concat(run_id) FROM run", "1,2,3,4\n");
	expire(&fixture, 2 * HOUR, &next_ns);
	/* run 3 has a capture of rule 5; run 4 goes on */
	expect_rows(&fixture, "SELECT group_concat(run_id) FROM run", "3,4\n");
	expect_rows(&fixture, "SELECT group_concat(rule_id) FROM rule", "5,7,8\n");
	expire(&fixture, SECOND, &next_ns);
	expect_rows(&fixture, "SELECT group_concat(run_id) FROM run", "4\n");
	expect_rows(&fixture, "SELECT group_concat(rule_id) FROM rule", "7,8\n");
	ck_assert_int_eq(store_next_ids(fixture.store, &ids), 0);
	ck_assert_uint_eq(ids.rule, 9);
	store_fixture_free(&fixture);
}
END_TEST

START_TEST(a_capture_under_way_stays)
{
	struct dice dice = dice_new(88);
	_cleanup_capture_ struct capture *capture = large_capture(&dice, 20);
	struct store_fixture fixture;
	uint64_t next_ns;

	store_fixture_start(&fixture);
	capture->trigger.triggered_at = clock_wall_ns() - 9 * HOUR;
	ck_assert_int_eq(store_begin_capture(fixture.store, &capture->trigger, 0, &capture->capture_id), 0);
	expire(&fixture, HOUR, &next_ns);
	ck_assert_uint_eq(next_ns, 0);
	expect_rows(&fixture, "SELECT capture_id, state FROM capture", "1|recording\n");
	expect_commit(&fixture, capture);
	expire(&fixture, HOUR, &next_ns);
	expect_count(&fixture, "capture", 0);
	store_fixture_free(&fixture);
}
END_TEST

/* Of many captures, several go at once, because each time takes a pass over all of them. */
START_TEST(one_in_thirty_two_goes_at_once)
{
	static const struct {
		int captures, gone;
	} cases[] = { { 1, 1 }, { 31, 1 }, { 63, 1 }, { 64, 2 }, { 100, 3 } };
	struct dice dice = dice_new(89);
	_cleanup_capture_ struct capture *capture = large_capture(&dice, 5);
	struct sql sql = { .give_up_ns = NULL };
	struct retention_removed removed;
	struct store_fixture fixture;

	store_fixture_start(&fixture);
	sql.give_up_ns = &fixture.give_up_ns;
	for (int i = 0; i < cases[_i].captures; i++)
		commit_of_age(&fixture, capture, (1000 - i) * HOUR);
	ck_assert_int_eq(sql_open(&sql, fixture.path), 0);
	ck_assert_int_eq(retention_evict(&sql, true, &removed), 0);
	ck_assert_uint_eq(removed.captures, (uint32_t)cases[_i].gone);
	ck_assert_int_eq(removed.oldest, 1);
	ck_assert_int_eq(removed.newest, cases[_i].gone);
	expect_count(&fixture, "capture", cases[_i].captures - cases[_i].gone);
	expect_rows(&fixture, "SELECT ifnull(min(capture_id), 2) FROM capture",
		    (char[]){ (char)('1' + cases[_i].gone), '\n', '\0' });
	sql_close(&sql);
	store_fixture_free(&fixture);
}
END_TEST

/* ---- captures on demand ---- */

static const char whose[] =
	"SELECT group_concat(capture_id || ifnull(rule, asked_by_uid), ' ') FROM (SELECT * FROM capture "
	"ORDER BY capture_id)";

/* A capture that the user asked for, or with `rule` the rule's, that old. */
static int commit_asked(struct store_fixture *fixture, struct dice *dice, uint32_t stacks, uint32_t uid,
			const char *rule, int64_t age_ns)
{
	const struct capture_request request = { .everyone = true, .kinds = CAPTURE_ON_CPU };
	_cleanup_capture_ struct capture *capture = large_capture(dice, stacks);
	struct resolved resolved;
	struct stored_verdict verdict;
	int64_t capture_id;
	int result;

	capture->trigger.triggered_at = clock_wall_ns() - age_ns;
	if (rule) {
		snprintf(capture->trigger.rule, sizeof(capture->trigger.rule), "%s", rule);
	} else {
		capture->trigger.mode = TRIGGER_MANUAL;
		capture->trigger.rule_id = 0;
		capture->trigger.asking = asking_new(&request);
		ck_assert_ptr_nonnull(capture->trigger.asking);
		capture->trigger.asking->uid = uid;
	}
	resolve_by_hand(capture, false, "aa", &resolved);
	result = store_commit_capture(fixture->store, capture, &resolved, fixture->mappings, &capture_id,
				      &verdict);
	resolved_free(&resolved);
	return result;
}

static void expect_evicted(struct sql *sql, const struct store_fixture *fixture, bool last,
			   const char *const *after, size_t count)
{
	struct retention_removed removed;

	for (size_t i = 0; i < count; i++) {
		ck_assert_int_eq(retention_evict(sql, last, &removed), 0);
		ck_assert_uint_eq(removed.captures, 1);
		expect_rows(fixture, whose, after[i]);
	}
}

/* Those of the user who has most go first; the newest of each user before those of rules, which go last of all. */
START_TEST(captures_on_demand_go_first_and_the_newest_of_each_rule_last)
{
	static const char *const before_last[] = { "1web 2web 3all 51 62 71 80\n",
						   "1web 2web 3all 62 71 80\n",
						   "2web 3all 62 71 80\n",
						   "2web 3all 71 80\n",
						   "2web 3all 80\n",
						   "2web 3all\n" };
	static const char *const at_last[] = { "3all\n", "NULL\n" };
	struct dice dice = dice_new(94);
	struct sql sql = { .give_up_ns = NULL };
	struct retention_removed removed;
	struct store_fixture fixture;

	store_fixture_start(&fixture);
	sql.give_up_ns = &fixture.give_up_ns;
	ck_assert_int_eq(commit_asked(&fixture, &dice, 20, 0, "web", 9 * HOUR), 0);
	ck_assert_int_eq(commit_asked(&fixture, &dice, 20, 0, "web", 8 * HOUR), 0);
	ck_assert_int_eq(commit_asked(&fixture, &dice, 20, 0, "all", 7 * HOUR), 0);
	ck_assert_int_eq(commit_asked(&fixture, &dice, 20, 1, NULL, 6 * HOUR), 0);
	ck_assert_int_eq(commit_asked(&fixture, &dice, 20, 1, NULL, 5 * HOUR), 0);
	ck_assert_int_eq(commit_asked(&fixture, &dice, 20, 2, NULL, 4 * HOUR), 0);
	ck_assert_int_eq(commit_asked(&fixture, &dice, 20, 1, NULL, 3 * HOUR), 0);
	ck_assert_int_eq(commit_asked(&fixture, &dice, 20, 0, NULL, 2 * HOUR), 0);
	run_sql(&fixture, "UPDATE capture SET sample_count = 1000");
	ck_assert_int_eq(sql_open(&sql, fixture.path), 0);
	expect_evicted(&sql, &fixture, false, before_last, ARRAY_SIZE(before_last));
	ck_assert_int_eq(retention_evict(&sql, false, &removed), 0);
	ck_assert_uint_eq(removed.captures, 0);
	expect_evicted(&sql, &fixture, true, at_last, ARRAY_SIZE(at_last));
	sql_close(&sql);
	store_fixture_free(&fixture);
}
END_TEST

/* As long as they are few, they are kept as long as those of rules. */
START_TEST(few_captures_on_demand_stay)
{
	static const char *const after[] = { "2web 3web 4web 5web 6web 7web 8web 91 101\n",
					     "3web 4web 5web 6web 7web 8web 91 101\n" };
	struct dice dice = dice_new(95);
	struct sql sql = { .give_up_ns = NULL };
	struct store_fixture fixture;

	store_fixture_start(&fixture);
	sql.give_up_ns = &fixture.give_up_ns;
	for (int i = 0; i < 8; i++)
		ck_assert_int_eq(commit_asked(&fixture, &dice, 20, 0, "web", (20 - i) * HOUR), 0);
	ck_assert_int_eq(commit_asked(&fixture, &dice, 20, 1, NULL, 2 * HOUR), 0);
	ck_assert_int_eq(commit_asked(&fixture, &dice, 20, 1, NULL, HOUR), 0);
	run_sql(&fixture, "UPDATE capture SET sample_count = 1000");
	ck_assert_int_eq(sql_open(&sql, fixture.path), 0);
	expect_evicted(&sql, &fixture, false, after, ARRAY_SIZE(after));
	sql_close(&sql);
	store_fixture_free(&fixture);
}
END_TEST

/* However many users ask. */
START_TEST(captures_on_demand_never_push_out_the_newest_of_a_rule)
{
	struct dice dice = dice_new(96);
	struct store_fixture fixture;
	uint32_t asked = 0, evicted = 0;

	store_fixture_start_limited(&fixture, 2 * MIB);
	ck_assert_int_eq(commit_asked(&fixture, &dice, 20, 0, "web", 100 * HOUR), 0);
	while (evicted < 5) {
		int saved = log_divert(), result = commit_asked(&fixture, &dice, 100, 1 + asked % 4, NULL,
								(int64_t)(9999 - asked) * (int64_t)SECOND);

		free(log_diverted(saved));
		ck_assert_msg(!result, "capture %u: %d, %s", asked, result, store_error(fixture.store));
		asked++;
		evicted = 1 + asked - (uint32_t)number(&fixture, "SELECT count(*) FROM capture");
		expect_rows(&fixture, "SELECT capture_id FROM capture WHERE rule = 'web'", "1\n");
	}
	store_fixture_free(&fixture);
}
END_TEST

/* ---- baselines ---- */

static const char kept[] =
	"SELECT group_concat(capture_id || substr(rule, 1, 1) || substr(trigger_mode, 1, 1), ' ') FROM "
	"(SELECT * FROM capture ORDER BY capture_id)";

/* A baseline of the rule, or a capture of it, that old. */
static int commit_of(struct store_fixture *fixture, struct capture *capture, const char *rule,
		     bool is_baseline, int64_t age_ns)
{
	struct resolved resolved;
	int64_t capture_id;
	struct stored_verdict verdict;
	int result;

	snprintf(capture->trigger.rule, sizeof(capture->trigger.rule), "%s", rule);
	capture->trigger.mode = is_baseline ? TRIGGER_BASELINE : TRIGGER_KERNEL;
	capture->trigger.triggered_at = clock_wall_ns() - age_ns;
	resolve_by_hand(capture, false, "aa", &resolved);
	result = is_baseline ? store_commit_baseline(fixture->store, capture, &resolved, fixture->mappings)
			     : store_commit_capture(fixture->store, capture, &resolved, fixture->mappings,
						    &capture_id, &verdict);
	resolved_free(&resolved);
	return result;
}

static void expect_commit_of(struct store_fixture *fixture, struct capture *capture, const char *rule,
			     bool is_baseline, int64_t age_ns)
{
	ck_assert_int_eq(commit_of(fixture, capture, rule, is_baseline, age_ns), 0);
}

/* They have an age of their own; max_age holds for them, too. */
START_TEST(baselines_are_kept_for_so_long)
{
	struct dice dice = dice_new(90);
	_cleanup_capture_ struct capture *capture = large_capture(&dice, 20);
	struct store_limits limits = { .bytes_max = 64 * MIB, .baseline_age_ns_max = 5 * HOUR / 2 };
	struct store_fixture fixture;
	uint64_t next_ns, now_ns;
	int saved;

	store_fixture_start(&fixture);
	for (int64_t age = 4; age; age--) {
		expect_commit_of(&fixture, capture, "web", true, age * HOUR);
		expect_commit_of(&fixture, capture, "web", false, age * HOUR);
	}
	expect_rows(&fixture, kept, "1wb 2wk 3wb 4wk 5wb 6wk 7wb 8wk\n");
	ck_assert_int_eq(store_limit(fixture.store, &limits), 0);
	saved = log_divert();
	ck_assert_int_eq(store_expire(fixture.store, &next_ns), 0);
	free(log_diverted(saved));
	now_ns = clock_monotonic_ns();
	expect_rows(&fixture, kept, "2wk 4wk 5wb 6wk 7wb 8wk\n");
	/* baseline 5 gets too old in half an hour, and goes a sixteenth of 150 minutes later; no capture does */
	ck_assert_uint_gt(next_ns, now_ns + 39 * 60 * SECOND);
	ck_assert_uint_le(next_ns, now_ns + 40 * 60 * SECOND);
	expect_no_orphans(&fixture);
	expire(&fixture, 3 * HOUR / 2, &next_ns);
	expect_rows(&fixture, kept, "7wb 8wk\n");
	store_fixture_free(&fixture);
}
END_TEST

/* Baselines go before captures, but for the newest of each rule, which go when there are no captures any more. */
START_TEST(a_full_database_keeps_captures_and_one_baseline_of_each_rule)
{
	static const char *const after[] = {
		"2wb 3wk 4ab 5wb 6wk\n", "3wk 4ab 5wb 6wk\n", "4ab 5wb 6wk\n", "4ab 5wb\n", "5wb\n", "NULL\n"
	};
	struct dice dice = dice_new(91);
	_cleanup_capture_ struct capture *capture = large_capture(&dice, 20);
	struct sql sql = { .give_up_ns = NULL };
	struct retention_removed removed;
	struct store_fixture fixture;

	store_fixture_start(&fixture);
	sql.give_up_ns = &fixture.give_up_ns;
	expect_commit_of(&fixture, capture, "web", true, 6 * HOUR);
	expect_commit_of(&fixture, capture, "web", true, 5 * HOUR);
	expect_commit_of(&fixture, capture, "web", false, 4 * HOUR);
	expect_commit_of(&fixture, capture, "all", true, 3 * HOUR);
	expect_commit_of(&fixture, capture, "web", true, 2 * HOUR);
	expect_commit_of(&fixture, capture, "web", false, 1 * HOUR);
	ck_assert_int_eq(sql_open(&sql, fixture.path), 0);
	for (size_t i = 0; i < ARRAY_SIZE(after); i++) {
		ck_assert_int_eq(retention_evict_baselines(&sql, false, &removed), 0);
		if (!removed.captures)
			ck_assert_int_eq(retention_evict(&sql, true, &removed), 0);
		if (!removed.captures)
			ck_assert_int_eq(retention_evict_baselines(&sql, true, &removed), 0);
		ck_assert_uint_eq(removed.captures, 1);
		expect_rows(&fixture, kept, after[i]);
	}
	sql_close(&sql);
	store_fixture_free(&fixture);
}
END_TEST

/* A database that is full of captures: a baseline takes the place of one before, or is not written. */
START_TEST(a_baseline_pushes_no_capture_out)
{
	struct dice dice = dice_new(92);
	_cleanup_capture_ struct capture *baseline = large_capture(&dice, 30);
	struct store_fixture fixture;
	int64_t captures = 0, pushed;
	int refused = 0;

	store_fixture_start_limited(&fixture, 4 * MIB);
	expect_commit_of(&fixture, baseline, "web", true, 100 * HOUR);
	for (int i = 0;
	     number(&fixture, "SELECT count(*) FROM capture WHERE trigger_mode <> 'baseline'") == i; i++) {
		_cleanup_capture_ struct capture *capture = large_capture(&dice, 150);
		int saved = log_divert();

		expect_commit_of(&fixture, capture, "web", false, (99 - i) * HOUR);
		free(log_diverted(saved));
	}
	/* full: the oldest captures have gone, the rule's only baseline has not */
	expect_rows(&fixture, "SELECT capture_id FROM capture WHERE trigger_mode = 'baseline'", "1\n");
	captures = number(&fixture, "SELECT count(*) FROM capture WHERE trigger_mode <> 'baseline'");
	ck_assert_int_gt(captures, 2);
	for (int i = 0; i < 40; i++) {
		_cleanup_capture_ struct capture *another = large_capture(&dice, 30);
		int result = commit_of(&fixture, another, "web", true, (int64_t)(60 - i) * (int64_t)SECOND);

		ck_assert(!result || result == -ENOSPC);
		refused += result != 0;
		pushed = captures -
			 number(&fixture, "SELECT count(*) FROM capture WHERE trigger_mode <> 'baseline'");
		ck_assert_int_eq(pushed, 0);
	}
	ck_assert_int_lt(refused, 40);
	ck_assert_int_ge(number(&fixture, "SELECT count(*) FROM capture WHERE trigger_mode = 'baseline'"), 1);
	store_fixture_free(&fixture);
}
END_TEST

/* An eighth of the database is theirs. */
START_TEST(baselines_take_no_more_than_their_share)
{
	struct dice dice = dice_new(93);
	struct store_fixture fixture;
	int64_t most = 0, rows_of_one = 0;

	store_fixture_start_limited(&fixture, 4 * MIB);
	for (int i = 0; i < 32; i++) {
		_cleanup_capture_ struct capture *baseline = large_capture(&dice, 200);
		int64_t all;

		expect_commit_of(&fixture, baseline, i % 2 ? "web" : "all", true, (100 - i) * HOUR);
		all = number(&fixture, "SELECT count(*) FROM sample_row");
		rows_of_one = rows_of_one ? rows_of_one : all;
		most = all > most ? all : most;
	}
	/* 128 bytes are a row */
	ck_assert_int_le(most, (int64_t)(4 * MIB / 8 / 128));
	ck_assert_int_gt(most, (int64_t)(4 * MIB / 8 / 128) - 2 * rows_of_one);
	expect_rows(&fixture, "SELECT max(capture_id) FROM capture", "32\n");
	store_fixture_free(&fixture);
}
END_TEST

/* A lock that another process holds is not waited for. */
START_TEST(a_baseline_waits_for_nobody)
{
	struct dice dice = dice_new(94);
	_cleanup_capture_ struct capture *baseline = large_capture(&dice, 20);
	struct store_fixture fixture;
	uint64_t began_ns;
	sqlite3 *other;

	store_fixture_start(&fixture);
	ck_assert_int_eq(sqlite3_open(fixture.path, &other), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	began_ns = clock_monotonic_ns();
	ck_assert_int_lt(commit_of(&fixture, baseline, "web", true, HOUR), 0);
	ck_assert_uint_lt(clock_monotonic_ns() - began_ns, 5 * SECOND);
	ck_assert_int_eq(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(other);
	expect_commit_of(&fixture, baseline, "web", true, HOUR);
	expect_rows(&fixture, kept, "1wb\n");
	store_fixture_free(&fixture);
}
END_TEST

SUITE(retention)
{
	Suite *suite = suite_create("retention");
	TCase *age = tcase_create("age"), *number = tcase_create("number"),
	      *baselines = tcase_create("baselines");

	tcase_add_test(age, captures_beyond_max_age_go);
	tcase_add_test(age, a_shared_name_outlives_the_frame_that_had_it);
	tcase_add_loop_test(age, what_other_captures_have_stays, 0, 4);
	tcase_add_test(age, latencies_and_growth_go_with_their_capture);
	tcase_add_test(age, old_runs_and_rules_go_with_their_captures);
	tcase_add_test(age, a_capture_under_way_stays);
	suite_add_tcase(suite, age);
	tcase_add_loop_test(number, one_in_thirty_two_goes_at_once, 0, 5);
	tcase_add_test(number, captures_on_demand_go_first_and_the_newest_of_each_rule_last);
	tcase_add_test(number, few_captures_on_demand_stay);
	tcase_add_test(number, captures_on_demand_never_push_out_the_newest_of_a_rule);
	suite_add_tcase(suite, number);
	tcase_add_test(baselines, baselines_are_kept_for_so_long);
	tcase_add_test(baselines, a_full_database_keeps_captures_and_one_baseline_of_each_rule);
	tcase_add_test(baselines, a_baseline_pushes_no_capture_out);
	tcase_add_test(baselines, baselines_take_no_more_than_their_share);
	tcase_add_test(baselines, a_baseline_waits_for_nobody);
	suite_add_tcase(suite, baselines);
	return suite;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows what the worker thread does first, what gives way to what, how many captures may be under way, and what it removes
 * when it is too old; turn by turn, with time that the test lets pass.
 */
#include "common/base/cleanup.h"
#include "consumer/capture/capture_samples.h"
#include "tests/unit/simulation.h"
#include "tests/unit/suites.h"

#include <string.h>
#include <sys/eventfd.h>

#define WEB "[rule web]\ncomm = nginx\ncpu.some = 200ms/2s\nhistory = 4s\ncapture = 3s\ncooldown = 0s\n"
#define DAY (86400 * SECOND)

static void start(struct simulation *simulation, const char *settings)
{
	simulation_make(simulation, WEB, settings, 1024);
	simulation_make_cgroup(simulation, "/web");
	simulation_start(simulation);
	simulation_put_on(simulation, simulation_begin(simulation, 101, "nginx", "/web"), 0);
	simulation_run(simulation, 10 * SECOND);
}

static void capture(struct simulation *simulation)
{
	simulation_press(simulation, "/web", PSI_CPU, 300000);
	simulation_run(simulation, 5 * SECOND);
}

/* The only state that a reader sees. */
static const char *state(struct simulation *simulation)
{
	static char text[32];
	_cleanup_free_ char *got = rows(&simulation->database, "SELECT state FROM capture");

	snprintf(text, sizeof(text), "%s", got);
	return text;
}

/* ---- order ---- */

/* Jobs come in their order, before anything that a time calls for. */
START_TEST(a_capture_is_announced_and_then_written)
{
	struct simulation simulation;

	start(&simulation, NULL);
	simulation.worker_stands = true;
	capture(&simulation);
	ck_assert_str_eq(state(&simulation), "");
	ck_assert(worker_has_captures(simulation.worker));
	ck_assert(worker_turn(simulation.worker));
	ck_assert_str_eq(state(&simulation), "recording\n");
	ck_assert(worker_turn(simulation.worker));
	ck_assert_str_eq(state(&simulation), "complete\n");
	ck_assert(!worker_has_captures(simulation.worker));
	simulation_free(&simulation);
}
END_TEST

START_TEST(a_thread_with_nothing_to_do_says_so)
{
	struct simulation simulation;

	start(&simulation, NULL);
	ck_assert(!worker_turn(simulation.worker));
	worker_want_mappings(simulation.worker);
	ck_assert(!worker_turn(simulation.worker)); /* not yet: others may follow */
	simulation.now_ns += SECOND / 50;
	ck_assert(worker_turn(simulation.worker));
	simulation_free(&simulation);
}
END_TEST

/* The first scan is of what is new; further ones look for what it maps afterwards, each four times as late as before. */
START_TEST(a_new_process_is_scanned_again_and_again)
{
	static const uint64_t after_ms[] = { 5, 250, 1000, 4000 };
	struct simulation simulation;
	uint64_t began_ns;

	start(&simulation, NULL);
	simulation_run(&simulation, 60 * SECOND);
	simulation.daemon_stands = true;
	began_ns = simulation.now_ns;
	worker_note_process(simulation.worker);
	for (size_t i = 0; i < ARRAY_SIZE(after_ms); i++) {
		simulation.now_ns = began_ns + after_ms[i] * (SECOND / 1000) - 1;
		ck_assert_msg(!worker_turn(simulation.worker), "before %d ms", (int)after_ms[i]);
		simulation.now_ns++;
		ck_assert_msg(worker_turn(simulation.worker), "at %d ms", (int)after_ms[i]);
		ck_assert(!worker_turn(simulation.worker));
	}
	simulation.now_ns += 60 * SECOND;
	simulation.daemon_stands = false;
	simulation_free(&simulation);
}
END_TEST

/* A baseline that waits is given up, because a capture begins. */
START_TEST(a_baseline_gives_way_to_a_capture)
{
	struct simulation simulation;

	simulation_make(&simulation, WEB, "[baseline]\nevery = 10s\n", 1024);
	simulation_make_cgroup(&simulation, "/web");
	simulation_start(&simulation);
	simulation_put_on(&simulation, simulation_begin(&simulation, 101, "nginx", "/web"), 0);
	simulation_run(&simulation, 9 * SECOND);
	simulation.worker_stands = true;
	simulation_run(&simulation, 2 * SECOND); /* the baseline is due at 10 s, and handed over */
	simulation_press(&simulation, "/web", PSI_CPU, 300000);
	simulation_run(&simulation, 5 * SECOND);
	simulation.worker_stands = false;
	simulation_settle(&simulation);
	expect_rows(&simulation.database, "SELECT trigger_mode FROM capture", "sampled\n");
	ck_assert_uint_eq(simulation_counted(&simulation, OWN_BASELINES_LOST), 1);
	ck_assert_uint_eq(simulation_counted(&simulation, OWN_BASELINES), 0);
	simulation_free(&simulation);
}
END_TEST

/* ---- room ---- */

static struct capture *capture_of(struct simulation *simulation, uint32_t rule_id)
{
	const struct rings rings = { .slots = simulation->kernel.objects.slots,
				     .slots_per_cpu = 1024,
				     .cpus = SIMULATION_CPUS };
	struct capture_trigger trigger = { .rule_id = rule_id,
					   .triggered_ns = simulation->now_ns,
					   .triggered_at = SIMULATION_BEGAN_AT,
					   .capture_ns = SECOND,
					   .hz = 47 };
	struct capture *made = capture_begin(&trigger, &rings);

	strcpy(made->trigger.rule, "web");
	ck_assert_ptr_nonnull(made);
	return made;
}

static const struct share_owner rule = { .kind = SHARE_OF_RULE, .id = 1, .is_alone = true },
				root = { .kind = SHARE_OF_ROOT };

static bool has_room(struct simulation *simulation, const struct share_owner *owner)
{
	struct capture *loser;

	return worker_has_room(simulation->worker, owner, &loser) && !loser;
}

static void begin(struct simulation *simulation, struct capture *capture, const struct share_owner *owner)
{
	struct capture *loser;

	ck_assert(worker_begin_capture(simulation->worker, capture, owner, &loser));
	ck_assert_ptr_null(loser);
}

/* A rule that is alone may have all places; each counts until its capture is written. */
START_TEST(places_are_taken_until_a_capture_is_written)
{
	struct simulation simulation;
	struct capture *captures[WORKER_CAPTURES_MAX];

	start(&simulation, NULL);
	simulation.worker_stands = true;
	for (size_t i = 0; i < WORKER_CAPTURES_MAX; i++) {
		ck_assert(has_room(&simulation, &rule));
		captures[i] = capture_of(&simulation, 1);
		begin(&simulation, captures[i], &rule);
	}
	ck_assert(!has_room(&simulation, &rule));
	ck_assert(!has_room(&simulation, &root));
	while (worker_turn(simulation.worker))
		;
	ck_assert(!has_room(&simulation, &rule));
	for (size_t i = 0; i < WORKER_CAPTURES_MAX; i++) {
		capture_end(captures[i], simulation.now_ns, false);
		worker_commit_capture(simulation.worker, captures[i]);
	}
	ck_assert(!has_room(&simulation, &rule));
	ck_assert(worker_turn(simulation.worker));
	ck_assert(has_room(&simulation, &rule));
	simulation.worker_stands = false;
	simulation_settle(&simulation);
	expect_count(&simulation.database, "capture WHERE state = 'complete'", WORKER_CAPTURES_MAX);
	simulation_free(&simulation);
}
END_TEST

/* It takes a place and has ended, so that it waits to be written behind its row. */
static void queue(struct simulation *simulation, struct capture *capture, const struct share_owner *owner)
{
	begin(simulation, capture, owner);
	capture_end(capture, simulation->now_ns, false);
	worker_commit_capture(simulation->worker, capture);
}

/* Captures have the numbers 1, 2 and so on, by the order in which they began. */
static void expect_written(struct simulation *simulation, const char *captures)
{
	expect_rows(&simulation->database,
		    "SELECT group_concat(capture_id, ' ') FROM capture WHERE state = 'complete'", captures);
}

static const struct share_owner many = { .kind = SHARE_OF_RULE, .id = 1 },
				few = { .kind = SHARE_OF_RULE, .id = 2 },
				alice = { .kind = SHARE_OF_USER, .id = 1000 };

/* All have their rows before any is written. Of a rule and a user who have one each, the rule's goes first. */
START_TEST(a_capture_is_written_before_those_of_whoever_has_more)
{
	const struct capture_request request = { .everyone = true, .kinds = CAPTURE_ON_CPU };
	struct simulation simulation;
	struct capture *asked;

	start(&simulation, NULL);
	simulation.worker_stands = true;
	queue(&simulation, capture_of(&simulation, 1), &many);
	queue(&simulation, capture_of(&simulation, 1), &many);
	asked = capture_of(&simulation, 0);
	asked->trigger.mode = TRIGGER_MANUAL;
	asked->trigger.asking = asking_new(&request);
	ck_assert_ptr_nonnull(asked->trigger.asking);
	queue(&simulation, asked, &alice);
	queue(&simulation, capture_of(&simulation, 1), &few);
	for (size_t i = 0; i < 4; i++)
		ck_assert(worker_turn(simulation.worker));
	expect_count(&simulation.database, "capture WHERE state = 'recording'", 4);
	ck_assert(worker_turn(simulation.worker));
	expect_written(&simulation, "4\n");
	ck_assert(worker_turn(simulation.worker));
	expect_written(&simulation, "3 4\n");
	ck_assert(worker_turn(simulation.worker));
	expect_written(&simulation, "1 3 4\n");
	simulation.worker_stands = false;
	simulation_free(&simulation);
}
END_TEST

/* Nor does one wait for ever while others that came later are written. */
START_TEST(a_capture_is_passed_eight_times_at_most)
{
	struct simulation simulation;

	start(&simulation, NULL);
	simulation.worker_stands = true;
	queue(&simulation, capture_of(&simulation, 1), &many);
	queue(&simulation, capture_of(&simulation, 1), &many);
	for (size_t i = 0; i < 2; i++)
		ck_assert(worker_turn(simulation.worker));
	for (size_t i = 0; i < 9; i++) {
		queue(&simulation, capture_of(&simulation, 1), &few);
		ck_assert(worker_turn(simulation.worker));
		ck_assert(worker_turn(simulation.worker));
	}
	expect_written(&simulation, "1 3 4 5 6 7 8 9 10\n");
	simulation.worker_stands = false;
	simulation_free(&simulation);
}
END_TEST

/* ---- memory ---- */

/* So many samples, each of another thread and another stack, within what the others leave at that time. */
static void add_samples(struct simulation *simulation, struct capture *capture, uint32_t count)
{
	capture->bytes_most = worker_bytes_left(simulation->worker, capture);
	for (uint32_t i = 0; i < count; i++) {
		struct sample sample =
			sample_make(1, simulation->now_ns, 1, 7, 0x1000 + 100 * capture->taken);

		sample.tid += (uint32_t)capture->taken;
		capture_add_kept(capture, &sample, 0, describe, NULL);
	}
}

/* Captures without end leave each owner its part, and their memory counts until they are written. */
START_TEST(captures_share_memory)
{
	const size_t most = WORKER_CAPTURES_BYTES_MAX(SIMULATION_CPUS);
	struct capture *greedy[WORKER_CAPTURES_OF_A_RULE_MAX], *honest, *asked;
	size_t held = 0;
	struct simulation simulation;

	start(&simulation, NULL);
	simulation.worker_stands = true;
	for (size_t i = 0; i < ARRAY_SIZE(greedy); i++) {
		greedy[i] = capture_of(&simulation, 1);
		begin(&simulation, greedy[i], &many);
	}
	ck_assert_uint_eq(worker_bytes_left(simulation.worker, greedy[0]), most);
	for (uint32_t i = 0; i < 40; i++)
		for (size_t j = 0; j < ARRAY_SIZE(greedy); j++)
			add_samples(&simulation, greedy[j], 400);
	for (size_t i = 0; i < ARRAY_SIZE(greedy); i++) {
		ck_assert_uint_gt(greedy[i]->losses[LOSS_CAPTURE_FULL], 0);
		held += capture_bytes(greedy[i]);
	}
	ck_assert_uint_ge(held, most);
	ck_assert_uint_lt(held, most + 1000);
	honest = capture_of(&simulation, 1);
	begin(&simulation, honest, &few);
	for (uint32_t i = 0; i < 5; i++)
		add_samples(&simulation, honest, 400);
	ck_assert_uint_eq(honest->taken, 2000);
	ck_assert_uint_eq(honest->losses[LOSS_CAPTURE_FULL], 0);
	asked = capture_of(&simulation, 1);
	begin(&simulation, asked, &alice);
	ck_assert_uint_eq(worker_bytes_left(simulation.worker, asked), WORKER_USER_BYTES_LEAST);
	capture_end(greedy[0], simulation.now_ns, false);
	worker_commit_capture(simulation.worker, greedy[0]);
	ck_assert_uint_eq(worker_bytes_left(simulation.worker, honest), WORKER_RULE_BYTES_LEAST);
	for (uint32_t i = 0; i < 5; i++)
		add_samples(&simulation, honest, 400);
	ck_assert_uint_gt(honest->losses[LOSS_CAPTURE_FULL], 0);
	ck_assert_uint_lt(capture_bytes(honest), WORKER_RULE_BYTES_LEAST + 1000);
	simulation_kill(&simulation);
	for (size_t i = 1; i < ARRAY_SIZE(greedy); i++)
		capture_free(greedy[i]);
	capture_free(honest);
	capture_free(asked);
	simulation_start(&simulation);
	simulation_free(&simulation);
}
END_TEST

/* Those on demand have half of the places. */
START_TEST(captures_on_demand_leave_places_to_rules)
{
	struct capture *captures[WORKER_CAPTURES_ASKED_MAX];
	struct simulation simulation;

	start(&simulation, NULL);
	simulation.worker_stands = true;
	for (size_t i = 0; i < ARRAY_SIZE(captures); i++) {
		ck_assert(has_room(&simulation, &root));
		captures[i] = capture_of(&simulation, 0);
		begin(&simulation, captures[i], &root);
	}
	ck_assert(!has_room(&simulation, &root));
	ck_assert(has_room(&simulation, &rule));
	simulation_kill(&simulation);
	for (size_t i = 0; i < ARRAY_SIZE(captures); i++)
		capture_free(captures[i]);
	simulation_start(&simulation);
	simulation_free(&simulation);
}
END_TEST

/* ---- results ---- */

START_TEST(a_reload_is_answered_once)
{
	struct config_errors errors = { 0 };
	struct configuration *configuration;
	struct simulation simulation;
	eventfd_t times;

	start(&simulation, NULL);
	simulation.daemon_stands = true;
	ck_assert_ptr_null(worker_reload_result(simulation.worker, &errors));
	worker_reload(simulation.worker);
	ck_assert(worker_turn(simulation.worker));
	configuration = worker_reload_result(simulation.worker, &errors);
	ck_assert_ptr_nonnull(configuration);
	ck_assert_uint_eq(configuration->rules.rules[0].id, 1);
	ck_assert_int_lt(eventfd_read(worker_reload_fd(simulation.worker), &times), 0);
	configuration_free(configuration);
	simulation_write_rules(&simulation, "[rule web]\n");
	worker_reload(simulation.worker);
	ck_assert(worker_turn(simulation.worker));
	ck_assert_ptr_null(worker_reload_result(simulation.worker, &errors));
	ck_assert_uint_gt(errors.count, 0);
	config_errors_free(&errors);
	simulation.daemon_stands = false;
	simulation_free(&simulation);
}
END_TEST

/* ---- age ---- */

START_TEST(captures_go_when_they_are_too_old)
{
	struct simulation simulation;

	start(&simulation, "[database]\nmax_age = 2d\n");
	capture(&simulation);
	simulation.daemon_stands = true; /* the seconds of days are not what this is about */
	for (int hours = 0; hours < 47; hours++) {
		simulation.now_ns += 3600 * SECOND;
		simulation_settle(&simulation);
	}
	expect_count(&simulation.database, "capture", 1);
	for (int hours = 0; hours < 3; hours++) {
		simulation.now_ns += 3600 * SECOND;
		simulation_settle(&simulation);
	}
	expect_count(&simulation.database, "capture", 0);
	simulation_kill(&simulation);
	simulation_start(&simulation);
	simulation_free(&simulation);
}
END_TEST

/* Age is by the wall clock, which may be wrong: back, nothing goes early; and it is looked at once an hour. */
START_TEST(a_wall_clock_that_is_set_keeps_and_removes)
{
	struct simulation simulation;

	start(&simulation, "[database]\nmax_age = 2d\n");
	capture(&simulation);
	simulation_set_wall(&simulation, -10 * (int64_t)DAY);
	simulation.daemon_stands = true;
	for (int hours = 0; hours < 72; hours++) {
		simulation.now_ns += 3600 * SECOND;
		simulation_settle(&simulation);
	}
	expect_count(&simulation.database, "capture", 1);
	simulation_set_wall(&simulation, 10 * (int64_t)DAY);
	simulation.now_ns += 3600 * SECOND;
	simulation_settle(&simulation);
	expect_count(&simulation.database, "capture", 0);
	simulation_kill(&simulation);
	simulation_start(&simulation);
	simulation_free(&simulation);
}
END_TEST

START_TEST(a_new_limit_holds_at_once)
{
	struct simulation simulation;

	start(&simulation, "[database]\nmax_age = 30d\n");
	capture(&simulation);
	simulation_suspend(&simulation, 3 * DAY);
	simulation_run(&simulation, 10 * SECOND);
	expect_count(&simulation.database, "capture", 1);
	simulation_write_settings(&simulation, "[database]\nmax_age = 2d\n");
	simulation_run(&simulation, 2 * SECOND);
	expect_count(&simulation.database, "capture", 0);
	simulation_free(&simulation);
}
END_TEST

/* ---- the end ---- */

START_TEST(the_run_ends_behind_its_last_capture)
{
	struct simulation simulation;

	start(&simulation, NULL);
	simulation.worker_stands = true;
	capture(&simulation);
	ck_assert_int_eq(simulation_stop(&simulation), EXIT_DONE);
	expect_rows(&simulation.database,
		    "SELECT state, (SELECT (ended_at - started_at) / 1000000000 FROM run) FROM capture",
		    "complete|15\n");
	expect_rows(&simulation.database,
		    "SELECT value FROM counter WHERE name = 'captures' ORDER BY at DESC LIMIT 1", "1\n");
	simulation_free(&simulation);
}
END_TEST

SUITE(worker)
{
	Suite *suite = suite_create("worker");
	TCase *order = simulation_case("order"), *room = simulation_case("room"),
	      *results = simulation_case("results"), *age = simulation_case("age"),
	      *ends = simulation_case("ends");

	tcase_add_test(order, a_capture_is_announced_and_then_written);
	tcase_add_test(order, a_thread_with_nothing_to_do_says_so);
	tcase_add_test(order, a_new_process_is_scanned_again_and_again);
	tcase_add_test(order, a_baseline_gives_way_to_a_capture);
	suite_add_tcase(suite, order);
	tcase_add_test(room, places_are_taken_until_a_capture_is_written);
	tcase_add_test(room, captures_on_demand_leave_places_to_rules);
	tcase_add_test(room, captures_share_memory);
	tcase_add_test(room, a_capture_is_written_before_those_of_whoever_has_more);
	tcase_add_test(room, a_capture_is_passed_eight_times_at_most);
	suite_add_tcase(suite, room);
	tcase_add_test(results, a_reload_is_answered_once);
	suite_add_tcase(suite, results);
	tcase_add_test(age, captures_go_when_they_are_too_old);
	tcase_add_test(age, a_wall_clock_that_is_set_keeps_and_removes);
	tcase_add_test(age, a_new_limit_holds_at_once);
	suite_add_tcase(suite, age);
	tcase_add_test(ends, the_run_ends_behind_its_last_capture);
	suite_add_tcase(suite, ends);
	return suite;
}

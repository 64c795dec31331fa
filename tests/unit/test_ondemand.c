/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows what becomes of a request for a capture: the lines that its client reads, what the programs are told, what is recorded,
 * and when it ends; which requests are refused, and how users and rules share the places. The client is connected to the
 * daemon's socket.
 */
#include "common/base/cleanup.h"
#include "consumer/ask_limit.h"
#include "tests/unit/simulation.h"
#include "tests/unit/suites.h"

#include <inttypes.h>
#include <string.h>

#define MS (SECOND / 1000)
#define SHOP "[rule shop]\ncomm = shop\ncpu.some = 200ms/2s\nhistory = 2s\ncapture = 3s\ncooldown = 60s\n"

/* No rule names these two. */
struct host {
	struct simulation simulation;
	struct simulated_process *hot, *other;
};

static void start(struct host *host)
{
	struct simulation *simulation = &host->simulation;

	simulation_make(simulation, SHOP, NULL, 1024);
	simulation_make_cgroup(simulation, "/shop");
	simulation_make_cgroup(simulation, "/a.service");
	simulation_start(simulation);
	host->hot = simulation_begin(simulation, 101, "hot", "/a.service");
	simulation_put_on(simulation, host->hot, 0);
	host->other = simulation_begin(simulation, 102, "other", "/a.service");
	simulation_put_on(simulation, host->other, 1);
	simulation_run(simulation, 10 * SECOND);
}

/* The line that asks for processes, for so many ms and before. The caller frees. */
static char *line_of(const char *whom, uint64_t for_ms, uint64_t before_ms)
{
	char *line = NULL;

	ck_assert_int_ge(asprintf(&line, "capture\tfor_ns=%" PRIu64 "\tbefore_ns=%" PRIu64 "\tkinds=%u\t%s\n",
				  for_ms * MS, before_ms * MS, CAPTURE_ON_CPU | CAPTURE_OFF_CPU, whom),
			 0);
	return line;
}

/* Returns the client. */
static int ask(struct host *host, const char *whom, uint64_t for_ms, uint64_t before_ms)
{
	_cleanup_free_ char *line = line_of(whom, for_ms, before_ms);
	int client = simulation_connect(&host->simulation, line);

	simulation_settle(&host->simulation);
	return client;
}

static int say_as(struct host *host, uid_t uid, const char *line)
{
	int client = simulation_connect_as(&host->simulation, uid, line);

	simulation_settle(&host->simulation);
	return client;
}

static int ask_as(struct host *host, uid_t uid, const char *whom, uint64_t for_ms)
{
	_cleanup_free_ char *line = line_of(whom, for_ms, 0);

	return say_as(host, uid, line);
}

#define ALICE 54321
#define BOB 54322

static void expect_answer(int client, const char *expected)
{
	const char *answer = simulation_answer(client);

	ck_assert_msg(!strcmp(answer, expected), "%s\n-- expected\n%s", answer, expected);
}

static void expect_answer_has(int client, const char *expected)
{
	const char *answer = simulation_answer(client);

	ck_assert_msg(strstr(answer, expected) != NULL, "'%s' is not in\n%s", expected, answer);
}

/* Whether the connection has ended, and all was read. */
static bool has_ended(int client)
{
	char byte;

	return read(client, &byte, 1) == 0;
}

static uint32_t wanted(struct host *host)
{
	return fake_kernel_count(&host->simulation.kernel, PIN_WANTED);
}

#define SINCE "(triggered_at - 1700000000000000000) / 1000000"

static void expect_captures(struct host *host, const char *expected)
{
	expect_rows(&host->simulation.database,
		    "SELECT trigger_mode, state, " SINCE ", (ended_at - triggered_at) / 1000000 FROM capture "
		    "ORDER BY capture_id",
		    expected);
}

START_TEST(a_process_is_captured_for_the_time_asked_for)
{
	struct host host;
	int client;

	start(&host);
	client = ask(&host, "pids=101", 2000, 0);
	expect_answer(client, "begun\telapsed_ns=0\tfor_ns=2000000000\tsamples=0\tstacks=0\thistory_ns=0\n");
	ck_assert_uint_eq(wanted(&host), 1);
	simulation_run(&host.simulation, 1500 * MS);
	expect_answer(
		client,
		"progress\telapsed_ns=1000000000\tfor_ns=2000000000\tsamples=47\tstacks=2\thistory_ns=0\n");
	simulation_run(&host.simulation, SECOND);
	expect_answer(client, "recorded\telapsed_ns=2000000000\tfor_ns=2000000000\n"
			      "stored\tcapture_id=1\tsamples=94\tinterrupted=0\n");
	ck_assert(has_ended(client));
	expect_captures(&host, "manual|complete|10000|2000\n");
	expect_rows(&host.simulation.database,
		    "SELECT second, tgid, comm, samples FROM sample JOIN process USING(process_id)",
		    "0|101|hot|47\n1|101|hot|47\n");
	/* nothing fired, nobody else asked */
	expect_rows(&host.simulation.database,
		    "SELECT rule_id, rule, resource, cgroup, incident_id, asked_for, asked_by_uid = "
		    "(SELECT max(asked_by_uid) FROM capture) FROM capture",
		    "NULL|NULL|NULL|NULL|NULL|--pid 101 --for 2s|1\n");
	/* it is wanted no more */
	ck_assert_uint_eq(wanted(&host), 0);
	ck_assert_uint_eq(host.simulation.kernel.objects.control->wanted, 0);
	ck_assert_uint_eq(simulation_counted(&host.simulation, OWN_ASKED), 1);
	close(client);
	simulation_free(&host.simulation);
}
END_TEST

/* It was a bystander then: the rings have what it did on CPU. */
START_TEST(before_has_what_a_process_did_before_anybody_asked)
{
	struct host host;
	int client;

	start(&host);
	client = ask(&host, "pids=101", 1000, 4000);
	simulation_run(&host.simulation, 5 * SECOND);
	close(client);
	expect_captures(&host, "manual|complete|10000|1000\n");
	expect_rows(&host.simulation.database,
		    "SELECT min(second), max(second), sum(samples), min(tgid), max(tgid) FROM sample "
		    "JOIN process USING(process_id)",
		    "-4|0|235|101|101\n");
	expect_rows(&host.simulation.database,
		    "SELECT history_ns / 1000000000, triggered_at - began_at = history_ns FROM capture",
		    "4|1\n");
	/* longer than the daemon runs */
	client = ask(&host, "pids=101", 1000, 60000);
	simulation_run(&host.simulation, 5 * SECOND);
	close(client);
	expect_rows(&host.simulation.database,
		    "SELECT history_ns / 1000000000 FROM capture WHERE capture_id = 2", "15\n");
	simulation_free(&host.simulation);
}
END_TEST

START_TEST(a_request_may_be_of_everyone_a_cgroup_or_a_unit)
{
	struct host host;
	int everyone, cgroup, unit;

	start(&host);
	simulation_put_on(&host.simulation, simulation_begin(&host.simulation, 103, "else", "/shop"), 1);
	everyone = ask(&host, "all=1", 1000, 0);
	cgroup = ask(&host, "cgroup=/a.service", 1000, 0);
	unit = ask(&host, "unit=a.service\tcomm=ot*", 1000, 0);
	simulation_run(&host.simulation, 5 * SECOND);
	close(everyone);
	close(cgroup);
	close(unit);
	expect_rows(
		&host.simulation.database,
		"SELECT capture_id, group_concat(tgid) FROM (SELECT DISTINCT capture_id, tgid FROM sample "
		"JOIN process USING(process_id) ORDER BY 1, 2) GROUP BY 1",
		"1|101,102,103\n2|101,102\n3|102\n");
	/* whose pressure is beside it */
	expect_rows(&host.simulation.database, "SELECT capture_id, cgroup FROM capture",
		    "1|NULL\n2|/a.service\n3|/a.service\n");
	simulation_free(&host.simulation);
}
END_TEST

START_TEST(a_client_that_leaves_ends_its_capture_early)
{
	struct host host;
	int client;

	start(&host);
	client = ask(&host, "pids=101", 3600000, 0);
	simulation_run(&host.simulation, 2500 * MS);
	ck_assert_uint_eq(wanted(&host), 1);
	close(client);
	simulation_settle(&host.simulation);
	simulation_run(&host.simulation, 2 * SECOND);
	expect_captures(&host, "manual|complete|10000|2500\n");
	expect_rows(&host.simulation.database, "SELECT sum(samples) FROM sample", "117\n");
	ck_assert_uint_eq(wanted(&host), 0);
	simulation_free(&host.simulation);
}
END_TEST

START_TEST(a_process_that_ends_within_the_capture_is_in_it)
{
	struct host host;
	int client;

	start(&host);
	client = ask(&host, "pids=101", 5000, 0);
	simulation_run(&host.simulation, 1500 * MS);
	simulation_end(&host.simulation, host.hot);
	/* another process of that number is none that was asked for */
	simulation_put_on(&host.simulation, simulation_begin(&host.simulation, 101, "hot", "/a.service"), 0);
	simulation_run(&host.simulation, 5 * SECOND);
	close(client);
	expect_captures(&host, "manual|complete|10000|5000\n");
	expect_rows(&host.simulation.database, "SELECT max(second), sum(samples) FROM sample", "1|70\n");
	simulation_free(&host.simulation);
}
END_TEST

/* ---- refusals ---- */

struct refusal {
	const char *line, *answer;
};

static const struct refusal refusals[] = {
	{ "capture\tfor_ns=1000000000\tkinds=3\tpids=4242\n",
	  "it does not exist, or root's policy denies it" },
	{ "capture\tfor_ns=1000000000\tkinds=3\tpids=103\n", "it is a kernel thread" },
	{ "capture\tfor_ns=1000000000\tkinds=3\tpids=104\n",
	  "it does not exist, or root's policy denies it" },
	{ "capture\tfor_ns=1000000000\tkinds=3\tpids=101,4242\n", "it does not exist" },
	{ "capture\tfor_ns=1000000000\tkinds=3\tcgroup=/nowhere\n", "there is no such cgroup" },
	{ "capture\tfor_ns=1000000000\tkinds=3\n", "name the processes" },
	{ "capture\tfor_ns=1\tkinds=3\tpids=101\n", "--for: from 1s to 1h" },
	{ "capture\tfor_ns=1000000000\tkinds=0\tpids=101\n", "" },
	{ "capture\tfor_ns=soon\tkinds=3\tpids=101\n", "a number is not one" },
	{ "nonsense\n", "this bourdond does not know such a request" },
	{ "capture\tfor_ns\n", "the request is damaged" },
};

START_TEST(what_cannot_be_captured_is_refused)
{
	const struct refusal *refusal = &refusals[_i];
	struct host host;
	const char *answer;
	int client;

	start(&host);
	simulation_begin(&host.simulation, 103, "kthread", "/shop")->is_kernel = true;
	simulation_begin(&host.simulation, 104, "secret", "/shop")->is_denied = true;
	simulation_run(&host.simulation, SECOND);
	client = simulation_connect(&host.simulation, refusal->line);
	simulation_settle(&host.simulation);
	answer = simulation_answer(client);
	ck_assert_msg(!strncmp(answer, "refused\t", strlen("refused\t")) && strstr(answer, refusal->answer),
		      "%s: %s", refusal->line, answer);
	ck_assert(has_ended(client));
	ck_assert_uint_eq(simulation_counted(&host.simulation, OWN_ASKED), 0);
	ck_assert_uint_eq(simulation_counted(&host.simulation, OWN_ASKED_REFUSED), 1);
	ck_assert_uint_eq(wanted(&host), 0);
	simulation_run(&host.simulation, 2 * SECOND);
	expect_count(&host.simulation.database, "capture", 0);
	close(client);
	simulation_free(&host.simulation);
}
END_TEST

/* ---- limits ---- */

START_TEST(a_few_are_served_at_once_and_the_others_are_refused)
{
	struct host host;
	int clients[WORKER_CAPTURES_ASKED_MAX + 1];

	start(&host);
	for (size_t i = 0; i < ARRAY_SIZE(clients); i++)
		clients[i] = ask(&host, "pids=101", 2000, 0);
	for (size_t i = 0; i < WORKER_CAPTURES_ASKED_MAX; i++)
		expect_answer_has(clients[i], "begun\t");
	expect_answer_has(
		clients[WORKER_CAPTURES_ASKED_MAX],
		"why=as many captures as may be asked for at once are under way or wait to be written; 'bourdon capture --who' lists yours, --end ends one\n");
	simulation_run(&host.simulation, 5 * SECOND);
	for (size_t i = 0; i < ARRAY_SIZE(clients); i++)
		close(clients[i]);
	/* there is room again */
	clients[0] = ask(&host, "pids=101", 1000, 0);
	expect_answer_has(clients[0], "begun\t");
	simulation_run(&host.simulation, 2 * SECOND);
	close(clients[0]);
	expect_count(&host.simulation.database, "capture WHERE state = 'complete'",
		     WORKER_CAPTURES_ASKED_MAX + 1);
	simulation_free(&host.simulation);
}
END_TEST

/* Ten at once, and one more every three seconds. */
START_TEST(who_asks_too_often_is_refused)
{
	struct host host;
	unsigned int begun = 0;

	start(&host);
	for (int i = 0; i < 40; i++) {
		int client = ask(&host, "pids=101", 1000, 0);

		begun += !strncmp(simulation_answer(client), "begun\t", 6);
		simulation_run(&host.simulation, 250 * MS);
		close(client);
		simulation_run(&host.simulation, 250 * MS);
	}
	/* within 20 s */
	ck_assert_uint_eq(begun, ASK_BURST + 6);
	ck_assert_uint_eq(simulation_counted(&host.simulation, OWN_ASKED_REFUSED), 40 - begun);
	simulation_free(&host.simulation);
}
END_TEST

START_TEST(a_rule_fires_while_captures_on_demand_take_all_their_places)
{
	struct host host;
	int clients[WORKER_CAPTURES_ASKED_MAX];

	start(&host);
	simulation_put_on(&host.simulation, simulation_begin(&host.simulation, 201, "shop", "/shop"), 1);
	for (size_t i = 0; i < ARRAY_SIZE(clients); i++)
		clients[i] = ask(&host, "pids=101", 20000, 0);
	simulation_press(&host.simulation, "/shop", PSI_CPU, 300000);
	simulation_run(&host.simulation, 30 * SECOND);
	for (size_t i = 0; i < ARRAY_SIZE(clients); i++)
		close(clients[i]);
	expect_captures(&host, "manual|complete|10000|20000\nmanual|complete|10000|20000\n"
			       "manual|complete|10000|20000\nmanual|complete|10000|20000\n"
			       "sampled|complete|11000|3000\n");
	expect_rows(
		&host.simulation.database,
		"SELECT rule, sum(samples) FROM sample JOIN capture USING(capture_id) WHERE rule IS NOT NULL",
		"shop|188\n");
	expect_rows(&host.simulation.database, "SELECT count(*) FROM capture WHERE incident_id IS NOT NULL",
		    "1\n");
	simulation_free(&host.simulation);
}
END_TEST

/* ---- shares ---- */

#define POOL "[rule pool]\ncomm = pool\ncpu.some = 200ms/2s\nhistory = 2s\ncapture = 60s\ncooldown = 60s\n"

/* One user asks for hours, a rule fires in many cgroups; then another rule fires, and root asks. */
START_TEST(captures_of_others_leave_places_to_a_rule_and_to_root)
{
	struct host host;
	struct simulation *simulation = &host.simulation;
	int clients[4], client;
	unsigned int begun = 0;

	SKIP_IF(no_root());
	simulation_make(simulation, POOL SHOP, NULL, 1024);
	simulation_make_cgroup(simulation, "/shop");
	simulation_start(simulation);
	simulation_begin(simulation, 201, "shop", "/shop");
	for (unsigned int i = 1; i <= 4; i++) {
		char path[16];

		snprintf(path, sizeof(path), "/%u", i);
		simulation_make_cgroup(simulation, path);
		simulation_begin(simulation, 300 + i, "pool", path);
	}
	simulation_run(simulation, 10 * SECOND);
	for (size_t i = 0; i < ARRAY_SIZE(clients); i++) {
		clients[i] = ask_as(&host, ALICE, "all=1", 3600000);
		begun += !strncmp(simulation_answer(clients[i]), "begun\t", 6);
	}
	ck_assert_uint_eq(begun, 2);
	for (unsigned int i = 1; i <= 4; i++) {
		char path[16];

		snprintf(path, sizeof(path), "/%u", i);
		simulation_press(simulation, path, PSI_CPU, 300000);
	}
	simulation_run(simulation, 2 * SECOND);
	simulation_press(simulation, "/shop", PSI_CPU, 300000);
	simulation_run(simulation, 5 * SECOND);
	expect_count(&simulation->database, "capture WHERE rule = 'shop' AND state = 'complete'", 1);
	client = ask(&host, "all=1", 1000, 0);
	expect_answer_has(client, "begun\t");
	simulation_run(simulation, 5 * SECOND);
	expect_answer_has(client, "stored\t");
	close(client);
	for (size_t i = 0; i < ARRAY_SIZE(clients); i++)
		close(clients[i]);
	simulation_run(simulation, 2 * SECOND);
	simulation_free(simulation);
}
END_TEST

START_TEST(who_has_most_makes_way_and_is_told)
{
	struct host host;
	int alice[2], others[3];

	SKIP_IF(no_root());
	start(&host);
	for (size_t i = 0; i < ARRAY_SIZE(alice); i++)
		alice[i] = ask_as(&host, ALICE, "pids=101", 3600000);
	others[0] = ask_as(&host, BOB, "pids=101", 60000);
	others[1] = ask_as(&host, BOB + 1, "pids=101", 60000);
	expect_answer_has(alice[1], "begun\t");
	simulation_run(&host.simulation, SECOND);
	others[2] = ask_as(&host, BOB + 2, "pids=101", 60000);
	expect_answer_has(others[2], "begun\t");
	simulation_run(&host.simulation, SECOND);
	/* the newer one is kept as far as it came, the older one goes on */
	expect_answer_has(alice[1], "ended\twhy=it made way for another one\nrecorded\t");
	simulation_run(&host.simulation, 2 * SECOND);
	expect_rows(
		&host.simulation.database,
		"SELECT capture_id, (ended_at - triggered_at) / 1000000 FROM capture WHERE state = 'complete'",
		"2|1000\n");
	expect_logged(&host.simulation,
		      "a capture of uid 54321 ends early and is kept: it makes way for one of uid 54324\n");
	for (size_t i = 0; i < 3; i++)
		close(others[i]);
	close(alice[0]);
	close(alice[1]);
	simulation_run(&host.simulation, 2 * SECOND);
	simulation_free(&host.simulation);
}
END_TEST

START_TEST(who_sees_and_ends_what_it_asked_for_and_root_all)
{
	struct host host;
	int alice, bob, client;

	SKIP_IF(no_root());
	start(&host);
	alice = ask_as(&host, ALICE, "pids=101\tnote=one", 3600000);
	bob = ask_as(&host, BOB, "pids=102", 60000);
	expect_answer_has(alice, "begun\t");
	client = say_as(&host, ALICE, "who\n");
	expect_answer(client, "asked\tcapture_id=1\tuid=54321\tbegan_at=1700000010000000000\t"
			      "until_at=1700003610000000000\tsamples=0\tasked_by=uid 54321\t"
			      "asked_for=--pid 101 --for 3600s\tnote=one\nwho\n");
	ck_assert(has_ended(client));
	close(client);
	client = say_as(&host, 0, "who\n");
	expect_answer_has(client, "uid=54322\t");
	close(client);
	/* another user's is none */
	client = say_as(&host, BOB, "end\tid=1\n");
	expect_answer(client,
		      "refused\twhy=no capture on demand of this user has that ID and is under way\n");
	close(client);
	client = say_as(&host, BOB, "end\tid=7\n");
	expect_answer_has(client, "refused\twhy=no capture on demand of this user has that ID");
	close(client);
	simulation_run(&host.simulation, 2500 * MS);
	client = say_as(&host, BOB, "end\tid=2\n");
	expect_answer(client, "ended\n");
	close(client);
	client = say_as(&host, 0, "end\tid=1\n");
	expect_answer(client, "ended\n");
	close(client);
	simulation_run(&host.simulation, 2 * SECOND);
	expect_answer_has(alice, "ended\twhy=ended by root (uid 0)\nrecorded\t");
	expect_captures(&host, "manual|complete|10000|2500\nmanual|complete|10000|2500\n");
	client = say_as(&host, 0, "who\n");
	expect_answer(client, "who\n");
	close(client);
	close(alice);
	close(bob);
	simulation_free(&host.simulation);
}
END_TEST

/* ---- the end ---- */

START_TEST(a_daemon_that_ends_tells_its_clients_and_keeps_what_it_has)
{
	struct host host;
	int client;

	start(&host);
	client = ask(&host, "pids=101", 3600000, 0);
	simulation_run(&host.simulation, 2500 * MS);
	simulation_answer(client);
	ck_assert_int_eq(simulation_stop(&host.simulation), EXIT_DONE);
	expect_answer(client, "interrupted\n");
	ck_assert(has_ended(client));
	close(client);
	expect_captures(&host, "manual|interrupted|10000|2500\n");
	expect_rows(&host.simulation.database, "SELECT sum(samples) FROM sample", "117\n");
	ck_assert_uint_eq(wanted(&host), 0);
	simulation_free(&host.simulation);
}
END_TEST

/* Killed, it leaves what it wanted to the next one. */
START_TEST(a_daemon_that_starts_wants_nobody)
{
	struct host host;
	int client;

	start(&host);
	client = ask(&host, "pids=101", 3600000, 0);
	simulation_run(&host.simulation, SECOND);
	simulation_kill(&host.simulation);
	close(client);
	ck_assert_uint_eq(wanted(&host), 1);
	simulation_start(&host.simulation);
	ck_assert_uint_eq(wanted(&host), 0);
	expect_captures(&host, "manual|interrupted|10000|NULL\n");
	simulation_free(&host.simulation);
}
END_TEST

SUITE(ondemand)
{
	Suite *suite = suite_create("ondemand");
	TCase *requests = simulation_case("requests"), *refused = simulation_case("refusals"),
	      *limits = simulation_case("limits"), *shares = simulation_case("shares"),
	      *ends = simulation_case("ends");

	tcase_add_test(requests, a_process_is_captured_for_the_time_asked_for);
	tcase_add_test(requests, before_has_what_a_process_did_before_anybody_asked);
	tcase_add_test(requests, a_request_may_be_of_everyone_a_cgroup_or_a_unit);
	tcase_add_test(requests, a_client_that_leaves_ends_its_capture_early);
	tcase_add_test(requests, a_process_that_ends_within_the_capture_is_in_it);
	suite_add_tcase(suite, requests);
	tcase_add_loop_test(refused, what_cannot_be_captured_is_refused, 0, ARRAY_SIZE(refusals));
	suite_add_tcase(suite, refused);
	tcase_add_test(limits, a_few_are_served_at_once_and_the_others_are_refused);
	tcase_add_test(limits, who_asks_too_often_is_refused);
	tcase_add_test(limits, a_rule_fires_while_captures_on_demand_take_all_their_places);
	suite_add_tcase(suite, limits);
	tcase_add_test(shares, captures_of_others_leave_places_to_a_rule_and_to_root);
	tcase_add_test(shares, who_has_most_makes_way_and_is_told);
	tcase_add_test(shares, who_sees_and_ends_what_it_asked_for_and_root_all);
	suite_add_tcase(suite, shares);
	tcase_add_test(ends, a_daemon_that_ends_tells_its_clients_and_keeps_what_it_has);
	tcase_add_test(ends, a_daemon_that_starts_wants_nobody);
	suite_add_tcase(suite, ends);
	return suite;
}

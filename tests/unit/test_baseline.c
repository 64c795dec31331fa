/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows when a rule's baseline is due: while its watches are armed and no cooldown lies in the history that it would have,
 * the rule that waited longest first; and that a reload keeps the times of rules that did not change.
 */
#include "consumer/baseline.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <string.h>

#define SECOND 1000000000UL
#define NOW (100000 * SECOND)
#define EVERY (3600 * SECOND)

#define RULES 3
#define WATCHES 4

/* Rules 1 to 3 with a history of 10 s, and a watch for each, which was never in a cooldown. */
struct fixture {
	struct rule rules[RULES];
	struct watch watch[WATCHES];
	struct watch *list[WATCHES];
	struct watches watches;
	struct configuration configuration;
	struct baselines baselines;
};

static void fixture_make(struct fixture *fixture)
{
	*fixture = (struct fixture){ .configuration.settings.baseline_ns = EVERY };
	for (size_t i = 0; i < RULES; i++)
		fixture->rules[i] = (struct rule){ .id = (uint32_t)i + 1, .history_ns = 10 * SECOND };
	for (size_t i = 0; i < WATCHES; i++) {
		fixture->watch[i] = (struct watch){ .rule = &fixture->rules[i % RULES] };
		fixture->list[i] = &fixture->watch[i];
	}
	fixture->watches = (struct watches){ .watches = fixture->list, .count = RULES };
	fixture->configuration.rules = (struct rule_set){ .rules = fixture->rules, .count = RULES };
}

static void follow(struct fixture *fixture, uint64_t now_ns)
{
	ck_assert_int_eq(baselines_follow(&fixture->baselines, &fixture->configuration, now_ns), 0);
}

/* The id of the rule that is due, or 0. */
static uint32_t due(const struct fixture *fixture, uint64_t now_ns)
{
	const struct rule *rule = baselines_due(&fixture->baselines, &fixture->watches, now_ns);

	return rule ? rule->id : 0;
}

static void note(struct fixture *fixture, uint32_t id, uint64_t now_ns)
{
	baselines_note(&fixture->baselines, &fixture->rules[id - 1], now_ns);
}

START_TEST(each_rule_has_one_in_its_time)
{
	struct fixture fixture;

	fixture_make(&fixture);
	ck_assert_uint_eq(due(&fixture, NOW), 0); /* before the first configuration */
	follow(&fixture, NOW);
	ck_assert_uint_eq(due(&fixture, NOW + EVERY - 1), 0);
	ck_assert_uint_eq(due(&fixture, NOW + EVERY), 1);
	note(&fixture, 1, NOW + EVERY);
	ck_assert_uint_eq(due(&fixture, NOW + EVERY), 2);
	note(&fixture, 2, NOW + EVERY + 2 * SECOND);
	ck_assert_uint_eq(due(&fixture, NOW + EVERY + 3 * SECOND), 3);
	note(&fixture, 3, NOW + EVERY + SECOND);
	ck_assert_uint_eq(due(&fixture, NOW + 2 * EVERY - 1), 0);
	/* all are due: the one that waited longest */
	ck_assert_uint_eq(due(&fixture, NOW + 3 * EVERY), 1);
	note(&fixture, 1, NOW + 3 * EVERY);
	ck_assert_uint_eq(due(&fixture, NOW + 3 * EVERY), 3);
	baselines_free(&fixture.baselines);
}
END_TEST

START_TEST(a_rule_that_is_not_calm_has_none)
{
	struct fixture fixture;
	struct watch *watch = &fixture.watch[0];
	uint64_t now_ns = NOW + 2 * EVERY;

	fixture_make(&fixture);
	fixture.watches.count = 1; /* that of rule 1 alone: the others have none */
	follow(&fixture, NOW);
	ck_assert_uint_eq(due(&fixture, now_ns), 1);
	watch->quiet_until_ns = now_ns + 1; /* in its cooldown */
	ck_assert_uint_eq(due(&fixture, now_ns), 0);
	watch->quiet_until_ns = now_ns - 9 * SECOND; /* which lies in the history */
	ck_assert_uint_eq(due(&fixture, now_ns), 0);
	watch->quiet_until_ns = now_ns - 10 * SECOND;
	ck_assert_uint_eq(due(&fixture, now_ns), 1);
	watch->covered_until_ns =
		now_ns - 9 * SECOND; /* the rule has no cooldown, and a capture lies in it */
	ck_assert_uint_eq(due(&fixture, now_ns), 0);
	watch->covered_until_ns = 0;
	watch->fd = -EBADF; /* its file cannot be read: nobody knows whether it is calm */
	ck_assert_uint_eq(due(&fixture, now_ns), 0);
	watch->fd = 0;
	watch->gone = true;
	ck_assert_uint_eq(due(&fixture, now_ns), 0);
	baselines_free(&fixture.baselines);
}
END_TEST

START_TEST(all_watches_of_a_rule_must_be_calm)
{
	struct fixture fixture;
	uint64_t now_ns = NOW + 2 * EVERY;

	fixture_make(&fixture);
	fixture.watches.count = WATCHES; /* the last one is the second of rule 1 */
	follow(&fixture, NOW);
	fixture.watch[WATCHES - 1].quiet_until_ns = now_ns + 1;
	ck_assert_uint_eq(due(&fixture, now_ns), 2);
	fixture.watch[WATCHES - 1].quiet_until_ns = 0;
	ck_assert_uint_eq(due(&fixture, now_ns), 1);
	baselines_free(&fixture.baselines);
}
END_TEST

START_TEST(without_history_there_is_none)
{
	struct fixture fixture;

	fixture_make(&fixture);
	follow(&fixture, NOW);
	fixture.rules[0].history_ns = 0;
	ck_assert_uint_eq(due(&fixture, NOW + EVERY), 2);
	baselines_free(&fixture.baselines);
}
END_TEST

START_TEST(a_reload_changes_how_often)
{
	struct fixture fixture;

	fixture_make(&fixture);
	follow(&fixture, NOW);
	note(&fixture, 1, NOW + 10 * SECOND);
	fixture.configuration.settings.baseline_ns = 0;
	follow(&fixture, NOW + 20 * SECOND);
	ck_assert_uint_eq(due(&fixture, NOW + 9 * EVERY), 0);
	/* rule 2 changed, which gives it another id: its time begins anew */
	fixture.configuration.settings.baseline_ns = 60 * SECOND;
	fixture.rules[1].id = 7;
	follow(&fixture, NOW + 30 * SECOND);
	ck_assert_uint_eq(due(&fixture, NOW + 60 * SECOND), 3);
	note(&fixture, 3, NOW + 60 * SECOND);
	ck_assert_uint_eq(due(&fixture, NOW + 70 * SECOND - 1), 0);
	ck_assert_uint_eq(due(&fixture, NOW + 70 * SECOND), 1);
	baselines_note(&fixture.baselines, &fixture.rules[0], NOW + 70 * SECOND);
	ck_assert_uint_eq(due(&fixture, NOW + 90 * SECOND - 1), 0);
	ck_assert_uint_eq(due(&fixture, NOW + 90 * SECOND), 7);
	/* a watch may still refer to a rule of the configuration before */
	fixture.configuration.rules.count = 1;
	follow(&fixture, NOW + 100 * SECOND);
	ck_assert_uint_eq(due(&fixture, NOW + EVERY), 1);
	baselines_free(&fixture.baselines);
}
END_TEST

SUITE(baseline)
{
	Suite *suite = suite_create("baseline");
	TCase *tests = tcase_create("due");

	tcase_add_test(tests, each_rule_has_one_in_its_time);
	tcase_add_test(tests, a_rule_that_is_not_calm_has_none);
	tcase_add_test(tests, all_watches_of_a_rule_must_be_calm);
	tcase_add_test(tests, without_history_there_is_none);
	tcase_add_test(tests, a_reload_changes_how_often);
	suite_add_tcase(suite, tests);
	return suite;
}

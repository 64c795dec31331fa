/* SPDX-License-Identifier: GPL-2.0-only */
/* Shows which captures are of one incident. */
#include "common/base/cleanup.h"
#include "consumer/capture/incident.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#define SECOND 1000000000UL

struct join_case {
	const char *why;
	uint64_t history_s, triggered_s, capture_s, cooldown_s; /* of the second capture */
	uint32_t number;
};

/* The first capture is triggered at 1000 s and lasts 5 s; its cooldown is 60 s. */
static const struct join_case join_cases[] = {
	{ "at the same moment", 0, 1000, 5, 0, 1 },
	{ "while the first is under way", 0, 1003, 5, 0, 1 },
	{ "within the cooldown of the first", 0, 1064, 5, 0, 1 },
	{ "after it", 0, 1065, 5, 0, 2 },
	{ "after it, with history from its end", 60, 1065, 5, 0, 1 },
	{ "after it, with history from later", 59, 1065, 5, 0, 2 },
	{ "its own cooldown does not count", 0, 1100, 5, 3600, 2 },
};

START_TEST(what_overlaps_or_follows_within_the_cooldown_belongs_together)
{
	const struct join_case *one = &join_cases[_i];
	const struct incident_span first = { 990 * SECOND, 1000 * SECOND, 5 * SECOND, 60 * SECOND },
				   second = { (one->triggered_s - one->history_s) * SECOND,
					      one->triggered_s * SECOND, one->capture_s * SECOND,
					      one->cooldown_s * SECOND };
	struct incident incident = incident_join(&(struct incident){ 0 }, &first), joined;

	ck_assert_uint_eq(incident.number, 1);
	joined = incident_join(&incident, &second);
	ck_assert_msg(joined.number == one->number, "%s: %u", one->why, joined.number);
	ck_assert_uint_eq(joined.captures, one->number == 1 ? 2 : 1);
}
END_TEST

/* The longest cooldown and the last end count, not those of the last capture. */
START_TEST(a_short_capture_does_not_shorten_an_incident)
{
	struct incident incident = { 0 };

	incident = incident_join(&incident,
				 &(struct incident_span){ 0, 100 * SECOND, 50 * SECOND, 100 * SECOND });
	incident = incident_join(&incident, &(struct incident_span){ 0, 101 * SECOND, SECOND, 0 });
	incident = incident_join(&incident, &(struct incident_span){ 140 * SECOND, 140 * SECOND, SECOND, 0 });
	incident = incident_join(&incident, &(struct incident_span){ 249 * SECOND, 249 * SECOND, SECOND, 0 });
	ck_assert_uint_eq(incident.number, 1);
	ck_assert_uint_eq(incident.captures, 4);
	incident = incident_join(&incident, &(struct incident_span){ 251 * SECOND, 251 * SECOND, SECOND, 0 });
	ck_assert_uint_eq(incident.number, 2);
}
END_TEST

START_TEST(an_incident_takes_so_many_captures_and_no_more)
{
	struct incident incident = { 0 };

	for (uint32_t i = 0; i < 3 * INCIDENT_CAPTURES_MAX; i++) {
		uint64_t now_ns = (100 + i) * SECOND;

		incident = incident_join(&incident, &(struct incident_span){ now_ns, now_ns, 5 * SECOND, 0 });
		ck_assert_uint_eq(incident.number, 1 + i / INCIDENT_CAPTURES_MAX);
		ck_assert_uint_eq(incident.captures, 1 + i % INCIDENT_CAPTURES_MAX);
	}
}
END_TEST

SUITE(incident)
{
	Suite *suite = suite_create("incident");
	TCase *joins = tcase_create("joins");

	tcase_add_loop_test(joins, what_overlaps_or_follows_within_the_cooldown_belongs_together, 0,
			    (int)ARRAY_SIZE(join_cases));
	tcase_add_test(joins, a_short_capture_does_not_shorten_an_incident);
	tcase_add_test(joins, an_incident_takes_so_many_captures_and_no_more);
	suite_add_tcase(suite, joins);
	return suite;
}

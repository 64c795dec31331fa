/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows when a reload begins, what becomes of what was read, and how long a replaced configuration lives: at
 * times that the test chooses, without files and without a kernel.
 */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "consumer/reload.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <string.h>

#define START_NS (1000 * CLOCK_SECOND_NS)
#define MS (CLOCK_SECOND_NS / 1000)

struct fixture {
	struct reload reload;
	struct own_counters counters;
	unsigned int reads;
	const struct configuration *followed;
	int follow_result;
	const struct configuration *used; /* by a capture */
};

static void read_again(void *user, uint64_t now_ns)
{
	struct fixture *fixture = user;

	(void)now_ns;
	fixture->reads++;
}

static int follow(void *user, const struct configuration *configuration)
{
	struct fixture *fixture = user;

	if (!fixture->follow_result)
		fixture->followed = configuration;
	return fixture->follow_result;
}

static bool is_used(void *user, const struct configuration *configuration)
{
	const struct fixture *fixture = user;

	return fixture->used == configuration;
}

/* With one rule of that name. */
static struct configuration *configuration_new(const char *rule)
{
	struct configuration *configuration = calloc(1, sizeof(*configuration));
	struct config_errors errors = { 0 };
	_cleanup_free_ char *text = NULL;

	ck_assert_ptr_nonnull(configuration);
	ck_assert_int_ge(asprintf(&text, "[rule %s]\ncomm=a\nio.some=100ms/1s\n", rule), 0);
	ck_assert_int_eq(rules_read_text("x.conf", text, strlen(text), &configuration->rules, &errors), 0);
	return configuration;
}

static void open_fixture(struct fixture *fixture)
{
	const struct reload_actions actions = { read_again, follow, is_used, fixture };

	*fixture = (struct fixture){ .reads = 0 };
	reload_init(&fixture->reload, &actions, configuration_new("first"), &fixture->counters);
}

static uint64_t counted(struct fixture *fixture, enum own_counter counter)
{
	return own_counted(&fixture->counters, counter);
}

/* Whether a reload begins when it is looked for at this time. */
static bool begins(struct fixture *fixture, uint64_t now_ns)
{
	unsigned int before = fixture->reads;

	reload_when_due(&fixture->reload, now_ns);
	return fixture->reads != before;
}

/* What was read is as it was. */
static void finish_same(struct fixture *fixture)
{
	struct config_errors none = { 0 };

	ck_assert(!reload_finish(&fixture->reload, configuration_new("first"), &none));
}

/* What was read is another configuration. */
static void finish_other(struct fixture *fixture, struct configuration *configuration)
{
	struct config_errors none = { 0 };

	ck_assert(reload_finish(&fixture->reload, configuration, &none));
	ck_assert_ptr_eq(fixture->reload.in_force, configuration);
	ck_assert_ptr_eq(fixture->followed, configuration);
}

/* ---- when ---- */

START_TEST(a_change_settles_before_it_is_read)
{
	struct fixture fixture;

	open_fixture(&fixture);
	ck_assert(!begins(&fixture, START_NS)); /* nothing changed */
	reload_note_change(&fixture.reload, START_NS);
	ck_assert(!begins(&fixture, START_NS + 199 * MS));
	reload_note_change(&fixture.reload, START_NS + 199 * MS);
	ck_assert(!begins(&fixture, START_NS + 398 * MS));
	ck_assert(begins(&fixture, START_NS + 399 * MS));
	finish_same(&fixture);
	ck_assert(!begins(&fixture, START_NS + 3600 * CLOCK_SECOND_NS)); /* read once */
	reload_close(&fixture.reload);
}
END_TEST

START_TEST(files_that_change_all_the_time_are_read_after_five_seconds)
{
	struct fixture fixture;
	uint64_t now_ns = START_NS;

	open_fixture(&fixture);
	for (; now_ns < START_NS + 5 * CLOCK_SECOND_NS; now_ns += 100 * MS) {
		reload_note_change(&fixture.reload, now_ns);
		ck_assert(!begins(&fixture, now_ns));
	}
	reload_note_change(&fixture.reload, now_ns);
	ck_assert(begins(&fixture, now_ns));
	reload_close(&fixture.reload);
}
END_TEST

START_TEST(who_asks_does_not_wait)
{
	struct fixture fixture;

	open_fixture(&fixture);
	reload_ask(&fixture.reload, START_NS);
	ck_assert_uint_eq(fixture.reads, 1);
	ck_assert(!begins(&fixture, START_NS));
	finish_same(&fixture);
	ck_assert(!begins(&fixture, START_NS));
	/* a change that has not settled is read with it, and not once more */
	reload_note_change(&fixture.reload, START_NS);
	reload_ask(&fixture.reload, START_NS);
	ck_assert_uint_eq(fixture.reads, 2);
	finish_same(&fixture);
	ck_assert(!begins(&fixture, START_NS + CLOCK_SECOND_NS));
	reload_close(&fixture.reload);
}
END_TEST

/* The one that is under way may have read the files before: another one follows. One, however many ask. */
START_TEST(one_at_a_time_and_none_forgotten)
{
	struct fixture fixture;

	open_fixture(&fixture);
	reload_ask(&fixture.reload, START_NS);
	reload_ask(&fixture.reload, START_NS + MS);
	reload_ask(&fixture.reload, START_NS + 2 * MS);
	reload_note_change(&fixture.reload, START_NS + 3 * MS);
	ck_assert(!begins(&fixture, START_NS + 10 * CLOCK_SECOND_NS));
	ck_assert_uint_eq(fixture.reads, 1);
	finish_same(&fixture);
	ck_assert(begins(&fixture, START_NS + 10 * CLOCK_SECOND_NS));
	finish_same(&fixture);
	ck_assert(!begins(&fixture, START_NS + 20 * CLOCK_SECOND_NS));
	/* the same for a change */
	reload_ask(&fixture.reload, START_NS);
	reload_note_change(&fixture.reload, START_NS + MS);
	finish_same(&fixture);
	ck_assert(!begins(&fixture, START_NS + 200 * MS)); /* it settles first */
	ck_assert(begins(&fixture, START_NS + 201 * MS));
	reload_close(&fixture.reload);
}
END_TEST

/* ---- what becomes of it ---- */

START_TEST(another_configuration_takes_the_place)
{
	struct fixture fixture;

	open_fixture(&fixture);
	reload_ask(&fixture.reload, START_NS);
	finish_other(&fixture, configuration_new("second"));
	ck_assert_uint_eq(counted(&fixture, OWN_RELOADS), 1);
	ck_assert(!begins(&fixture, START_NS + CLOCK_SECOND_NS));
	reload_close(&fixture.reload);
}
END_TEST

/* Also where only one of the settings is another. */
START_TEST(each_setting_counts)
{
	struct configuration *second = configuration_new("first");
	struct fixture fixture;

	switch (_i) {
	case 0:
		second->settings.database_bytes_max = 1;
		break;
	case 1:
		second->settings.short_windows_max = 1;
		break;
	case 2:
		second->settings.naming_ns = 1;
		break;
	case 3:
		second->settings.capture_hz = 1;
		break;
	case 4:
		second->settings.activity_ns = 1;
		break;
	case 5:
		second->settings.activity_age_ns_max = 1;
		break;
	case 6:
		second->settings.baseline_ns = 1;
		break;
	case 7:
		second->settings.baseline_age_ns_max = 1;
		break;
	case 8:
		second->settings.metrics_ns = 1;
		break;
	case 9:
		strcpy(second->settings.metrics_file, "/run/x.prom");
		break;
	default:
		strcpy(second->settings.directories, "/opt");
	}
	open_fixture(&fixture);
	finish_other(&fixture, second);
	reload_close(&fixture.reload);
}
END_TEST

START_TEST(the_same_configuration_changes_nothing)
{
	_cleanup_free_ char *asked = NULL, *changed = NULL;
	const struct configuration *before;
	struct fixture fixture;
	int saved;

	open_fixture(&fixture);
	before = fixture.reload.in_force;
	reload_ask(&fixture.reload, START_NS);
	saved = log_divert();
	finish_same(&fixture);
	asked = log_diverted(saved);
	ck_assert_ptr_nonnull(strstr(asked, "has not changed"));
	/* a file that was touched is worth no line */
	reload_note_change(&fixture.reload, START_NS);
	ck_assert(begins(&fixture, START_NS + CLOCK_SECOND_NS));
	saved = log_divert();
	finish_same(&fixture);
	changed = log_diverted(saved);
	ck_assert_str_eq(changed, "");
	ck_assert_ptr_eq(fixture.reload.in_force, before);
	ck_assert_ptr_null(fixture.followed);
	ck_assert_uint_eq(counted(&fixture, OWN_RELOADS), 0);
	reload_close(&fixture.reload);
}
END_TEST

/* Refused for what was read, or because the kernel does not take it. */
START_TEST(a_mistake_keeps_the_old_one_until_it_is_mended)
{
	struct config_errors errors = { 0 }, none = { 0 };
	const struct configuration *before;
	_cleanup_free_ char *logged = NULL;
	struct fixture fixture;
	int saved;

	open_fixture(&fixture);
	before = fixture.reload.in_force;
	reload_ask(&fixture.reload, START_NS);
	saved = log_divert();
	if (_i) {
		fixture.follow_result = -ENOSPC;
		ck_assert(!reload_finish(&fixture.reload, configuration_new("second"), &none));
		ck_assert_str_ne(fixture.reload.mistake, "");
	} else {
		config_error(&errors, "x.conf", 7, "no such key");
		ck_assert(!reload_finish(&fixture.reload, NULL, &errors));
		ck_assert_str_eq(fixture.reload.mistake, "x.conf:7: no such key");
	}
	logged = log_diverted(saved);
	ck_assert_str_ne(logged, "");
	ck_assert_ptr_eq(fixture.reload.in_force, before);
	ck_assert_ptr_null(fixture.reload.retired);
	ck_assert_uint_eq(counted(&fixture, OWN_RELOADS_REFUSED), 1);
	/* what is in force again is no mistake any more, and that is worth a line */
	reload_note_change(&fixture.reload, START_NS);
	ck_assert(begins(&fixture, START_NS + CLOCK_SECOND_NS));
	saved = log_divert();
	finish_same(&fixture);
	free(logged);
	logged = log_diverted(saved);
	ck_assert_ptr_nonnull(strstr(logged, "has not changed"));
	ck_assert_str_eq(fixture.reload.mistake, "");
	reload_close(&fixture.reload);
}
END_TEST

START_TEST(a_replaced_configuration_lives_while_it_is_used)
{
	struct fixture fixture;

	open_fixture(&fixture);
	fixture.used = fixture.reload.in_force;
	finish_other(&fixture, configuration_new("second"));
	finish_other(&fixture, configuration_new("third"));
	reload_sweep(&fixture.reload); /* frees the second */
	ck_assert_ptr_nonnull(fixture.reload.retired);
	ck_assert_str_eq(fixture.used->rules.rules[0].name, "first");
	fixture.used = NULL;
	reload_sweep(&fixture.reload);
	ck_assert_ptr_null(fixture.reload.retired);
	ck_assert_str_eq(fixture.reload.in_force->rules.rules[0].name, "third");
	/* one that is used to the end is freed with the rest */
	fixture.used = fixture.reload.in_force;
	finish_other(&fixture, configuration_new("fourth"));
	reload_sweep(&fixture.reload);
	reload_close(&fixture.reload);
	reload_close(&(struct reload){ 0 });
}
END_TEST

SUITE(reload)
{
	Suite *suite = suite_create("reload");
	TCase *when = tcase_create("when"), *results = tcase_create("results");

	tcase_add_test(when, a_change_settles_before_it_is_read);
	tcase_add_test(when, files_that_change_all_the_time_are_read_after_five_seconds);
	tcase_add_test(when, who_asks_does_not_wait);
	tcase_add_test(when, one_at_a_time_and_none_forgotten);
	suite_add_tcase(suite, when);
	tcase_add_test(results, another_configuration_takes_the_place);
	tcase_add_loop_test(results, each_setting_counts, 0, 11);
	tcase_add_test(results, the_same_configuration_changes_nothing);
	tcase_add_loop_test(results, a_mistake_keeps_the_old_one_until_it_is_mended, 0, 2);
	tcase_add_test(results, a_replaced_configuration_lives_while_it_is_used);
	suite_add_tcase(suite, results);
	return suite;
}

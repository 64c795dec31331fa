/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that the columns of a verdict are those of its rows, that names in them are as the database has them and as the journal
 * wants them, and that 'bourdon db check' finds a column that the rows do not give.
 */
#include "common/store/store_verdict.h"
#include "tests/unit/command_fixture.h"
#include "tests/unit/store_fixture.h"
#include "tests/unit/suites.h"

#include <string.h>

static struct store_fixture fixture;

static void set_up(void)
{
	_cleanup_capture_ struct capture *capture = capture_of_stack(1, 2, 7);

	store_fixture_start(&fixture);
	capture->trigger.psi.resource = PSI_CPU;
	expect_commit(&fixture, capture);
}

static void tear_down(void)
{
	store_fixture_free(&fixture);
}

/* Judges capture 1 again, whose rows a test has changed. */
static struct stored_verdict judge(void)
{
	const atomic_uint_fast64_t never = 0;
	struct sql sql = { .give_up_ns = &never };
	struct stored_verdict verdict;
	sqlite3_stmt *statement = NULL;

	ck_assert_int_eq(sql_open(&sql, fixture.path), 0);
	ck_assert_msg(!store_verdict_write(&sql, &statement, 1, &verdict), "%s", sql.error);
	sql_close(&sql);
	run_sql(&fixture,
		"UPDATE incident SET (verdict, blamed_percent) = (SELECT verdict, blamed_percent FROM capture)");
	return verdict;
}

#define COLUMNS                                                                                                \
	"SELECT verdict, verdict_version, victim, wait, waited_ns, blamed_percent, limit_cgroup, limit_name, " \
	"limit_value, killed_comm, killed_tgid, killed_how, not_examined FROM capture"

/* A control character has an escape in the database, and so has a backslash before one. */
#define WEB "we\\x1bb"
#define HOG "ho\\x0ag"

#define WAITED                                                                                               \
	"INSERT INTO account VALUES(1, '" WEB " in /x', 'ran', 2, 1000000000), (1, '" WEB                    \
	" in /x', 'queued', 2, 4000000000);"                                                                 \
	"INSERT INTO blame(capture_id, victim, wait, role, program, cgroup, tgid, processes, ns) VALUES"     \
	"(1, '" WEB " in /x', 'queued', 'other', '" HOG "', '/batch', 7, 1, 3000000000),"                    \
	"(1, '" WEB " in /x', 'queued', 'own', '" WEB "', '/x', 8, 1, 1000000000)"

START_TEST(without_accounts_nothing_is_known)
{
	expect_rows(&fixture, COLUMNS,
		    "undetermined|2|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|accounts\n");
	expect_rows(&fixture, "SELECT count(*) FROM culprit", "0\n");
	expect_command("ok: ", "--db %s db check", fixture.path);
}
END_TEST

START_TEST(a_neighbour_with_any_name)
{
	struct stored_verdict verdict;

	run_sql(&fixture, WAITED);
	verdict = judge();
	ck_assert_int_eq(verdict.kind, VERDICT_NEIGHBOUR);
	HOLDS(verdict.blamed_percent == 75);
	/* the bytes themselves: the journal's fields get their escapes later */
	ck_assert_str_eq(verdict.culprit, "ho\ng[7] in /batch");
	ck_assert_ptr_nonnull(
		strstr(verdict.headline, "neighbour: ho\ng[7] in /batch took 75 % of the wait"));
	expect_rows(&fixture, COLUMNS,
		    "neighbour|2|" WEB " in /x|queued|4000000000|75.0|NULL|NULL|NULL|NULL|NULL|NULL|NULL\n");
	expect_rows(&fixture, "SELECT role, program, cgroup, tgid, processes, ns, percent FROM culprit",
		    "other|" HOG "|/batch|7|1|3000000000|75.0\n");
	expect_command("ok: ", "--db %s db check", fixture.path);
}
END_TEST

START_TEST(a_kill_has_its_limit)
{
	struct stored_verdict verdict;

	run_sql(&fixture, WAITED
		";INSERT INTO killed(capture_id, at, how, role, comm, tgid, cgroup, rss_bytes, limit_cgroup, "
		"limit_bytes, processes) SELECT 1, triggered_at, 'oom', 'target', '" WEB
		"', 8, '/x', 60000000, '/x', 67108864, 1 FROM capture");
	verdict = judge();
	ck_assert_int_eq(verdict.kind, VERDICT_KILL);
	HOLDS(verdict.blamed_percent == 0);
	ck_assert_str_eq(verdict.culprit, "");
	ck_assert_ptr_nonnull(strstr(verdict.headline, "kill: we\x1b"));
	expect_rows(&fixture, COLUMNS,
		    "kill|2|" WEB " in /x|NULL|NULL|NULL|/x|memory.max|67108864|" WEB "|8|oom|NULL\n");
	expect_command("ok: ", "--db %s db check", fixture.path);
}
END_TEST

static const struct {
	const char *sql, *column; /* NULL: it is well */
} tampered[] = {
	{ "UPDATE capture SET verdict = 'crowd'", "verdict" },
	{ "UPDATE capture SET victim = 'sshd in /x'", "victim" },
	{ "UPDATE capture SET wait = NULL", "wait" },
	{ "UPDATE capture SET waited_ns = waited_ns + 1", "waited_ns" },
	{ "UPDATE capture SET blamed_percent = 75.1", "blamed_percent" },
	{ "UPDATE capture SET limit_name = 'cpu.max'", "limit_name" },
	{ "UPDATE capture SET limit_value = 0", "limit_value" },
	{ "UPDATE capture SET killed_comm = ''", "killed_comm" },
	{ "UPDATE capture SET not_examined = 'accounts'", "not_examined" },
	{ "UPDATE blame SET ns = 900000000 WHERE role = 'other'", "verdict" },
	{ "DELETE FROM account", "verdict" },
	/* nobody judged it, as a capture of an older schema */
	{ "UPDATE capture SET verdict = 'crowd', verdict_version = 0; UPDATE incident SET verdict = 'crowd'",
	  NULL },
};

START_TEST(check_judges_again)
{
	_cleanup_command_ran_ struct command_ran ran = { 0 };
	char wanted[128] = "ok: ";

	run_sql(&fixture, WAITED);
	judge();
	run_sql(&fixture, tampered[_i].sql);
	if (tampered[_i].column)
		snprintf(wanted, sizeof(wanted), "capture 1: its %s is not what its rows say",
			 tampered[_i].column);
	ran = command_run_words("--db %s db check", fixture.path);
	ck_assert_int_eq(ran.status, tampered[_i].column ? 1 : 0);
	ck_assert_msg(strstr(ran.out, wanted), "'%s' is not in:\n%s%s", wanted, ran.out, ran.err);
}
END_TEST

SUITE(store_verdict)
{
	Suite *suite = suite_create("store_verdict");
	TCase *columns = tcase_create("columns");

	tcase_add_checked_fixture(columns, set_up, tear_down);
	tcase_add_test(columns, without_accounts_nothing_is_known);
	tcase_add_test(columns, a_neighbour_with_any_name);
	tcase_add_test(columns, a_kill_has_its_limit);
	tcase_add_loop_test(columns, check_judges_again, 0, (int)ARRAY_SIZE(tampered));
	suite_add_tcase(suite, columns);
	return suite;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that captures of situations that were really made are judged as what they were, that whom they blame has the share that
 * the kernel counted, and that each wait is charged, neither more nor less: tests/verdicts/README.md. BOURDON_VERDICTS=table prints
 * what was judged as what (make verdicts).
 */
#include "common/base/cleanup.h"
#include "common/store/schema.h"
#include "common/verdict/verdict.h"
#include "tests/unit/suites.h"

#include <math.h>
#include <sqlite3.h>
#include <string.h>

#ifndef VERDICTS_SQL /* what only reads this file does not make that one */
#define VERDICTS_SQL ""
#endif

__asm__(".pushsection .rodata\n"
	".global verdicts_sql\n"
	"verdicts_sql:\n"
	".incbin \"" VERDICTS_SQL "\"\n"
	".byte 0\n"
	".popsection\n");
extern const char verdicts_sql[];

#define SITUATION "-- situation: "
#define RIGHT_PERCENT 95U
#define SHARE_POINTS 3.0
#define CHARGED_PERCENT 2.0
#define CHARGED_NS 10e6
#define WORD_BYTES 128U

/* ---- files ---- */

struct situation {
	char name[WORD_BYTES], kinds[WORD_BYTES], whom[WORD_BYTES];
	const char *text; /* the header and the rows */
	size_t bytes;
};

/* The value of a key of the header; "": it has none. */
static void header_get(const struct situation *situation, const char *key, char into[WORD_BYTES])
{
	char line[WORD_BYTES];
	const char *found, *end;

	into[0] = '\0';
	snprintf(line, sizeof(line), "\n-- %s: ", key);
	found = memmem(situation->text, situation->bytes, line, strlen(line));
	if (!found)
		return;
	found += strlen(line);
	end = strchrnul(found, '\n');
	snprintf(into, WORD_BYTES, "%.*s", (int)(end - found), found);
}

/* The next one; false: there is none. `at` moves on. */
static bool next_situation(const char **at, struct situation *ret_situation)
{
	const char *begin = *at, *end, *colon;

	if (!*begin)
		return false;
	ck_assert_msg(!strncmp(begin, SITUATION, strlen(SITUATION)), "no header: %.40s", begin);
	end = strstr(begin + 1, "\n" SITUATION);
	end = end ? end + 1 : begin + strlen(begin);
	*ret_situation = (struct situation){ .text = begin, .bytes = (size_t)(end - begin) };
	begin += strlen(SITUATION);
	colon = strchrnul(begin, ':');
	snprintf(ret_situation->name, WORD_BYTES, "%.*s", (int)(colon - begin), begin);
	header_get(ret_situation, "kind", ret_situation->kinds);
	header_get(ret_situation, "whom", ret_situation->whom);
	*at = end;
	return true;
}

static sqlite3 *database_make(void)
{
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, schema_sql, NULL, NULL, NULL), SQLITE_OK);
	return db;
}

/* The rows, within a transaction that situation_leave() takes back. */
static void situation_enter(sqlite3 *db, const struct situation *situation)
{
	_cleanup_free_ char *text = strndup(situation->text, situation->bytes);

	ck_assert_int_eq(sqlite3_exec(db, "BEGIN", NULL, NULL, NULL), SQLITE_OK);
	ck_assert_msg(sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK, "%s: %s", situation->name,
		      sqlite3_errmsg(db));
}

static void situation_leave(sqlite3 *db)
{
	ck_assert_int_eq(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
}

/* ---- kinds ---- */

/* Whether a name is among those of a list with `|` between them. */
static bool is_among(const char *list, const char *name)
{
	size_t bytes = strlen(name);

	for (const char *at = list; *at; at += strspn(at, "|")) {
		size_t word = strcspn(at, "|");

		if (word == bytes && !memcmp(at, name, word))
			return true;
		at += word;
	}
	return false;
}

/* `PROGRAM in UNIT`, whom the verdict names first; "": nobody. */
static void name_first(const struct verdict *verdict, char into[WORD_BYTES])
{
	const struct verdict_who *who = verdict->kind == VERDICT_KILL && verdict->kill ? &verdict->kill->who
					: verdict->blamed_count ? &verdict->blamed[0].party->who
								: NULL;

	snprintf(into, WORD_BYTES, "%s%s%s", who && who->program ? who->program : "",
		 who && who->unit ? " in " : "", who && who->unit ? who->unit : "");
}

static bool is_whom(const char *whom, const char *named)
{
	static const char any[] = "* in ";

	if (!strncmp(whom, any, strlen(any))) {
		const char *place = strstr(named, whom + 1);

		return place && !place[strlen(whom + 1)];
	}
	return !*whom || !strcmp(whom, named);
}

/* ---- the table ---- */

struct confusion {
	char kinds[2 * VERDICT_KINDS][WORD_BYTES]; /* of the truth */
	unsigned int count, of[2 * VERDICT_KINDS][VERDICT_KINDS];
};

static void confusion_add(struct confusion *confusion, const char *kinds, enum verdict_kind kind)
{
	unsigned int at = 0;

	while (at < confusion->count && strcmp(confusion->kinds[at], kinds))
		at++;
	ck_assert_uint_lt(at, ARRAY_SIZE(confusion->kinds));
	if (at == confusion->count)
		snprintf(confusion->kinds[confusion->count++], WORD_BYTES, "%s", kinds);
	confusion->of[at][kind]++;
}

static void confusion_print(const struct confusion *confusion)
{
	printf("%-32s judged\n", "truth");
	for (unsigned int i = 0; i < confusion->count; i++) {
		printf("%-32s", confusion->kinds[i]);
		for (unsigned int kind = 0; kind < VERDICT_KINDS; kind++)
			if (confusion->of[i][kind])
				printf(" %s %u%s", verdict_kind_names[kind], confusion->of[i][kind],
				       is_among(confusion->kinds[i], verdict_kind_names[kind]) ? ""
											       : " (wrong)");
		putchar('\n');
	}
}

START_TEST(captures_are_judged_as_what_they_were)
{
	bool prints = getenv("BOURDON_VERDICTS");
	struct confusion confusion = { 0 };
	unsigned int right = 0, all = 0;
	struct situation situation;
	sqlite3 *db = database_make();

	for (const char *at = verdicts_sql; next_situation(&at, &situation); all++) {
		struct verdict_facts facts;
		struct verdict verdict;
		char named[WORD_BYTES];

		situation_enter(db, &situation);
		ck_assert_msg(!verdict_facts_load(db, 1, &facts), "%s: %s", situation.name,
			      sqlite3_errmsg(db));
		verdict = verdict_judge(&facts);
		name_first(&verdict, named);
		confusion_add(&confusion, situation.kinds, verdict.kind);
		if (is_among(situation.kinds, verdict_kind_names[verdict.kind]) &&
		    is_whom(situation.whom, named))
			right++;
		else
			printf("wrong: %s is %s%s%s; judged %s%s%s, %.0f %%\n", situation.name,
			       situation.kinds, *situation.whom ? ": " : "", situation.whom,
			       verdict_kind_names[verdict.kind], *named ? ": " : "", named,
			       verdict.blamed_percent);
		verdict_facts_free(&facts);
		situation_leave(db);
	}
	if (prints)
		confusion_print(&confusion);
	printf("%u of %u captures are judged as what they were\n", right, all);
	sqlite3_close(db);
	ck_assert_uint_ge(all, 80);
	ck_assert_uint_ge(100 * right, RIGHT_PERCENT * all);
}
END_TEST

/* ---- shares ---- */

/* What the database blames of the wait for a CPU, in %: on a service, or on the victim's `own` threads. */
static double blamed_percent(sqlite3 *db, const char *party)
{
	sqlite3_stmt *statement;
	double percent;

	ck_assert_int_eq(
		sqlite3_prepare_v2(
			db,
			"SELECT 100.0 * ifnull(sum(ns) FILTER (WHERE iif(?1 = 'own', role = 'own', unit = ?1)), 0)"
			" / sum(ns) FROM blame WHERE wait = 'queued' AND victim GLOB '* in victim.service'",
			-1, &statement, NULL),
		SQLITE_OK);
	sqlite3_bind_text(statement, 1, party, -1, SQLITE_STATIC);
	ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
	percent = sqlite3_column_double(statement, 0);
	sqlite3_finalize(statement);
	return percent;
}

/* The largest difference, in points, of any share of the header; -1: it has none. */
static double share_off(sqlite3 *db, const struct situation *situation)
{
	static const char key[] = "\n-- share: ";
	double most = -1;
	const char *at = situation->text, *end = at + situation->bytes;

	while ((at = memmem(at, (size_t)(end - at), key, strlen(key)))) {
		char party[WORD_BYTES];
		double percent, off;

		ck_assert_int_eq(sscanf(at, "\n-- share: %127s %lf", party, &percent), 2);
		at += strlen(key);
		if (!strcmp(party, "others"))
			continue;
		off = fabs(percent - blamed_percent(db, party));
		if (off > most)
			most = off;
	}
	return most;
}

START_TEST(blame_is_what_the_cgroups_counted)
{
	bool prints = getenv("BOURDON_VERDICTS");
	unsigned int near = 0, all = 0;
	struct situation situation;
	sqlite3 *db = database_make();

	for (const char *at = verdicts_sql; next_situation(&at, &situation);) {
		double off;

		situation_enter(db, &situation);
		off = share_off(db, &situation);
		situation_leave(db);
		if (off < 0)
			continue;
		all++;
		if (off <= SHARE_POINTS)
			near++;
		else if (prints)
			printf("off: a share of %s, by %.1f points\n", situation.name, off);
	}
	printf("in %u of %u captures each share of blame is within %.0f points of what the cgroups counted\n",
	       near, all, SHARE_POINTS);
	sqlite3_close(db);
	ck_assert_uint_ge(100 * near, RIGHT_PERCENT * all);
}
END_TEST

/* ---- sums ---- */

/* A wait of a victim, and what of it is charged to all parties together. */
struct charged {
	char situation[WORD_BYTES];
	const char *wait;
	double waited_ns, charged_ns;
	double off; /* of the tolerance: 1 is as much as may be */
};

static struct charged compare_sums(const struct verdict_facts *facts, uint32_t victim, uint8_t wait)
{
	struct charged charged = { .wait = account_names[wait],
				   .waited_ns = (double)facts->victims[victim].ns[wait] };

	for (uint32_t i = 0; i < facts->parties_count; i++)
		if (facts->parties[i].victim == victim && facts->parties[i].wait == wait)
			charged.charged_ns += (double)facts->parties[i].ns;
	charged.off = fabs(charged.charged_ns - charged.waited_ns) /
		      fmax(CHARGED_PERCENT / 100 * charged.waited_ns, CHARGED_NS);
	return charged;
}

START_TEST(each_wait_is_charged_once)
{
	bool prints = getenv("BOURDON_VERDICTS");
	struct charged worst = { .off = -1 };
	struct situation situation;
	sqlite3 *db = database_make();
	unsigned int all = 0;

	for (const char *at = verdicts_sql; next_situation(&at, &situation);) {
		struct verdict_facts facts;

		situation_enter(db, &situation);
		ck_assert_int_eq(verdict_facts_load(db, 1, &facts), 0);
		for (uint32_t i = 0; i < facts.victims_count; i++)
			for (uint8_t wait = 0; wait < ACCOUNTS; wait++) {
				struct charged charged = compare_sums(&facts, i, wait);

				if (wait == ACCOUNT_RAN || wait == ACCOUNT_SLEEP || wait == ACCOUNT_REST ||
				    charged.waited_ns <= 0)
					continue;
				all++;
				if (charged.off <= worst.off)
					continue;
				worst = charged;
				snprintf(worst.situation, WORD_BYTES, "%s", situation.name);
			}
		verdict_facts_free(&facts);
		situation_leave(db);
	}
	sqlite3_close(db);
	if (prints)
		printf("%u waits are charged; worst: %s of %s, %.1f ms of %.1f ms\n", all, worst.wait,
		       worst.situation, worst.charged_ns / 1e6, worst.waited_ns / 1e6);
	ck_assert_uint_ge(all, 100);
	ck_assert_msg(worst.off <= 1, "%s of %s: %.1f ms of %.1f ms are charged", worst.wait, worst.situation,
		      worst.charged_ns / 1e6, worst.waited_ns / 1e6);
}
END_TEST

SUITE(verdicts)
{
	Suite *suite = suite_create("verdicts");
	TCase *tcase = tcase_create("corpus");

	tcase_add_test(tcase, captures_are_judged_as_what_they_were);
	tcase_add_test(tcase, blame_is_what_the_cgroups_counted);
	tcase_add_test(tcase, each_wait_is_charged_once);
	suite_add_tcase(suite, tcase);
	return suite;
}

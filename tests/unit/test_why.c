/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that `bourdon why` names victim, culprit and remedy of each kind of verdict in 14 lines, how its text looks on a page of
 * 80 and of 160 columns, and that no name that somebody else chose makes a command do something else.
 */
#include "common/base/cleanup.h"
#include "common/kernel/cgroup.h"
#include "common/store/machine.h"
#include "common/system/log.h"
#include "common/text/escape_name.h"
#include "report/answer/answer_find.h"
#include "report/answer/answer_lines.h"
#include "report/model/host.h"
#include "report/text/format.h"
#include "report/text/layout.h"
#include "report/text/shell_quote.h"
#include "tests/unit/command_fixture.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"
#include "tests/unit/why_fixture.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *directory, *before;

static void set_up(void)
{
	directory = directory_make();
	before = getcwd(NULL, 0);
	/* a path that is the same in each run is in the texts */
	ck_assert_int_eq(chdir(directory), 0);
	unsetenv("NO_COLOR");
}

static void tear_down(void)
{
	setenv("COLUMNS", "100", true); /* as main() has it for all suites */
	ck_assert_int_eq(chdir(before), 0);
	directory_remove(directory);
	free(directory);
	free(before);
}

static void put(const struct why_case *one)
{
	unlink("bourdon.db");
	why_case_put("bourdon.db", one);
}

static const struct why_case *find_case(const char *name)
{
	for (size_t i = 0; i < why_cases_count; i++)
		if (!strcmp(why_cases[i].name, name))
			return &why_cases[i];
	ck_abort_msg("no case %s", name);
}

static struct command_ran why(const char *columns, const char *words)
{
	struct command_ran ran;

	setenv("COLUMNS", columns, true);
	ran = command_run_words("--db bourdon.db why 7 %s", words);
	ck_assert_msg(!ran.status && !*ran.err, "%d: %s", ran.status, ran.err);
	return ran;
}

/* The text behind this label; the caller frees. */
static char *fact(const char *text, const char *label)
{
	char *begin;
	const char *at;

	ck_assert_int_gt(asprintf(&begin, "\n  %-10s", label), 0);
	at = strstr(text, begin);
	at = at ? at + strlen(begin) : NULL;
	free(begin);
	return at ? strndup(at, strcspn(at, "\n")) : NULL;
}

static void expect_fact(const char *text, const char *label, const char *part)
{
	_cleanup_free_ char *found = fact(text, label);

	ck_assert_msg(found && strstr(found, part), "'%s' is not in %s:\n%s", part, label, text);
}

/* ---- the acceptance: who knows nothing reads 14 lines ---- */

/* Commands alone may be longer, and callers of a function alone are cut. */
static void expect_fits(const struct why_case *one, const char *text, size_t columns)
{
	_cleanup_free_ char *lines = strdup(text);

	for (char *rest, *line = strtok_r(lines, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		const char *end = line + strlen(line);

		if (!strncmp(line, "  do ", 5) || !strncmp(line, "  look at", 9))
			continue;
		ck_assert_msg(format_columns(line) <= columns, "%zu columns: %s", format_columns(line), line);
		/* control characters, which bourdond does not write, take more room than they seem to */
		ck_assert_msg(!strcmp(one->name, "hostile names") || !strncmp(line, "  code", 6) ||
				      end - line < 3 || strcmp(end - 3, "…") != 0,
			      "%s", line);
	}
}

static uint32_t lines_of(const char *text)
{
	uint32_t lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

START_TEST(each_kind_names_victim_culprit_and_remedy)
{
	const struct why_case *one = &why_cases[_i];
	static const char *const labels[] = { "victim", "code", "since", "still", "certain", "remedy" };
	_cleanup_command_ran_ struct command_ran ran = { 0 };
	_cleanup_free_ char *command = NULL, *look = NULL;
	bool is_kill = one->verdict && !strcmp(one->verdict, "kill");

	put(one);
	ran = why("160", "");
	ck_assert_msg(lines_of(ran.out) <= ANSWER_LINES_MOST, "%s", ran.out);
	ck_assert_msg(!strncmp(ran.out, one->verdict ? one->verdict : one->state,
			       strlen(one->verdict ? one->verdict : one->state)),
		      "%s: %s", one->name, ran.out);
	for (size_t i = 0; i < ARRAY_SIZE(labels); i++)
		expect_fact(ran.out, labels[i], "");
	expect_fact(ran.out, "victim", one->victim);
	expect_fact(ran.out, is_kill ? "grew" : "culprit", one->culprit);
	expect_fact(ran.out, "remedy", one->remedy);
	command = fact(ran.out, "do");
	look = fact(ran.out, "look at");
	ck_assert_msg((command != NULL) != (look != NULL), "%s", ran.out);
	ck_assert_str_eq(command ? command : look, one->command);
}
END_TEST

START_TEST(each_kind_has_a_case)
{
	for (int kind = 0; kind < VERDICT_KINDS; kind++) {
		bool found = false;

		for (size_t i = 0; i < why_cases_count; i++)
			found |= why_cases[i].verdict &&
				 !strcmp(why_cases[i].verdict, verdict_kind_names[kind]);
		ck_assert_msg(found, "%s", verdict_kind_names[kind]);
	}
}
END_TEST

/* All names that somebody else chose become longer than a page. */
static void lengthen_names(void)
{
	static const struct {
		const char *table, *column;
	} named[] = { { "account", "victim" }, { "blame", "victim" },        { "blame", "unit" },
		      { "blame", "cgroup" },   { "blame", "where_text" },    { "process", "unit" },
		      { "process", "cgroup" }, { "capture", "cgroup" },      { "statistic", "scope" },
		      { "killed", "cgroup" },  { "killed", "limit_cgroup" }, { "killed", "unit" },
		      { "run", "hostname" },   { "capture", "rule" },        { "cgroup_memory", "cgroup" } };

	for (size_t i = 0; i < ARRAY_SIZE(named); i++) {
		char *sql = sqlite3_mprintf(
			"UPDATE %s SET %s = replace(replace(replace(%s, '.service', '%s.service'), 'web', 'web%s'), 'podabc', 'podabc%s')",
			named[i].table, named[i].column, named[i].column,
			"-of-a-name-that-is-longer-than-any-page-of-80-columns-has-room-for",
			"-of-a-rule-or-host-with-a-name-that-no-page-of-80-columns-has-room-for",
			"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");

		why_sql("bourdon.db", sql);
		sqlite3_free(sql);
	}
}

/* The numbers of a text behind the names, one after the other: what may not be cut. */
static char *numbers_of(const char *text)
{
	char *numbers = calloc(1, strlen(text) + 1), *at = numbers;
	const char *names = strrchr(text, ':');

	for (text = names ? names : text; *text; text++)
		if (strchr("0123456789.%", *text))
			*at++ = *text;
	return numbers;
}

START_TEST(fourteen_lines_of_eighty_columns_are_enough)
{
	const struct why_case *one = &why_cases[_i];
	static const char *const labels[] = { "short", "since", "still" };
	_cleanup_command_ran_ struct command_ran narrow = { 0 }, wide = { 0 };

	put(one);
	lengthen_names();
	narrow = why("80", "");
	ck_assert_msg(lines_of(narrow.out) <= ANSWER_LINES_MOST, "%s", narrow.out);
	expect_fits(one, narrow.out, 80);
	wide = why("240", "");
	expect_fits(one, wide.out, 240);
	for (size_t i = 0; i < ARRAY_SIZE(labels); i++) {
		_cleanup_free_ char *here = fact(narrow.out, labels[i]), *there = fact(wide.out, labels[i]);
		_cleanup_free_ char *shown = numbers_of(here ? here : ""),
				    *all = numbers_of(there ? there : "");

		ck_assert_msg(!strcmp(shown, all), "%s: %s\n%s", labels[i], here, there);
	}
}
END_TEST

/* A user chooses the names of cgroups that are delegated to him: they are names, and nothing that is read. */
START_TEST(a_forged_cgroup_names_nobody_else)
{
	static const char forged[] = "/deleg/a; the largest is sshd in /x";
	_cleanup_command_ran_ struct command_ran ran = { 0 };
	_cleanup_free_ char *command = NULL;

	put(find_case("a neighbour for a CPU, of another slice"));
	why_sql("bourdon.db",
		"UPDATE blame SET unit = NULL, cgroup = '/deleg/a; the largest is sshd in /x' WHERE program = 'backup';"
		"UPDATE process SET unit = NULL, cgroup = '/deleg/a; the largest is sshd in /x' WHERE comm = 'backup'");
	ran = why("160", "");
	expect_fact(ran.out, "culprit",
		    "backup[201] in \"/deleg/a; the largest is sshd in /x\": 3 s of 4 s (75 %)");
	command = fact(ran.out, "do");
	ck_assert_msg(command && !strstr(command, "sshd"), "%s", ran.out);
	ck_assert_ptr_nonnull(strstr(ran.out, forged));
}
END_TEST

START_TEST(another_verdict_than_the_stored_one_is_told)
{
	_cleanup_command_ran_ struct command_ran same = { 0 }, other = { 0 }, json = { 0 };

	put(find_case("its own threads"));
	same = why("80", "");
	ck_assert_ptr_null(strstr(same.out, "\n  judged"));
	why_sql("bourdon.db", "UPDATE capture SET verdict = 'crowd', verdict_version = 0");
	other = why("80", "");
	expect_fact(other.out, "judged", "by version 2 of the rules; 'crowd' was stored, by version 0");
	json = why("80", "--section answer --json");
	ck_assert_ptr_nonnull(strstr(
		json.out,
		"\"verdict\": \"own threads\", \"verdict_version\": 2, \"stored_verdict\": \"crowd\""));
}
END_TEST

START_TEST(the_answer_is_data)
{
	static const char *const parts[] = {
		"\"verdict\": \"neighbour\"",
		"\"victim\": \"nginx in nginx.service\"",
		"\"account\": \"queued\", \"threads\": 2, \"ns\": 4000000000, \"percent\": 33.3",
		("\"wait\": \"queued\", \"role\": \"other\", \"party\": \"backup in backup.service\", \"ns\": 3000000000, \"percent\": 75, "
		 "\"program\": \"backup\", \"unit\": \"backup.service\", \"cgroup\": \"/batch.slice/backup.service\", \"tgid\": 201, "
		 "\"processes\": 1, \"where_text\": null, \"then_account\": null"),
		"\"blamed_percent\": 75, \"own_percent\": 5,",
		"\"lost_percent\": 0,",
		"\"function\": \"compress\"",
		("\"remedy\": {\"text\": \"give batch.slice, where backup is, CPU weight 20\", \"command\": "
		 "\"systemctl set-property --runtime batch.slice CPUWeight=20\", \"changes\": 1}"),
		"\"headline\": \"neighbour: backup[201] in backup.service took 75 % of the wait for a CPU\"",
	};
	_cleanup_command_ran_ struct command_ran ran = { 0 };

	put(find_case("a neighbour for a CPU, of another slice"));
	ran = why("80", "--section answer --json");
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		ck_assert_msg(strstr(ran.out, parts[i]), "%s is not in %s", parts[i], ran.out);
}
END_TEST

/* ---- golden texts ---- */

#define GOLDEN(columns)                                                                                      \
	__asm__(".pushsection .rodata\n"                                                                     \
		".global why_golden_" #columns "\n"                                                          \
		"why_golden_" #columns ":\n"                                                                 \
		".incbin \"tests/unit/why_" #columns ".txt\"\n"                                              \
		".byte 0\n"                                                                                  \
		".popsection\n");                                                                            \
	extern const char why_golden_##columns[]

GOLDEN(80);
GOLDEN(160);

/* BOURDON_WRITE_GOLDEN names a directory to write the texts to instead. */
static void expect_golden(const char *columns, const char *golden)
{
	const char *directory_of_new = getenv("BOURDON_WRITE_GOLDEN");
	_cleanup_free_ char *all = NULL;
	size_t bytes;
	FILE *out = open_memstream(&all, &bytes);

	for (size_t i = 0; i < why_cases_count; i++) {
		_cleanup_command_ran_ struct command_ran ran = { 0 };

		put(&why_cases[i]);
		ran = why(columns, "");
		fprintf(out, "==== %s ====\n%s\n", why_cases[i].name, ran.out);
	}
	fclose(out);
	if (directory_of_new) {
		_cleanup_free_ char *path = NULL;

		ck_assert_int_gt(asprintf(&path, "%s/why_%s.txt", directory_of_new, columns), 0);
		file_put(path, all, bytes);
		return;
	}
	/* the first line that differs says more than both texts */
	for (const char *here = all, *there = golden; *here || *there;) {
		size_t length = strcspn(here, "\n");

		ck_assert_msg(length == strcspn(there, "\n") && !strncmp(here, there, length),
			      "why_%s.txt has\n%.*s\nand bourdon prints\n%.*s", columns,
			      (int)strcspn(there, "\n"), there, (int)length, here);
		here += length + (here[length] == '\n');
		there += length + (there[length] == '\n');
	}
}

START_TEST(golden_text_at_80_columns)
{
	expect_golden("80", why_golden_80);
}
END_TEST

START_TEST(golden_text_at_160_columns)
{
	expect_golden("160", why_golden_160);
}
END_TEST

/* ---- commands ---- */

/* bash reads the word as the bytes of the name, and does nothing else. */
START_TEST(a_quoted_name_is_one_word_of_its_bytes)
{
	static const char *const names[] = {
		"plain.service",
		"",
		"a b",
		"$(touch ran)",
		"`touch ran`",
		"'; touch ran; '",
		"\"; touch ran; \"",
		"a\nb",
		"\ttab",
		"\033]0;title\a",
		"\xff\xfe",
		"é",
		"\\x41",
		"\\",
		"'",
		"''",
		"$'x'",
		"!!",
		"~",
		"~root",
		"*",
		"a*?[b]{c,d}",
		"-n",
		"--help",
		"#x",
		"a#b",
		"a=b",
		"&",
		"|",
		">x",
		"\342\200\256evil",
		"%s%n",
		"system-getty\\x2dx.slice",
		"\0015",
		"a\r\nb",
		"'\n'",
		"\x7f",
		"/a/../b",
		"${IFS}x",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_free_ char *form = escape_name(names[i]), *word = shell_quote(form), *command = NULL;
		const char *expected = names[i];
		char got[256] = "";
		size_t bytes;
		FILE *out;

		/* what a terminal shows is ASCII without controls */
		for (const char *at = word; *at; at++)
			ck_assert_msg(*at >= ' ' && *at <= '~', "%s", word);
		ck_assert_int_gt(asprintf(&command, "bash -c 'eval \"printf %%s $W\"'"), 0);
		setenv("W", word, true);
		out = popen(command, "re");
		ck_assert_ptr_nonnull(out);
		bytes = fread(got, 1, sizeof(got) - 1, out);
		got[bytes] = '\0';
		ck_assert_int_eq(pclose(out), 0);
		ck_assert_msg(!strncmp(got, "./", names[i][0] == '-' ? 2 : 0), "%s", got);
		ck_assert_msg(!strcmp(got + (names[i][0] == '-' ? 2 : 0), expected), "%s: '%s'", word, got);
		ck_assert_int_ne(access("ran", F_OK), 0);
	}
}
END_TEST

START_TEST(only_what_systemd_takes_literally_is_a_unit)
{
	static const char *const units[] = { "nginx.service", "user@1000.service", "system-getty.slice",
					     "a\\x2db.scope", "docker-0123.scope" };
	static const char *const others[] = {
		"",          "nginx",       ".service",  "-x.service",   "a b.service", "a;b.service",
		"*.service", "a.service\n", "é.service", "$(x).service", "a/b.service", "x.socket",
		"\\x1b[2J",  "a'.scope",    "-.slice"
	};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		ck_assert_msg(shell_is_unit(units[i]), "%s", units[i]);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		ck_assert_msg(!shell_is_unit(others[i]), "%s", others[i]);
}
END_TEST

/* ---- usual, changes ---- */

/* Captures by the same rule before: 5 with the same verdict, 3 of them with the same stack among the hottest, and one with another. */
static const char earlier_sql[] =
	"CREATE TEMP TABLE n(id); INSERT INTO n VALUES(1), (2), (3), (4), (5), (6);"
	"INSERT INTO capture(capture_id, run_id, rule_id, rule, resource, kind, stall_us, window_us, trigger_mode, cgroup, triggered_at, "
	"began_at, ended_at, history_ns, state, observed_us, hz, verdict, verdict_version, stack_count) SELECT n.id, 1, 1, 'web', 'cpu', 'some', 100000, "
	"2000000, 'kernel', c.cgroup, c.triggered_at - (8 - n.id) * 3600000000000, 1, c.triggered_at - (8 - n.id) * 3600000000000 + 4000000000, "
	"2000000000, 'complete', 1, 47, iif(n.id = 6, 'negligible', c.verdict), c.verdict_version, 4 FROM capture c, n WHERE c.capture_id = 7;"
	"INSERT INTO sample_row SELECT n.id, iif(n.id < 4, 5, 2), 3, 5, 0, 50, NULL, NULL FROM n;"
	"UPDATE capture SET triggered_at = triggered_at - 8 * 86400000000000 WHERE capture_id = 1;";

static const char baseline_sql[] =
	"UPDATE capture SET trigger_mode = 'baseline', resource = NULL, kind = NULL, verdict = NULL WHERE capture_id = 6;"
	"INSERT INTO sample_row VALUES(6, 1, 1, 1, 0, 3, 63000000, NULL), (6, 4, 1, 1, 1, 9, 190000000, NULL), (6, 1, 1, 2, 1, 1, 60000000, NULL);";

START_TEST(usual_counts_the_week_before)
{
	_cleanup_command_ran_ struct command_ran first = { 0 }, later = { 0 }, json = { 0 };

	put(find_case("a neighbour for a CPU, of another slice"));
	first = why("160", "--section usual,changes");
	ck_assert_str_eq(first.out, "  usual     not known: the database has no capture before this one\n"
				    "changes: nothing in this capture\n");
	why_sql("bourdon.db", earlier_sql);
	later = why("160", "--section usual");
	/* the one of eight days ago does not count; of the four, two have the backup's stack */
	ck_assert_str_eq(later.out,
			 "  usual     4 of 5 captures of this rule in 7 d had this verdict\n"
			 "  same code of the last 4 of those, 2 have this stack among the hottest 3\n");
	json = why("160", "--section usual --json");
	ck_assert_ptr_nonnull(strstr(
		json.out,
		"\"captures\": 5, \"same_verdict\": 4, \"other_version\": 0, \"stacks_looked_at\": 4, \"same_stack\": 2"));
	why_sql("bourdon.db", "UPDATE capture SET verdict = 'own threads' WHERE capture_id < 7");
	command_ran_free(&later);
	later = why("160", "--section usual");
	ck_assert_str_eq(later.out, "  usual     0 of 5 captures of this rule in 7 d had this verdict\n");
	/* what other rules made of them is not comparable */
	why_sql("bourdon.db", "UPDATE capture SET verdict_version = 0 WHERE capture_id < 7");
	command_ran_free(&later);
	later = why("160", "--section usual");
	ck_assert_str_eq(later.out,
			 "  usual     not known: of this rule in 7 d only captures judged by other rules\n");
	/* another host's captures, of a merged database */
	why_sql("bourdon.db",
		"INSERT INTO run(run_id, started_at, version, abi, kernel, hostname, cpus, hz) VALUES(2, 1, '', 1, '', 'web2', 4, 47);"
		"UPDATE capture SET run_id = 2 WHERE capture_id < 7");
	command_ran_free(&later);
	later = why("160", "--section usual");
	ck_assert_str_eq(later.out, "  usual     no: the first capture of this rule in 7 d\n");
}
END_TEST

START_TEST(usual_needs_a_day_of_history)
{
	_cleanup_command_ran_ struct command_ran ran = { 0 };

	put(find_case("its own threads"));
	why_sql("bourdon.db", earlier_sql);
	why_sql("bourdon.db",
		"UPDATE capture SET triggered_at = triggered_at + 8 * 86400000000000 WHERE capture_id = 1");
	ran = why("160", "--section usual");
	ck_assert_msg(!strncmp(ran.out,
			       "  usual     not known: that takes a day of history, and here is 7 h\n", 66),
		      "%s", ran.out);
}
END_TEST

START_TEST(a_baseline_is_compared)
{
	_cleanup_command_ran_ struct command_ran ran = { 0 };

	put(find_case("its own threads"));
	why_sql("bourdon.db", earlier_sql);
	why_sql("bourdon.db", baseline_sql);
	ran = why("160", "--section usual,changes");
	expect_fact(
		ran.out, "baseline",
		"the targets ran 0.15 CPUs, 0.04 in capture 6; waited 0.82 s a second, 0.01; parse_header 100 %, 25 %");
	expect_fact(ran.out, "changed",
		    "since capture 6 of this rule, the last baseline, 2026-11-24T22:50:33Z:");
	/* not one of another rule, nor one that came later */
	why_sql("bourdon.db", "UPDATE capture SET rule = 'other' WHERE capture_id = 6");
	command_ran_free(&ran);
	ran = why("160", "--section usual");
	ck_assert_ptr_null(strstr(ran.out, "baseline"));
}
END_TEST

START_TEST(changes_since_the_capture_before)
{
	_cleanup_command_ran_ struct command_ran ran = { 0 };

	put(find_case("at a memory limit"));
	why_sql("bourdon.db", earlier_sql);
	/* the same processes with another limit, then without usage */
	why_sql("bourdon.db",
		"INSERT INTO usage(capture_id, process_id, role, from_at, to_at) VALUES(6, 1, 'target', 1, 2);"
		"INSERT INTO statistic(capture_id, from_at, to_at, scope, source, name, before, after) VALUES"
		"(6, 1, 5, '/system.slice/nginx.service', 'memory.current', 'bytes', 1, 1), (6, 1, 5, '/system.slice/nginx.service', 'memory.max', 'bytes', 134217728, 134217728),"
		"(7, 1, 5, '/system.slice/nginx.service', 'memory.current', 'bytes', 1, 1), (7, 1, 5, '/system.slice/nginx.service', 'memory.high', 'bytes', 4096, 4096),"
		"(6, 1, 5, '/not/here', 'memory.max', 'bytes', 4096, 4096)");
	ran = why("160", "--section changes");
	ck_assert_str_eq(ran.out,
			 "  changed   since capture 6 of this rule, 2026-11-24T22:50:33Z:\n"
			 "            memory.high of /system.slice/nginx.service: 4 KiB, was none\n"
			 "            memory.max of /system.slice/nginx.service: 64 MiB, was 128 MiB\n");
	/* a restart, another build, another kernel, and other thresholds */
	why_sql("bourdon.db",
		"INSERT INTO process(process_id, run_id, tgid, started_ns, comm, cgroup, unit) VALUES(20, 1, 77, 7, 'nginx', '/system.slice/nginx.service', 'nginx.service');"
		"UPDATE usage SET process_id = 20 WHERE capture_id = 6; DELETE FROM statistic;"
		"INSERT INTO run(run_id, started_at, version, abi, kernel, hostname, cpus, hz) VALUES(2, 1, '0.1.0', 1, '6.1', 'web1', 4, 47);"
		"INSERT INTO rule(rule_id, run_id, rule, source, comm, watch, pattern_id, history_ns, capture_ns, cooldown_ns, triggers) VALUES(2, 2, 'web', '', 'nginx', '', 1, 1, 1, 1, '[1]');"
		"UPDATE capture SET run_id = 2, rule_id = 2 WHERE capture_id = 6;"
		"INSERT INTO module(module_id, path, build_id, version, kind) VALUES(9, '/usr/sbin/nginx', 'cccccccccccccccccccc', '', 'file');"
		"INSERT INTO frame_row(frame_id, module_id, offset, function, function_offset, inlined) VALUES(90, 9, 1, 'main', 0, 0);"
		"INSERT INTO stack_node VALUES(90, NULL, '[90]', 1, 1, x'09'); INSERT INTO sample_row VALUES(6, 90, 1, 1, 0, 3, NULL, NULL)");
	command_ran_free(&ran);
	ran = why("160", "--section changes");
	ck_assert_str_eq(ran.out, "  changed   since capture 6 of this rule, 2026-11-24T22:50:33Z:\n"
				  "            /usr/sbin/nginx: build aaaaaaaaaaaa, was cccccccccccc\n"
				  "            restart of nginx in nginx.service: now 101 102, was 77\n"
				  "            kernel: 6.12, was 6.1\n"
				  "            thresholds of rule web\n");
}
END_TEST

/* ---- whether it goes on ---- */

START_TEST(still_is_what_the_database_tells)
{
	static const struct {
		const char *sql, *still;
	} cases[] = {
		{ "SELECT 1", "not known since 00:50:37Z; stalled 80 % of the second before that" },
		{ "UPDATE pressure SET some_us = 5",
		  "no: over by 00:50:37Z, when the capture ended; none since" },
		{ "DELETE FROM pressure", "not known: the database has nothing later than 00:50:37Z" },
		{ "INSERT INTO incident VALUES(1, 1, 1, 2, 1, NULL, 'cpu', NULL, NULL, NULL); UPDATE capture SET incident_id = 1;"
		  "INSERT INTO capture(capture_id, run_id, rule, resource, kind, trigger_mode, triggered_at, began_at, history_ns, state, hz, incident_id) "
		  "VALUES(8, 1, 'db', 'io', 'some', 'kernel', 1795567900000000000, 1, 1, 'complete', 47, 1)",
		  "it went on as io, 2026-11-25T00:51:40Z, capture 8 of its incident" },
		{ "INSERT INTO capture(capture_id, run_id, rule, resource, kind, trigger_mode, triggered_at, began_at, history_ns, state, hz, incident_id) "
		  "VALUES(9, 1, 'web', 'cpu', 'some', 'kernel', 1795568000000000000, 1, 1, 'complete', 47, 1)",
		  "it came back 2 times, last at 2026-11-25T00:53:20Z (capture 9)" },
		{ "UPDATE capture SET state = 'recording' WHERE capture_id = 8",
		  "yes, unless bourdond died: capture 8 of its incident is recorded" },
	};

	put(find_case("its own threads"));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_command_ran_ struct command_ran ran = { 0 };

		why_sql("bourdon.db", cases[i].sql);
		ran = why("160", "--section answer");
		expect_fact(ran.out, "still", cases[i].still);
	}
}
END_TEST

START_TEST(certain_says_the_share_and_what_was_lost)
{
	static const struct {
		const char *sql, *certain;
	} cases[] = {
		{ "SELECT 1", "100 % of the wait is charged to somebody; nothing was lost" },
		/* stacks that are not whole change nothing of the accounts */
		{ "UPDATE loss SET events = 40 WHERE reason = 'stack-not-whole'",
		  "100 % of the wait is charged to somebody; nothing was lost" },
		{ "UPDATE loss SET events = 90 WHERE reason = 'overwritten-slots'",
		  "100 % of the wait is charged to somebody; 51 % of the samples lost" },
		{ "UPDATE capture SET state = 'interrupted'; DELETE FROM loss",
		  "100 % of the wait is charged to somebody; it is not known what was lost; the capture was interrupted" },
		{ "INSERT INTO blame VALUES(7, 'nginx in nginx.service', 'queued', 'unknown', NULL, NULL, NULL, NULL, NULL, 400000000, 'unseen', NULL)",
		  "90 % of the wait is charged to somebody" },
	};

	put(find_case("a neighbour for a CPU, of another slice"));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_command_ran_ struct command_ran ran = { 0 };

		why_sql("bourdon.db", cases[i].sql);
		ran = why("160", "--section answer");
		expect_fact(ran.out, "certain", cases[i].certain);
	}
}
END_TEST

/* ---- stacks that are not whole ---- */

/* The fixture's 86 samples are whole. Adds `samples` of a stack that ends like this. */
static void put_end(const char *kind, const char *path, const char *runtime, const char *unwinder,
		    const char *ended, int samples)
{
	char *sql = sqlite3_mprintf(
		"DELETE FROM sample_row WHERE stack_id = 90; DELETE FROM stack_node WHERE node_id = 90; DELETE FROM frame_row WHERE frame_id = 90;"
		"DELETE FROM module WHERE module_id = 90; DELETE FROM stack_class WHERE class = 90;"
		"UPDATE process SET runtime = %Q WHERE process_id = 1;"
		"INSERT INTO module(module_id, path, version, kind) VALUES(90, %Q, '', %Q);"
		"INSERT INTO frame_row(frame_id, module_id, offset, function, function_offset, inlined) VALUES(90, 90, 1, 'f', 0, 0);"
		"INSERT INTO stack_class VALUES(90, 0, %Q, %Q); INSERT INTO stack_node VALUES(90, NULL, '[90,1]', 90, 2, x'90');"
		"INSERT INTO sample_row VALUES(7, 90, 1, 1, 0, %d, NULL, NULL);",
		runtime, path, kind, unwinder, ended, samples);

	why_sql("bourdon.db", sql);
	sqlite3_free(sql);
}

/* Why a stack ends and what to do depend on the reason, on the code where it ends, and on how it was unwound. */
START_TEST(each_reason_of_a_stack_that_is_not_whole_has_words)
{
	static const struct {
		const char *kind, *path, *runtime, *unwinder, *ended, *why, *remedy;
	} cases[] = {
		{ "file", "/lib/a.so", NULL, "mixed", "no-rule",
		  "no-rule: the tables have no rule for this code",
		  "otherwise build it with -fasynchronous-unwind-tables or -fno-omit-frame-pointer" },
		/* not the program's: the runtime makes other code */
		{ "file", "/lib/a.so", "jvm", "eh-frame", "no-rule", "no-rule: the tables have no rule",
		  "-fasynchronous-unwind-tables" },
		{ "file", "/lib/a.so", NULL, "frame-pointer", "no-rule", "no table in its first second",
		  "nothing, if the program was new" },
		{ "vdso", "[vdso]", NULL, "eh-frame", "no-rule", "the tables have no rule",
		  "bourdon status" },
		{ "anonymous", "[anonymous]", "jvm", "frame-pointer", "no-rule", "code made at run time",
		  "do      start java with -XX:+PreserveFramePointer" },
		{ "jit", "/tmp/perf-1.map", "node", "frame-pointer", "no-rule", "code made at run time",
		  "do      nothing to set: node keeps frame pointers" },
		{ "anonymous", "[anonymous]", "php", "mixed", "no-rule", "code made at run time",
		  "pcre.jit = 0" },
		{ "anonymous", "[anonymous]", "ruby", "mixed", "no-rule", "code made at run time",
		  "--yjit-perf" },
		{ "anonymous", "[anonymous]", "native", "mixed", "no-rule", "code made at run time",
		  "turn off the JIT compiler that makes it" },
		{ "anonymous", "[anonymous]", NULL, "mixed", "no-rule", "code made at run time",
		  "turn off the JIT compiler that makes it" },
		{ "anonymous", "[unknown]", "jvm", "frame-pointer", "no-rule",
		  "in no mapping that bourdond knew", "nothing, if the process was new or ended soon" },
		{ "file", "/lib/a.so", NULL, "eh-frame", "unmapped",
		  "unmapped: the stack goes on in no executable mapping",
		  "nothing, if the program had just started or loaded a library" },
		{ "file", "/lib/libc.so.6", NULL, "none", "exiting", "exiting: the process was ending",
		  "nothing" },
		{ "file", "/lib/a.so", NULL, "eh-frame", "expression",
		  "expression: the rule for this code is a DWARF expression",
		  "build it with -fno-omit-frame-pointer" },
		{ "file", "/lib/a.so", NULL, "eh-frame", "register",
		  "register: the rule for this code needs a register",
		  "build it with -fno-omit-frame-pointer" },
		{ "file", "/lib/a.so", NULL, "eh-frame", "memory",
		  "memory: the stack could not be read there", "report it" },
		{ "file", "/lib/a.so", NULL, "eh-frame", "depth",
		  "depth: the stack is deeper than the 127 frames",
		  "nothing: the innermost frames are there" },
		{ "file", "/lib/a.so", NULL, "none", "policy",
		  "policy: root's policy allows the innermost function only",
		  "unwinding = dwarf in /etc/bourdon/policy.conf" },
		{ "file", "/lib/a.so", NULL, "eh-frame", "of a later version",
		  "of a later version: this bourdon is older", "install a newer bourdon" },
	};

	put(find_case("its own threads"));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_command_ran_ struct command_ran ran = { 0 }, json = { 0 };
		_cleanup_free_ char *ended = NULL;

		put_end(cases[i].kind, cases[i].path, cases[i].runtime, cases[i].unwinder, cases[i].ended,
			14);
		ran = why("240", "--section not_whole");
		ck_assert_msg(strstr(ran.out, "stacks that are not whole: 14.0 % of 100;") &&
				      strstr(ran.out, cases[i].why) && strstr(ran.out, cases[i].remedy),
			      "%s, %s: %s", cases[i].ended, cases[i].path, ran.out);
		json = why("240", "--section not_whole --json");
		ck_assert_int_gt(
			asprintf(&ended,
				 "\"samples\": 14, \"percent\": 14, \"ended\": \"%s\", \"ended_samples\": 14",
				 cases[i].ended),
			0);
		ck_assert_msg(strstr(json.out, ended), "%s", json.out);
	}
}
END_TEST

/* dash is on every Debian; its file is listed in /bin or in /usr/bin. */
START_TEST(a_file_whose_functions_have_no_names_has_a_package)
{
	static const struct {
		const char *path, *symbols, *remedy;
	} cases[] = {
		{ "/usr/bin/dash", "dash-dbgsym", "do      install dash-dbgsym" },
		{ "/opt/own/program", NULL, "do      no Debian package of this machine has the file" },
		{ "/usr/bin/dash (deleted)", NULL, "no Debian package" },
	};

	_cleanup_command_ran_ struct command_ran named = { 0 };

	put(find_case("its own threads"));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_command_ran_ struct command_ran ran = { 0 }, json = { 0 };

		put_end("file", cases[i].path, NULL, "mixed", "depth", 14);
		why_sql("bourdon.db", "UPDATE frame_row SET function_offset = NULL WHERE frame_id = 90; "
				      "UPDATE stack_node SET frames = '[1,90]' WHERE node_id = 90");
		ran = why("240", "--section unnamed");
		ck_assert_msg(
			strstr(ran.out,
			       "functions without a name: innermost in 14.0 % of 100 samples; by file\n  14.0 %, 14 samples, ") &&
				strstr(ran.out, cases[i].remedy),
			"%s: %s", cases[i].path, ran.out);
		json = why("240", "--section unnamed --json");
		ck_assert_msg(strstr(json.out, "\"samples\": 14, \"percent\": 14, ") &&
				      (!cases[i].symbols || strstr(json.out, cases[i].symbols)),
			      "%s", json.out);
	}
	put_end("file", "/usr/bin/dash", NULL, "mixed", "depth", 14);
	named = why("240", "--section unnamed --json");
	ck_assert_str_eq(named.out, "{\"unnamed\": []}\n");
}
END_TEST

START_TEST(whole_stacks_are_not_mentioned)
{
	_cleanup_command_ran_ struct command_ran few = { 0 }, some = { 0 }, json = { 0 };

	put(find_case("its own threads"));
	why_sql("bourdon.db",
		"UPDATE sample_row SET samples = 99 WHERE stack_id = 1 AND second = -2; DELETE FROM sample_row WHERE stack_id > 1 OR second > -2");
	put_end("file", "/lib/a.so", NULL, "eh-frame", "no-rule", 1);
	few = why("100", "--full");
	ck_assert_msg(!strstr(few.out, "not whole"), "%s", few.out);
	json = why("100", "--section not_whole --json");
	ck_assert_str_eq(json.out, "{\"not_whole\": []}\n");
	put_end("file", "/lib/a.so", NULL, "eh-frame", "no-rule", 2);
	some = why("100", "--full");
	ck_assert_msg(strstr(some.out, "\n\nstacks that are not whole: 2.0 % of 101;"), "%s", some.out);
}
END_TEST

/* They make the line `code` less certain. Where the page is full, the smallest parties go first. */
START_TEST(certain_mentions_stacks_that_are_not_whole)
{
	static const struct {
		int samples;
		const char *certain;
	} cases[] = { { 4, "nothing was lost" }, { 14, "nothing was lost; 14 % of stacks not whole" } };
	_cleanup_command_ran_ struct command_ran full = { 0 };

	put(find_case("its own threads"));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_command_ran_ struct command_ran ran = { 0 };
		_cleanup_free_ char *certain = NULL;

		put_end("file", "/lib/a.so", NULL, "eh-frame", "no-rule", cases[i].samples);
		ran = why("160", "");
		certain = fact(ran.out, "certain");
		ck_assert_msg(certain && strlen(certain) > strlen(cases[i].certain) &&
				      !strcmp(certain + strlen(certain) - strlen(cases[i].certain),
					      cases[i].certain),
			      "%s", ran.out);
	}
	put(find_case("a crowd"));
	put_end("file", "/lib/a.so", NULL, "eh-frame", "no-rule", cases[1].samples);
	full = why("80", "");
	ck_assert_msg(strstr(full.out, "of stacks not whole\n") && !strstr(full.out, "mysqld[301]"), "%s",
		      full.out);
	ck_assert_int_eq(lines_of(full.out), ANSWER_LINES_MOST);
}
END_TEST

/* The section has all files up to its bound, and an absurd database no more. */
START_TEST(files_are_bounded_and_absurd_numbers_are_printed)
{
	_cleanup_command_ran_ struct command_ran full = { 0 }, json = { 0 };
	unsigned int files = 0;

	put(find_case("its own threads"));
	why_sql("bourdon.db",
		"INSERT INTO stack_class VALUES(90, 0, 'eh-frame', 'no-rule'), (91, 0, CAST(x'00ff' AS TEXT), CAST(x'ff1b' AS TEXT)), (92, 0, 'eh-frame', printf('%.*c', 100000, 'w'));"
		"CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 1299) SELECT i FROM n;"
		"INSERT INTO module(module_id, path, version, kind) SELECT i, printf('/%.*c\x1b[2J', i * 40, 'p') || i, '', 'file' FROM n;"
		"INSERT INTO frame_row(frame_id, module_id, offset, function, function_offset, inlined) SELECT i, i, 1, 'f', 0, 0 FROM n;"
		"INSERT INTO stack_node SELECT i, NULL, '[' || i || ']', 90 + i % 3, 1, NULL FROM n;"
		"INSERT INTO sample_row SELECT 7, i, 1, 1, i - 1000, 9223372036854775807, NULL, NULL FROM n;"
		/* a circle, a stack without frames, one of a frame that is not there, and less than nothing */
		"INSERT INTO stack_node VALUES(2000, 2001, '[1000]', 90, 1, NULL), (2001, 2000, '[1001]', 90, 1, NULL), (2002, NULL, '[]', 90, 1, NULL), (2003, NULL, '[9999]', 90, 1, NULL);"
		"INSERT INTO sample_row SELECT 7, 2000 + i - 1000, 1, 1, 0, 5, NULL, NULL FROM n WHERE i < 1004;"
		"INSERT INTO sample_row VALUES(7, 1000, 2, 1, 0, -9223372036854775807, NULL, NULL)");
	full = why("60", "--section not_whole");
	ck_assert_ptr_null(strchr(full.out, '\033'));
	for (const char *at = full.out; (at = strstr(at, "\n    why ")); at++)
		files++;
	ck_assert_uint_eq(files, 256);
	for (char *rest, *line = strtok_r(full.out, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		ck_assert_msg(format_columns(line) <= 60, "%zu columns: %s", format_columns(line), line);
	json = why("60", "--section not_whole --json");
	ck_assert_ptr_nonnull(strstr(json.out, "\"files\": 300"));
}
END_TEST

/* ---- options, page ---- */

START_TEST(sections_are_chosen_by_name)
{
	_cleanup_command_ran_ struct command_ran brief = { 0 }, full = { 0 }, two = { 0 }, json = { 0 };

	put(find_case("its own threads"));
	brief = why("80", "");
	full = why("100", "--full");
	two = why("100", "--section losses,capture");
	json = why("100", "--section losses,capture --json");
	ck_assert_ptr_null(strstr(brief.out, "\nlosses: "));
	ck_assert_ptr_nonnull(strstr(brief.out, "--section help"));
	ck_assert_ptr_nonnull(strstr(full.out, "\nlosses: none (2 reasons checked)\n"));
	ck_assert_ptr_nonnull(strstr(full.out, "\n\ncapture 7 (complete), rule web, 2026-11-25T00:50:33Z\n"));
	ck_assert_msg(!strncmp(two.out, "capture 7 (complete)", 20) && strstr(two.out, "\n\nlosses: none"),
		      "%s", two.out);
	ck_assert_msg(!strncmp(json.out, "{\"capture\": {", 13) && strstr(json.out, "\n\"losses\": [") &&
			      !strstr(json.out, "\"answer\""),
		      "%s", json.out);
}
END_TEST

START_TEST(mistakes_about_sections)
{
	static const struct {
		const char *words, *problem;
	} cases[] = {
		{ "--section nothing",
		  "'nothing' is no section of 'why': the sections are answer, usual, changes, timeline, not_whole, unnamed, " },
		{ "--section answer,,losses", "'' is no section of 'why'" },
		{ "--section answer --full", "--full shows every section, and --section some" },
		{ "--incident --full", "'why --incident' takes neither --full nor --section" },
	};

	put(find_case("its own threads"));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_command_ran_ struct command_ran ran =
			command_run_words("--db bourdon.db why %s", cases[i].words);

		ck_assert_int_eq(ran.status, EXIT_USAGE);
		ck_assert_msg(strstr(ran.err, cases[i].problem), "%s", ran.err);
	}
	expect_command_fails("", "--db bourdon.db why 99 --full");
}
END_TEST

/* Each detail fits the layout, whatever it is. */
START_TEST(everything_fits_eighty_columns)
{
	_cleanup_command_ran_ struct command_ran ran = { 0 };
	char *rest;

	put(find_case("hostile names"));
	ran = why("80", "--full");
	for (char *line = strtok_r(ran.out, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (strncmp(line, "  do ", 5) != 0)
			ck_assert_msg(format_columns(line) <= 80, "%zu columns: %s", format_columns(line),
				      line);
}
END_TEST

START_TEST(columns_and_colour)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	struct layout layout;

	setenv("COLUMNS", "123", true);
	ck_assert_int_eq(layout_of(out, false).columns, 123);
	setenv("COLUMNS", "3", true);
	ck_assert_int_eq(layout_of(out, false).columns, LAYOUT_COLUMNS_LEAST);
	setenv("COLUMNS", "100000", true);
	ck_assert_int_eq(layout_of(out, false).columns, LAYOUT_COLUMNS_MOST);
	setenv("COLUMNS", "wide", true);
	ck_assert_int_eq(layout_of(out, false).columns, LAYOUT_COLUMNS);
	unsetenv("COLUMNS");
	layout = layout_of(out, false);
	ck_assert_int_eq(layout.columns, LAYOUT_COLUMNS);
	ck_assert(!layout.colour); /* no terminal */
	layout_put(&layout, LAYOUT_ALARM, "a");
	layout.colour = true;
	layout_put(&layout, LAYOUT_ALARM, "b");
	layout_fact(&layout, "label", LAYOUT_PLAIN, "\033[31mred");
	fclose(out);
	ck_assert_str_eq(text, "a\033[1;31mb\033[0m  \033[36mlabel     \033[0m\\x1b[31mred\n");
	free(text);
}
END_TEST

static const struct {
	const char *text; /* of cpu.weight; NULL: no such file */
	const char *remedy, *command;
} weights[] = {
	{ NULL, "give batch.slice, where backup is, CPU weight 20", "CPUWeight=20" },
	{ "100\n", "give batch.slice, where backup is, CPU weight 20, not 100", "CPUWeight=20" },
	{ "59\n", "give batch.slice, where backup is, CPU weight 11, not 59", "CPUWeight=11" },
	{ "2\n", "give batch.slice, where backup is, CPU weight 1, not 2", "CPUWeight=1" },
	{ "10000\n", "give batch.slice, where backup is, CPU weight 2000, not 10000", "CPUWeight=2000" },
	{ "1\n", "batch.slice has the least CPU weight already: give the victim's more", "groups,others" },
	{ "0\n", "batch.slice has the least CPU weight already: give the victim's more", "groups,others" },
	{ "default 50\n8:0 10\n", "give batch.slice, where backup is, CPU weight 10, not 50",
	  "CPUWeight=10" },
	{ "max\n", "give batch.slice, where backup is, CPU weight 20", "CPUWeight=20" },
	{ "10001\n", "give batch.slice, where backup is, CPU weight 20", "CPUWeight=20" },
};

/* What is in force on the host of the capture. */
static void put_host_file(const char *path, const char *text)
{
	_cleanup_free_ char *directories = strdup(path);

	for (char *at = strchr(directories, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		mkdir(directories, 0700);
		*at = '/';
	}
	file_put(path, text, strlen(text));
}

static void expect_remedy(bool has_systemd, const char *text, const char *command)
{
	char mount[] = "mount", block[] = "block", proc[] = "proc";
	const struct host host = {
		.is_here = true, .has_systemd = has_systemd, .cgroups = mount, .block = block, .proc = proc
	};
	_cleanup_database_ struct database database = { 0 };
	_cleanup_profile_ struct profile profile = { 0 };
	_cleanup_answer_ struct answer answer = { 0 };
	struct report report = {
		.database = &database, .capture_id = 7, .host = &host, .layout = { .columns = 160 }
	};

	ck_assert_int_eq(database_open("bourdon.db", &database), 0);
	ck_assert_int_eq(profile_load(&database, 7, PROFILE_OF_TARGETS, &profile), 0);
	ck_assert_int_eq(answer_find(&report, &profile, &answer), 0);
	ck_assert_str_eq(answer.remedy.text, text);
	ck_assert_msg(strstr(answer.remedy.command, command), "%s", answer.remedy.command);
}

START_TEST(a_remedy_names_the_weight_in_force)
{
	put(find_case("a neighbour for a CPU, of another slice"));
	put_host_file("mount/batch.slice/cgroup.controllers", "");
	if (weights[_i].text)
		put_host_file("mount/batch.slice/cpu.weight", weights[_i].text);
	expect_remedy(true, weights[_i].remedy, weights[_i].command);
}
END_TEST

START_TEST(without_systemd_there_is_no_systemctl)
{
	put(find_case("a neighbour for a CPU, of another slice"));
	/* it has ended */
	put_host_file("mount/cgroup.controllers", "cpu");
	expect_remedy(false, "batch.slice has ended: nothing is to be changed now",
		      "--section groups,others");
	/* the controller is not there, and the process neither */
	put_host_file("mount/batch.slice/cgroup.controllers", "");
	expect_remedy(false, "backup[201] has ended: nothing is to be changed now",
		      "--section groups,others");
	put_host_file("proc/201/comm", "backup\n");
	expect_remedy(false, "lower the priority of backup[201]: no cgroup parts them",
		      "renice -n 10 -p 201");
	/* sessions are scheduled as one: a nice value counts in one of them alone */
	put_host_file("proc/sys/kernel/sched_autogroup_enabled", "1\n");
	put_host_file("proc/201/autogroup", "/autogroup-12 nice 0\n");
	put_host_file("proc/101/autogroup", "/autogroup-13 nice 0\n");
	expect_remedy(false, "lower the priority of the session of backup[201]",
		      "echo 10 > /proc/201/autogroup");
	put_host_file("proc/101/autogroup", "/autogroup-12 nice 0\n");
	expect_remedy(false, "lower the priority of backup[201]: no cgroup parts them",
		      "renice -n 10 -p 201");
	put_host_file("mount/batch.slice/cpu.weight", "100\n");
	expect_remedy(false, "give batch.slice, where backup is, CPU weight 20, not 100",
		      "echo 20 > mount/batch.slice/cpu.weight");
}
END_TEST

START_TEST(the_scheduler_of_the_disk_decides)
{
	static const char limit[] = "limit backup.service to read 30 MiB a second on vda",
			  weight[] = "give batch.slice, where backup is, disk weight 20";

	put(find_case("a neighbour for a disk"));
	put_host_file("mount/batch.slice/cgroup.controllers", "");
	put_host_file("mount/batch.slice/backup.service/cgroup.controllers", "");
	put_host_file("block/vda/dev", "254:0\n");
	put_host_file("block/vda/queue/scheduler", "none [mq-deadline] bfq\n");
	expect_remedy(true, limit, "backup.service IOReadBandwidthMax='/dev/vda 30M'");
	put_host_file("block/vda/queue/scheduler", "none mq-deadline [bfq]\n");
	expect_remedy(true, weight, "batch.slice IOWeight=20");
	/* the files of bfq and of io.cost are not one */
	put_host_file("mount/batch.slice/io.bfq.weight", "default 127\n");
	expect_remedy(false, "give batch.slice, where backup is, disk weight 25, not 127",
		      "echo 25 > mount/batch.slice/io.bfq.weight");
	put_host_file("mount/batch.slice/io.weight", "default 400\n");
	expect_remedy(true, "give batch.slice, where backup is, disk weight 80, not 400",
		      "batch.slice IOWeight=80");
	put_host_file("mount/batch.slice/io.weight", "\n");
	put_host_file("block/vda/queue/scheduler", "[none]\n");
	put_host_file("mount/io.cost.qos", "8:0 enable=1 ctrl=auto\n254:0 enable=0\n");
	expect_remedy(true, limit, "IOReadBandwidthMax");
	put_host_file("mount/io.cost.qos", "8:0 enable=0 ctrl=auto\n254:0 enable=1 ctrl=auto\n");
	expect_remedy(true, weight, "IOWeight=20");
	put_host_file("block/vda/queue/scheduler", "[none] bfq\n");
	put_host_file("mount/io.cost.qos", "");
	put_host_file("mount/batch.slice/backup.service/io.max", "");
	expect_remedy(false, limit, "echo '254:0 rbps=31457280' > mount/batch.slice/backup.service/io.max");
}
END_TEST

START_TEST(a_limit_that_was_raised_is_not_raised_again)
{
	put(find_case("throttled"));
	put_host_file("mount/system.slice/nginx.service/cgroup.controllers", "");
	put_host_file("mount/system.slice/nginx.service/cpu.max", "60000 100000\n");
	expect_remedy(true, "raise the quota of nginx.service from 0.60 to 0.90 CPUs", "CPUQuota=90%");
	/* a quota is one of its own period, and not of that of the capture; a file is given both */
	put_host_file("mount/system.slice/nginx.service/cpu.max", "30000 50000\n");
	expect_remedy(true, "raise the quota of nginx.service from 0.60 to 0.90 CPUs", "CPUQuota=90%");
	expect_remedy(false, "raise the quota of nginx.service from 0.60 to 0.90 CPUs",
		      "echo '90000 100000' > mount/system.slice/nginx.service/cpu.max");
	put_host_file("mount/system.slice/nginx.service/cpu.max", "max 100000\n");
	expect_remedy(true, "the quota of nginx.service was raised since: see whether it comes back",
		      "--section capture,pressure");
	put(find_case("at a memory limit"));
	put_host_file("mount/system.slice/nginx.service/memory.max", "max\n");
	expect_remedy(true, "memory.max of nginx.service was raised since: see whether it comes back",
		      "--section capture,pressure");
}
END_TEST

START_TEST(what_is_in_force_is_that_of_the_machine_of_the_capture)
{
	static const char *const others[] = { "NULL", "'ffffffffffffffffffffffffffffffff'" };
	char machine[MACHINE_TEXT_BYTES], sql[256];

	put(find_case("a neighbour for a CPU, of another slice"));
	why_sql("bourdon.db",
		"INSERT INTO database(database_id, id) VALUES(9, 'x'); UPDATE run SET database_id = 9");
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		_cleanup_database_ struct database database = { 0 };
		_cleanup_host_ struct host host = { 0 };

		snprintf(sql, sizeof(sql), "UPDATE database SET machine = %s", others[i]);
		why_sql("bourdon.db", sql);
		ck_assert_int_eq(database_open("bourdon.db", &database), 0);
		ck_assert_int_eq(host_of(&database, 7, &host), 0);
		ck_assert(!host.is_here);
	}
	if (machine_hash(MACHINE_ID_FILE, machine)) {
		_cleanup_database_ struct database database = { 0 };
		_cleanup_host_ struct host host = { 0 };
		_cleanup_free_ char *expected = NULL;

		snprintf(sql, sizeof(sql), "UPDATE database SET machine = '%s'", machine);
		why_sql("bourdon.db", sql);
		ck_assert_int_eq(database_open("bourdon.db", &database), 0);
		ck_assert_int_eq(host_of(&database, 7, &host), 0);
		ck_assert(host.is_here);
		ck_assert_int_eq(cgroup_mount(&expected) < 0, !host.cgroups);
		if (host.cgroups)
			ck_assert_str_eq(host.cgroups, expected);
		ck_assert_int_lt(host_cgroup_number(&host, "/../cgroup", "cpu.weight"), 0);
		ck_assert(!host_disk_weight_file(&host, "../../etc"));
	}
}
END_TEST

SUITE(why)
{
	Suite *suite = suite_create("why");
	TCase *tcase = tcase_create("why");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_loop_test(tcase, each_kind_names_victim_culprit_and_remedy, 0, (int)why_cases_count);
	tcase_add_test(tcase, each_kind_has_a_case);
	tcase_add_loop_test(tcase, fourteen_lines_of_eighty_columns_are_enough, 0, (int)why_cases_count);
	tcase_add_test(tcase, a_forged_cgroup_names_nobody_else);
	tcase_add_test(tcase, another_verdict_than_the_stored_one_is_told);
	tcase_add_test(tcase, the_answer_is_data);
	tcase_add_test(tcase, golden_text_at_80_columns);
	tcase_add_test(tcase, golden_text_at_160_columns);
	tcase_add_test(tcase, a_quoted_name_is_one_word_of_its_bytes);
	tcase_add_test(tcase, only_what_systemd_takes_literally_is_a_unit);
	tcase_add_test(tcase, usual_counts_the_week_before);
	tcase_add_test(tcase, usual_needs_a_day_of_history);
	tcase_add_test(tcase, a_baseline_is_compared);
	tcase_add_test(tcase, changes_since_the_capture_before);
	tcase_add_test(tcase, still_is_what_the_database_tells);
	tcase_add_test(tcase, certain_says_the_share_and_what_was_lost);
	tcase_add_test(tcase, each_reason_of_a_stack_that_is_not_whole_has_words);
	tcase_add_test(tcase, a_file_whose_functions_have_no_names_has_a_package);
	tcase_add_test(tcase, whole_stacks_are_not_mentioned);
	tcase_add_test(tcase, certain_mentions_stacks_that_are_not_whole);
	tcase_add_test(tcase, files_are_bounded_and_absurd_numbers_are_printed);
	tcase_add_test(tcase, sections_are_chosen_by_name);
	tcase_add_test(tcase, mistakes_about_sections);
	tcase_add_test(tcase, everything_fits_eighty_columns);
	tcase_add_test(tcase, columns_and_colour);
	tcase_add_loop_test(tcase, a_remedy_names_the_weight_in_force, 0, ARRAY_SIZE(weights));
	tcase_add_test(tcase, without_systemd_there_is_no_systemctl);
	tcase_add_test(tcase, the_scheduler_of_the_disk_decides);
	tcase_add_test(tcase, a_limit_that_was_raised_is_not_raised_again);
	tcase_add_test(tcase, what_is_in_force_is_that_of_the_machine_of_the_capture);
	suite_add_tcase(suite, tcase);
	return suite;
}

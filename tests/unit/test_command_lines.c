/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows the command lines of the four programs, by their own tables: each mistake has one line and exit status 2, and --help
 * fits a screen and has an example.
 */
#include "common/base/cleanup.h"
#include "common/protocol/pins.h"
#include "common/system/log.h"
#include "common/system/options.h"
#include "consumer/rules/settings.h"
#include "loader/grant/grant_arguments.h"
#include "loader/load_arguments.h"
#include "report/command.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <string.h>

#define WORDS_MAX 16

enum program { BOURDON, BOURDOND, LOAD, GRANT };

static const char *const names[] = { "bourdon", "bourdond", "bourdon-load", "bourdon-grant" };

static int parse_load(int count, char **words)
{
	struct load_settings settings = { 0 };
	struct load_arguments arguments;
	int status = load_arguments_parse(&arguments, count, words);

	if (status == OPTIONS_RUN && load_arguments_settings(&arguments, &settings) != EXIT_DONE)
		status = EXIT_USAGE;
	return status;
}

static int parse_grant(int count, char **words)
{
	struct grant_settings settings = { .pin_dir = PIN_DIRECTORY_DEFAULT };

	return grant_arguments_parse(count, words, &settings);
}

/* A blank ends a word. */
static int parse(enum program program, const char *line)
{
	_cleanup_free_ char *copy = strdup(line);
	char *words[WORDS_MAX] = { (char *)names[program] };
	struct settings settings;
	int count = 1;

	for (char *word = strtok(copy, " "); word && count < WORDS_MAX - 1; word = strtok(NULL, " "))
		words[count++] = word;
	switch (program) {
	case BOURDON:
		return command_main(count, words, stdout);
	case BOURDOND:
		return settings_parse(&settings, count, words);
	case LOAD:
		return parse_load(count, words);
	case GRANT:
		break;
	}
	return parse_grant(count, words);
}

/* ---- mistakes ---- */

struct mistake {
	enum program program;
	const char *line, *says;
};

static const struct mistake mistakes[] = {
	{ BOURDOND, "--nonsense", "unknown option '--nonsense'" },
	{ BOURDOND, "--rules-dir", "option --rules-dir needs D" },
	{ BOURDOND, "word", "unexpected word 'word'" },
	{ BOURDOND, "--check-config=yes", "option --check-config takes no argument" },

	{ LOAD, "--nonsense", "unknown option '--nonsense'" },
	{ LOAD, "--hz", "option --hz needs N" },
	{ LOAD, "--hz 0", "--hz 0: give a whole number from 1 to 1000" },
	{ LOAD, "--hz 1001", "--hz 1001: give a whole number" },
	{ LOAD, "--hz 4x", "--hz 4x: give a whole number" },
	{ LOAD, "--ring-size 12", "--ring-size 12: give a size with its unit, from 16KiB to 256MiB" },
	{ LOAD, "--ring-size 1KiB", "--ring-size 1KiB: give a size" },
	{ LOAD, "--ring-size 257MiB", "--ring-size 257MiB: give a size" },
	{ LOAD, "--unwind-memory 1KiB",
	  "--unwind-memory 1KiB: give a size with its unit, from 1MiB to 1GiB, or 0" },
	{ LOAD, "--quiet-after 30", "--quiet-after 30: give a duration with its unit, such as 30s" },
	{ LOAD, "--quiet-after 0s", "--quiet-after 0s: give a duration" },
	{ LOAD, "--targets 0", "--targets 0: give a whole number from 1 to 1048576" },
	{ LOAD, "--pin-dir relative", "--pin-dir relative: give an absolute path" },
	{ LOAD, "--pin-dir /sys/fs/bpf/a.b", "whose last part has no dot" },
	{ LOAD, "--pin-dir /sys/fs/bpf/", "--pin-dir /sys/fs/bpf/: give an absolute path" },
	{ LOAD, "word", "give at most one of --check, --unload and --status, and no other words" },
	{ LOAD, "--unload --status", "give at most one of" },
	{ LOAD, "--check=yes", "option --check takes no argument" },
	{ LOAD, "--json", "--json goes with --check" },

	{ GRANT, "--nonsense", "unknown option '--nonsense'" },
	{ GRANT, "--files some", "--files some: give none, elf or all" },
	{ GRANT, "--files", "option --files needs KIND" },
	{ GRANT, "word", "unexpected word 'word'" },

	{ BOURDON, "", "" },
	{ BOURDON, "--nonsense", "unknown option '--nonsense'" },
	{ BOURDON, "nonsense", "'nonsense'" },
	{ BOURDON, "why x", "'x'" },
	{ BOURDON, "why 1 2", "'2'" },
	{ BOURDON, "list 1", "'1'" },
	{ BOURDON, "--json folded", "--json" },
	{ BOURDON, "list --hz 4", "'list' takes no --hz" },
	{ BOURDON, "why --pid 1", "'why' takes no --pid" },
	{ BOURDON, "diff", "" },
	{ BOURDON, "diff 1", "" },
	{ BOURDON, "diff 1 2 3", "" },

	{ BOURDON, "capture --for 1s", "name the processes" },
	{ BOURDON, "capture --all", "needs --for" },
	{ BOURDON, "capture --all --for 1", "--for '1' is not a time" },
	{ BOURDON, "capture --all --for 10ms", "--for: from 1s to 1h" },
	{ BOURDON, "capture --all --for 2h", "--for: from 1s to 1h" },
	{ BOURDON, "capture --all --pid 1 --for 1s", "stand alone" },
	{ BOURDON, "capture --all --for 1s --format svg", "--format 'svg' is unknown" },
	{ BOURDON, "capture --cgroup ../etc --for 1s", "--cgroup" },
	{ BOURDON, "capture --who --all", "give one of them, alone" },
	{ BOURDON, "capture --end 1 --who", "give one of them, alone" },
	{ BOURDON, "capture --end 0", "--end '0' is not a capture's ID" },
	{ BOURDON, "capture --who --format top", "--who takes no other --format than json" },

	{ BOURDON, "threads --once --hz 0", "--hz" },
	{ BOURDON, "threads --once --hz 101", "--hz" },
	{ BOURDON, "threads --once --hz x", "--hz" },
	{ BOURDON, "threads --once --columns nope", "nope" },
	{ BOURDON, "threads --once --columns state,state", "state" },
	{ BOURDON, "threads --once --columns state,", "--columns" },
	{ BOURDON, "threads --once --columns module", "'bourdon top --live'" },
	{ BOURDON, "threads --once --match nope=1", "nope" },
	{ BOURDON, "threads --once word", "word" },
	{ BOURDON, "threads --once --limit 0", "--limit" },
	{ BOURDON, "threads --live", "--live" },

	{ BOURDON, "top --live --columns state", "state" },
	{ BOURDON, "top --live --columns syscall,comm", "syscall" },
	{ BOURDON, "top --live --match state=D", "state" },
	{ BOURDON, "top --live --match futex=1", "futex" },
	{ BOURDON, "top --live --hz 5", "--hz" },
	{ BOURDON, "top --live 7", "takes no ID" },
	{ BOURDON, "top --live --columns nope", "nope" },
	{ BOURDON, "top --live --columns comm,comm", "comm" },
	{ BOURDON, "top --once", "--live" },
	{ BOURDON, "top --csv", "--live" },
	{ BOURDON, "top --columns comm", "--live" },
	{ BOURDON, "top --match x", "--live" },

	{ BOURDON, "latency --once", "--live" },
	{ BOURDON, "latency --live 7", "takes no ID" },
	{ BOURDON, "latency --live --span before", "takes no --span" },
	{ BOURDON, "latency --live --metric disk", "'disk' is no metric" },
};

START_TEST(a_mistake_has_one_line)
{
	const struct mistake *mistake = &mistakes[_i];
	_cleanup_free_ char *said = NULL;
	int saved = log_divert(), status = parse(mistake->program, mistake->line);

	said = log_diverted(saved);
	ck_assert_msg(status == EXIT_USAGE, "%s %s: %d: %s", names[mistake->program], mistake->line, status,
		      said);
	ck_assert_msg(strstr(said, mistake->says) != NULL, "%s %s: %s", names[mistake->program],
		      mistake->line, said);
	ck_assert_msg(strchr(said, '\n') == said + strlen(said) - 1, "%s", said);
}
END_TEST

/* ---- help ---- */

struct help {
	enum program program;
	const char *line, *usage;
};

static const struct help helps[] = {
	{ BOURDOND, "", "bourdond " },
	{ LOAD, "", "bourdon-load " },
	{ GRANT, "", "bourdon-grant " },
	{ BOURDON, "", "bourdon [OPTION...] SUBCOMMAND" },
	{ BOURDON, "list", "bourdon list" },
	{ BOURDON, "show", "bourdon show" },
	{ BOURDON, "why", "bourdon why" },
	{ BOURDON, "top", "bourdon top" },
	{ BOURDON, "diff", "bourdon diff" },
	{ BOURDON, "folded", "bourdon folded" },
	{ BOURDON, "symbolize", "bourdon symbolize" },
	{ BOURDON, "status", "bourdon status" },
	{ BOURDON, "doctor", "bourdon doctor" },
	{ BOURDON, "capture", "bourdon capture" },
	{ BOURDON, "threads", "bourdon threads" },
	{ BOURDON, "activity", "bourdon activity" },
	{ BOURDON, "export", "bourdon export" },
	{ BOURDON, "report", "bourdon report" },
	{ BOURDON, "flame", "bourdon flame" },
	{ BOURDON, "help", "bourdon help" },
	{ BOURDON, "db", "bourdon [OPTION...] db SUBCOMMAND" },
	{ BOURDON, "db check", "bourdon db check" },
	{ BOURDON, "db compact", "bourdon db compact" },
	{ BOURDON, "db copy", "bourdon db copy" },
	{ BOURDON, "db merge", "bourdon db merge" },
};

START_TEST(help_fits_a_screen)
{
	const struct help *help = &helps[_i];
	_cleanup_free_ char *line = NULL;
	char text[8192] = "", usage[64];
	_cleanup_file_ FILE *file = tmpfile();
	int saved, status;
	size_t lines = 0;

	ck_assert_int_ge(asprintf(&line, "%s --help", help->line), 0);
	fflush(stdout);
	saved = dup(STDOUT_FILENO);
	dup2(fileno(file), STDOUT_FILENO);
	status = parse(help->program, line);
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	ck_assert_int_eq(status, EXIT_DONE);
	ck_assert_int_gt((int)pread(fileno(file), text, sizeof(text) - 1, 0), 0);
	snprintf(usage, sizeof(usage), "Usage: %s", help->usage);
	ck_assert_msg(!strncmp(text, usage, strlen(usage)), "%s", text);
	ck_assert_msg(strstr(text, "\nExample: ") != NULL, "%s", text);
	ck_assert_msg(help->program != BOURDON || strstr(text, "\n  --db FILE "), "%s", text);
	/* with text */
	for (const char *at = text; *at; at++)
		lines += *at == '\n' && at[1] != '\n';
	ck_assert_msg(lines <= 24, "%zu lines:\n%s", lines, text);
}
END_TEST

SUITE(command_lines)
{
	Suite *suite = suite_create("command_lines");
	TCase *lines = tcase_create("lines");

	tcase_add_loop_test(lines, a_mistake_has_one_line, 0, ARRAY_SIZE(mistakes));
	tcase_add_loop_test(lines, help_fits_a_screen, 0, ARRAY_SIZE(helps));
	suite_add_tcase(suite, lines);
	return suite;
}

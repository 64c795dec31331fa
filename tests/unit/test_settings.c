/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows what bourdond reads from its command line and from bourdon.conf, in particular the size of the
 * database, and what it refuses.
 */
#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/system/options.h"
#include "consumer/rules/settings.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <string.h>

#define DEFAULT_BYTES (256UL << 20)

static int parse(struct settings *settings, int count, const char *const *words, char **ret_said)
{
	char *arguments[8] = { (char *)"bourdond" };
	int saved, status;

	for (int i = 0; i < count; i++)
		arguments[i + 1] = (char *)words[i];
	saved = log_divert();
	status = settings_parse(settings, count + 1, arguments);
	*ret_said = log_diverted(saved);
	return status;
}

START_TEST(defaults)
{
	_cleanup_free_ char *said = NULL;
	struct settings settings;

	ck_assert_int_eq(parse(&settings, 0, NULL, &said), OPTIONS_RUN);
	ck_assert_str_eq(settings.config, "/etc/bourdon/bourdon.conf");
	ck_assert(!settings.config_named);
	ck_assert_str_eq(settings.rules_dir, "/etc/bourdon/rules.d");
	ck_assert(!settings.rules_dir_named);
	ck_assert_str_eq(settings.pin_dir, "/sys/fs/bpf/bourdon");
	ck_assert_str_eq(settings.run_dir, "/run/bourdon");
	ck_assert_str_eq(settings.state_dir, "/var/lib/bourdon");
	ck_assert_str_eq(settings.user, "bourdon");
	ck_assert_str_eq(settings.group, "bourdon");
	ck_assert_ptr_null(settings.check_config);
}
END_TEST

START_TEST(options_take_effect)
{
	static const char *const words[] = { "--config=/c", "--state-dir", "/s", "--user=u",
					     "--check-config" };
	_cleanup_free_ char *said = NULL;
	struct settings settings;

	ck_assert_int_eq(parse(&settings, ARRAY_SIZE(words), words, &said), OPTIONS_RUN);
	ck_assert_str_eq(settings.config, "/c");
	ck_assert(settings.config_named);
	ck_assert_str_eq(settings.state_dir, "/s");
	ck_assert_str_eq(settings.user, "u");
	ck_assert_str_eq(settings.group, "bourdon");
	ck_assert_ptr_nonnull(settings.check_config);
}
END_TEST

START_TEST(words_are_refused)
{
	static const char *const words[] = { "--user=u", "start" };
	_cleanup_free_ char *said = NULL;
	struct settings settings;

	ck_assert_int_eq(parse(&settings, ARRAY_SIZE(words), words, &said), EXIT_USAGE);
	ck_assert_ptr_nonnull(strstr(said, "unexpected word 'start'"));
}
END_TEST

struct size_case {
	const char *text; /* of the file */
	uint64_t bytes;   /* 0: refused */
	const char *error;
};

static const struct size_case size_cases[] = {
	{ "", DEFAULT_BYTES, NULL },
	{ "[database]\n", DEFAULT_BYTES, NULL },
	{ "[database]\nmax_size = 64MiB\n", 64UL << 20, NULL },
	{ "[database]\nmax_size = 1GiB\n", 1UL << 30, NULL },
	{ "[database]\nmax_size = 1.5GiB\n", 3UL << 29, NULL },
	{ "[database]\nmax_size = 4MiB\n", 4UL << 20, NULL },
	{ "[database]\nmax_size = 4194304B\n", 4UL << 20, NULL },
	{ "[database]\nmax_size = 4194303B\n", 0, ":2: max_size = 4194303B: expected a size" },
	{ "[database]\nmax_size = 64\n", 0, ":2: max_size = 64: expected a size" },
	{ "[database]\nmax_size = 64MB\n", 0, ":2: max_size = 64MB: expected a size" },
	{ "[database]\nmax_size = \n", 0, ":2: max_size = : expected a size" },
	{ "[database]\nmax_size = 99999999999999999999GiB\n", 0, ":2: max_size = " },
	{ "[database]\nmax_age = 30d\n", DEFAULT_BYTES, NULL },
	{ "[database]\nmax_age = 1s\n", DEFAULT_BYTES, NULL },
	{ "[database]\nmax_age = 0s\n", 0,
	  ":2: max_age = 0s: expected a duration with its unit, from 1s to 36500d" },
	{ "[database]\nmax_age = 36501d\n", 0, ":2: max_age = 36501d: expected a duration" },
	{ "[database]\nmax_age = 30\n", 0, ":2: max_age = 30: expected a duration" },
	{ "[database]\nsize = 64MiB\n", 0, ":2: unknown key 'size'" },
	{ "max_size = 64MiB\n", 0, ":1: unknown key 'max_size'" },
	{ "[data]\nmax_size = 64MiB\n", 0, ":1: unknown section '[data]'" },
	{ "[triggers]\nshort_windows = 0\n", DEFAULT_BYTES, NULL },
	{ "[triggers]\nshort_windows = 4097\n", 0, ":2: short_windows = 4097: expected a number" },
	{ "[activity]\ncapture_hz = 0\n", DEFAULT_BYTES, NULL },
	{ "[activity]\ncapture_hz = 100\n", DEFAULT_BYTES, NULL },
	{ "[activity]\ncapture_hz = 101\n", 0,
	  ":2: capture_hz = 101: expected a number of looks a second from 0 to 100" },
	{ "[activity]\ninterval = 100ms\nkeep = 1min\n", DEFAULT_BYTES, NULL },
	{ "[activity]\ninterval = 1h\nkeep = 36500d\n", DEFAULT_BYTES, NULL },
	{ "[activity]\ninterval = 99ms\n", 0,
	  ":2: interval = 99ms: expected 'off', or a duration with its unit, from 100ms to 1h" },
	{ "[activity]\ninterval = 3601s\n", 0, ":2: interval = 3601s: expected 'off'" },
	{ "[activity]\ninterval = 1\n", 0, ":2: interval = 1: expected 'off'" },
	{ "[activity]\ninterval = 0s\n", 0, ":2: interval = 0s: expected 'off'" },
	{ "[activity]\nkeep = 59s\n", 0,
	  ":2: keep = 59s: expected a duration with its unit, from 1min to 36500d" },
	{ "[activity]\nkeep = off\n", 0, ":2: keep = off: expected a duration" },
	{ "[metrics]\ntextfile = off\ninterval = 1h\n", DEFAULT_BYTES, NULL },
	{ "[metrics]\ntextfile = /run/bourdon-metrics/bourdon.prom\ninterval = 1s\n", DEFAULT_BYTES, NULL },
	{ "[metrics]\ntextfile = bourdon.prom\n", 0,
	  ":2: textfile = bourdon.prom: expected 'off', or an absolute path that ends in .prom" },
	{ "[metrics]\ntextfile = /run/bourdon.txt\n", 0, ":2: textfile = /run/bourdon.txt: expected 'off'" },
	{ "[metrics]\ntextfile = /run/.prom\n", 0, ":2: textfile = /run/.prom: expected 'off'" },
	/* its directory would be everything */
	{ "[metrics]\ntextfile = /bourdon.prom\n", 0, ":2: textfile = /bourdon.prom: expected 'off'" },
	{ "[metrics]\ntextfile =\n", 0, ":2: textfile = : expected 'off'" },
	{ "[metrics]\ninterval = 999ms\n", 0,
	  ":2: interval = 999ms: expected a duration with its unit, from 1s to 1h" },
	{ "[metrics]\ninterval = 3601s\n", 0, ":2: interval = 3601s: expected a duration" },
	{ "[metrics]\nport = 9100\n", 0, ":2: unknown key 'port'" },
	{ "[activity]\nhz = 1\n", 0, ":2: unknown key 'hz'" },
	{ "[baseline]\nevery = 10s\nkeep = 1min\n", DEFAULT_BYTES, NULL },
	{ "[baseline]\nevery = 30d\nkeep = 36500d\n", DEFAULT_BYTES, NULL },
	{ "[baseline]\nevery = 9999ms\n", 0,
	  ":2: every = 9999ms: expected 'off', or a duration with its unit, from 10s to 30d" },
	{ "[baseline]\nevery = 31d\n", 0, ":2: every = 31d: expected 'off'" },
	{ "[baseline]\nevery = 1\n", 0, ":2: every = 1: expected 'off'" },
	{ "[baseline]\nkeep = 59s\n", 0, ":2: keep = 59s: expected a duration with its unit, from 1min" },
	{ "[baseline]\ninterval = 1h\n", 0, ":2: unknown key 'interval'" },
	{ "[triggers]\nwatches = 1\nwatches_per_rule = 16384\n", DEFAULT_BYTES, NULL },
	{ "[triggers]\nwatches = 0\n", 0, ":2: watches = 0: expected a number of watches from 1 to 16384" },
	{ "[triggers]\nwatches_per_rule = 16385\n", 0, ":2: watches_per_rule = 16385: expected a number" },
	{ "[triggers]\nmax_size = 64MiB\n", 0, ":2: unknown key 'max_size'" },
	{ "[files]\ndirectories = /usr  /srv/bin\n", DEFAULT_BYTES, NULL },
	{ "[files]\ndirectories =\n", DEFAULT_BYTES, NULL },
	{ "[files]\ndirectories = /usr lib\n", 0, ":2: directories: 'lib' is not an absolute path" },
	{ "[files]\nnaming = 90s\n", DEFAULT_BYTES, NULL },
	{ "[files]\nnaming = 10min\n", DEFAULT_BYTES, NULL },
	{ "[files]\nnaming = 601s\n", 0,
	  ":2: naming = 601s: expected a duration with its unit, from 1s to 10min" },
	{ "[files]\nnaming = 999ms\n", 0, ":2: naming = 999ms: expected a duration" },
	{ "[files]\nnaming = 20\n", 0, ":2: naming = 20: expected a duration" },
	{ "[symbols]\nbudget = 0%\n", DEFAULT_BYTES, NULL },
	{ "[symbols]\nbudget = 2.5%\n", DEFAULT_BYTES, NULL },
	{ "[symbols]\nbudget = 50%\n", DEFAULT_BYTES, NULL },
	{ "[symbols]\nbudget = 51%\n", 0,
	  ":2: budget = 51%: expected a share of the machine's CPU time from 0% to 50%" },
	{ "[symbols]\nbudget = 5\n", 0, ":2: budget = 5: expected a share" },
	{ "[symbols]\nnaming = 5s\n", 0, ":2: unknown key 'naming'" },
	{ "[files]\ndirectory = /usr\n", 0, ":2: unknown key 'directory'" },
	{ "[database]\nmax_size\n", 0, ":2: expected 'key = value'" },
};

START_TEST(max_size)
{
	const struct size_case *one = &size_cases[_i];
	_cleanup_free_ char *directory = directory_make(), *path = path_join(directory, "bourdon.conf");
	struct settings settings = { .config = path,
				     .config_named = true,
				     .database_bytes_max = DEFAULT_BYTES };
	struct config_errors errors = { 0 };

	file_put(path, one->text, strlen(one->text));
	ck_assert_int_eq(settings_read(&settings, &errors), one->error ? -EINVAL : 0);
	if (one->error) {
		ck_assert_uint_ge(errors.count, 1);
		ck_assert_msg(
			!strncmp(errors.messages[0], path, strlen(path)) &&
				!strncmp(errors.messages[0] + strlen(path), one->error, strlen(one->error)),
			"%s", errors.messages[0]);
	} else {
		ck_assert_uint_eq(errors.count, 0);
		ck_assert_uint_eq(settings.database_bytes_max, one->bytes);
	}
	config_errors_free(&errors);
	directory_remove(directory);
}
END_TEST

START_TEST(max_age)
{
	static const char text[] = "[database]\nmax_age = 2d\n";
	struct settings settings = { .database_age_ns_max = 0 };
	struct config_errors errors = { 0 };

	ck_assert_int_eq(settings_read_text("a", text, strlen(text), &settings, &errors), 0);
	ck_assert_uint_eq(settings.database_age_ns_max, 2 * 86400 * 1000000000UL);
}
END_TEST

START_TEST(activity)
{
	static const char on[] = "[activity]\ninterval = 1s\nkeep = 2d\n",
			  off[] = "[activity]\ninterval = off\n";
	struct settings settings = { 0 };
	struct config_errors errors = { 0 };

	ck_assert_int_eq(settings_read_text("a", on, strlen(on), &settings, &errors), 0);
	ck_assert_uint_eq(settings.activity_ns, 1000000000UL);
	ck_assert_uint_eq(settings.activity_age_ns_max, 2 * 86400 * 1000000000UL);
	ck_assert_int_eq(settings_read_text("a", off, strlen(off), &settings, &errors), 0);
	ck_assert_uint_eq(settings.activity_ns, 0);
}
END_TEST

START_TEST(baseline)
{
	static const char *const off[] = { "off", "0", "0s" };
	static const char on[] = "[baseline]\nevery = 30min\nkeep = 2d\n";
	struct settings settings = { 0 };
	struct config_errors errors = { 0 };
	char text[32];

	ck_assert_int_eq(settings_read_text("a", on, strlen(on), &settings, &errors), 0);
	ck_assert_uint_eq(settings.baseline_ns, 1800 * 1000000000UL);
	ck_assert_uint_eq(settings.baseline_age_ns_max, 2 * 86400 * 1000000000UL);
	ck_assert_uint_eq(settings.activity_age_ns_max, 0); /* its keep is another one */
	snprintf(text, sizeof(text), "[baseline]\nevery = %s\n", off[_i]);
	ck_assert_int_eq(settings_read_text("a", text, strlen(text), &settings, &errors), 0);
	ck_assert_uint_eq(settings.baseline_ns, 0);
}
END_TEST

START_TEST(metrics)
{
	static const char on[] = "[metrics]\ntextfile = /srv/metrics/b.prom\ninterval = 1min\n",
			  off[] = "[metrics]\ntextfile = off\n";
	char directory[INI_LINE_BYTES + 1];
	struct settings settings = { 0 };
	struct config_errors errors = { 0 };

	ck_assert_int_eq(settings_read_text("a", on, strlen(on), &settings, &errors), 0);
	ck_assert_str_eq(settings.metrics_file, "/srv/metrics/b.prom");
	ck_assert_str_eq(settings_directory_of(settings.metrics_file, directory), "/srv/metrics");
	ck_assert_uint_eq(settings.metrics_ns, 60 * 1000000000UL);
	ck_assert_int_eq(settings_read_text("a", off, strlen(off), &settings, &errors), 0);
	ck_assert_str_eq(settings.metrics_file, "");
	ck_assert_str_eq(settings_directory_of(settings.metrics_file, directory), "");
	/* the domain of a running daemon does not grow */
	HOLDS(settings_metrics_reach("", ""));
	HOLDS(settings_metrics_reach("", METRICS_DIRECTORY "/b.prom"));
	HOLDS(settings_metrics_reach("/srv/metrics/b.prom", "/srv/metrics/c.prom"));
	HOLDS(settings_metrics_reach("/srv/metrics/b.prom", ""));
	HOLDS(!settings_metrics_reach("/srv/metrics/b.prom", "/srv/metrics/below/b.prom"));
	HOLDS(!settings_metrics_reach("", "/srv/b.prom"));
}
END_TEST

START_TEST(without_a_file_the_defaults_hold)
{
	struct settings settings = { .config = "/nowhere/bourdon.conf", .database_bytes_max = 7 };
	struct config_errors errors = { 0 };

	ck_assert_int_eq(settings_read(&settings, &errors), 0);
	ck_assert_uint_eq(settings.database_bytes_max, DEFAULT_BYTES);
	ck_assert_uint_eq(settings.database_age_ns_max, 0);
	ck_assert_uint_eq(settings.short_windows_max, 128);
	ck_assert_uint_eq(settings.watches_max, 4096);
	ck_assert_uint_eq(settings.rule_watches_max, 1024);
	ck_assert_uint_eq(settings.naming_ns, 20000000000);
	ck_assert_uint_eq(settings.capture_hz, 10);
	ck_assert_uint_eq(settings.activity_ns, 0);
	ck_assert_uint_eq(settings.activity_age_ns_max, 7 * 86400 * 1000000000UL);
	ck_assert_uint_eq(settings.baseline_ns, 3600 * 1000000000UL);
	ck_assert_uint_eq(settings.baseline_age_ns_max, 7 * 86400 * 1000000000UL);
	ck_assert_str_eq(settings.directories, "/usr /lib /lib64 /bin /sbin /opt");
	ck_assert_str_eq(settings.metrics_file, "");
	ck_assert_uint_eq(settings.metrics_ns, 15000000000);
	ck_assert_uint_eq(errors.count, 0);
}
END_TEST

START_TEST(directories)
{
	char text[4 * DIRECTORIES_MAX + 64] = "[files]\ndirectories = /usr\t/srv/bin";
	struct settings settings = { 0 };
	struct config_errors errors = { 0 };

	ck_assert_int_eq(settings_read_text("f", text, strlen(text), &settings, &errors), 0);
	ck_assert_str_eq(settings.directories, "/usr /srv/bin");
	for (int i = 0; i < DIRECTORIES_MAX - 2; i++)
		strcat(text, " /x");
	ck_assert_int_eq(settings_read_text("f", text, strlen(text), &settings, &errors), 0);
	strcat(text, " /x");
	ck_assert_int_eq(settings_read_text("f", text, strlen(text), &settings, &errors), -EINVAL);
	ck_assert_str_eq(errors.messages[0], "f:2: directories: more than 64 paths");
	config_errors_free(&errors);
}
END_TEST

SUITE(settings)
{
	Suite *suite = suite_create("settings");
	TCase *settings = tcase_create("settings");

	tcase_add_test(settings, defaults);
	tcase_add_test(settings, options_take_effect);
	tcase_add_test(settings, words_are_refused);
	tcase_add_loop_test(settings, max_size, 0, ARRAY_SIZE(size_cases));
	tcase_add_test(settings, max_age);
	tcase_add_test(settings, activity);
	tcase_add_loop_test(settings, baseline, 0, 3);
	tcase_add_test(settings, metrics);
	tcase_add_test(settings, without_a_file_the_defaults_hold);
	tcase_add_test(settings, directories);
	suite_add_tcase(suite, settings);
	return suite;
}

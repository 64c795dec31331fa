/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/rules/settings.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/paths.h"
#include "common/protocol/grant_request.h"
#include "common/protocol/pins.h"
#include "common/system/log.h"
#include "common/system/options.h"
#include "common/text/units.h"

#include <string.h>
#include <sys/stat.h>

#define CONFIG_DEFAULT CONFIGURATION_DIRECTORY "/bourdon.conf"
#define RULES_DIRECTORY_DEFAULT CONFIGURATION_DIRECTORY "/rules.d"
#define HOUR_NS (3600 * CLOCK_SECOND_NS)
#define DAY_NS (86400 * CLOCK_SECOND_NS)
/* A hundred years, less than what 64 bits hold. */
#define AGE_NS_MOST (36500 * DAY_NS)
#define METRICS_SUFFIX ".prom" /* what the node exporter's collector reads */
/*
 * The directories that hold programs and libraries in the File System Hierarchy; a missing one does no harm.
 */
#define DIRECTORIES_DEFAULT "/usr /lib /lib64 /bin /sbin /opt"

int settings_parse(struct settings *ret_settings, int count, char **words)
{
	struct settings settings = {
		.pin_dir = PIN_DIRECTORY_DEFAULT,
		.run_dir = RUN_DIRECTORY_DEFAULT,
		.state_dir = "/var/lib/bourdon",
		.user = DAEMON_USER,
		.group = "bourdon",
		.grant_socket = GRANT_SOCKET_DEFAULT,
	};
	const struct option_spec options[] = {
		{ "config", "F", "settings (" CONFIG_DEFAULT ")", &settings.config },
		{ "rules-dir", "D", "rules, *.conf (" RULES_DIRECTORY_DEFAULT ")", &settings.rules_dir },
		{ "pin-dir", "D", "directory of bourdon-load's pins (" PIN_DIRECTORY_DEFAULT ")",
		  &settings.pin_dir },
		{ "run-dir", "D", "directory of bourdon-load's manifest (" RUN_DIRECTORY_DEFAULT ")",
		  &settings.run_dir },
		{ "state-dir", "D", "directory of bourdon.db (/var/lib/bourdon)", &settings.state_dir },
		{ "grant-socket", "S", "socket of bourdon-grant (" GRANT_SOCKET_DEFAULT ")",
		  &settings.grant_socket },
		{ "user", "U", "user to run as when started as root (bourdon)", &settings.user },
		{ "group", "G", "group to run as when started as root (bourdon)", &settings.group },
		{ "check-config", NULL, "check the settings and the rules, and exit",
		  &settings.check_config },
	};
	const struct command_spec command = {
		"bourdond",
		"[OPTION...]",
		"Waits for pressure, and records what happened before and during it.",
		"bourdond --rules-dir ./rules.d --check-config",
		options,
		ARRAY_SIZE(options)
	};
	int unexpected, status = options_parse(&command, count, words, &unexpected);

	if (status != OPTIONS_RUN)
		return status;
	if (unexpected)
		return log_failed(EXIT_USAGE, "unexpected word '%s': see 'bourdond --help'", words[1]);
	settings.config_named = settings.config;
	if (!settings.config)
		settings.config = CONFIG_DEFAULT;
	settings.rules_dir_named = settings.rules_dir;
	if (!settings.rules_dir)
		settings.rules_dir = RULES_DIRECTORY_DEFAULT;
	*ret_settings = settings;
	return OPTIONS_RUN;
}

struct reading {
	struct settings *settings;
	struct config_errors *errors;
};

static bool is_section(const char *name)
{
	return !strcmp(name, "activity") || !strcmp(name, "baseline") || !strcmp(name, "database") ||
	       !strcmp(name, "triggers") || !strcmp(name, "files") || !strcmp(name, "metrics") ||
	       !strcmp(name, "symbols");
}

const char *settings_directory_of(const char *file, char into[INI_LINE_BYTES + 1])
{
	const char *slash = strrchr(file, '/');

	snprintf(into, INI_LINE_BYTES + 1, "%.*s", slash ? (int)(slash - file) + (slash == file) : 0, file);
	return into;
}

bool settings_metrics_reach(const char *from_start, const char *other)
{
	char own[INI_LINE_BYTES + 1], wanted[INI_LINE_BYTES + 1];

	settings_directory_of(other, wanted);
	return !*wanted || !strcmp(wanted, METRICS_DIRECTORY) ||
	       !strcmp(wanted, settings_directory_of(from_start, own));
}

static void parse_metrics_file(struct reading *reading, const struct ini_entry *entry)
{
	const char *value = entry->value, *slash = strrchr(value, '/');
	size_t bytes = strlen(value), suffix = strlen(METRICS_SUFFIX);

	if (!strcmp(value, "off"))
		reading->settings->metrics_file[0] = '\0';
	else if (*value != '/' || slash == value || slash[1] == '.' || bytes < suffix ||
		 strcmp(value + bytes - suffix, METRICS_SUFFIX) != 0)
		config_error(reading->errors, entry->file, entry->line,
			     "textfile = %s: expected 'off', or an absolute path that ends in " METRICS_SUFFIX
			     ", such as " METRICS_DIRECTORY "/bourdon.prom",
			     value);
	else
		snprintf(reading->settings->metrics_file, sizeof(reading->settings->metrics_file), "%s",
			 value);
}

/* An empty list is valid: bourdon-grant then opens every file. */
static void parse_directories(struct reading *reading, const struct ini_entry *entry)
{
	char words[INI_LINE_BYTES + 1], *rest = words, *word;
	unsigned int count = 0;

	snprintf(words, sizeof(words), "%s", entry->value);
	for (char *at = words; *at; at++)
		if (*at == '\t')
			*at = ' ';
	snprintf(reading->settings->directories, sizeof(reading->settings->directories), "%s", words);
	while ((word = strsep(&rest, " "))) {
		count += *word != '\0';
		if (*word && *word != '/')
			config_error(reading->errors, entry->file, entry->line,
				     "directories: '%s' is not an absolute path", word);
	}
	if (count > DIRECTORIES_MAX)
		config_error(reading->errors, entry->file, entry->line, "directories: more than %d paths",
			     DIRECTORIES_MAX);
}

/* The settings that are a number in some unit. */
static const struct setting {
	const char *section, *key;
	enum {
		SETTING_COUNT,
		SETTING_SHARE,
		SETTING_DURATION,
		SETTING_SIZE
	} kind;    /* the first two: uint32_t */
	size_t at; /* in struct settings */
	uint64_t initial, least, most;
	const char *expected;
	bool may_be_off, may_be_zero; /* 'off' is 0; and so is 0, with a unit and without */
} numbers[] = {
	{ "database", "max_size", SETTING_SIZE, offsetof(struct settings, database_bytes_max), 256UL << 20,
	  DATABASE_BYTES_MIN, UINT64_MAX, .expected = "a size with its unit, 4MiB or more" },
	{ "database", "max_age", SETTING_DURATION, offsetof(struct settings, database_age_ns_max), 0,
	  CLOCK_SECOND_NS, AGE_NS_MOST, .expected = "a duration with its unit, from 1s to 36500d" },
	{ "triggers", "short_windows", SETTING_COUNT, offsetof(struct settings, short_windows_max), 128, 0,
	  4096, .expected = "a number of triggers from 0 to 4096" },
	/* most: LimitNOFILE= of the unit. So many sampled watches take 33 ms a second. */
	{ "triggers", "watches", SETTING_COUNT, offsetof(struct settings, watches_max), 4096, 1, 16384,
	  .expected = "a number of watches from 1 to 16384" },
	{ "triggers", "watches_per_rule", SETTING_COUNT, offsetof(struct settings, rule_watches_max), 1024, 1,
	  16384, .expected = "a number of watches from 1 to 16384" },
	{ "activity", "capture_hz", SETTING_COUNT, offsetof(struct settings, capture_hz), 10, 0, 100,
	  .expected = "a number of looks a second from 0 to 100" },
	{ "activity", "interval", SETTING_DURATION, offsetof(struct settings, activity_ns), 0,
	  ACTIVITY_NS_MIN, HOUR_NS, .expected = "'off', or a duration with its unit, from 100ms to 1h",
	  .may_be_off = true },
	{ "activity", "keep", SETTING_DURATION, offsetof(struct settings, activity_age_ns_max), 7 * DAY_NS,
	  60 * CLOCK_SECOND_NS, AGE_NS_MOST, .expected = "a duration with its unit, from 1min to 36500d" },
	{ "baseline", "every", SETTING_DURATION, offsetof(struct settings, baseline_ns), HOUR_NS,
	  BASELINE_NS_MIN, 30 * DAY_NS, .expected = "'off', or a duration with its unit, from 10s to 30d",
	  .may_be_off = true, .may_be_zero = true },
	{ "baseline", "keep", SETTING_DURATION, offsetof(struct settings, baseline_age_ns_max), 7 * DAY_NS,
	  60 * CLOCK_SECOND_NS, AGE_NS_MOST, .expected = "a duration with its unit, from 1min to 36500d" },
	{ "metrics", "interval", SETTING_DURATION, offsetof(struct settings, metrics_ns),
	  15 * CLOCK_SECOND_NS, CLOCK_SECOND_NS, HOUR_NS,
	  .expected = "a duration with its unit, from 1s to 1h" },
	{ "files", "naming", SETTING_DURATION, offsetof(struct settings, naming_ns), 20 * CLOCK_SECOND_NS,
	  CLOCK_SECOND_NS, 600 * CLOCK_SECOND_NS, .expected = "a duration with its unit, from 1s to 10min" },
	{ "symbols", "budget", SETTING_SHARE, offsetof(struct settings, budget_ppm), 50000, 0, 500000,
	  .expected = "a share of the machine's CPU time from 0% to 50%" },
};

static void set_number(struct settings *settings, const struct setting *setting, uint64_t number)
{
	char *into = (char *)settings + setting->at;

	if (setting->kind <= SETTING_SHARE)
		*(uint32_t *)(void *)into = (uint32_t)number;
	else
		*(uint64_t *)(void *)into = number;
}

static int parse_number(const struct setting *setting, const char *text, uint64_t *ret_number)
{
	unsigned long long count = 0;
	uint32_t ppm = 0;
	int result = 0;

	*ret_number = 0;
	if ((setting->may_be_off && !strcmp(text, "off")) || (setting->may_be_zero && !strcmp(text, "0")))
		return 0;
	switch (setting->kind) {
	case SETTING_COUNT:
		result = options_number(text, setting->least, setting->most, &count);
		*ret_number = count;
		break;
	case SETTING_SHARE:
		result = units_percent(text, &ppm);
		*ret_number = ppm;
		break;
	case SETTING_DURATION:
		result = units_duration(text, ret_number);
		break;
	case SETTING_SIZE:
		result = units_size(text, ret_number);
		break;
	}
	if (result < 0 || (setting->may_be_zero && !*ret_number))
		return result;
	return *ret_number < setting->least || *ret_number > setting->most ? -ERANGE : 0;
}

/* Returns false for another setting. */
static bool read_number(struct reading *reading, const struct ini_entry *entry)
{
	const struct setting *setting = numbers;
	uint64_t number;

	while (strcmp(entry->section, setting->section) != 0 || strcmp(entry->key, setting->key) != 0)
		if (++setting == numbers + ARRAY_SIZE(numbers))
			return false;
	if (parse_number(setting, entry->value, &number) < 0)
		config_error(reading->errors, entry->file, entry->line, "%s = %s: expected %s", entry->key,
			     entry->value, setting->expected);
	else
		set_number(reading->settings, setting, number);
	return true;
}

static void visit_entry(void *user, const struct ini_entry *entry)
{
	struct reading *reading = user;

	if (!entry->key) {
		if (!is_section(entry->section))
			config_error(
				reading->errors, entry->file, entry->line,
				"unknown section '[%s]': expected '[activity]', '[baseline]', '[database]', '[files]', '[metrics]', '[symbols]' or '[triggers]'",
				entry->section);
	} else if (!strcmp(entry->section, "metrics") && !strcmp(entry->key, "textfile")) {
		parse_metrics_file(reading, entry);
	} else if (!strcmp(entry->section, "files") && !strcmp(entry->key, "directories")) {
		parse_directories(reading, entry);
	} else if (!read_number(reading, entry) && (!*entry->section || is_section(entry->section))) {
		/* a key in an unknown section: the section was reported */
		config_error(reading->errors, entry->file, entry->line, "unknown key '%s'", entry->key);
	}
}

int settings_read(struct settings *settings, struct config_errors *errors)
{
	struct reading reading = { settings, errors };
	struct stat at;
	int result;

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		set_number(settings, &numbers[i], numbers[i].initial);
	settings->metrics_file[0] = '\0';
	snprintf(settings->directories, sizeof(settings->directories), "%s", DIRECTORIES_DEFAULT);
	if (stat(settings->config, &at) && errno == ENOENT)
		return 0;
	result = ini_read_file(settings->config, visit_entry, &reading, errors);
	return result < 0 ? result : errors->count ? -EINVAL : 0;
}

int settings_read_text(const char *name, const char *text, size_t bytes, struct settings *settings,
		       struct config_errors *errors)
{
	struct reading reading = { settings, errors };
	int result = ini_read_text(name, text, bytes, visit_entry, &reading, errors);

	return result < 0 ? result : errors->count ? -EINVAL : 0;
}

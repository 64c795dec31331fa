/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/rules/settings.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/protocol/grant_request.h"
#include "common/protocol/pins.h"
#include "common/system/log.h"
#include "common/system/options.h"
#include "common/text/units.h"

#include <string.h>
#include <sys/stat.h>

#define CONFIG_DEFAULT "/etc/bourdon/bourdon.conf"
#define RULES_DIRECTORY_DEFAULT "/etc/bourdon/rules.d"
#define SHORT_WINDOWS_MOST 4096
/* LimitNOFILE= of the unit. So many sampled watches take 33 ms a second. */
#define WATCHES_MOST 16384
#define CAPTURE_HZ_MOST 100
#define ACTIVITY_NS_MOST (3600 * CLOCK_SECOND_NS)
#define ACTIVITY_AGE_NS_LEAST (60 * CLOCK_SECOND_NS)
#define BASELINE_NS_MOST (30UL * 86400 * CLOCK_SECOND_NS)
/* A hundred years, less than what 64 bits hold. */
#define AGE_NS_MOST (36500UL * 86400 * CLOCK_SECOND_NS)
#define NAMING_NS_MOST (600 * CLOCK_SECOND_NS)
#define BUDGET_PPM_MOST 500000U
#define METRICS_NS_MOST (3600 * CLOCK_SECOND_NS)
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
	if (unexpected) {
		log_error("unexpected word '%s': see 'bourdond --help'", words[1]);
		return EXIT_USAGE;
	}
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

static void parse_metrics_interval(struct reading *reading, const struct ini_entry *entry)
{
	uint64_t ns;

	if (units_duration(entry->value, &ns) || ns < CLOCK_SECOND_NS || ns > METRICS_NS_MOST)
		config_error(reading->errors, entry->file, entry->line,
			     "interval = %s: expected a duration with its unit, from 1s to 1h", entry->value);
	else
		reading->settings->metrics_ns = ns;
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

static void parse_count(struct reading *reading, const struct ini_entry *entry, const char *things,
			unsigned long long least, unsigned long long most, uint32_t *ret_count)
{
	unsigned long long number;

	if (options_number(entry->value, least, most, &number))
		config_error(reading->errors, entry->file, entry->line,
			     "%s = %s: expected a number of %s from %llu to %llu", entry->key, entry->value,
			     things, least, most);
	else
		*ret_count = (uint32_t)number;
}

static void parse_interval(struct reading *reading, const struct ini_entry *entry)
{
	uint64_t ns = 0;

	if (strcmp(entry->value, "off") != 0 &&
	    (units_duration(entry->value, &ns) || ns < ACTIVITY_NS_MIN || ns > ACTIVITY_NS_MOST))
		config_error(reading->errors, entry->file, entry->line,
			     "interval = %s: expected 'off', or a duration with its unit, from 100ms to 1h",
			     entry->value);
	else
		reading->settings->activity_ns = ns;
}

static void parse_every(struct reading *reading, const struct ini_entry *entry)
{
	uint64_t ns = 0;

	if (strcmp(entry->value, "off") != 0 && strcmp(entry->value, "0") != 0 &&
	    (units_duration(entry->value, &ns) || (ns && (ns < BASELINE_NS_MIN || ns > BASELINE_NS_MOST))))
		config_error(reading->errors, entry->file, entry->line,
			     "every = %s: expected 'off', or a duration with its unit, from 10s to 30d",
			     entry->value);
	else
		reading->settings->baseline_ns = ns;
}

static void parse_keep(struct reading *reading, const struct ini_entry *entry, uint64_t *ret_age_ns_max)
{
	uint64_t ns;

	if (units_duration(entry->value, &ns) || ns < ACTIVITY_AGE_NS_LEAST || ns > AGE_NS_MOST)
		config_error(reading->errors, entry->file, entry->line,
			     "keep = %s: expected a duration with its unit, from 1min to 36500d",
			     entry->value);
	else
		*ret_age_ns_max = ns;
}

static void parse_budget(struct reading *reading, const struct ini_entry *entry)
{
	uint32_t ppm = 0;

	if (strcmp(entry->value, "0%") != 0 && (units_percent(entry->value, &ppm) || ppm > BUDGET_PPM_MOST))
		config_error(reading->errors, entry->file, entry->line,
			     "budget = %s: expected a share of the machine's CPU time from 0%% to 50%%",
			     entry->value);
	else
		reading->settings->budget_ppm = ppm;
}

static void visit_entry(void *user, const struct ini_entry *entry)
{
	struct reading *reading = user;
	struct settings *settings = reading->settings;
	bool in_activity = !strcmp(entry->section, "activity"),
	     in_baseline = !strcmp(entry->section, "baseline"),
	     in_database = !strcmp(entry->section, "database"),
	     in_metrics = !strcmp(entry->section, "metrics"),
	     in_triggers = !strcmp(entry->section, "triggers");
	uint64_t bytes, ns;

	if (!entry->key) {
		if (!is_section(entry->section))
			config_error(
				reading->errors, entry->file, entry->line,
				"unknown section '[%s]': expected '[activity]', '[baseline]', '[database]', '[files]', '[metrics]', '[symbols]' or '[triggers]'",
				entry->section);
	} else if (in_database && !strcmp(entry->key, "max_size")) {
		if (units_size(entry->value, &bytes) || bytes < DATABASE_BYTES_MIN)
			config_error(reading->errors, entry->file, entry->line,
				     "max_size = %s: expected a size with its unit, 4MiB or more",
				     entry->value);
		else
			settings->database_bytes_max = bytes;
	} else if (in_database && !strcmp(entry->key, "max_age")) {
		if (units_duration(entry->value, &ns) || ns < CLOCK_SECOND_NS || ns > AGE_NS_MOST)
			config_error(reading->errors, entry->file, entry->line,
				     "max_age = %s: expected a duration with its unit, from 1s to 36500d",
				     entry->value);
		else
			settings->database_age_ns_max = ns;
	} else if (in_triggers && !strcmp(entry->key, "short_windows")) {
		parse_count(reading, entry, "triggers", 0, SHORT_WINDOWS_MOST, &settings->short_windows_max);
	} else if (in_triggers && !strcmp(entry->key, "watches")) {
		parse_count(reading, entry, "watches", 1, WATCHES_MOST, &settings->watches_max);
	} else if (in_triggers && !strcmp(entry->key, "watches_per_rule")) {
		parse_count(reading, entry, "watches", 1, WATCHES_MOST, &settings->rule_watches_max);
	} else if (in_activity && !strcmp(entry->key, "capture_hz")) {
		parse_count(reading, entry, "looks a second", 0, CAPTURE_HZ_MOST, &settings->capture_hz);
	} else if (in_activity && !strcmp(entry->key, "interval")) {
		parse_interval(reading, entry);
	} else if (in_activity && !strcmp(entry->key, "keep")) {
		parse_keep(reading, entry, &settings->activity_age_ns_max);
	} else if (in_baseline && !strcmp(entry->key, "every")) {
		parse_every(reading, entry);
	} else if (in_baseline && !strcmp(entry->key, "keep")) {
		parse_keep(reading, entry, &settings->baseline_age_ns_max);
	} else if (in_metrics && !strcmp(entry->key, "textfile")) {
		parse_metrics_file(reading, entry);
	} else if (in_metrics && !strcmp(entry->key, "interval")) {
		parse_metrics_interval(reading, entry);
	} else if (!strcmp(entry->section, "files") && !strcmp(entry->key, "directories")) {
		parse_directories(reading, entry);
	} else if (!strcmp(entry->section, "files") && !strcmp(entry->key, "naming")) {
		if (units_duration(entry->value, &ns) || ns < CLOCK_SECOND_NS || ns > NAMING_NS_MOST)
			config_error(reading->errors, entry->file, entry->line,
				     "naming = %s: expected a duration with its unit, from 1s to 10min",
				     entry->value);
		else
			settings->naming_ns = ns;
	} else if (!strcmp(entry->section, "symbols") && !strcmp(entry->key, "budget")) {
		parse_budget(reading, entry);
	} else if (*entry->section && !is_section(entry->section)) {
		return; /* its section was a mistake, and said so */
	} else {
		config_error(reading->errors, entry->file, entry->line, "unknown key '%s'", entry->key);
	}
}

int settings_read(struct settings *settings, struct config_errors *errors)
{
	struct reading reading = { settings, errors };
	struct stat at;
	int result;

	settings->database_bytes_max = 256UL << 20;
	settings->database_age_ns_max = 0;
	settings->short_windows_max = 128;
	settings->watches_max = 4096;
	settings->rule_watches_max = 1024;
	settings->naming_ns = 20 * CLOCK_SECOND_NS;
	settings->budget_ppm = 50000;
	settings->capture_hz = 10;
	settings->activity_ns = 0;
	settings->activity_age_ns_max = 7 * 86400 * CLOCK_SECOND_NS;
	settings->baseline_ns = 3600 * CLOCK_SECOND_NS;
	settings->baseline_age_ns_max = 7 * 86400 * CLOCK_SECOND_NS;
	settings->metrics_file[0] = '\0';
	settings->metrics_ns = 15 * CLOCK_SECOND_NS;
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

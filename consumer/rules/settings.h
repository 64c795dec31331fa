/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * settings.h owns the settings of bourdond: its command line and bourdon.conf.
 */
#ifndef BOURDON_CONSUMER_RULES_SETTINGS_H
#define BOURDON_CONSUMER_RULES_SETTINGS_H

#include "common/system/ini.h"

#include <stdbool.h>
#include <stdint.h>

struct settings {
	const char *config, *rules_dir, *pin_dir, *run_dir, *state_dir, *user, *group;
	const char *check_config; /* not NULL with --check-config */
	bool config_named;        /* --config was given, so a missing file is logged */
	bool rules_dir_named;     /* --rules-dir was given, so a missing directory is a mistake */
	const char *grant_socket;
	uint64_t database_bytes_max;
	uint64_t database_age_ns_max; /* 0: any */
	/* directories whose ELF files the daemon may open itself: absolute paths, separated by blanks */
	char directories[INI_LINE_BYTES + 1];
	uint64_t naming_ns;  /* time limit for naming one capture's frames */
	uint32_t budget_ppm; /* of the machine's CPU time, for symbolizers at the daemon's own priority */
	uint32_t short_windows_max;   /* limit on kernel triggers whose window is not a multiple of 2 s */
	uint32_t watches_max;         /* limit on the watches of all rules */
	uint32_t rule_watches_max;    /* limit on the watches of one rule with watch = cgroup */
	uint32_t capture_hz;          /* how often captures look at the states of threads; 0: never */
	uint64_t activity_ns;         /* from one look at the activity of all threads to the next; 0: none */
	uint64_t activity_age_ns_max; /* of a minute of it in the database */
	uint64_t baseline_ns;         /* from one baseline of a rule to the next; 0: none */
	uint64_t baseline_age_ns_max; /* of a baseline in the database */
	char metrics_file[INI_LINE_BYTES + 1]; /* absolute, and ends in .prom; "": none is written */
	uint64_t metrics_ns;                   /* from one writing to the next */
};

/* The unit makes this directory, for a file of metrics there: no restart is needed to begin one. */
#define METRICS_DIRECTORY "/run/bourdon-metrics"

/* Whether the daemon that started with one file of metrics may write the other: its Landlock domain has the directory. */
bool settings_metrics_reach(const char *from_start, const char *other);

/* Its directory; "": there is no file. Returns `into`. */
const char *settings_directory_of(const char *file, char into[INI_LINE_BYTES + 1]);

/* The smallest size limit of a database: room for the schema, the log and one capture. */
#define DATABASE_BYTES_MIN (4UL << 20)

#define DIRECTORIES_MAX 64

/* The shortest interval of looks at the activity of all threads. */
#define ACTIVITY_NS_MIN 100000000UL

/* The shortest time from one baseline of a rule to the next. */
#define BASELINE_NS_MIN 10000000000UL

/* Parses the command line. Returns OPTIONS_RUN (common/system/options.h) or an exit status. */
int settings_parse(struct settings *ret_settings, int count, char **words);

/*
 * Reads bourdon.conf, if it exists. Every reading starts from the defaults. Adds mistakes to `errors`. 0,
 * -EINVAL with any mistake, or -ENOMEM.
 */
int settings_read(struct settings *settings, struct config_errors *errors);

/* Reads one text in the same way, for tests. */
int settings_read_text(const char *name, const char *text, size_t bytes, struct settings *settings,
		       struct config_errors *errors);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * settings.h owns what bourdond is told: its command line and bourdon.conf.
 */
#ifndef BOURDON_CONSUMER_RULES_SETTINGS_H
#define BOURDON_CONSUMER_RULES_SETTINGS_H

#include "common/ini.h"

#include <stdbool.h>
#include <stdint.h>

struct settings {
	const char *config, *rules_dir, *pin_dir, *run_dir, *state_dir, *user, *group;
	const char *check_config; /* not NULL: only check */
	bool config_named;        /* --config was given: then it is worth a line that the file is not there */
	bool rules_dir_named;     /* --rules-dir was given: then it is a mistake that it does not exist */
	const char *grant_socket;
	uint64_t database_bytes_max;
	/* of ELF files that may be read without bourdon-grant: absolute, blanks between them */
	char directories[INI_LINE_BYTES + 1];
	uint64_t naming_ns;         /* what the names of one capture may take */
	uint32_t short_windows_max; /* kernel triggers with a window that is no multiple of two seconds */
};

/* The least that a database may have: the schema, the log and a capture. */
#define DATABASE_BYTES_MIN (4UL << 20)

#define DIRECTORIES_MAX 64

/* Parses the command line. Returns OPTIONS_RUN (common/options.h) or an exit status. */
int settings_parse(struct settings *ret_settings, int count, char **words);

/*
 * Reads bourdon.conf, if it is there, over the defaults, which a second reading begins with again. Mistakes
 * go to `errors`. 0, -EINVAL when there were any, or -ENOMEM. /
 */
int settings_read(struct settings *settings, struct config_errors *errors);

/* The same for one text, for tests. */
int settings_read_text(const char *name, const char *text, size_t bytes, struct settings *settings,
		       struct config_errors *errors);

#endif

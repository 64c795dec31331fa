/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/grant/grant_arguments.h"

#include "common/base/cleanup.h"
#include "common/protocol/pins.h"
#include "common/system/files.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <string.h>

static bool read_files(const char *word, enum grant_files *ret_files)
{
	static const char *const words[] = {
		[GRANT_FILES_NONE] = "none", [GRANT_FILES_ELF] = "elf", [GRANT_FILES_ALL] = "all"
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(word, words[i])) {
			*ret_files = (enum grant_files)i;
			return true;
		}
	log_error("--files %s: give none, elf or all", word);
	return false;
}

int grant_arguments_parse(int count, char **words, struct grant_settings *settings)
{
	const char *user = "bourdon", *files = "all";
	const struct option_spec options[] = {
		{ "user", "USER", "the consumer's user, who may ask besides root (bourdon)", &user },
		{ "counters", "FILE",
		  "file that counts requests, and limits how many a second are answered (none)",
		  &settings->counters },
		{ "files", "KIND",
		  "files of targets that it passes on: none, elf, or all: elf and perf maps (all)", &files },
		{ "pin-dir", "D", "where bourdon-load pinned (" PIN_DIRECTORY_DEFAULT ")",
		  &settings->pin_dir },
	};
	const struct command_spec command = {
		"bourdon-grant",
		"[OPTION...]",
		"Serves the one request of the connection that it was started with.",
		"systemd-socket-activate --accept -l /run/bourdon-grant.sock bourdon-grant",
		options,
		ARRAY_SIZE(options)
	};
	int unexpected, status = options_parse(&command, count, words, &unexpected);
	gid_t gid;

	if (status != OPTIONS_RUN)
		return status;
	if (unexpected)
		return log_failed(EXIT_USAGE, "unexpected word '%s': see 'bourdon-grant --help'", words[1]);
	if (!read_files(files, &settings->files))
		return EXIT_USAGE;
	if (account_user(user, &settings->uid, &gid))
		return log_failed(EXIT_FAILED, "--user %s: no such user", user);
	return OPTIONS_RUN;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hold_grant stands before bourdon-grant behind its socket. It holds each request for a file of a user's process
 * and never answers it, as the kernel holds bourdon-grant over a process that keeps its mmap lock. It passes all
 * other requests on.
 */
#include "common/protocol/grant_request.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONNECTION 3     /* SD_LISTEN_FDS_START */
#define HELD_SECONDS 10U /* then bourdon-grant's alarm ends it */

/* Leaves the request in the socket. */
static bool is_of(uid_t uid)
{
	char text[GRANT_REQUEST_BYTES_MAX + 1] = "", path[64];
	unsigned int tgid;
	struct stat at;

	if (recv(CONNECTION, text, sizeof(text) - 1, MSG_PEEK) <= 0 ||
	    (sscanf(text, "elf %u ", &tgid) != 1 && sscanf(text, "perf-map %u ", &tgid) != 1))
		return false;
	snprintf(path, sizeof(path), "/proc/%u", tgid);
	return !stat(path, &at) && at.st_uid == uid;
}

int main(int argc, char **argv)
{
	const struct command_spec command = {
		"hold_grant",
		"UID -- COMMAND...",
		"Runs the command unless the request is for a file of the user's process.",
		"systemd-socket-activate --accept -l SOCKET hold_grant 65533 -- bourdon-grant",
		NULL,
		0
	};
	unsigned long long uid;
	int words, parsed;

	log_init(command.program);
	parsed = options_parse(&command, argc, argv, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (words < 2 || options_number(argv[1], 0, UINT32_MAX, &uid)) {
		log_error("takes a uid and a command: see --help");
		return EXIT_USAGE;
	}
	if (is_of((uid_t)uid)) {
		log_info("holds a request");
		sleep(HELD_SECONDS);
		return EXIT_FAILED;
	}
	argv[words + 1] = NULL; /* behind the words stand the options and "--" */
	execv(argv[2], argv + 2);
	log_error("cannot run %s: %s", argv[2], strerror(errno));
	return EXIT_FAILED;
}

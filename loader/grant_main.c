/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bourdon-grant: the other privileged part, started by its socket for each connection (Accept=yes), and gone
 * within milliseconds. Ten seconds are the most that it can ever live.
 */
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/files.h"
#include "common/log.h"
#include "common/options.h"
#include "loader/grant.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIFETIME_SECONDS 10
#define REQUEST_PATIENCE_NS (2 * CLOCK_SECOND_NS)
#define LISTEN_FDS_START 3 /* sd_listen_fds(3) */

static bool is_socket(int fd)
{
	struct stat at;

	return !fstat(fd, &at) && S_ISSOCK(at.st_mode);
}

/* The connection: as standard input, or as the one descriptor that a socket unit passes. Negative: none. */
static int find_connection(void)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");

	if (pid && fds && strtol(pid, NULL, 10) == getpid() && strtol(fds, NULL, 10) == 1)
		return is_socket(LISTEN_FDS_START) ? LISTEN_FDS_START : -EBADF;
	return is_socket(STDIN_FILENO) ? STDIN_FILENO : -EBADF;
}

int main(int count, char **words)
{
	const char *user = "bourdon", *counters = NULL;
	const struct option_spec options[] = {
		{ "user", "USER", "the consumer's user, who may ask besides root (bourdon)", &user },
		{ "counters", "FILE", "where to count what was granted and refused (nowhere)", &counters },
	};
	const struct command_spec command = {
		"bourdon-grant",
		"[OPTION...]",
		"Serves the one request of the connection that it was started with.",
		"systemd-socket-activate --accept -l /run/bourdon-grant.sock bourdon-grant",
		options,
		ARRAY_SIZE(options)
	};
	struct grant_settings settings = { .counters = NULL, .patience_ns = REQUEST_PATIENCE_NS };
	int unexpected, connection = find_connection(), status;
	gid_t gid;

	log_init("bourdon-grant");
	alarm(LIFETIME_SECONDS);
	umask(0027);
	status = options_parse(&command, count, words, &unexpected);
	if (status != OPTIONS_RUN)
		return status;
	if (unexpected) {
		log_error("unexpected word '%s': see 'bourdon-grant --help'", words[1]);
		return EXIT_USAGE;
	}
	if (connection < 0) {
		log_error("no connection: it is started by a socket, one process for each connection");
		return EXIT_USAGE;
	}
	if (account_user(user, &settings.uid, &gid)) {
		log_error("--user %s: no such user", user);
		return EXIT_FAILED;
	}
	settings.counters = counters;
	return grant_serve(connection, &settings);
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bourdon-grant: the second privileged program. Its socket unit starts one process for each connection
 * (Accept=yes). It ends within milliseconds, and after 10 s in any case.
 */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/confine/seccomp.h"
#include "common/protocol/grant_counters.h"
#include "common/protocol/pins.h"
#include "common/system/log.h"
#include "common/system/options.h"
#include "loader/grant/grant_arguments.h"
#include "policy/bourdon-grant.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIFETIME_SECONDS 10
#define MEMORY_BYTES_MAX (64UL << 20)
#define DESCRIPTORS_MAX 32
#define CPU_SECONDS_MAX 5
#define REQUEST_PATIENCE_NS (2 * CLOCK_SECOND_NS)
#define LISTEN_FDS_START 3 /* sd_listen_fds(3) */

static bool is_socket(int fd)
{
	struct stat at;

	return !fstat(fd, &at) && S_ISSOCK(at.st_mode);
}

/*
 * The connection: standard input, or the one descriptor that a socket unit passes. Negative where there is
 * neither.
 */
static int find_connection(void)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");

	if (pid && fds && strtol(pid, NULL, 10) == getpid() && strtol(fds, NULL, 10) == 1)
		return is_socket(LISTEN_FDS_START) ? LISTEN_FDS_START : -EBADF;
	return is_socket(STDIN_FILENO) ? STDIN_FILENO : -EBADF;
}

/*
 * Limits what a crafted request could reach: memory, descriptors and CPU time for one request, and the system
 * calls of policy/bourdon-grant.seccomp. Account names are looked up before, because the C library may load a
 * module for them.
 */
static int confine(void)
{
	static const struct {
		unsigned int what;
		rlim_t most;
	} limits[] = { { RLIMIT_CORE, 0 },
		       { RLIMIT_AS, MEMORY_BYTES_MAX },
		       { RLIMIT_NOFILE, DESCRIPTORS_MAX },
		       { RLIMIT_CPU, CPU_SECONDS_MAX } };
	int result = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : 0;

	for (size_t i = 0; i < ARRAY_SIZE(limits) && !result; i++)
		if (setrlimit(limits[i].what, &(struct rlimit){ limits[i].most, limits[i].most }))
			result = -errno;
	if (!result)
		result = seccomp_install(&bourdon_grant_policy, false);
	if (result < 0)
		log_error("cannot confine itself: %s", strerror(-result));
	return result;
}

/*
 * Occupies the two fixed descriptor numbers of the counters, so that no file opened for a request gets one of
 * them. Without counters both are copies of the connection, which nobody else can lock and which has no file
 * offset to write at.
 */
static int keep_counters(int connection, const char *path)
{
	int result = dup3(connection, GRANT_COUNTERS_LOCK_FD, O_CLOEXEC) < 0 ||
				     dup3(connection, GRANT_COUNTERS_FD, O_CLOEXEC) < 0
			     ? -errno
			     : 0;

	if (result < 0)
		return log_failed(result, "cannot reserve the descriptors of the counters: %s",
				  strerror(-result));
	if (path)
		result = grant_counters_open(path);
	if (result < 0)
		log_warning("cannot count in %s: %s", path, strerror(-result));
	return 0;
}

int main(int count, char **words)
{
	struct grant_settings settings = { .pin_dir = PIN_DIRECTORY_DEFAULT,
					   .patience_ns = REQUEST_PATIENCE_NS };
	int connection = find_connection(), status;

	log_init("bourdon-grant");
	alarm(LIFETIME_SECONDS);
	umask(0027);
	status = grant_arguments_parse(count, words, &settings);
	if (status != OPTIONS_RUN)
		return status;
	if (connection < 0)
		return log_failed(
			EXIT_USAGE,
			"no connection on standard input: a socket unit starts bourdon-grant, once for each connection");
	if (keep_counters(connection, settings.counters) || confine())
		return EXIT_FAILED;
	return grant_serve(connection, &settings);
}

/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/descriptors.h"

#include "common/system/log.h"
#include "consumer/capture/pressure.h"
#include "consumer/control.h"
#include "consumer/symbols/held_files.h"
#include "consumer/watch/grant_queue.h"
#include "consumer/watch/watches.h"
#include "consumer/worker/worker.h"

#include <fcntl.h>
#include <sys/resource.h>

/*
 * The reserve: what can be open at once besides what is open when the daemon is ready, and besides watches.
 * Each part is the most that its code has open, rounded up.
 */
enum {
	/* the pressure files of the system and of the cgroup that fired, while a capture is under way */
	CAPTURES = WORKER_PLACES_MAX * PRESSURE_TARGETS * PRESSURE_RESOURCES,
	/* the answer of bourdon-grant comes while its connection and the sampled file are still open */
	GRANTS = 2 * GRANT_QUEUE_CALLS_MAX,
	/* the draining thread, one at a time: task iterator, kernel statistics, cgroups */
	DRAINING_THREAD = 8,
	/* and one that is turned away */
	CLIENTS = CONTROL_CLIENTS + 1,
	/*
	 * the worker thread: the socket of a symbolizer, a mapped file, its debug file and the alternate one, a
	 * perf map, a connection to bourdon-grant and its answer, bourdon.conf, rules.d and a file there; of
	 * SQLite the database, its log, its index, a journal and their directory
	 */
	WORKER_THREAD = 24,
	MAPPING_READER = 2,
	DESCRIPTOR_RESERVE = CAPTURES + GRANTS + DRAINING_THREAD + CLIENTS + WORKER_THREAD + MAPPING_READER +
			     (int)HELD_MAX + (int)WATCHES_CLOSING_MAX,
};

/* What the daemon opens at its start has the lowest numbers; there are less than a hundred. */
#define LOOKED_AT 1024

uint32_t descriptors_for_watches(void)
{
	struct rlimit limit;
	uint64_t taken = DESCRIPTOR_RESERVE;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	for (int fd = 0; fd < LOOKED_AT; fd++)
		taken += fcntl(fd, F_GETFD) >= 0;
	if (limit.rlim_cur <= taken) {
		log_warning(
			"no cgroup can be watched: RLIMIT_NOFILE = %llu, and all but watches may take %llu descriptors; raise LimitNOFILE= (ulimit -n)",
			(unsigned long long)limit.rlim_cur, (unsigned long long)taken);
		return 0;
	}
	return limit.rlim_cur - taken > INT32_MAX ? INT32_MAX : (uint32_t)(limit.rlim_cur - taken);
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * crossing prints when a pressure file crosses a threshold: it reads the total fifty times a second, and ends
 * at the first reading at which "some" grew by STALL within the window that ends there.
 *
 * Reading a pressure file changes it (kernel/sched/psi.c, 6.1 to 6.18):
 * - Each reading adds up the stall since the one before, and weights CPUs by their busy time in whole jiffies
 *   (collect_percpu_times()). Read a thousand times a second, the total hardly grows.
 * - A worker folds the averages every two seconds, and then checks the unprivileged triggers. A reading that
 *   comes when the folding is due does it instead, and the worker then skips the triggers (psi_show(),
 *   psi_avgs_work()). So crossing must not read the file on which a trigger is armed; the file of the parent
 *   cgroup, with no other process in it, has the same numbers.
 */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/kernel/psi.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#define INTERVAL_NS 20000000UL /* several jiffies */
#define READINGS (PSI_WINDOW_MAX_US * 1000 / INTERVAL_NS)

struct reading {
	uint64_t at_ns, total_us;
};

struct threshold {
	uint64_t stall_us, window_ns;
};

/* The readings of one window, in a ring that has room for the longest. */
struct window {
	struct reading readings[READINGS];
	size_t oldest, count;
};

static bool is_crossed(struct window *window, const struct threshold *threshold, struct reading now)
{
	while (window->count && (window->count == READINGS ||
				 now.at_ns - window->readings[window->oldest].at_ns > threshold->window_ns)) {
		window->oldest = (window->oldest + 1) % READINGS;
		window->count--;
	}
	window->readings[(window->oldest + window->count++) % READINGS] = now;
	return now.total_us - window->readings[window->oldest].total_us >= threshold->stall_us;
}

/* Returns 0 when it was crossed, -ETIMEDOUT, or -errno. */
static int await_crossing(int fd, const struct threshold *threshold, uint64_t patience_ns, int64_t *ret_at)
{
	_cleanup_free_ struct window *window = calloc(1, sizeof(*window));
	uint64_t deadline_ns = clock_monotonic_ns() + patience_ns;
	struct timespec pause = { .tv_nsec = INTERVAL_NS };

	if (!window)
		return -ENOMEM;
	for (;;) {
		struct psi_totals totals;
		int result = psi_read(fd, &totals);
		struct reading now = { clock_monotonic_ns(), totals.us[PSI_SOME] };

		if (result < 0)
			return result;
		*ret_at = clock_wall_ns();
		if (is_crossed(window, threshold, now))
			return 0;
		if (now.at_ns > deadline_ns)
			return -ETIMEDOUT;
		nanosleep(&pause, NULL);
	}
}

int main(int count, char **words)
{
	const char *stall = "200000", *window = "2000000", *seconds = "20";
	const struct option_spec options[] = {
		{ "stall-us", "N", "the threshold (200000)", &stall },
		{ "window-us", "N", "window of the threshold (2000000)", &window },
		{ "seconds", "N", "give up after (20)", &seconds },
	};
	const struct command_spec command = {
		"crossing",
		"PRESSURE_FILE [OPTION...]",
		"Prints when the file's \"some\" total crosses a threshold (Unix time).",
		"crossing /sys/fs/cgroup/a/cpu.pressure --stall-us 200000",
		options,
		ARRAY_SIZE(options)
	};
	unsigned long long stall_us, window_us, patience;
	_cleanup_close_ int fd = -EBADF;
	struct threshold threshold;
	int64_t at = 0;
	int positional, parsed, error;

	log_init(command.program);
	parsed = options_parse(&command, count, words, &positional);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (positional != 1 || options_number(stall, 1, PSI_WINDOW_MAX_US, &stall_us) ||
	    options_number(window, PSI_WINDOW_MIN_US, PSI_WINDOW_MAX_US, &window_us) ||
	    options_number(seconds, 1, 3600, &patience)) {
		log_error("expected a pressure file, and numbers within their limits: see --help");
		return EXIT_USAGE;
	}
	threshold = (struct threshold){ stall_us, window_us * 1000 };
	fd = open(words[1], O_RDONLY | O_CLOEXEC);
	error = fd < 0 ? -errno : await_crossing(fd, &threshold, patience * CLOCK_SECOND_NS, &at);
	if (error) {
		log_error("%s did not cross the threshold: %s", words[1], strerror(-error));
		return EXIT_FAILED;
	}
	printf("crossed_at=%" PRId64 "\n", at);
	return EXIT_DONE;
}

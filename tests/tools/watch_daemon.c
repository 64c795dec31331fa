/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * watch_daemon measures a running bourdond while others attack it: the age of its heartbeat, as the kernel
 * programs see it, its memory, and the time that a command such as `bourdon status` takes. It runs with a
 * real-time priority, and so does the command: what it measures is the daemon, and not how long a client
 * waits for a CPU. Time in which it could not run itself, for example because the host of a virtual machine
 * ran something else, does not count; it is reported.
 */
#include "common/abi/abi.h"
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PACE_NS (CLOCK_SECOND_NS / 50)
#define MEMORY_PACE_NS (CLOCK_SECOND_NS / 10)
#define COMMAND_PACE_NS CLOCK_SECOND_NS /* from the end of one to the begin of the next */
#define PAUSE_NS (CLOCK_SECOND_NS / 10) /* a longer time between two looks is not the daemon's */
#define REALTIME_PRIORITY 1
#define CLEAR_PEAK "5" /* to clear_refs: VmHWM becomes VmRSS (proc(5)) */
#define MILLISECOND_NS 1000000U

struct worst {
	uint64_t most, at_ns;
};

struct watched {
	const volatile struct control *control;
	pid_t daemon, command; /* command: 0 while none runs */
	char **words;
	uint64_t began_ns, looked_ns, memory_ns, command_ns, beat_ns;
	uint64_t paused_ns, paused_at_beat_ns, paused_at_command_ns; /* in all, and how much of it by then */
	struct worst heartbeat, answer, own_gap;                     /* ns */
	uint64_t rss_kib, peak_kib, answers, failures;
};

static volatile sig_atomic_t over; /* set by the signal handler */

static void on_signal(int number)
{
	(void)number;
	over = 1;
}

static void note(const struct watched *watched, struct worst *worst, uint64_t value, uint64_t now_ns)
{
	if (value > worst->most)
		*worst = (struct worst){ value, now_ns - watched->began_ns };
}

/* `paused_by_then_ns`: of watched->paused_ns, when the time began. */
static uint64_t without_pauses(const struct watched *watched, uint64_t ns, uint64_t paused_by_then_ns)
{
	uint64_t paused_ns = watched->paused_ns - paused_by_then_ns;

	return ns > paused_ns ? ns - paused_ns : 0;
}

/* Returns false if the process has ended. */
static bool read_memory(struct watched *watched)
{
	_cleanup_file_ FILE *file = NULL;
	unsigned long long kib;
	char path[64], line[256];

	snprintf(path, sizeof(path), "/proc/%d/status", watched->daemon);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "VmRSS: %llu kB", &kib) == 1 && kib > watched->rss_kib)
			watched->rss_kib = kib;
		if (sscanf(line, "VmHWM: %llu kB", &kib) == 1)
			watched->peak_kib = kib;
	}
	return file != NULL;
}

static int start_command(struct watched *watched)
{
	pid_t child = fork();

	if (child < 0)
		return -errno;
	if (!child) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		dup2(null, STDOUT_FILENO);
		execv(watched->words[0], watched->words);
		_exit(127);
	}
	watched->command = child;
	return 0;
}

static void look_at_command(struct watched *watched, uint64_t now_ns)
{
	int status;

	if (!watched->command) {
		if (now_ns - watched->command_ns < COMMAND_PACE_NS)
			return;
		watched->command_ns = now_ns;
		watched->paused_at_command_ns = watched->paused_ns;
		watched->failures += start_command(watched) != 0;
		return;
	}
	/* also while it runs, so that one that never ends is seen */
	note(watched, &watched->answer,
	     without_pauses(watched, now_ns - watched->command_ns, watched->paused_at_command_ns), now_ns);
	if (waitpid(watched->command, &status, WNOHANG) != watched->command)
		return;
	watched->command = 0;
	watched->command_ns = now_ns;
	watched->answers++;
	watched->failures += !WIFEXITED(status) || WEXITSTATUS(status);
}

static void look_at_heartbeat(struct watched *watched)
{
	/* the beat first: it may change in between */
	uint64_t beat_ns = watched->control->heartbeat_ns, now_ns = clock_monotonic_ns();

	if (beat_ns != watched->beat_ns) {
		watched->beat_ns = beat_ns;
		watched->paused_at_beat_ns = watched->paused_ns;
	}
	if (now_ns > beat_ns)
		note(watched, &watched->heartbeat,
		     without_pauses(watched, now_ns - beat_ns, watched->paused_at_beat_ns), now_ns);
}

/* Returns false if the daemon has ended. */
static bool watch(struct watched *watched)
{
	const struct timespec pace = clock_timespec(PACE_NS);
	uint64_t now_ns = clock_monotonic_ns();

	watched->began_ns = watched->looked_ns = now_ns;
	while (!over) {
		nanosleep(&pace, NULL);
		now_ns = clock_monotonic_ns();
		note(watched, &watched->own_gap, now_ns - watched->looked_ns, now_ns);
		if (now_ns - watched->looked_ns > PAUSE_NS)
			watched->paused_ns += now_ns - watched->looked_ns - PAUSE_NS;
		watched->looked_ns = now_ns;
		look_at_heartbeat(watched);
		look_at_command(watched, now_ns);
		if (now_ns - watched->memory_ns < MEMORY_PACE_NS)
			continue;
		watched->memory_ns = now_ns;
		if (!read_memory(watched))
			return false;
	}
	return true;
}

static int map_control(const char *directory, const volatile struct control **ret_control)
{
	_cleanup_close_ int fd = -EBADF;
	char path[4096];
	void *memory;

	snprintf(path, sizeof(path), "%s/control", directory);
	fd = bpf_obj_get(path);
	if (fd < 0)
		return -errno;
	memory = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return -errno;
	*ret_control = memory;
	return 0;
}

static int clear_peak(pid_t daemon)
{
	_cleanup_close_ int fd = -EBADF;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/clear_refs", daemon);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 || write(fd, CLEAR_PEAK, 1) < 0 ? -errno : 0;
}

static void print_worst(const char *name, const struct worst *worst)
{
	printf("%s_ms=%" PRIu64 " %s_at_ms=%" PRIu64 " ", name, worst->most / MILLISECOND_NS, name,
	       worst->at_ns / MILLISECOND_NS);
}

static void print(const struct watched *watched)
{
	print_worst("heartbeat", &watched->heartbeat);
	print_worst("status", &watched->answer);
	print_worst("monitor_gap", &watched->own_gap);
	printf("statuses=%" PRIu64 " statuses_failed=%" PRIu64 " rss_kib=%" PRIu64 " peak_kib=%" PRIu64
	       " watched_ms=%" PRIu64 "\n",
	       watched->answers, watched->failures, watched->rss_kib, watched->peak_kib,
	       (clock_monotonic_ns() - watched->began_ns) / MILLISECOND_NS);
}

int main(int argc, char **argv)
{
	const struct command_spec command = {
		"watch_daemon",
		"PIN_DIR PID -- COMMAND...",
		"Until SIGTERM, watches the daemon with these pins, and how long the command takes.",
		"watch_daemon /sys/fs/bpf/bourdon 4711 -- /usr/bin/bourdon status\n"
		"Says the worst values, and when they were: of the heartbeat's age, of the command's time, of its own pauses.",
		NULL,
		0
	};
	const struct sched_param priority = { .sched_priority = REALTIME_PRIORITY };
	const struct sigaction action = { .sa_handler = on_signal };
	struct watched watched = { .words = argv + 3 };
	unsigned long long pid;
	int words, parsed, error;

	log_init(command.program);
	parsed = options_parse(&command, argc, argv, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (words < 3 || options_number(argv[2], 1, INT32_MAX, &pid)) {
		log_error("takes a directory of pins, a pid and a command: see --help");
		return EXIT_USAGE;
	}
	watched.daemon = (pid_t)pid;
	argv[words + 1] = NULL; /* behind the words stand the options and "--" */
	sigaction(SIGTERM, &action, NULL);
	error = map_control(argv[1], &watched.control);
	if (!error)
		error = clear_peak(watched.daemon);
	if (!error && sched_setscheduler(0, SCHED_RR, &priority))
		error = -errno;
	if (error) {
		log_error("cannot watch process %d with pins %s: %s", watched.daemon, argv[1],
			  strerror(-error));
		return EXIT_FAILED;
	}
	puts("ready");
	fflush(stdout);
	if (!watch(&watched)) {
		log_error("process %d has ended", watched.daemon);
		return EXIT_FAILED;
	}
	print(&watched);
	return EXIT_DONE;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cgroup_storm attacks whoever follows processes through cgroups, as a user to whom a cgroup was delegated. It
 * makes many cgroups, some with paths beyond PATH_MAX, and some with paths of 3.8 KB. Then it moves from one to
 * the next without end, and in each takes the comm that a rule of the victim names. Idle processes with that
 * comm lie in cgroups of their own. A SIGTERM ends it and removes its cgroups.
 */
#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NAME_BYTES 250
#define LONG_LEVELS 15 /* 15 * 251 bytes, and a last name */
#define DEEP_LEVELS 20 /* 5,020 bytes: more than PATH_MAX */

struct storm {
	unsigned long long cgroups, longs, idle, pause_ms;
	bool deep;
	const char *comm;
	int directory, long_directory, deep_directory;
	pid_t *children;
	unsigned long long moves;
};

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
	(void)number;
	stopped = 1;
}

/* Makes a chain of cgroups with long names; a descriptor of the last, or -errno. */
static int make_chain(int directory, char letter, int levels)
{
	int at = dup(directory);
	char name[NAME_BYTES + 1];

	memset(name, letter, NAME_BYTES);
	name[NAME_BYTES] = '\0';
	for (int i = 0; i < levels && at >= 0; i++) {
		int above = at;

		at = mkdirat(above, name, 0755) && errno != EEXIST
			     ? -1
			     : openat(above, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(above);
	}
	return at < 0 ? -errno : at;
}

static int make_many(int directory, unsigned long long count)
{
	for (unsigned long long i = 0; i < count && !stopped; i++) {
		char name[32];

		snprintf(name, sizeof(name), "c%llu", i);
		if (mkdirat(directory, name, 0755) && errno != EEXIST)
			return -errno;
	}
	return 0;
}

/* Moves the calling process. `name` may be "." */
static int enter(int directory, const char *name)
{
	_cleanup_close_ int fd = -EBADF;
	char path[64];

	snprintf(path, sizeof(path), "%s/cgroup.procs", name);
	fd = openat(directory, path, O_WRONLY | O_CLOEXEC);
	return fd < 0 || write(fd, "0", 1) != 1 ? -errno : 0;
}

static int enter_numbered(int directory, unsigned long long number)
{
	char name[32];

	snprintf(name, sizeof(name), "c%llu", number);
	return enter(directory, name);
}

static pid_t start_idle(const struct storm *storm, unsigned long long number)
{
	pid_t parent = getpid(), child = fork();

	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (enter_numbered(storm->directory, number % storm->cgroups))
		_exit(EXIT_FAILED);
	prctl(PR_SET_NAME, storm->comm);
	while (getppid() == parent)
		pause();
	_exit(EXIT_DONE);
}

/* In which cgroup the storm is next: the three kinds in turn. */
static int move(const struct storm *storm, unsigned long long turn)
{
	switch (turn % 3) {
	case 0:
		return storm->cgroups ? enter_numbered(storm->directory, turn / 3 % storm->cgroups) : 0;
	case 1:
		return storm->longs ? enter_numbered(storm->long_directory, turn / 3 % storm->longs) : 0;
	default:
		return storm->deep ? enter(storm->deep_directory, ".") : 0;
	}
}

static void rage(struct storm *storm)
{
	const struct timespec pause = { .tv_sec = (time_t)(storm->pause_ms / 1000),
					.tv_nsec = (long)(storm->pause_ms % 1000 * 1000000) };

	for (unsigned long long turn = 0; !stopped; turn++) {
		prctl(PR_SET_NAME, "calm");
		if (move(storm, turn))
			continue;
		prctl(PR_SET_NAME, storm->comm);
		storm->moves++;
		if (storm->pause_ms)
			nanosleep(&pause, NULL);
	}
}

/* Removes all cgroups below; a process that has just ended leaves its own a moment later. */
static int remove_below(int directory)
{
	_cleanup_dir_ DIR *entries = fdopendir(dup(directory));
	struct dirent *entry;

	while (entries && (entry = readdir(entries))) {
		int below;

		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		below = openat(directory, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (below < 0 || remove_below(below))
			return -errno;
		close(below);
		for (int i = 0; unlinkat(directory, entry->d_name, AT_REMOVEDIR) && errno != ENOENT; i++) {
			const struct timespec moment = { .tv_nsec = 10000000 };

			if (errno != EBUSY || i == 1000)
				return -errno;
			nanosleep(&moment, NULL);
		}
	}
	return entries ? 0 : -errno;
}

static int prepare(struct storm *storm)
{
	int result = make_many(storm->directory, storm->cgroups);

	if (!result && storm->longs) {
		storm->long_directory = make_chain(storm->directory, 'l', LONG_LEVELS);
		result = storm->long_directory < 0 ? storm->long_directory
						   : make_many(storm->long_directory, storm->longs);
	}
	if (!result && storm->deep) {
		storm->deep_directory = make_chain(storm->directory, 'd', DEEP_LEVELS);
		result = storm->deep_directory < 0 ? storm->deep_directory : 0;
	}
	for (unsigned long long i = 0; i < storm->idle && !result; i++) {
		storm->children[i] = start_idle(storm, i);
		result = storm->children[i] < 0 ? -errno : 0;
	}
	return result;
}

static int run(struct storm *storm)
{
	int result = prepare(storm), removed;

	if (!result) {
		puts("ready");
		fflush(stdout);
		rage(storm);
	}
	for (unsigned long long i = 0; i < storm->idle && storm->children[i] > 0; i++) {
		kill(storm->children[i], SIGKILL);
		waitpid(storm->children[i], NULL, 0);
	}
	enter(storm->directory, ".");
	removed = remove_below(storm->directory);
	printf("moves %llu\n", storm->moves);
	return result ? result : removed;
}

int main(int argc, char **argv)
{
	const char *cgroups = "0", *longs = "0", *idle = "0", *pause_ms = "0", *comm = "storm", *deep = NULL,
		   *removes = NULL;
	const struct option_spec options[] = {
		{ "cgroups", "N", "make N cgroups", &cgroups },
		{ "long", "N", "and N with paths of 3.8 KB", &longs },
		{ "deep", NULL, "and one with a path beyond PATH_MAX", &deep },
		{ "idle", "N", "start N idle processes, each in one of the cgroups", &idle },
		{ "pause", "MS", "between two moves", &pause_ms },
		{ "comm", "COMM", "the comm that the processes take", &comm },
		{ "remove", NULL, "only remove all cgroups below DIRECTORY", &removes },
	};
	const struct command_spec command = { "cgroup_storm",
					      "[OPTION...] DIRECTORY",
					      "Makes cgroups below DIRECTORY and moves through them.",
					      "cgroup_storm --cgroups 20000 --comm nginx /sys/fs/cgroup/mine",
					      options,
					      ARRAY_SIZE(options) };
	struct storm storm = { 0 };
	int words, parsed, result;

	log_init(command.program);
	parsed = options_parse(&command, argc, argv, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (words != 1 || options_number(cgroups, 0, 1000000, &storm.cgroups) < 0 ||
	    options_number(longs, 0, 1000000, &storm.longs) < 0 ||
	    options_number(idle, 0, 100000, &storm.idle) < 0 || (storm.idle && !storm.cgroups) ||
	    options_number(pause_ms, 0, 60000, &storm.pause_ms) < 0) {
		log_error("takes a directory, and numbers: see --help");
		return EXIT_USAGE;
	}
	storm.comm = comm;
	storm.deep = deep;
	storm.directory = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	storm.children = calloc(storm.idle + 1, sizeof(*storm.children));
	signal(SIGTERM, on_signal);
	result = storm.directory < 0 || !storm.children ? -errno
		 : removes                              ? remove_below(storm.directory)
							: run(&storm);
	if (result < 0) {
		log_error("%s: %s", argv[1], strerror(-result));
		return EXIT_FAILED;
	}
	return EXIT_DONE;
}

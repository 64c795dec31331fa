/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * walks compares two ways to get pid, comm, start time, uid and cgroup of each process: the pinned task
 * iterator, as in the consumer, and /proc. They take turns; each line is one walk of each.
 */
#include "common/abi/abi.h"
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/protocol/pins.h"
#include "common/system/log.h"
#include "common/system/options.h"
#include "consumer/host/iterator_stream.h"
#include "consumer/host/process_events.h"

#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#define KERNEL_THREAD 0x00200000UL /* PF_KTHREAD */

/* The number of processes, and a sum of their values, so that no work is optimised away. */
struct walk {
	uint64_t processes, sum, took_ns;
};

/* ---- the iterator ---- */

static void count_task(void *user, const struct task_record *record)
{
	struct walk *walk = user;

	walk->processes++;
	walk->sum += record->tgid + record->uid + record->started_ns + record->cgroup_id +
		     (unsigned char)record->comm[0];
}

static void count_thread(void *user, const struct thread_record *record)
{
	struct walk *walk = user;

	walk->sum += record->tgid;
}

static long count_records(void *user, const char *records, size_t bytes)
{
	const struct process_events_handlers handlers = { .user = user,
							  .task = count_task,
							  .thread = count_thread };

	return process_events_dispatch_tasks(&handlers, records, bytes);
}

static int walk_iterator(const char *path, struct walk *walk)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : iterator_stream_read(fd, count_records, walk);
}

/* ---- /proc ---- */

static ssize_t read_once(int fd, char *text, size_t bytes)
{
	ssize_t got = read(fd, text, bytes - 1);

	if (got >= 0)
		text[got] = '\0';
	return got;
}

/* The start of field `number` (proc_pid_stat(5) counts from 1) behind the comm, which is field 2. */
static const char *stat_field(const char *behind_comm, unsigned int number)
{
	for (unsigned int field = 2; field < number && behind_comm; field++) {
		behind_comm = strchr(behind_comm, ' ');
		behind_comm += behind_comm != NULL;
	}
	return behind_comm;
}

/* False for a kernel thread, or a process that has ended. The owner of its files is its user. */
static bool read_stat(int directory, struct walk *walk)
{
	_cleanup_close_ int fd = openat(directory, "stat", O_RDONLY | O_CLOEXEC);
	const char *open_bracket, *close_bracket, *flags, *started;
	char text[1024];
	struct stat at;

	if (fd < 0 || read_once(fd, text, sizeof(text)) <= 0 || fstat(fd, &at))
		return false;
	open_bracket = strchr(text, '(');
	close_bracket = strrchr(text, ')');
	if (!open_bracket || !close_bracket)
		return false;
	flags = stat_field(close_bracket, 9);
	started = stat_field(close_bracket, 22);
	if (!flags || !started || strtoul(flags, NULL, 10) & KERNEL_THREAD)
		return false;
	walk->sum += strtoul(text, NULL, 10) + at.st_uid + strtoull(started, NULL, 10) +
		     (unsigned char)open_bracket[1];
	return true;
}

/* The path in the unified hierarchy, which is the last line. */
static bool read_cgroup(int directory, struct walk *walk)
{
	_cleanup_close_ int fd = openat(directory, "cgroup", O_RDONLY | O_CLOEXEC);
	char text[PATH_MAX];
	const char *unified;

	if (fd < 0 || read_once(fd, text, sizeof(text)) <= 0)
		return false;
	unified = strstr(text, "0::");
	if (!unified)
		return false;
	walk->sum += strlen(unified + 3);
	return true;
}

static int walk_proc(struct walk *walk)
{
	_cleanup_dir_ DIR *proc = opendir("/proc");
	const struct dirent *entry;

	if (!proc)
		return -errno;
	while ((entry = readdir(proc))) {
		_cleanup_close_ int directory = -EBADF;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		directory = openat(dirfd(proc), entry->d_name, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (directory >= 0 && read_stat(directory, walk) && read_cgroup(directory, walk))
			walk->processes++;
	}
	return 0;
}

/* ---- both ---- */

static int compare(const char *iterator)
{
	struct walk by_iterator = { 0 }, by_proc = { 0 };
	uint64_t began_ns = clock_monotonic_ns(), between_ns;
	int result = walk_iterator(iterator, &by_iterator);

	between_ns = clock_monotonic_ns();
	if (!result)
		result = walk_proc(&by_proc);
	if (result < 0)
		return result;
	by_iterator.took_ns = between_ns - began_ns;
	by_proc.took_ns = clock_monotonic_ns() - between_ns;
	printf("iterator_ns=%" PRIu64 " iterator_processes=%" PRIu64 " proc_ns=%" PRIu64
	       " proc_processes=%" PRIu64 " sums=%" PRIx64 "\n",
	       by_iterator.took_ns, by_iterator.processes, by_proc.took_ns, by_proc.processes,
	       by_iterator.sum + by_proc.sum);
	return 0;
}

int main(int count, char **words)
{
	const char *pin_dir = PIN_DIRECTORY_DEFAULT, *text = "7";
	const struct option_spec options[] = {
		{ "pin-dir", "DIR", "the pins (" PIN_DIRECTORY_DEFAULT ")", &pin_dir },
		{ "rounds", "N", "walks of each (7)", &text },
	};
	const struct command_spec command = {
		"walks",
		"[OPTION...]",
		"Reads all processes, from the task iterator and from /proc, and prints the times.",
		"walks --rounds 7",
		options,
		ARRAY_SIZE(options)
	};
	char iterator[PATH_MAX];
	unsigned long long rounds;
	int positional, parsed, error = 0;

	log_init(command.program);
	parsed = options_parse(&command, count, words, &positional);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (positional || options_number(text, 1, 10000, &rounds)) {
		log_error("expected 1 to 10000 rounds: see --help");
		return EXIT_USAGE;
	}
	snprintf(iterator, sizeof(iterator), "%s/%s", pin_dir, pin_iterators[PIN_TASKS]);
	for (unsigned long long i = 0; i < rounds && !error; i++)
		error = compare(iterator);
	if (error)
		log_error("cannot read the processes from %s: %s", iterator, strerror(-error));
	return error ? EXIT_FAILED : EXIT_DONE;
}

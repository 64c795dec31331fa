/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * looks compares three ways to look at all threads: the pinned iterator `looks`, an iterator that does nothing, and the files
 * of each thread in /proc that xcapture and pSnapper (0x.tools) read. They take turns; each line is one look of each, in
 * CPU time of the thread that reads.
 */
#include "common/abi/abi.h"
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/protocol/pins.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <bpf/bpf.h>
#include <ctype.h>
#include <empty_walk.skel.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#define RECORDS_BYTES 65536U

/* What a look took, and saw. The sum keeps the work from being optimised away. */
struct look {
	uint64_t threads, sum, cpu_ns;
};

/* ---- iterators ---- */

/* Reads an iterator to its end. The last record, if it has some, is stored where there is room for it. */
static int read_iterator(int fd, struct look *look, struct activity_look *ret_last)
{
	static char records[RECORDS_BYTES];
	ssize_t got;

	while ((got = read(fd, records, sizeof(records))) > 0) {
		look->sum += (uint64_t)got;
		if (ret_last && (size_t)got >= sizeof(*ret_last))
			memcpy(ret_last, records + (size_t)got - sizeof(*ret_last), sizeof(*ret_last));
	}
	return got < 0 ? -errno : 0;
}

static int look_by_iterator(const char *path, struct look *look)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct activity_look last = { .header = { 0 } };
	int result = fd < 0 ? -errno : read_iterator(fd, look, &last);

	if (!result && last.header.type != RECORD_ACTIVITY)
		return -EBADMSG;
	look->threads = last.threads;
	return result;
}

static int look_by_nothing(int link_fd, struct look *look)
{
	_cleanup_close_ int fd = bpf_iter_create(link_fd);

	return fd < 0 ? -errno : read_iterator(fd, look, NULL);
}

/* ---- /proc ---- */

/* A thread that has ended meanwhile has no such file. */
static void read_file(int directory, const char *name, struct look *look)
{
	_cleanup_close_ int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	char text[4096];
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text));

	for (ssize_t i = 0; i < got; i++)
		look->sum += (unsigned char)text[i] == '\n';
}

static void look_at_thread(int directory, struct look *look)
{
	static const char *const files[] = { "stat", "status", "wchan", "syscall" };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		read_file(directory, files[i], look);
	look->threads++;
}

static int open_entry(DIR *directory, const struct dirent *entry)
{
	return isdigit((unsigned char)entry->d_name[0])
		       ? openat(dirfd(directory), entry->d_name, O_PATH | O_DIRECTORY | O_CLOEXEC)
		       : -1;
}

static void look_at_process(int directory, struct look *look)
{
	int tasks_fd = openat(directory, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_dir_ DIR *tasks = tasks_fd < 0 ? NULL : fdopendir(tasks_fd);
	const struct dirent *entry;

	while (tasks && (entry = readdir(tasks))) {
		_cleanup_close_ int thread = open_entry(tasks, entry);

		if (thread >= 0)
			look_at_thread(thread, look);
	}
}

static int look_by_proc(struct look *look)
{
	_cleanup_dir_ DIR *proc = opendir("/proc");
	const struct dirent *entry;

	if (!proc)
		return -errno;
	while ((entry = readdir(proc))) {
		_cleanup_close_ int process = open_entry(proc, entry);

		if (process >= 0)
			look_at_process(process, look);
	}
	return 0;
}

/* ---- all of them ---- */

static uint64_t cpu_ns(void)
{
	return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

static int compare(const char *iterator, int empty_link_fd)
{
	struct look by_iterator = { 0 }, by_nothing = { 0 }, by_proc = { 0 };
	uint64_t before_ns = cpu_ns();
	int result = look_by_iterator(iterator, &by_iterator);

	by_iterator.cpu_ns = cpu_ns() - before_ns;
	before_ns = cpu_ns();
	if (!result)
		result = look_by_nothing(empty_link_fd, &by_nothing);
	by_nothing.cpu_ns = cpu_ns() - before_ns;
	before_ns = cpu_ns();
	if (!result)
		result = look_by_proc(&by_proc);
	by_proc.cpu_ns = cpu_ns() - before_ns;
	if (result < 0 || !by_iterator.threads || !by_proc.threads)
		return result < 0 ? result : -ENODATA;
	printf("look_ns=%" PRIu64 " threads=%" PRIu64 " empty_ns=%" PRIu64 " proc_ns=%" PRIu64
	       " proc_threads=%" PRIu64 " sums=%" PRIx64 "\n",
	       by_iterator.cpu_ns, by_iterator.threads, by_nothing.cpu_ns, by_proc.cpu_ns, by_proc.threads,
	       by_iterator.sum + by_nothing.sum + by_proc.sum);
	return 0;
}

static int run(const char *iterator, unsigned long long rounds)
{
	struct empty_walk_bpf *bpf = empty_walk_bpf__open_and_load();
	struct bpf_link *link = bpf ? bpf_program__attach(bpf->progs.empty_walk) : NULL;
	int result = link ? 0 : -errno;

	for (unsigned long long i = 0; i < rounds && !result; i++)
		result = compare(iterator, bpf_link__fd(link));
	bpf_link__destroy(link);
	empty_walk_bpf__destroy(bpf);
	return result;
}

int main(int count, char **words)
{
	const char *pin_dir = PIN_DIRECTORY_DEFAULT, *text = "7";
	const struct option_spec options[] = {
		{ "pin-dir", "DIR", "the pins (" PIN_DIRECTORY_DEFAULT ")", &pin_dir },
		{ "rounds", "N", "looks of each (7)", &text },
	};
	const struct command_spec command = {
		"looks",
		"[OPTION...]",
		"Looks at all threads, by iterators and by /proc, and prints the CPU times.",
		"looks --rounds 7",
		options,
		ARRAY_SIZE(options)
	};
	char iterator[PATH_MAX];
	unsigned long long rounds;
	int positional, parsed, error;

	log_init(command.program);
	parsed = options_parse(&command, count, words, &positional);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (positional || options_number(text, 1, 10000, &rounds)) {
		log_error("expected 1 to 10000 rounds: see --help");
		return EXIT_USAGE;
	}
	snprintf(iterator, sizeof(iterator), "%s/%s", pin_dir, pin_iterators[PIN_LOOKS]);
	error = run(iterator, rounds);
	if (error)
		log_error("cannot look at the threads by %s and /proc: %s", iterator, strerror(-error));
	return error ? EXIT_FAILED : EXIT_DONE;
}

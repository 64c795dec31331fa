/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * locked holds the lock of its own memory map, as a process does that waits for a disk. On SIGUSR1, when the
 * test has frozen the file system of FILE, one thread writes to a mapping of FILE and blocks in its page
 * fault; the other thread changes the mapping and waits for the first with the lock held. Until the file
 * system is thawed, readers of this process's map block, too.
 */
#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE_BYTES 4096U

struct page {
	volatile char *bytes;
	pid_t writer;
};

static void *write_page(void *user)
{
	struct page *page = user;

	__atomic_store_n(&page->writer, gettid(), __ATOMIC_RELEASE);
	page->bytes[0] = 1;
	return NULL;
}

/* Whether the thread is in a wait that no signal interrupts. */
static bool waits(pid_t tid)
{
	_cleanup_file_ FILE *stat = NULL;
	char path[64], state = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	stat = tid ? fopen(path, "re") : NULL;
	return stat && fscanf(stat, "%*d (%*[^)]) %c", &state) == 1 && state == 'D';
}

static int map_page(const char *path, struct page *page)
{
	_cleanup_close_ int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, PAGE_BYTES))
		return -errno;
	page->bytes = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return page->bytes == MAP_FAILED ? -errno : 0;
}

int main(int count, char **arguments)
{
	const struct command_spec command = { "locked",
					      "FILE",
					      "Keeps its memory map locked while the file system of FILE is "
					      "frozen, from SIGUSR1 on.",
					      "locked /mnt/file",
					      NULL,
					      0 };
	struct page page = { 0 };
	pthread_t writer;
	sigset_t begin;
	int words, result, number;

	log_init(command.program);
	result = options_parse(&command, count, arguments, &words);
	if (result != OPTIONS_RUN)
		return result;
	if (words != 1) {
		log_error("takes one FILE: see --help");
		return EXIT_USAGE;
	}
	sigemptyset(&begin);
	sigaddset(&begin, SIGUSR1);
	sigprocmask(SIG_BLOCK, &begin, NULL);
	result = map_page(arguments[1], &page);
	if (result < 0) {
		log_error("%s: %s", arguments[1], strerror(-result));
		return EXIT_FAILED;
	}
	puts("ready");
	fflush(stdout);
	if (sigwait(&begin, &number) || pthread_create(&writer, NULL, write_page, &page))
		return EXIT_FAILED;
	while (!waits(__atomic_load_n(&page.writer, __ATOMIC_ACQUIRE)))
		usleep(1000);
	puts("locking");
	fflush(stdout);
	if (mprotect((void *)page.bytes, PAGE_BYTES, PROT_READ))
		return EXIT_FAILED;
	pthread_join(writer, NULL);
	puts("unlocked");
	return EXIT_DONE;
}

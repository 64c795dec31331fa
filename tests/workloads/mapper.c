/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mapper maps files and waits, so that a test can see which files a process gives access to by mapping them.
 * Each file is mapped whole, readable and executable, or with "r:" before its name readable only; "secret" is
 * memory of memfd_secret(2). It prints the address of each mapping, in decimal. SIGUSR1 makes it map one file more.
 */
#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#define MAPPED_BYTES 8192U

static int map(const char *word)
{
	bool read_only = !strncmp(word, "r:", 2);
	const char *path = word + (read_only ? 2 : 0);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *at =
		mmap(NULL, MAPPED_BYTES, read_only ? PROT_READ : PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	if (at == MAP_FAILED) {
		log_error("cannot map %s: %s", path, strerror(errno));
		return -1;
	}
	printf(" %" PRIuPTR, (uintptr_t)at);
	return 0;
}

static void go_on(int number)
{
	(void)number;
}

/* The first process of a pid namespace ignores signals without a handler. */
static void end(int number)
{
	_exit(128 + number);
}

int main(int argc, char **argv)
{
	const char *seconds = NULL, *later = NULL;
	const struct option_spec options[] = {
		{ "seconds", "N", "end by itself (600)", &seconds },
		{ "later", "FILE", "map it at the first SIGUSR1", &later },
	};
	const struct command_spec command = { "mapper",
					      "[--seconds N] [--later FILE] [r:]FILE...",
					      "Maps files, and says where: 'ready ADDRESS...'.",
					      "mapper /bin/true r:/etc/passwd",
					      options,
					      ARRAY_SIZE(options) };
	unsigned long long lifetime = 600;
	int words, parsed;

	log_init(command.program);
	parsed = options_parse(&command, argc, argv, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (seconds && options_number(seconds, 1, 3600, &lifetime)) {
		log_error("--seconds takes a number from 1 to 3600, not '%s'", seconds);
		return EXIT_USAGE;
	}
	signal(SIGALRM, end);
	signal(SIGTERM, end);
	signal(SIGUSR1, later ? go_on : SIG_DFL);
	alarm((unsigned int)lifetime);
	fputs("ready", stdout);
	for (int i = 1; i <= words; i++)
		if (map(argv[i]))
			return EXIT_FAILED;
	puts("");
	fflush(stdout);
	pause();
	if (later && map(later))
		return EXIT_FAILED;
	signal(SIGUSR1, SIG_DFL);
	pause();
	return EXIT_DONE;
}

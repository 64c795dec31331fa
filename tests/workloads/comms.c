/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * comms makes many processes that sleep, each with a name of its own: PREFIX and a number. They die with it.
 */
#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static bool start_sleeper(const char *prefix, unsigned long long number, int ready)
{
	pid_t parent = getpid(), child = fork();
	char name[16];

	if (child)
		return child > 0;
	snprintf(name, sizeof(name), "%.8s%llu", prefix, number);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, name);
	close(ready);               /* the parent waits until all have */
	while (getppid() == parent) /* the parent may have died before that call */
		pause();
	_exit(EXIT_DONE);
}

int main(int argc, char **argv)
{
	const struct command_spec command = { "comms",
					      "PREFIX N",
					      "Starts N processes, PREFIX1 to PREFIXN; they sleep.",
					      "comms storm 1000",
					      NULL,
					      0 };
	unsigned long long processes;
	int words, parsed, ready[2];
	char byte;

	log_init(command.program);
	parsed = options_parse(&command, argc, argv, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (words != 2 || options_number(argv[2], 1, 100000, &processes) < 0) {
		log_error("expected PREFIX and N: see 'comms --help'");
		return EXIT_USAGE;
	}
	if (pipe(ready)) {
		log_error("cannot make a pipe: %s", strerror(errno));
		return EXIT_FAILED;
	}
	for (unsigned long long i = 1; i <= processes; i++) {
		if (!start_sleeper(argv[1], i, ready[1])) {
			log_error("cannot start process %llu: %s", i, strerror(errno));
			return EXIT_FAILED;
		}
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1)) {
		log_error("cannot wait for the processes: %s", strerror(errno));
		return EXIT_FAILED;
	}
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}

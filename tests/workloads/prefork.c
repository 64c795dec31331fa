/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * prefork is a server that forks its workers without an exec: they have its comm, and use CPU in
 * burn_worker(). SIGHUP gives each worker a name that no server has (idle-N), SIGUSR1 a name that a worker of
 * a server may have (the first part of NAME and a number), both by prctl(2).
 */
#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define WORKERS_MAX 64

static volatile sig_atomic_t signalled;

static void note(int signal)
{
	signalled = signal;
}

static void __attribute__((noinline)) burn_worker(void)
{
	while (!signalled)
		;
}

static void __attribute__((noreturn)) work(const char *name, unsigned int number)
{
	int prefix = (int)strcspn(name, "-");
	char comm[16];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		burn_worker();
		if (signalled == SIGTERM)
			_exit(EXIT_DONE);
		if (signalled == SIGHUP)
			snprintf(comm, sizeof(comm), "idle-%u", number);
		else
			snprintf(comm, sizeof(comm), "%.*s-%u", prefix, name, number);
		signalled = 0;
		prctl(PR_SET_NAME, comm);
	}
}

static void handle_signals(void)
{
	const struct sigaction action = { .sa_handler = note };

	sigaction(SIGHUP, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

/* Passes signals on until one ends the program. */
static void serve(const pid_t *workers, unsigned int count, const sigset_t *waiting)
{
	while (signalled != SIGTERM) {
		signalled = 0;
		sigsuspend(waiting);
		for (unsigned int i = 0; i < count && signalled; i++)
			kill(workers[i], signalled);
	}
	for (unsigned int i = 0; i < count; i++)
		waitpid(workers[i], NULL, 0);
}

int main(int count, char **words)
{
	const char *workers_text = "8", *name = "server-main";
	const struct option_spec options[] = {
		{ "workers", "N", "how many it forks (8)", &workers_text },
		{ "name", "NAME", "its comm, and so theirs (server-main)", &name },
	};
	const struct command_spec command = {
		"prefork",
		"[OPTION...]",
		"Burns CPU in workers that it forked and that never executed anything.",
		"prefork --workers 8 --name server-main",
		options,
		ARRAY_SIZE(options)
	};
	pid_t workers[WORKERS_MAX];
	unsigned long long number;
	sigset_t blocked, before;
	int unexpected, parsed;

	log_init(command.program);
	parsed = options_parse(&command, count, words, &unexpected);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (unexpected || options_number(workers_text, 1, WORKERS_MAX, &number)) {
		log_error("takes 1 to %d workers: see --help", WORKERS_MAX);
		return EXIT_USAGE;
	}
	sigfillset(&blocked);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	handle_signals();
	prctl(PR_SET_NAME, name);
	for (unsigned int i = 0; i < number; i++) {
		workers[i] = fork();
		if (!workers[i]) {
			sigprocmask(SIG_SETMASK, &before, NULL);
			work(name, i);
		}
		if (workers[i] < 0) {
			log_error("cannot fork: %s", strerror(errno));
			return EXIT_FAILED;
		}
	}
	puts("ready");
	fflush(stdout);
	serve(workers, (unsigned int)number, &before);
	return EXIT_DONE;
}

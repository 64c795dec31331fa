/* SPDX-License-Identifier: GPL-2.0-only */
/* bourdon reads the captures. It needs no privilege except reading the database, and trusts nothing in it. */
#include "common/log.h"
#include "common/options.h"
#include "consumer/sql/sql_files.h"
#include "report/command.h"
#include "report/output_file.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile pid_t reader;

/* This process then removes what the reader leaves. */
static void pass_signal(int number)
{
	kill(reader, number);
}

/* Whoever reads the database stops being root (owner.h), and then may not be allowed to write where root wants its file. */
static void __attribute__((noreturn)) write_as_owner(struct request *request, FILE *out)
{
	request->output = NULL;
	_exit(command_run(request, out));
}

/*
 * Runs a command with -o as root: this process makes the file and gives it its name, and reads nothing. A child reads the
 * database, and writes to the file that it was given. Returns the exit status.
 */
static int run_as_root(struct request *request)
{
	_cleanup_output_file_ struct output_file output = { 0 };
	const struct sigaction pass = { .sa_handler = pass_signal };
	int status;

	if (output_file_make(&output, request->output) < 0)
		return EXIT_FAILED;
	reader = fork();
	if (!reader)
		write_as_owner(request, output.file);
	if (reader < 0) {
		log_error("cannot fork: %s", strerror(errno));
		return EXIT_FAILED;
	}
	sigaction(SIGINT, &pass, NULL);
	sigaction(SIGTERM, &pass, NULL);
	sigaction(SIGHUP, &pass, NULL);
	while (waitpid(reader, &status, 0) < 0)
		if (errno != EINTR)
			return EXIT_FAILED;
	if (WIFSIGNALED(status))
		log_error("'%s' was not written: signal %d", request->output, WTERMSIG(status));
	if (!WIFEXITED(status))
		return EXIT_FAILED;
	return WEXITSTATUS(status)               ? WEXITSTATUS(status)
	       : output_file_finish(&output) < 0 ? EXIT_FAILED
						 : EXIT_DONE;
}

int main(int count, char **arguments)
{
	struct request request;
	int status;

	log_init("bourdon");
	sql_files_never_wait();
	status = command_parse(count, arguments, &request);
	if (status != OPTIONS_RUN)
		return status;
	return request.output && !geteuid() ? run_as_root(&request) : command_run(&request, stdout);
}

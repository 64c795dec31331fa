/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/context/output.h"

#include "common/system/log.h"
#include "common/system/options.h"
#include "report/context/subcommand.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile pid_t reader;

/* This process then removes what the reader leaves. */
static void pass_signal(int number)
{
	kill(reader, number);
}

/* Waits for the reader, and gives the file its name. Returns the exit status. */
static int finish_for_reader(struct output_file *output)
{
	const struct sigaction pass = { .sa_handler = pass_signal };
	int status;

	sigaction(SIGINT, &pass, NULL);
	sigaction(SIGTERM, &pass, NULL);
	sigaction(SIGHUP, &pass, NULL);
	while (waitpid(reader, &status, 0) < 0)
		if (errno != EINTR)
			return EXIT_FAILED;
	if (WIFSIGNALED(status))
		log_error("'%s' was not written: signal %d", output->path, WTERMSIG(status));
	if (!WIFEXITED(status))
		return EXIT_FAILED;
	return WEXITSTATUS(status)              ? WEXITSTATUS(status)
	       : output_file_finish(output) < 0 ? EXIT_FAILED
						: EXIT_DONE;
}

static int begin_file(struct report *report, const char *path)
{
	struct output_file *output = &report->output;
	int status = EXIT_FAILED;

	if (!path || !strcmp(path, "-"))
		return OPTIONS_RUN;
	if (output_file_make(output, path) < 0)
		return EXIT_FAILED;
	/* a test reads `out`, in this process: there is no child then */
	report->is_child = report->out == stdout;
	report->out = output->file;
	if (!report->is_child)
		return OPTIONS_RUN;
	reader = fork();
	if (!reader)
		return OPTIONS_RUN;
	report->is_child = false;
	if (reader < 0)
		log_error("cannot fork: %s", strerror(errno));
	else
		status = finish_for_reader(output);
	return status;
}

int output_open_capture(struct report *report, const char *path)
{
	int status = begin_file(report, path);

	return status == OPTIONS_RUN ? subcommand_open_capture(report) : status;
}

bool output_has_place(const struct report *report)
{
	if (report->output.file || !isatty(fileno(report->out)))
		return true;
	log_error("this is no text for a terminal: name a file with -o FILE");
	return false;
}

/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/daemon/capture_talk.h"

#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/text/escape.h"
#include "common/text/plural.h"
#include "report/daemon/daemon_status.h"
#include "report/model/owner.h"
#include "report/text/format.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

#define LINE_BYTES 8192 /* the longest line of the daemon's is a tenth of it */

enum outcome { GOES_ON, STORED, FAILED };

struct conversation {
	const struct capture_request *request;
	int fd, signals;
	bool on_terminal; /* progress is shown */
	bool shows;       /* a line of progress stands there */
	bool was_ended;   /* the user has ended it */
	bool was_begun;
	char text[LINE_BYTES];
	size_t bytes;
	uint64_t samples;
	int64_t capture_id;
};

static uint64_t number_of(const struct status_line *line, const char *key)
{
	return strtoull(status_line_get(line, key), NULL, 10);
}

static void clear_progress(struct conversation *talk)
{
	if (talk->shows)
		fputs("\r\033[K", stderr);
	talk->shows = false;
}

static void show_progress(struct conversation *talk, const char *text)
{
	if (!talk->on_terminal)
		return;
	fprintf(stderr, "\r\033[K%s", text);
	fflush(stderr);
	talk->shows = true;
}

static void show_recording(struct conversation *talk, const struct status_line *line)
{
	uint64_t samples = number_of(line, "samples");
	char elapsed[32], all[32], text[256];

	snprintf(text, sizeof(text), "recording: %s of %s, %" PRIu64 " %s%s",
		 format_duration((double)number_of(line, "elapsed_ns"), " ", elapsed, sizeof(elapsed)),
		 format_duration((double)number_of(line, "for_ns"), " ", all, sizeof(all)), samples,
		 plural(samples, "sample", "samples"),
		 talk->was_ended ? ", ending" : "; Ctrl-C ends it and keeps the result");
	show_progress(talk, text);
}

/* ---- what the daemon says ---- */

/* The process that a task of that number belongs to; 0: there is no such task. */
static uint32_t process_of_task(uint32_t tid)
{
	_cleanup_file_ FILE *file = NULL;
	unsigned int tgid = 0;
	char path[64], line[256];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/status", tid);
	file = fopen(path, "re");
	while (file && !tgid && fgets(line, sizeof(line), file))
		if (sscanf(line, "Tgid: %u", &tgid) != 1)
			tgid = 0;
	return tgid;
}

/* The daemon does not know a process that has ended or that root's policy denies; /proc tells which. */
static void explain_process(uint32_t pid, const char *why)
{
	uint32_t tgid = process_of_task(pid);

	if (!tgid)
		log_error("no process %" PRIu32 ": it has ended, or there was none", pid);
	else if (tgid != pid)
		log_error("%" PRIu32 " is a thread of process %" PRIu32 ": give --pid %" PRIu32, pid, tgid,
			  tgid);
	else
		log_error("cannot capture process %" PRIu32 ": %s", pid, why);
}

static void explain_refusal(const struct status_line *line)
{
	char why[512];
	uint64_t pid = number_of(line, "pid");

	escape_terminal(status_line_get(line, "why"), why, sizeof(why));
	if (pid && pid <= INT32_MAX)
		explain_process((uint32_t)pid, why);
	else
		log_error("bourdond refused the capture: %s", why);
}

static void note_begun(struct conversation *talk, const struct status_line *line)
{
	uint64_t wanted_ns = talk->request->before_ns, has_ns = number_of(line, "history_ns");
	char has[32], wanted[32], missing[128];

	talk->was_begun = true;
	/* a tick of the clock may be missing */
	if (wanted_ns > has_ns && wanted_ns - has_ns > wanted_ns / 10)
		log_warning("the rings hold %s of the %s before now",
			    format_duration((double)has_ns, " ", has, sizeof(has)),
			    format_duration((double)wanted_ns, " ", wanted, sizeof(wanted)));
	if (*status_line_get(line, "probes_missing"))
		log_warning(
			"the kernel programs do not measure these latencies: %s; bourdon-load --probes says which they may",
			escape_terminal(status_line_get(line, "probes_missing"), missing, sizeof(missing)));
	show_recording(talk, line);
}

/* Somebody or something else ended it. */
static void note_ended(struct conversation *talk, const struct status_line *line)
{
	char why[256];

	clear_progress(talk);
	log_warning("the capture was over before its time, and is kept: %s",
		    escape_terminal(status_line_get(line, "why"), why, sizeof(why)));
}

static enum outcome note_stored(struct conversation *talk, const struct status_line *line)
{
	uint64_t capture_id = number_of(line, "capture_id");

	clear_progress(talk);
	talk->capture_id = capture_id > INT64_MAX ? 0 : (int64_t)capture_id;
	talk->samples = number_of(line, "samples");
	if (!talk->samples)
		log_warning("capture %" PRId64
			    " has no sample: no such process ran or waited, or root's policy denies it",
			    talk->capture_id);
	return STORED;
}

static enum outcome fail_talk(struct conversation *talk, const char *why)
{
	clear_progress(talk);
	log_error("%s", why);
	return FAILED;
}

static enum outcome hear(struct conversation *talk, char *text)
{
	struct status_line line;

	if (status_line_parse(text, &line) < 0)
		return fail_talk(talk, "bourdond's answer is damaged: is it of another version?");
	if (!strcmp(line.kind, "begun")) {
		note_begun(talk, &line);
	} else if (!strcmp(line.kind, "progress")) {
		show_recording(talk, &line);
	} else if (!strcmp(line.kind, "ended")) {
		note_ended(talk, &line);
	} else if (!strcmp(line.kind, "recorded")) {
		show_progress(talk, "recorded; finding the names of functions");
	} else if (!strcmp(line.kind, "stored")) {
		return note_stored(talk, &line);
	} else if (!strcmp(line.kind, "refused")) {
		clear_progress(talk);
		explain_refusal(&line);
		return FAILED;
	} else if (!strcmp(line.kind, "lost")) {
		return fail_talk(talk, "the capture could not be written: bourdond's log says why");
	} else if (!strcmp(line.kind, "interrupted")) {
		return fail_talk(
			talk,
			"bourdond is ending: what was recorded is kept, and marked interrupted ('bourdon list')");
	}
	return GOES_ON; /* a line that this version does not know is of no importance */
}

/* Reads what there is, and hears each whole line. */
static enum outcome read_lines(struct conversation *talk)
{
	ssize_t got = read(talk->fd, talk->text + talk->bytes, sizeof(talk->text) - talk->bytes - 1);
	enum outcome outcome = GOES_ON;
	char *end;

	if (got < 0 && errno == EINTR)
		return GOES_ON;
	if (got <= 0)
		return fail_talk(
			talk,
			talk->was_begun
				? "the connection to bourdond has ended: 'bourdon list' shows what it kept"
				: "bourdond ended the connection: try again");
	talk->bytes += (size_t)got;
	talk->text[talk->bytes] = '\0';
	while (outcome == GOES_ON && (end = memchr(talk->text, '\n', talk->bytes))) {
		size_t line_bytes = (size_t)(end - talk->text) + 1;

		*end = '\0';
		outcome = hear(talk, talk->text);
		talk->bytes -= line_bytes;
		memmove(talk->text, talk->text + line_bytes, talk->bytes);
	}
	if (outcome == GOES_ON && talk->bytes == sizeof(talk->text) - 1)
		return fail_talk(talk, "bourdond's answer is damaged: is it of another version?");
	return outcome;
}

/* The first signal ends the capture, the second one this program. */
static enum outcome on_signal(struct conversation *talk)
{
	struct signalfd_siginfo signal;

	if (read(talk->signals, &signal, sizeof(signal)) < 0)
		return GOES_ON;
	if (talk->was_ended)
		return fail_talk(talk, "not waited for: 'bourdon list' shows the capture when it is written");
	talk->was_ended = true;
	if (shutdown(talk->fd, SHUT_WR))
		return fail_talk(talk, "cannot end the capture: it goes on");
	show_progress(talk, "ending");
	return GOES_ON;
}

static enum outcome listen_to(struct conversation *talk)
{
	struct pollfd polled[] = { { .fd = talk->fd, .events = POLLIN },
				   { .fd = talk->signals, .events = POLLIN } };
	enum outcome outcome = GOES_ON;

	while (outcome == GOES_ON) {
		if (poll(polled, ARRAY_SIZE(polled), -1) < 0) {
			if (errno != EINTR)
				return fail_talk(talk, strerror(errno));
			continue;
		}
		if (polled[1].revents)
			outcome = on_signal(talk);
		if (outcome == GOES_ON && polled[0].revents)
			outcome = read_lines(talk);
	}
	return outcome;
}

/* ---- asking ---- */

static int send_request(int fd, const struct capture_request *request)
{
	_cleanup_free_ char *text = NULL;
	size_t bytes, sent = 0;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return -ENOMEM;
	capture_request_write(request, out);
	if (fclose(out))
		return -ENOMEM;
	while (sent < bytes) {
		ssize_t result = send(fd, text + sent, bytes - sent, MSG_NOSIGNAL);

		if (result < 0 && errno == EPIPE)
			return 0; /* closed already, it has a line that says why */
		if (result < 0)
			return -errno;
		sent += (size_t)result;
	}
	return 0;
}

static int catch_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	return sigprocmask(SIG_BLOCK, &set, NULL) ? -errno : signalfd(-1, &set, SFD_CLOEXEC);
}

int capture_talk(const char *database, const struct capture_request *request, int64_t *ret_capture_id)
{
	_cleanup_free_ char *real = NULL;
	_cleanup_close_ int signals = -EBADF, fd = daemon_connect(database);
	struct conversation talk = { .request = request, .on_terminal = isatty(STDERR_FILENO) };
	int result = fd;

	if (result >= 0 && owner_become_of(database, &real) == -EPERM)
		return -EPERM;
	if (result >= 0)
		result = signals = catch_signals();
	if (result >= 0)
		result = send_request(fd, request);
	if (result < 0) {
		daemon_explain_connection(database, result, "for a capture");
		return result;
	}
	talk.fd = fd;
	talk.signals = signals;
	if (listen_to(&talk) != STORED)
		return -ECANCELED;
	*ret_capture_id = talk.capture_id;
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/system/log.h"

#include "common/text/escape.h"

#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Set once, before any thread is created. */
static const char *program_name = "bourdon";
static bool with_priority, never_waits;

/*
 * True if standard error is the journal: $JOURNAL_STREAM then holds its "DEVICE:INODE" (systemd.exec(5)). The
 * variable alone proves nothing: processes inherit it even after standard error was redirected.
 */
static bool is_journal(void)
{
	const char *name = getenv("JOURNAL_STREAM");
	char own[64];
	struct stat at;

	if (!name || fstat(STDERR_FILENO, &at))
		return false;
	snprintf(own, sizeof(own), "%ju:%ju", (uintmax_t)at.st_dev, (uintmax_t)at.st_ino);
	return !strcmp(own, name);
}

void log_init(const char *program)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
	program_name = program;
	with_priority = is_journal();
}

bool log_is_journal(void)
{
	return with_priority;
}

void log_never_wait(void)
{
	never_waits = true;
}

/* A pipe that polls as writable accepts PIPE_BUF bytes at once, more than a line (pipe(7)). */
static bool can_write(void)
{
	struct pollfd error = { .fd = STDERR_FILENO, .events = POLLOUT };

	return !never_waits || (poll(&error, 1, 0) > 0 && error.revents & POLLOUT);
}

/* One write(2) a line, so that lines of several threads and processes do not mix. */
static void __attribute__((format(printf, 2, 0)))
log_line(int priority, const char *format, va_list arguments)
{
	char message[1024], safe[2048], line[2200];
	int length;

	vsnprintf(message, sizeof(message), format, arguments);
	escape_terminal(message, safe, sizeof(safe));
	if (with_priority)
		length = snprintf(line, sizeof(line), "<%d>%s\n", priority, safe);
	else
		length = snprintf(line, sizeof(line), "%s: %s\n", program_name, safe);
	if (length > 0 && can_write() && write(STDERR_FILENO, line, (size_t)length) < 0)
		return; /* an error about standard error cannot be reported */
}

void log_error(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	log_line(3, format, arguments);
	va_end(arguments);
}

int log_failed(int result, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	log_line(3, format, arguments);
	va_end(arguments);
	return result;
}

void log_warning(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	log_line(4, format, arguments);
	va_end(arguments);
}

void log_info(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	log_line(6, format, arguments);
	va_end(arguments);
}

bool log_allowed(struct log_limit *limit, unsigned int burst)
{
	struct timespec now;
	long minute;

	clock_gettime(CLOCK_MONOTONIC, &now);
	minute = now.tv_sec / 60;
	if (limit->minute != minute) {
		limit->minute = minute;
		limit->said = 0;
	}
	return limit->said++ < burst;
}

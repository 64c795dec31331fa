/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/grant_counters.h"

#include "common/cleanup.h"
#include "common/files.h"
#include "common/log.h"

#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

/* Fixed length, so that each write replaces the whole text. */
#define FORMAT "granted %020" PRIu64 "\nrefused %020" PRIu64 "\n"

static int parse(const char *text, uint64_t values[GRANT_COUNTERS])
{
	return sscanf(text, "granted %" SCNu64 "\nrefused %" SCNu64, &values[GRANT_COUNTER_GRANTED],
		      &values[GRANT_COUNTER_REFUSED]) == GRANT_COUNTERS
		       ? 0
		       : -EBADMSG;
}

static int open_as(const char *path, mode_t mode, int number)
{
	_cleanup_close_ int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, mode);

	return fd < 0 || dup3(fd, number, O_CLOEXEC) < 0 ? -errno : 0;
}

/*
 * The lock is a separate file that only its owner can open: any reader of a file could lock it and stop all
 * others.
 */
int grant_counters_open(const char *path)
{
	_cleanup_free_ char *lock = NULL;
	int result;

	if (asprintf(&lock, "%s.lock", path) < 0)
		return -ENOMEM;
	result = open_as(lock, 0600, GRANT_COUNTERS_LOCK_FD);
	return result < 0 ? result : open_as(path, 0640, GRANT_COUNTERS_FD);
}

void grant_counters_add(enum grant_counter counter)
{
	uint64_t values[GRANT_COUNTERS] = { 0 };
	char text[128];
	ssize_t bytes;

	if (flock(GRANT_COUNTERS_LOCK_FD, LOCK_EX))
		return;
	bytes = pread(GRANT_COUNTERS_FD, text, sizeof(text) - 1, 0);
	if (bytes > 0) {
		text[bytes] = '\0';
		parse(text, values);
	}
	values[counter]++;
	snprintf(text, sizeof(text), FORMAT, values[GRANT_COUNTER_GRANTED], values[GRANT_COUNTER_REFUSED]);
	if (bytes >= 0 && pwrite(GRANT_COUNTERS_FD, text, strlen(text), 0) < 0)
		log_warning("cannot write the grant counters: %s; this request is not counted",
			    strerror(errno));
	flock(GRANT_COUNTERS_LOCK_FD, LOCK_UN);
}

int grant_counters_read(const char *path, uint64_t ret_values[GRANT_COUNTERS])
{
	_cleanup_free_ char *text = NULL;
	size_t bytes;
	int result = file_read_text(AT_FDCWD, path, 128, &text, &bytes);

	return result < 0 ? result : parse(text, ret_values);
}

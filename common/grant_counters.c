/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/grant_counters.h"

#include "common/cleanup.h"
#include "common/files.h"

#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

const char *const grant_counter_names[GRANT_COUNTERS] = { "granted", "refused" };

/* Of one length always, so that a write replaces all of it. */
#define FORMAT "granted %020" PRIu64 "\nrefused %020" PRIu64 "\n"

static int parse(const char *text, uint64_t values[GRANT_COUNTERS])
{
	return sscanf(text, "granted %" SCNu64 "\nrefused %" SCNu64, &values[GRANT_COUNTER_GRANTED],
		      &values[GRANT_COUNTER_REFUSED]) == GRANT_COUNTERS
		       ? 0
		       : -EBADMSG;
}

/*
 * Whoever may read a file may lock it, and keep all others waiting: the lock is a file that root alone opens.
 * The descriptor, or negative.
 */
static int lock(const char *path)
{
	_cleanup_close_ int fd = -EBADF;
	_cleanup_free_ char *beside = NULL;

	if (asprintf(&beside, "%s.lock", path) < 0)
		return -ENOMEM;
	fd = open(beside, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 || flock(fd, LOCK_EX) ? -errno : TAKE_FD(fd);
}

void grant_counters_add(const char *path, enum grant_counter counter)
{
	uint64_t values[GRANT_COUNTERS] = { 0 };
	_cleanup_close_ int fd = -EBADF, lock_fd = -EBADF;
	char text[128];
	ssize_t bytes;

	if (!path)
		return;
	lock_fd = lock(path);
	fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0640);
	if (fd < 0 || lock_fd < 0)
		return;
	bytes = pread(fd, text, sizeof(text) - 1, 0);
	if (bytes > 0) {
		text[bytes] = '\0';
		parse(text, values);
	}
	values[counter]++;
	snprintf(text, sizeof(text), FORMAT, values[GRANT_COUNTER_GRANTED], values[GRANT_COUNTER_REFUSED]);
	if (pwrite(fd, text, strlen(text), 0) < 0)
		return;
}

int grant_counters_read(const char *path, uint64_t ret_values[GRANT_COUNTERS])
{
	_cleanup_free_ char *text = NULL;
	size_t bytes;
	int result = file_read_text(AT_FDCWD, path, 128, &text, &bytes);

	return result < 0 ? result : parse(text, ret_values);
}

/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/host/iterator_stream.h"

#include "common/base/cleanup.h"

#include <string.h>

#define BUFFER_BYTES 65536U

static ssize_t read_iterator(int fd, char *buffer, size_t bytes)
{
	ssize_t got;

	/* EAGAIN: the program skipped many objects in a row; the next read continues there */
	do
		got = read(fd, buffer, bytes);
	while (got < 0 && (errno == EINTR || errno == EAGAIN));
	return got < 0 ? -errno : got;
}

int iterator_stream_read(int iterator_fd, long (*consume)(void *user, const char *records, size_t bytes),
			 void *user)
{
	_cleanup_free_ char *buffer = malloc(BUFFER_BYTES);
	size_t used = 0;

	if (!buffer)
		return -ENOMEM;
	for (;;) {
		ssize_t got = read_iterator(iterator_fd, buffer + used, BUFFER_BYTES - used);
		long consumed;

		if (got < 0)
			return (int)got;
		if (!got)
			return used ? -EBADMSG : 0;
		used += (size_t)got;
		consumed = consume(user, buffer, used);
		if (consumed < 0)
			return (int)consumed;
		used -= (size_t)consumed;
		memmove(buffer, buffer + consumed, used);
	}
}

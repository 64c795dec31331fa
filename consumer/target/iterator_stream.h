/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * iterator_stream.h owns reading an iterator's stream of records from its beginning to its end.
 */
#ifndef BOURDON_CONSUMER_TARGET_ITERATOR_STREAM_H
#define BOURDON_CONSUMER_TARGET_ITERATOR_STREAM_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Calls `consume` with what is there so far; it returns how many bytes were whole records, or -errno, which
 * ends the reading. 0, -EBADMSG when the stream ends within a record, or -errno.
 */
int iterator_stream_read(int iterator_fd, long (*consume)(void *user, const char *records, size_t bytes),
			 void *user);

/* The same, of what `read` says: how many bytes it put into the buffer, 0 at the end, or -errno. */
int iterator_stream_read_by(ssize_t (*read)(void *reader, char *buffer, size_t bytes), void *reader,
			    long (*consume)(void *user, const char *records, size_t bytes), void *user);

#endif

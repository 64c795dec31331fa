/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * iterator_stream.h owns reading the records of an iterator from begin to end.
 */
#ifndef BOURDON_CONSUMER_HOST_ITERATOR_STREAM_H
#define BOURDON_CONSUMER_HOST_ITERATOR_STREAM_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Calls `consume` with the bytes read so far; it returns the number of bytes in whole records, or -errno,
 * which ends the reading. Returns 0, -EBADMSG if the stream ends within a record, or -errno.
 */
int iterator_stream_read(int iterator_fd, long (*consume)(void *user, const char *records, size_t bytes),
			 void *user);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * records.h owns reading an iterator's stream of records from its beginning to its end.
 */
#ifndef BOURDON_CONSUMER_RECORDS_H
#define BOURDON_CONSUMER_RECORDS_H

#include <stddef.h>

/*
 * Calls `take` with what is there so far; it returns how many bytes were whole records, or -errno, which
 * ends the reading. 0, -EBADMSG when the stream ends within a record, or -errno.
 */
int records_read(int iterator_fd, long (*take)(void *user, const char *records, size_t bytes), void *user);

#endif

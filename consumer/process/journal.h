/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * journal.h owns the entries for the journal, in its native protocol (https://systemd.io/JOURNAL_NATIVE_PROTOCOL/): one datagram
 * an entry, without libsystemd. That library would bring four compression libraries and libgcrypt into locked memory, and for a
 * large entry it makes a memfd and seals it, calls that the system-call filter kills for. Nothing here blocks: an entry that
 * the journal has no room for is sent again later. For the worker thread.
 */
#ifndef BOURDON_CONSUMER_PROCESS_JOURNAL_H
#define BOURDON_CONSUMER_PROCESS_JOURNAL_H

#include "consumer/process/own_counters.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/un.h>

#define JOURNAL_SOCKET "/run/systemd/journal/socket"

/* The most bytes of an entry; a datagram may have ten times as many. */
#define JOURNAL_ENTRY_BYTES 16384U

/* Entries that wait for room, at most for so long. */
#define JOURNAL_WAITING 8U
#define JOURNAL_PATIENCE_NS 60000000000U

/* The journal takes a name of uppercase letters, digits and underscores, whose first one is a letter. */
struct journal_field {
	const char *name;
	const char *value; /* any bytes but NUL */
};

struct journal {
	int fd; /* not connected: a journal that starts again has another socket */
	struct sockaddr_un address;
	struct own_counters *own_counters;
	struct {
		char *bytes;
		size_t length;
		uint64_t until_ns;
	} waiting[JOURNAL_WAITING]; /* the oldest first */
	unsigned int waiting_count;
	uint64_t retry_ns; /* CLOCK_MONOTONIC; 0: nothing waits */
};

/*
 * Writes the fields as the protocol wants them. A value with a newline has its length in front, so no value can be taken for
 * a field. Returns the number of bytes, or -EMSGSIZE.
 */
long journal_encode(const struct journal_field *fields, size_t count, char *into, size_t into_bytes);

/* Opens a socket for the journal that listens at `path`, now or later. 0 or -errno: then nothing will be sent. */
int journal_open(struct journal *ret_journal, const char *path, struct own_counters *own_counters);
void journal_close(struct journal *journal);

/*
 * Sends an entry. 0; -EAGAIN: the journal has no room, and journal_retry() sends it; or -errno: it is lost. Counts both what
 * was taken and what is lost.
 */
int journal_send(struct journal *journal, const struct journal_field *fields, size_t count, uint64_t now_ns);

/* Call it at retry_ns. 0, or -errno of an entry that is lost now. */
int journal_retry(struct journal *journal, uint64_t now_ns);

#endif

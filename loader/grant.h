/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * grant.h owns what bourdon-grant does with one connection: it opens one file that the consumer may not open,
 * and passes the descriptor back. It believes nothing that the consumer says but numbers.
 */
#ifndef BOURDON_LOADER_GRANT_H
#define BOURDON_LOADER_GRANT_H

#include <stdint.h>
#include <sys/types.h>

struct grant_settings {
	uid_t uid;            /* who may ask; root may, too */
	const char *counters; /* file of the counters below; NULL: not counted */
	uint64_t patience_ns; /* how long a request may take to arrive */
};

/*
 * Serves the one request that comes from `socket`. What is refused is logged with its reason and counted.
 * Returns an exit status.
 */
int grant_serve(int socket, const struct grant_settings *settings);

#endif

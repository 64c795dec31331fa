/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * wanted.h owns the kernel's map of what captures on demand want. The kernel programs make targets of the processes in it,
 * within root's policy, until the time of each entry: so it ends by itself when the daemon dies.
 */
#ifndef BOURDON_CONSUMER_HOST_WANTED_H
#define BOURDON_CONSUMER_HOST_WANTED_H

#include "common/policy/comm_pattern.h"

#include <stdint.h>

/* Something wanted; the key of the map and its value. */
struct want {
	struct wanted_key key;
	struct wanted_until value;
};

struct want want_process(uint32_t tgid, uint64_t started_ns, uint64_t until_ns);
struct want want_cgroup(uint64_t id, uint64_t until_ns); /* and the cgroups below it */
struct want want_comm(const struct comm_pattern *pattern, uint64_t until_ns);

/* What is to be wanted, of all captures together. Initially zeros. */
struct wants {
	struct want wants[WANTED_MAX];
	uint32_t count;
	uint32_t left_out; /* beyond WANTED_MAX */
};

/* Adds it; of two with one key, the later time counts. */
void wants_add(struct wants *wants, const struct want *want);

/*
 * Writes the map and then control->wanted, which is mapped: `before`, what the map has, becomes `now`. Returns 0, or the
 * -errno of the first element that could not be written; then the others were.
 */
int wanted_publish(int map_fd, struct control *control, struct wants *before, const struct wants *now);

/* Empties the map of what an earlier daemon has left. Returns 0 or -errno. */
int wanted_clear(int map_fd, struct control *control);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* peer.h owns who is at the other end of a Unix socket, as the kernel knows it from the moment when they connected. */
#ifndef BOURDON_CONSUMER_PEER_H
#define BOURDON_CONSUMER_PEER_H

#include "consumer/process/shares.h"

#include <stdbool.h>
#include <sys/types.h>

struct peer {
	uid_t uid;
	bool is_member; /* of the group, by primary or supplementary group */
};

/* Returns 0 or -errno. Who has more groups than the kernel allows (65536, NGROUPS_MAX) does not exist. */
int peer_of(int fd, gid_t group, struct peer *ret_peer);

/* Root is also the daemon's own user, which `bourdon status` becomes. */
struct share_owner peer_owner(const struct peer *peer);

/* root, the daemon's own user, and members of its group may ask for captures. */
bool peer_may_ask(const struct peer *peer);

#endif

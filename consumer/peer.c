/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/peer.h"

#include "common/base/cleanup.h"

#include <sys/socket.h>

int peer_of(int fd, gid_t group, struct peer *ret_peer)
{
	_cleanup_free_ gid_t *groups = NULL;
	struct ucred credentials;
	socklen_t bytes = sizeof(credentials);
	struct peer peer;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &bytes))
		return -errno;
	peer = (struct peer){ credentials.uid, credentials.gid == group };
	/* asks for the size first: ERANGE stores it */
	bytes = 0;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &bytes) && errno != ERANGE)
		return -errno;
	groups = malloc(bytes + sizeof(*groups));
	if (!groups)
		return -ENOMEM;
	if (bytes && getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &bytes))
		return -errno;
	for (size_t i = 0; i < bytes / sizeof(*groups); i++)
		peer.is_member |= groups[i] == group;
	*ret_peer = peer;
	return 0;
}

struct share_owner peer_owner(const struct peer *peer)
{
	if (!peer->uid || peer->uid == geteuid())
		return (struct share_owner){ .kind = SHARE_OF_ROOT };
	return (struct share_owner){ .kind = SHARE_OF_USER, .id = peer->uid };
}

bool peer_may_ask(const struct peer *peer)
{
	return peer_owner(peer).kind == SHARE_OF_ROOT || peer->is_member;
}

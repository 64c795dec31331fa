/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/live/look_source.h"

#include <errno.h>
#include <poll.h>

int look_source_wait(const struct look_source *source, struct thread_lines *ret_lines)
{
	struct pollfd polled = { .fd = source->fd, .events = POLLIN };
	int taken;

	/* first, because what has come already does not make the descriptor readable */
	while (!(taken = source->take(source->user, ret_lines)))
		if (poll(&polled, 1, -1) < 0 && errno != EINTR)
			return -errno;
	return taken < 0 ? taken : 0;
}

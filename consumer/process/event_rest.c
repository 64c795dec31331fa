/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/process/event_rest.h"

#include "common/base/clock.h"

/* A storm of events wakes the daemon no more often than so many times in each such time. */
#define EVENTS_WAKE_UPS 8U
#define EVENTS_REST_NS (CLOCK_SECOND_NS / 100)

void event_rest_note(struct event_rest *rest, const struct event_loop *loop, int fd, uint64_t now_ns)
{
	if (now_ns - rest->woken_ns >= EVENTS_REST_NS) {
		rest->woken_ns = now_ns;
		rest->wake_ups = 0;
	}
	if (++rest->wake_ups < EVENTS_WAKE_UPS)
		return;
	event_loop_remove(loop, fd);
	rest->due_ns = now_ns + EVENTS_REST_NS;
}

void event_rest_end(struct event_rest *rest, const struct event_loop *loop, int fd,
		    struct event_source *source, uint64_t now_ns)
{
	if (!clock_is_due(rest->due_ns, now_ns))
		return;
	rest->due_ns = event_loop_add(loop, fd, EPOLLIN, source) < 0 ? now_ns + CLOCK_SECOND_NS : 0;
}

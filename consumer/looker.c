/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/looker.h"

#include "common/cleanup.h"
#include "common/clock.h"

#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

/* Looks take a fiftieth of a CPU at most. */
#define SHARE 50U
#define FAILURES_A_MINUTE 1U

int looker_open(struct looker *looker, const struct kernel_objects *kernel, int epoll)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = &looker->source };

	*looker = (struct looker){ .kernel = kernel, .source = { SOURCE_LOOK } };
	looker->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (looker->timer < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, looker->timer, &event))
		return -errno;
	/* a daemon that ran before may have taken looks, of which this one knows nothing */
	looks_forget(&looker->looks, kernel->control);
	return 0;
}

void looker_close(struct looker *looker)
{
	if (!looker->kernel)
		return;
	cleanup_close(&looker->timer);
	looks_free(&looker->looks);
}

static void set_timer(struct looker *looker, uint64_t due_ns)
{
	const struct itimerspec at = { .it_value = clock_timespec(due_ns) };

	looker->due_ns = due_ns;
	timerfd_settime(looker->timer, TFD_TIMER_ABSTIME, &at, NULL);
}

static void follow(struct looker *looker)
{
	bool looks = looker->is_wanted && looker->hz;

	if (looks == (looker->due_ns != 0))
		return;
	set_timer(looker, looks ? clock_monotonic_ns() : 0);
	if (!looks)
		looks_forget(&looker->looks, looker->kernel->control);
}

void looker_set_rate(struct looker *looker, uint32_t hz)
{
	looker->hz = hz;
	follow(looker);
}

void looker_want(struct looker *looker, bool is_wanted)
{
	looker->is_wanted = is_wanted;
	follow(looker);
}

bool looker_take(struct looker *looker)
{
	uint64_t expirations;
	int result;

	if (read(looker->timer, &expirations, sizeof(expirations)) < 0 || !looker->due_ns)
		return false;
	looker->from_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	result = looks_take(&looker->looks, looker->kernel);
	if (result < 0 && log_allowed(&looker->failed_limit, FAILURES_A_MINUTE))
		log_warning("cannot look at the states of threads: %s", strerror(-result));
	if (result < 0)
		looker_rest(looker);
	return !result;
}

void looker_rest(struct looker *looker)
{
	uint64_t taken_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - looker->from_ns,
		 now_ns = clock_monotonic_ns(), due_ns = looker->due_ns + CLOCK_SECOND_NS / looker->hz;

	/* a look that comes late moves those behind it */
	if (due_ns < now_ns)
		due_ns = now_ns;
	if (due_ns < now_ns + taken_ns * (SHARE - 1))
		due_ns = now_ns + taken_ns * (SHARE - 1);
	set_timer(looker, due_ns);
}

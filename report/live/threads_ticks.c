/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/live/threads_ticks.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"

#include <errno.h>
#include <limits.h>
#include <sys/timerfd.h>

int threads_ticks_begin(unsigned int hz)
{
	const struct timespec period = clock_timespec(CLOCK_SECOND_NS / hz);
	const struct itimerspec times = { .it_interval = period, .it_value = period };
	_cleanup_close_ int ticks = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	if (ticks < 0 || timerfd_settime(ticks, 0, &times, NULL))
		return -errno;
	return TAKE_FD(ticks);
}

int threads_ticks_take(int ticks)
{
	uint64_t passed;

	if (read(ticks, &passed, sizeof(passed)) < 0)
		return errno == EAGAIN ? 0 : -errno;
	return passed > INT_MAX ? INT_MAX : (int)passed;
}

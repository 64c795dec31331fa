/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/watch/watch.h"

#include "common/base/cleanup.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>

/* A shorter part of a window than 1 / SEEN_PART does not tell how strong a stall was. */
#define SEEN_PART 4

bool watch_is_privileged(const struct watch *watch)
{
	return watch->trigger->window_us % PSI_WINDOW_UNPRIVILEGED_US != 0;
}

/* Takes ownership of `fd`. */
static int arm(struct watch *watch, int fd, int epoll)
{
	struct epoll_event event = { .events = EPOLLPRI, .data.ptr = &watch->source };
	_cleanup_close_ int armed = fd;
	int result =
		psi_arm(armed, watch->trigger->kind, watch->trigger->stall_us, watch->trigger->window_us);

	if (!result && epoll_ctl(epoll, EPOLL_CTL_ADD, armed, &event))
		result = -errno;
	if (result < 0)
		return result;
	watch->mode = TRIGGER_KERNEL;
	watch->over_reads = 0;
	watch->fd = TAKE_FD(armed);
	return 0;
}

int watch_open(struct watch *watch, const char *mount, int epoll, uint64_t now_ns)
{
	uint64_t total_us;
	int result = -EACCES, fd;

	watch->fd = -EBADF;
	watch->mode = TRIGGER_SAMPLED;
	if (!watch->cgroup) {
		fd = psi_open(mount, NULL, watch->trigger->resource, O_RDWR | O_NONBLOCK);
		result = fd < 0 ? fd : arm(watch, fd, epoll);
	}
	if (result < 0) {
		watch->fd = psi_open(mount, watch->cgroup, watch->trigger->resource, O_RDONLY);
		if (watch->fd < 0)
			return watch->fd;
		watch->wish = WISH_GRANT;
	}
	psi_window_begin(&watch->window, watch->trigger->window_us);
	result = watch_read(watch, &total_us);
	if (!result)
		psi_window_add(&watch->window, now_ns, total_us);
	return result;
}

int watch_upgrade(struct watch *watch, int fd, int epoll, struct closer *closer)
{
	int before = watch->fd, result = arm(watch, fd, epoll);

	if (!result)
		closer_close(closer, before);
	return result;
}

void watch_close(struct watch *watch, int epoll, struct closer *closer)
{
	if (watch->fd < 0)
		return;
	/* poll() keeps reporting an error for the file of a removed cgroup */
	if (watch->mode == TRIGGER_KERNEL)
		epoll_ctl(epoll, EPOLL_CTL_DEL, watch->fd, NULL);
	closer_close(closer, TAKE_FD(watch->fd));
}

bool watch_is_quiet(const struct watch *watch, uint64_t now_ns)
{
	return now_ns < watch->quiet_until_ns;
}

bool watch_is_captured(const struct watch *watch, uint64_t now_ns)
{
	return now_ns < watch->covered_until_ns;
}

bool watch_is_worse(const struct watch *watch, uint64_t observed_us, uint64_t own_us, uint64_t now_ns)
{
	if (watch_is_captured(watch, now_ns) || watch->extensions >= WATCH_EXTENSIONS_MAX)
		return false;
	if (own_us == WATCH_NOT_KNOWN || watch->own_peak_us == WATCH_NOT_KNOWN)
		return observed_us >= WATCH_WORSE_TIMES * watch->peak_us;
	/* a part of this window was captured, and waits that began there count when they end */
	if (now_ns < watch->covered_until_ns + watch->trigger->window_us * 1000)
		return false;
	return own_us >= watch->trigger->stall_us && own_us >= WATCH_WORSE_TIMES * watch->own_peak_us;
}

void watch_note_own(struct watch *watch, uint64_t own_us)
{
	if (own_us != WATCH_NOT_KNOWN &&
	    (watch->own_peak_us == WATCH_NOT_KNOWN || own_us > watch->own_peak_us))
		watch->own_peak_us = own_us;
}

void watch_note_end(struct watch *watch, uint64_t observed_us, uint64_t own_us, uint64_t now_ns)
{
	uint32_t shorter;

	if (watch_is_captured(watch, now_ns)) {
		watch->covered_until_ns = now_ns;
		watch->quiet_until_ns = now_ns + watch->rule->cooldown_ns;
	}
	if (own_us == WATCH_NOT_KNOWN)
		return;
	if (own_us >= observed_us / WATCH_LITTLE) {
		watch->of_others = 0;
		return;
	}
	shorter = watch->of_others < WATCH_SHORTER_BITS ? WATCH_SHORTER_BITS - watch->of_others : 0;
	watch->of_others++;
	watch->quiet_until_ns = now_ns + (watch->rule->cooldown_ns >> shorter);
}

void watch_note_stall(struct watch *watch, uint64_t observed_us, uint64_t now_ns)
{
	uint64_t window_ns = watch->window.window_ns, since_us, seen_ns;

	if (watch_is_captured(watch, now_ns)) {
		watch->peak_us = observed_us > watch->peak_us ? observed_us : watch->peak_us;
		return;
	}
	/*
	 * The capture saw the first part of this window. The rest was stalled for as long as it lasts, at most: what exceeds
	 * that lies in the first part. As soon as the window is full of one even stall, this tells how strong that was within the
	 * capture, which may have ended before.
	 */
	since_us = (now_ns - watch->covered_until_ns) / 1000;
	seen_ns = window_ns - since_us * 1000;
	if (since_us * 1000 > window_ns || seen_ns < window_ns / SEEN_PART || observed_us <= since_us)
		return;
	observed_us = (uint64_t)((double)(observed_us - since_us) * (double)window_ns / (double)seen_ns);
	watch->peak_us = observed_us > watch->peak_us ? observed_us : watch->peak_us;
}

void watch_suppress(struct watch *watch)
{
	watch->suppressed++;
	watch->suppressed_all++;
}

void watch_cool_down(struct watch *watch, uint64_t observed_us, uint64_t own_us, uint64_t now_ns)
{
	watch->extensions = watch_is_quiet(watch, now_ns) ? watch->extensions + 1 : 0;
	/* it was left alone for a whole cooldown */
	if (now_ns >= watch->quiet_until_ns + watch->rule->cooldown_ns)
		watch->of_others = 0;
	watch->suppressed = 0;
	watch->peak_us = observed_us;
	watch->own_peak_us = own_us;
	watch->covered_until_ns = now_ns + watch->rule->capture_ns;
	watch->quiet_until_ns = watch->covered_until_ns + watch->rule->cooldown_ns;
}

int watch_read(const struct watch *watch, uint64_t *ret_total_us)
{
	struct psi_totals totals;
	int result = psi_read(watch->fd, &totals);

	if (result < 0)
		return result;
	if (!totals.has[watch->trigger->kind])
		return -ENOTSUP;
	*ret_total_us = totals.us[watch->trigger->kind];
	return 0;
}

void watch_note_refusal(struct watch *watch, const char *format, ...)
{
	va_list arguments;

	free(watch->refusal);
	va_start(arguments, format);
	if (vasprintf(&watch->refusal, format, arguments) < 0)
		watch->refusal = NULL;
	va_end(arguments);
}

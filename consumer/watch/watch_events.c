/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/watch/watch_events.h"

#include "common/system/log.h"

#include <sys/epoll.h>

/*
 * A watch with a kernel trigger needs its total now and then only: to compute `observed_us`, and to recognise
 * a spurious event. It is read as often as the others while its capture is under way, to know what that sees, and while the
 * stall exceeds its threshold.
 */
#define KERNEL_READ_SECONDS 4

/*
 * The kernel looks at an unprivileged trigger every 2 s, and fires once a window (PSI_FREQ and update_triggers() in
 * kernel/sched/psi.c). It looks from a worker. If somebody reads the file after the 2 s are over and before the worker runs,
 * psi_show() begins the next 2 s, and the worker does not look: a program that reads the file a hundred times a second silences its
 * triggers. So a stall fires without the kernel if each read in a window and two looks finds it above the threshold.
 */
#define KERNEL_LOOK_NS (2 * CLOCK_SECOND_NS)

/* Returns false, and closes the watch, if its total cannot be read any more. */
static bool read_total(struct watches *watches, struct watch *watch, uint64_t *ret_total_us)
{
	if (watch_read(watch, ret_total_us) >= 0)
		return true;
	watches_let_go(watches, watch);
	return false;
}

/* Whether it is time to read the total of the watch at this position. */
static bool is_due(const struct watches *watches, uint32_t position, uint64_t now_ns)
{
	const struct watch *watch = watches->watches[position];

	return watch->mode != TRIGGER_KERNEL || watch->over_reads || watch_is_captured(watch, now_ns) ||
	       !((position + watches->ticks) % KERNEL_READ_SECONDS);
}

/*
 * Counts reads, not time: reads are a second apart or more, so a daemon that was held up does not take its own delay for the
 * kernel's.
 */
static bool kernel_is_late(const struct watch *watch)
{
	return watch->over_reads * CLOCK_SECOND_NS > watch->window.window_ns + 2 * KERNEL_LOOK_NS;
}

/* At most once a window, as the kernel does. */
static bool may_fire(const struct watch *watch, uint64_t now_ns)
{
	return !watch->fired_ns || now_ns - watch->fired_ns >= watch->window.window_ns;
}

static void say_late(struct watches *watches, const struct watch *watch)
{
	if (log_allowed(&watches->late_limit, 1))
		log_warning(
			"rule %s: the kernel did not report %s.%s of %s in time: another program reads its file all the time, or the kernel's workers get no CPU; bourdond's own reads fire instead",
			watch->rule->name, psi_resource_names[watch->trigger->resource],
			psi_kind_names[watch->trigger->kind], watch->cgroup ? watch->cgroup : "the system");
}

void watch_events_tick(struct watches *watches, uint64_t now_ns, watch_fired fired, void *user)
{
	watches->ticks++;
	for (uint32_t i = 0; i < watches->count; i++) {
		struct watch *watch = watches->watches[i];
		uint64_t total_us, grown_us;

		if (watch->fd < 0 || watch->gone || !is_due(watches, i, now_ns) ||
		    !read_total(watches, watch, &total_us))
			continue;
		grown_us = psi_window_growth(&watch->window, 1, now_ns, total_us);
		psi_window_add(&watch->window, now_ns, total_us);
		watch_note_stall(watch, grown_us, now_ns);
		watch->over_reads = grown_us < watch->trigger->stall_us ? 0 : watch->over_reads + 1;
		if (!watch->over_reads || (watch->mode == TRIGGER_KERNEL && !kernel_is_late(watch)) ||
		    !may_fire(watch, now_ns))
			continue;
		if (watch->mode == TRIGGER_KERNEL) {
			watches->late++;
			say_late(watches, watch);
		}
		watch->fired_ns = now_ns;
		watch->fired_by = TRIGGER_SAMPLED;
		watch->fired++;
		fired(user, watch, grown_us);
	}
}

void watch_events_handle(struct watches *watches, struct watch *watch, uint32_t events, uint64_t now_ns,
			 watch_fired fired, void *user)
{
	uint64_t total_us, grown_us;

	if (events & EPOLLERR)
		watches_let_go(watches, watch);
	watch->over_reads = 0;
	if (watch->gone || !read_total(watches, watch, &total_us))
		return;
	/*
	 * The kernel checks an unprivileged trigger every 2 s only, so the window that crossed the threshold
	 * may have ended before this event: compare the most that two windows can have grown. The kernel may
	 * also fire once when a trigger is armed, without any stall: that event is spurious.
	 */
	if (psi_window_growth_most(&watch->window, 2, now_ns, total_us) < watch->trigger->stall_us) {
		watches->spurious++;
		return;
	}
	grown_us = psi_window_growth(&watch->window, 1, now_ns, total_us);
	psi_window_add(&watch->window, now_ns, total_us);
	watch_note_stall(watch, grown_us, now_ns);
	if (!may_fire(watch, now_ns))
		return; /* it is late: a read has fired */
	watch->fired_by = TRIGGER_KERNEL;
	watch->fired++;
	fired(user, watch, grown_us > watch->trigger->stall_us ? grown_us : watch->trigger->stall_us);
}

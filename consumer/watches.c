/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/watches.h"

#include "common/array.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/log.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>

void watches_init(struct watches *watches, int epoll, const char *mount)
{
	*watches = (struct watches){ .epoll = epoll, .mount = mount };
}

static void free_watch(struct watch *watch)
{
	cleanup_close(&watch->fd); /* and so out of the epoll set */
	free(watch->cgroup);
	free(watch);
}

void watches_free(struct watches *watches)
{
	for (size_t i = 0; i < watches->count; i++)
		free_watch(watches->watches[i]);
	free(watches->watches);
	*watches = (struct watches){ 0 };
}

/* The root cgroup's files say the same as /proc/pressure, which ProcSubset=pid hides. */
static int open_pressure(const struct watches *watches, const struct watch *watch, int flags)
{
	const char *resource = psi_resource_names[watch->trigger->resource];
	char path[PATH_MAX];
	int fd;

	if (watch->cgroup) {
		snprintf(path, sizeof(path), "%s%s/%s.pressure", watches->mount, watch->cgroup, resource);
		fd = open(path, flags | O_CLOEXEC);
		return fd < 0 ? -errno : fd;
	}
	snprintf(path, sizeof(path), "/proc/pressure/%s", resource);
	fd = open(path, flags | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT) {
		snprintf(path, sizeof(path), "%s/%s.pressure", watches->mount, resource);
		fd = open(path, flags | O_CLOEXEC);
	}
	return fd < 0 ? -errno : fd;
}

/* A kernel trigger: anyone's for the system's files and windows of a multiple of two seconds. */
static int arm(struct watches *watches, struct watch *watch)
{
	struct epoll_event event = { .events = EPOLLPRI, .data.ptr = watch };
	_cleanup_close_ int fd = open_pressure(watches, watch, O_RDWR | O_NONBLOCK);
	int result;

	if (fd < 0)
		return fd;
	result = psi_arm(fd, watch->trigger->kind, watch->trigger->stall_us, watch->trigger->window_us);
	if (result < 0)
		return result;
	if (epoll_ctl(watches->epoll, EPOLL_CTL_ADD, fd, &event))
		return -errno;
	watch->mode = TRIGGER_KERNEL;
	watch->fd = TAKE_FD(fd);
	return 0;
}

static int open_watch(struct watches *watches, struct watch *watch)
{
	struct psi_totals totals;
	int result = arm(watches, watch);

	if (result < 0) {
		watch->mode = TRIGGER_SAMPLED;
		watch->fd = open_pressure(watches, watch, O_RDONLY);
		if (watch->fd < 0)
			return watch->fd;
	}
	psi_window_begin(&watch->window, watch->trigger->window_us);
	result = psi_read(watch->fd, &totals);
	if (result < 0)
		return result;
	if (!totals.has[watch->trigger->kind])
		return -ENOTSUP;
	psi_window_add(&watch->window, clock_monotonic_ns(), totals.us[watch->trigger->kind]);
	return 0;
}

static bool is_watched(const struct watches *watches, const struct trigger *trigger, uint64_t cgroup_id)
{
	for (size_t i = 0; i < watches->count; i++)
		if (watches->watches[i]->trigger == trigger && watches->watches[i]->cgroup_id == cgroup_id &&
		    !watches->watches[i]->gone)
			return true;
	return false;
}

static bool cgroup_exists(const struct watches *watches, const char *cgroup)
{
	char path[PATH_MAX];
	struct stat at;

	snprintf(path, sizeof(path), "%s%s", watches->mount, cgroup);
	return !stat(path, &at);
}

static int add_watch(struct watches *watches, const struct rule *rule, const struct trigger *trigger,
		     uint64_t cgroup_id, const char *cgroup)
{
	struct watch *watch;
	int result;

	if (array_make_room(watches->watches, watches->count, watches->room, 1U))
		return -ENOMEM;
	watch = calloc(1, sizeof(*watch));
	if (!watch)
		return -ENOMEM;
	*watch = (struct watch){ .rule = rule, .trigger = trigger, .cgroup_id = cgroup_id, .fd = -EBADF };
	watch->cgroup = cgroup ? strdup(cgroup) : NULL;
	if (cgroup && !watch->cgroup) {
		free_watch(watch);
		return -ENOMEM;
	}
	result = open_watch(watches, watch);
	if (result < 0 && cgroup && !cgroup_exists(watches, cgroup)) {
		free_watch(watch); /* it was removed meanwhile */
		return 0;
	}
	if (result < 0) {
		/* kept, though it watches nothing: so it is not tried and logged at each new process */
		log_warning("rule %s cannot watch %s.%s of %s: %s", rule->name,
			    psi_resource_names[trigger->resource], psi_kind_names[trigger->kind],
			    cgroup ? cgroup : "the system",
			    result == -EOPNOTSUPP ? "PSI is off; boot with psi=1" : strerror(-result));
		cleanup_close(&watch->fd);
		watch->fd = -EBADF;
	}
	watches->watches[watches->count++] = watch;
	return 0;
}

int watches_add(struct watches *watches, const struct rule *rule, uint64_t cgroup_id, const char *cgroup)
{
	int result = 0;

	for (size_t i = 0; i < rule->triggers_count && !result; i++)
		if (!is_watched(watches, &rule->triggers[i], cgroup_id))
			result = add_watch(watches, rule, &rule->triggers[i], cgroup_id, cgroup);
	return result;
}

/* For a removed cgroup poll reports an error for ever: it is out of the set before it is freed. */
static void lose(struct watches *watches, struct watch *watch)
{
	if (watch->mode == TRIGGER_KERNEL)
		epoll_ctl(watches->epoll, EPOLL_CTL_DEL, watch->fd, NULL);
	watch->gone = watches->any_gone = true;
}

/* Reads the total; false when there is none any more. */
static bool read_total(struct watches *watches, struct watch *watch, uint64_t *ret_total_us)
{
	struct psi_totals totals;

	if (psi_read(watch->fd, &totals) < 0 || !totals.has[watch->trigger->kind]) {
		lose(watches, watch);
		return false;
	}
	*ret_total_us = totals.us[watch->trigger->kind];
	return true;
}

void watches_sweep(struct watches *watches)
{
	size_t kept = 0;

	if (!watches->any_gone)
		return;
	for (size_t i = 0; i < watches->count; i++) {
		if (watches->watches[i]->gone)
			free_watch(watches->watches[i]);
		else
			watches->watches[kept++] = watches->watches[i];
	}
	watches->count = kept;
	watches->any_gone = false;
}

void watches_tick(struct watches *watches, uint64_t now_ns, watch_fired fired, void *user)
{
	for (size_t i = 0; i < watches->count; i++) {
		struct watch *watch = watches->watches[i];
		uint64_t total_us, grown_us;

		if (watch->fd < 0 || watch->gone || !read_total(watches, watch, &total_us))
			continue;
		grown_us = psi_window_growth(&watch->window, 1, now_ns, total_us);
		psi_window_add(&watch->window, now_ns, total_us);
		if (watch->mode == TRIGGER_SAMPLED && grown_us >= watch->trigger->stall_us)
			fired(user, watch, grown_us);
	}
}

void watches_event(struct watches *watches, struct watch *watch, uint32_t events, uint64_t now_ns,
		   watch_fired fired, void *user)
{
	uint64_t total_us, grown_us;

	if (events & EPOLLERR)
		lose(watches, watch);
	if (watch->gone || !read_total(watches, watch, &total_us))
		return;
	/*
	 * The kernel looks at an unprivileged trigger every two seconds only, so that the window that fired
	 * may have ended a while ago; it may also fire once, at its start, over nothing. What it crossed, it
	 * saw.
	 */
	if (psi_window_growth(&watch->window, 2, now_ns, total_us) < watch->trigger->stall_us) {
		watches->spurious++;
		return;
	}
	grown_us = psi_window_growth(&watch->window, 1, now_ns, total_us);
	fired(user, watch, grown_us > watch->trigger->stall_us ? grown_us : watch->trigger->stall_us);
}

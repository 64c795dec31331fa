/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/rules/config_watch.h"

#include "common/base/cleanup.h"

#include <libgen.h>
#include <string.h>
#include <sys/inotify.h>

/*
 * In a parent directory, any name may be a symbolic link on the way to the configuration, so every change
 * there may matter.
 */
#define ABOVE (IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO)
#define WITHIN (ABOVE | IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF)

/*
 * A bounded number of reads: others may change files faster than the events are read. The rest makes the
 * descriptor readable again.
 */
#define READS_A_CALL 16

static void watch_above(const struct config_watch *watch, const char *path)
{
	_cleanup_free_ char *copy = strdup(path);

	if (copy)
		inotify_add_watch(watch->inotify, dirname(copy), ABOVE | IN_ONLYDIR | IN_MASK_ADD);
}

/*
 * Called again after each change: the path may lead to another file then. Adding an existing watch again
 * changes nothing.
 */
static void watch_all(const struct config_watch *watch)
{
	watch_above(watch, watch->config);
	watch_above(watch, watch->rules_dir);
	inotify_add_watch(watch->inotify, watch->config, WITHIN | IN_MASK_ADD);
	inotify_add_watch(watch->inotify, watch->rules_dir, WITHIN | IN_ONLYDIR | IN_MASK_ADD);
}

int config_watch_open(struct config_watch *ret_watch, const char *config, const char *rules_dir)
{
	struct config_watch watch = { config, rules_dir, inotify_init1(IN_NONBLOCK | IN_CLOEXEC) };

	if (watch.inotify < 0)
		return -errno;
	watch_all(&watch);
	*ret_watch = watch;
	return 0;
}

void config_watch_close(struct config_watch *watch)
{
	cleanup_close(&watch->inotify);
}

bool config_watch_read(struct config_watch *watch)
{
	char events[4096] __attribute__((aligned(8)));
	bool matters = false;

	for (int i = 0; i < READS_A_CALL; i++) {
		ssize_t bytes = read(watch->inotify, events, sizeof(events));

		if (bytes <= 0)
			break;
		for (char *at = events; at < events + bytes;) {
			const struct inotify_event *event = (const struct inotify_event *)at;

			matters |= !(event->mask & IN_IGNORED);
			at += sizeof(*event) + event->len;
		}
	}
	if (matters)
		watch_all(watch);
	return matters;
}

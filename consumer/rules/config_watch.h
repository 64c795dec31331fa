/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * config_watch.h owns noticing that the configuration may have changed: a file written, renamed over, added
 * or removed, a directory or a link on the way replaced.
 */
#ifndef BOURDON_CONSUMER_RULES_CONFIG_WATCH_H
#define BOURDON_CONSUMER_RULES_CONFIG_WATCH_H

#include <stdbool.h>

struct config_watch {
	const char *config, *rules_dir; /* the caller's */
	int inotify;
};

/* 0 or -errno. What is not there yet is noticed when it comes, as long as the directory above it is there. */
int config_watch_open(struct config_watch *ret_watch, const char *config, const char *rules_dir);
void config_watch_close(struct config_watch *watch);

/* Takes what happened. Whether any of it may matter. */
bool config_watch_read(struct config_watch *watch);

#endif

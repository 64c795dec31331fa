/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * config_watch.h owns the inotify watches that notice a change of the configuration: a file that is written,
 * renamed, added or removed, or a directory or link on its path that is replaced.
 */
#ifndef BOURDON_CONSUMER_RULES_CONFIG_WATCH_H
#define BOURDON_CONSUMER_RULES_CONFIG_WATCH_H

#include <stdbool.h>

struct config_watch {
	const char *config, *rules_dir; /* owned by the caller */
	int inotify;
};

/* 0 or -errno. A missing file is noticed when it appears, as long as its parent directory exists. */
int config_watch_open(struct config_watch *ret_watch, const char *config, const char *rules_dir);
void config_watch_close(struct config_watch *watch);

/* Reads the pending events. Returns whether one of them may concern the configuration. */
bool config_watch_read(struct config_watch *watch);

#endif

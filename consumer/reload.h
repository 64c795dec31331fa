/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * reload.h owns the configuration in force and its replacement. It notices changes, waits until the files
 * have settled, has them read, and keeps the old configuration if the new one has mistakes. A replaced
 * configuration stays in memory while a capture uses its rules. For the draining thread.
 */
#ifndef BOURDON_CONSUMER_RELOAD_H
#define BOURDON_CONSUMER_RELOAD_H

#include "consumer/process/own_counters.h"
#include "consumer/rules/config_watch.h"
#include "consumer/rules/configuration.h"

#include <stdbool.h>
#include <stdint.h>

/* Callbacks of the owner of a reload. */
struct reload_actions {
	/* Starts to read the configuration, without waiting. The result comes to reload_finish(). */
	void (*read)(void *user, uint64_t now_ns);
	/* Puts this configuration into force. Returns 0, or -errno: then the old one stays in force. */
	int (*follow)(void *user, const struct configuration *configuration);
	/* True while something still refers to this configuration's rules. */
	bool (*is_used)(void *user, const struct configuration *configuration);
	void *user;
};

struct reload {
	struct reload_actions actions;
	struct own_counters *own_counters;
	struct configuration *in_force;
	struct retired_configuration *retired; /* replaced configurations, the newest first */
	struct config_watch watch;
	uint64_t first_changed_ns; /* first change that has not been read yet; 0: none */
	uint64_t changed_ns;       /* last change */
	bool asked;                /* a reload is requested and has not begun */
	bool under_way;
	bool answers;                  /* the one under way was requested, not caused by a change */
	char mistake[512];             /* why the last reload was refused; empty: it was not */
	struct config_errors mistakes; /* all mistakes, if the last reload was refused */
};

/* Takes ownership of the configuration, which is in force. Does not notice changes yet. */
void reload_init(struct reload *reload, const struct reload_actions *actions,
		 struct configuration *configuration, struct own_counters *own_counters);

/* Begins to watch the paths of `where`, which outlives it. Returns 0 or -errno. */
int reload_watch(struct reload *reload, const struct settings *where);

/* Frees all configurations. Accepts a zeroed structure. */
void reload_close(struct reload *reload);

/* Readable when a path changed: then call reload_read_changes(). Negative if changes are not noticed. */
int reload_fd(const struct reload *reload);
void reload_read_changes(struct reload *reload, uint64_t now_ns);

/*
 * Notes a change of a file. The configuration is read once no file has changed for a moment, after 5 s at the
 * latest.
 */
void reload_note_change(struct reload *reload, uint64_t now_ns);

/* SIGHUP: reads the configuration now, changed or not. */
void reload_ask(struct reload *reload, uint64_t now_ns);

/*
 * Begins a reload that is due, unless one is under way. Call it once a second, and after each
 * reload_finish().
 */
void reload_when_due(struct reload *reload, uint64_t now_ns);

/*
 * Handles what was read: a configuration, or NULL and mistakes. Takes ownership of both. Returns true if the
 * configuration is in force now, which the caller logs; logs every other result.
 */
bool reload_finish(struct reload *reload, struct configuration *configuration, struct config_errors *errors);

/* Frees the replaced configurations that nothing uses. */
void reload_sweep(struct reload *reload);

#endif

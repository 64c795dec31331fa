/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * reload.h owns the configuration that is in force, and how another one takes its place: it notices changes,
 * waits until they have settled, has the configuration read, and keeps the old one where the new one has
 * mistakes. A configuration that was replaced lives on while a capture uses its rules. For the draining thread.
 */
#ifndef BOURDON_CONSUMER_RELOAD_H
#define BOURDON_CONSUMER_RELOAD_H

#include "consumer/process/own_counters.h"
#include "consumer/rules/config_watch.h"
#include "consumer/rules/configuration.h"

#include <stdbool.h>
#include <stdint.h>

/* What the owner does for a reload. */
struct reload_actions {
	/* Has the configuration read, without waiting. The result comes to reload_finish(). */
	void (*read)(void *user, uint64_t now_ns);
	/* Makes everything follow this configuration. 0 or -errno: then everything follows the old one. */
	int (*follow)(void *user, const struct configuration *configuration);
	/* Whether something still refers to this configuration's rules. */
	bool (*is_used)(void *user, const struct configuration *configuration);
	void *user;
};

struct reload {
	struct reload_actions actions;
	struct own_counters *own_counters;
	struct configuration *in_force;
	struct retired_configuration *retired; /* replaced, the youngest first */
	struct config_watch watch;
	uint64_t first_changed_ns; /* a file changed, and was not read since; 0: none */
	uint64_t changed_ns;       /* when one changed last */
	bool asked;                /* for one that has not begun */
	bool under_way;
	bool answers;                  /* the one under way was asked for */
	char mistake[512];             /* for which the last one was refused; empty: it was not */
	struct config_errors mistakes; /* all mistakes of the last one that was refused */
};

/* Takes the configuration over: it is in force. Notices no changes yet. */
void reload_init(struct reload *reload, const struct reload_actions *actions,
		 struct configuration *configuration, struct own_counters *own_counters);

/* Begins to notice changes at the paths of `where`, which outlives it. 0 or -errno. */
int reload_watch(struct reload *reload, const struct settings *where);

/* Frees all configurations. Accepts one of zeros. */
void reload_close(struct reload *reload);

/* Readable where something changed: then reload_read_changes(). Negative where no changes are noticed. */
int reload_fd(const struct reload *reload);
void reload_read_changes(struct reload *reload, uint64_t now_ns);

/* A file of the configuration changed: it is read once no more of them change, or in 5 s at the latest. */
void reload_note_change(struct reload *reload, uint64_t now_ns);

/* SIGHUP: it is read now, whether it changed or not. */
void reload_ask(struct reload *reload, uint64_t now_ns);

/* Begins a reload that is due, unless one is under way. Once a second, and after each reload_finish(). */
void reload_when_due(struct reload *reload, uint64_t now_ns);

/*
 * What was read: a configuration, or NULL and mistakes. Takes both over. Logs what becomes of it, except that
 * it is in force, which is the caller's to say where it returns true.
 */
bool reload_finish(struct reload *reload, struct configuration *configuration, struct config_errors *errors);

/* Frees the replaced configurations that nothing uses. */
void reload_sweep(struct reload *reload);

#endif

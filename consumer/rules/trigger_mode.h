/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trigger_mode.h owns the ways in which a trigger is watched, and their names in status and database.
 */
#ifndef BOURDON_CONSUMER_RULES_TRIGGER_MODE_H
#define BOURDON_CONSUMER_RULES_TRIGGER_MODE_H

enum trigger_mode {
	TRIGGER_KERNEL,   /* the kernel watches the pressure file */
	TRIGGER_SAMPLED,  /* bourdond reads it once a second; of a capture: one of its reads fired */
	TRIGGER_MANUAL,   /* somebody asked for the capture: there is no trigger */
	TRIGGER_BASELINE, /* a calm rule's capture of history alone: there is no trigger */
	TRIGGER_KILL,     /* a process of a rule with on_kill was killed for lack of memory */
	TRIGGER_MODES
};
extern const char *const trigger_mode_names[TRIGGER_MODES];

#endif

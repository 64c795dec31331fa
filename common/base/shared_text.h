/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * shared_text.h owns texts of which there are many equal ones, such as the paths of cgroups in the captures that are in
 * memory: each is there once, and counts its owners. One thread makes them, all may end them, and neither waits for
 * the other: what has no owner stays until the thread that makes them sweeps.
 */
#ifndef BOURDON_COMMON_BASE_SHARED_TEXT_H
#define BOURDON_COMMON_BASE_SHARED_TEXT_H

/* Returns a text that equals this one, for one more owner. NULL if there is no memory, or for NULL. */
const char *shared_text_new(const char *text);

/* Ends an ownership. Accepts NULL. */
void shared_text_free(const char *text);

/* Frees the texts without an owner. Only for the thread that makes texts; it happens by itself when there are many. */
void shared_text_sweep(void);

#endif

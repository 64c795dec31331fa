/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unwind_room.h decides whose unwind tables make room for another file's: those that nobody needs, then those that are used least,
 * then those of a user who has most. For the worker thread.
 */
#ifndef BOURDON_CONSUMER_UNWIND_UNWIND_ROOM_H
#define BOURDON_CONSUMER_UNWIND_UNWIND_ROOM_H

#include "consumer/unwind/unwind_module.h"
#include "consumer/unwind/unwind_pass.h"

/*
 * Makes room for a file that unwind_space has just refused with -ENOSPC. Returns whether there will be some, once kernel programs
 * do not read what was taken any more (unit_map.h).
 */
bool unwind_room_make(struct unwind_modules *modules, struct unwind_pass *pass,
		      const struct unwind_module *module);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * grant_pins.h owns the look-ups by which bourdon-grant decides whose files it may hand out: in the targets
 * map, which only the in-kernel programs write, and in root's policy, which is frozen. It calls bpf(2)
 * directly: linking libbpf would bring an ELF parser and a decompressor into a root process for three system
 * calls.
 */
#ifndef BOURDON_LOADER_GRANT_GRANT_PINS_H
#define BOURDON_LOADER_GRANT_GRANT_PINS_H

#include "common/protocol/pins.h"

/*
 * Copies the element with this key into `ret_value`, which has `value_bytes` bytes. 0, -ESRCH where there is no such
 * element, -EBADMSG where the pin is not the map that this binary knows, or -errno of opening the pin.
 */
int grant_pins_look_up(const char *pin_dir, enum pin_map pin, const __u32 *key, void *ret_value,
		       size_t value_bytes);

/*
 * Has the programs look at every process of the machine: they remove those from the targets map that policy
 * denies by now. 0 or -errno.
 */
int grant_pins_walk(const char *pin_dir);

#endif

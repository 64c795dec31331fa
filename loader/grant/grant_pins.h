/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * grant_pins.h owns asking the kernel's maps whose files may be handed out: the targets, which only the
 * in-kernel programs write, and root's policy, which nobody does. By bpf(2) itself: libbpf would bring an ELF
 * parser and decompression into a process that is root, for three system calls.
 */
#ifndef BOURDON_LOADER_GRANT_GRANT_PINS_H
#define BOURDON_LOADER_GRANT_GRANT_PINS_H

#include "common/pins.h"

/*
 * The element of that key, into as many bytes as pin_maps says a value has. 0, -ESRCH where there is none,
 * -EBADMSG where the pin is another map than this binary knows, or -errno of opening it.
 */
int grant_pins_look_up(const char *pin_dir, enum pin_map pin, const __u32 *key, void *ret_value);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * grant_targets.h owns asking the kernel whether a process is a target: by the pinned map that only the
 * in-kernel programs write. By bpf(2) itself: libbpf would bring an ELF parser and decompression into a
 * process that is root, for three system calls.
 */
#ifndef BOURDON_LOADER_GRANT_TARGETS_H
#define BOURDON_LOADER_GRANT_TARGETS_H

#include "common/abi.h"

/*
 * 0, -ESRCH for a process that is no target, -EBADMSG where the pin is another map than this binary knows, or
 * -errno of opening it.
 */
int grant_targets_find(const char *pin_dir, __u32 tgid, struct target *ret_target);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hotspot.h finds in libjvm.so what the kernel programs need to unwind code that HotSpot compiled (abi.h,
 * unwind_hotspot). HotSpot describes its own structures to debuggers in two exported tables, gHotSpotVMStructs and
 * gHotSpotVMTypes (runtime/vmStructs.hpp). The file may be anything: whatever it says is checked.
 */
#ifndef BOURDON_COMMON_SYMBOLIZER_HOTSPOT_H
#define BOURDON_COMMON_SYMBOLIZER_HOTSPOT_H

#include "common/abi/abi.h"

#include <stdbool.h>

/*
 * SYMBOLIZER: returns false if the file does not have all of it, and sets *ret_hotspot to zeros. Releases before JDK 9, which had one
 * heap for all code, do not. The descriptor stays the caller's.
 */
bool hotspot_find(int elf_fd, struct unwind_hotspot *ret_hotspot);

/* CONSUMER: true if it is all zeros, or each number is in its range. */
bool hotspot_is_valid(const struct unwind_hotspot *hotspot);

#endif

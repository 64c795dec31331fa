/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dwarf_frames.h reads DWARF for an address: the function whose code is there, the functions inlined into it,
 * and the source places of all of them.
 */
#ifndef BOURDON_COMMON_SYMBOLIZER_DWARF_FRAMES_H
#define BOURDON_COMMON_SYMBOLIZER_DWARF_FRAMES_H

#include "common/symbolizer/protocol.h"
#include "common/symbolizer/source_frame.h"
#include "common/symbolizer/span.h"

#include <elfutils/libdw.h>

struct dwarf_frames;

/* SYMBOLIZER: returns NULL if out of memory. The caller frees it before the Dwarf. */
struct dwarf_frames *dwarf_frames_new(Dwarf *dwarf);
void dwarf_frames_free(struct dwarf_frames *frames);

/*
 * SYMBOLIZER: finds the functions at the address, outermost first, by their linkage names, if they have any. The
 * place of the innermost is the address itself, that of each other its call of the next. Returns their number. If
 * it is 0, `ret_frames[0]` has the place only. Narrows the span to addresses where it finds the same.
 */
uint32_t dwarf_frames_find(struct dwarf_frames *frames, uint64_t address,
			   struct source_frame ret_frames[SYMBOLIZE_DEPTH], struct span *span);

#endif

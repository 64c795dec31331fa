/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dwarf_frames.h owns what DWARF says of an address: which function's code is there, which others were
 * inlined into it, and the source places of all of them.
 */
#ifndef BOURDON_SYMBOLIZER_DWARF_FRAMES_H
#define BOURDON_SYMBOLIZER_DWARF_FRAMES_H

#include "consumer/symbolizer/protocol.h"

#include <elfutils/libdw.h>

struct dwarf_frames;

/* SYMBOLIZER: the caller frees, before it ends the Dwarf. NULL without memory. */
struct dwarf_frames *dwarf_frames_new(Dwarf *dwarf);
void dwarf_frames_free(struct dwarf_frames *frames);

struct dwarf_frame {
	const char *name; /* as the linker knows it, else as its author does; or NULL. Valid as long as the
			     Dwarf. */
	uint64_t begins;  /* the piece of its code that the address is in */
	const char *file; /* NULL: not known */
	uint32_t line;
};

/*
 * SYMBOLIZER: the functions at the address, the real one first, each with its place: the innermost's is where
 * the address is, another's is where it calls the next. Returns their number; with 0 the first of
 * `ret_frames` has the place alone.
 */
uint32_t dwarf_frames_find(struct dwarf_frames *frames, uint64_t address,
			   struct dwarf_frame ret_frames[SYMBOLIZE_DEPTH]);

#endif

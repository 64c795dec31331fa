/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dwarf_frames.h reads DWARF for an address: the function whose code is there, the functions inlined into it,
 * and the source places of all of them.
 */
#ifndef BOURDON_SYMBOLIZER_DWARF_FRAMES_H
#define BOURDON_SYMBOLIZER_DWARF_FRAMES_H

#include "consumer/symbolizer/protocol.h"

#include <elfutils/libdw.h>

struct dwarf_frames;

/* SYMBOLIZER: returns NULL if out of memory. The caller frees it before the Dwarf. */
struct dwarf_frames *dwarf_frames_new(Dwarf *dwarf);
void dwarf_frames_free(struct dwarf_frames *frames);

struct dwarf_frame {
	const char *name; /* linkage name, or source name, or NULL; valid as long as the Dwarf */
	uint64_t begins;  /* start of the code range that contains the address */
	const char *file; /* NULL: unknown */
	uint32_t line;
};

/*
 * SYMBOLIZER: finds the functions at the address, outermost first. The place of the innermost is the address
 * itself, that of each other its call of the next. Returns their number. If it is 0, `ret_frames[0]` has the
 * place only.
 */
uint32_t dwarf_frames_find(struct dwarf_frames *frames, uint64_t address,
			   struct dwarf_frame ret_frames[SYMBOLIZE_DEPTH]);

#endif

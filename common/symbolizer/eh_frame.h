/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * eh_frame.h reads the entries of an .eh_frame section (Linux Standard Base, Core, 10.6), or of .debug_frame (DWARF 5, 6.4.1), in one
 * pass, with no look back at what other entries say but the one that a function's entry refers to.
 */
#ifndef BOURDON_COMMON_SYMBOLIZER_EH_FRAME_H
#define BOURDON_COMMON_SYMBOLIZER_EH_FRAME_H

#include "common/symbolizer/call_frames.h"

struct eh_frame {
	const uint8_t *section; /* the caller's */
	size_t bytes;
	uint64_t address; /* virtual, of the section */
	bool is_debug_frame;
};

/* The caller's: what to do at the begin of a function. A result other than 0 ends the reading. */
typedef int eh_frame_begin(void *user, uint64_t begins);

/*
 * Calls `begin` for each function, and then `add` as call_frames_execute() does. Leaves out entries whose
 * addresses are in an unsupported encoding, or whose common entry is invalid: their code gets no rules. Ends at an
 * entry without bytes, as the unwinder of libgcc does, or at one that is longer than what is left. Returns 0 or
 * the result of a callback.
 */
int eh_frame_read(const struct eh_frame *frame, eh_frame_begin *begin, call_frames_add *add, void *user);

#endif

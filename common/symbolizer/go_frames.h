/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * go_frames.h makes unwind rules of .gopclntab, for Go writes no .eh_frame: of each function, how far the stack pointer is below
 * the return address. The functions of Go's runtime that move to another stack get rules of their own, with what their machine
 * code says of the runtime's structures, which differ by release.
 */
#ifndef BOURDON_COMMON_SYMBOLIZER_GO_FRAMES_H
#define BOURDON_COMMON_SYMBOLIZER_GO_FRAMES_H

#include "common/symbolizer/eh_frame.h"
#include "common/symbolizer/go_functions.h"

#include <gelf.h>

/*
 * SYMBOLIZER: calls `begin` for each function of a Go program, and then `add` as call_frames_execute() does. A file that is none,
 * or whose table is older than Go 1.18 or damaged, has no such functions. Returns 0 or the result of a callback.
 */
int go_frames_read(Elf *elf, eh_frame_begin *begin, call_frames_add *add, void *user);

/* The same of a table at hand. */
int go_frames_read_functions(const struct go_functions *functions, eh_frame_begin *begin,
			     call_frames_add *add, void *user);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* source_frame.h defines what every reader of debugging information finds at an address: a function and a source place. */
#ifndef BOURDON_COMMON_SYMBOLIZER_SOURCE_FRAME_H
#define BOURDON_COMMON_SYMBOLIZER_SOURCE_FRAME_H

#include <stdint.h>

struct source_frame {
	const char *name; /* NULL: unknown. Valid as long as what it was read from */
	uint64_t begins;  /* start of the code range that contains the address */
	const char *file; /* NULL: unknown */
	uint32_t line;
};

#endif

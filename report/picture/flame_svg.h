/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flame_svg.h owns the picture of a flame graph as one SVG file: without script, link or font of its own, so that it can be
 * attached to a ticket. Each frame has a title, which viewers show where the pointer rests.
 */
#ifndef BOURDON_REPORT_PICTURE_FLAME_SVG_H
#define BOURDON_REPORT_PICTURE_FLAME_SVG_H

#include "report/picture/flame_tree.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct flame_picture {
	const struct flame_tree *tree;
	const int64_t *totals; /* of each node: what its frame and those within it have */
	bool is_time;          /* totals are ns of waiting; else samples */
	bool icicle;
	const char *title, *subtitle;
};

/* Returns 0 or -ENOMEM. The root's total is not 0. */
int flame_svg_write(FILE *out, const struct flame_picture *picture);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * onset.h tells when the stall of a capture began, by the waiting of its targets in the seconds before the trigger.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_ONSET_H
#define BOURDON_CONSUMER_CAPTURE_ONSET_H

#include "consumer/capture/capture.h"

struct onset {
	uint32_t before_s; /* whole seconds before the trigger; 0: not known */
	bool at_least;     /* the history does not reach back to the begin */
};

/*
 * A second belongs to the stall if the targets' threads waited for the resource in it for half as long as the trigger's
 * threshold wants. The stall is the unbroken row of such seconds that ends at the trigger. Takes time linear in the
 * rows. Without memory the onset is not known.
 */
struct onset onset_find(const struct capture *capture);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* live_text.h makes of a second's samples, whose frames have names, the lines that clients of `live` get (live_line.h). */
#ifndef BOURDON_CONSUMER_WORKER_LIVE_TEXT_H
#define BOURDON_CONSUMER_WORKER_LIVE_TEXT_H

#include "consumer/capture/capture.h"
#include "consumer/symbols/resolved.h"

/*
 * Stacks of one thread with the same functions are one line, whatever the addresses. `capture` has ended; its second begins
 * where trigger.triggered_ns and triggered_at say. Returns the text, which the caller frees; NULL without memory.
 */
char *live_text(const struct capture *capture, const struct resolved *resolved);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cause.h owns the verdict on a capture: why the resource that fired was short, with the numbers that show
 * it. docs/SCHEMA.md lists the rules. Where the numbers do not decide, the verdict is "undetermined".
 */
#ifndef BOURDON_CONSUMER_CAPTURE_CAUSE_H
#define BOURDON_CONSUMER_CAPTURE_CAUSE_H

#include "consumer/capture/cause_facts.h"

/* Judges a capture that has ended. NULL for `hottest`: no function is named. */
struct cause cause_find(const struct capture *capture, cause_hottest hottest, void *user);

#endif

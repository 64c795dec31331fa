/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cause_io.h owns the verdicts on pressure on disks. Each function returns one, or facts_no_verdict.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_CAUSE_IO_H
#define BOURDON_CONSUMER_CAPTURE_CAUSE_IO_H

#include "consumer/capture/cause_facts.h"

struct cause cause_io_shared(const struct facts *facts);
struct cause cause_io_refaults(const struct facts *facts);
struct cause cause_io_own(const struct facts *facts);
struct cause cause_io_device(const struct facts *facts);

#endif

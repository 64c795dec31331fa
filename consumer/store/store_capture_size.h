/* SPDX-License-Identifier: GPL-2.0-only */
/* store_capture_size.h estimates how much of the database a capture will take, before it is written. */
#ifndef BOURDON_CONSUMER_STORE_STORE_CAPTURE_SIZE_H
#define BOURDON_CONSUMER_STORE_STORE_CAPTURE_SIZE_H

#include "consumer/capture/capture.h"
#include "consumer/symbols/resolved.h"

#include <stdint.h>

/* In bytes: as many as it takes in a database without anything in common with it, to two and a half times as many. */
uint64_t store_capture_bytes(const struct capture *capture, const struct resolved *resolved);

#endif

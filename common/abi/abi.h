/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * abi.h has every record and map value that crosses between the in-kernel programs and user space: no other header is
 * included by both. Programs that run as root include only the parts that they need.
 * Room: types that kernel programs and user space share. Any program, any thread; nothing is called.
 */
#ifndef BOURDON_COMMON_ABI_ABI_H
#define BOURDON_COMMON_ABI_ABI_H

#include "common/abi/latency.h"
#include "common/abi/policy.h"
#include "common/abi/programs.h"
#include "common/abi/records.h"
#include "common/abi/samples.h"
#include "common/abi/sums.h"
#include "common/abi/targets.h"
#include "common/abi/unwind.h"

#endif

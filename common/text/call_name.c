/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/text/call_name.h"

#include "common/base/cleanup.h"
#include "policy/call_names.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const names[] = { CALL_NAMES };

const char *call_name(uint64_t number, char unknown[CALL_NAME_BYTES])
{
	if (number < ARRAY_SIZE(names) && names[number])
		return names[number];
	snprintf(unknown, CALL_NAME_BYTES, "syscall_%" PRIu64, number);
	return unknown;
}

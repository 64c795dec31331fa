/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/machine_bytes.h"

#include "common/base/numbers.h"

#include <stddef.h>

const char *const byte_part_names[BYTES_PARTS] = {
	[BYTES_TARGETS] = "targets",       [BYTES_OTHERS] = "others", [BYTES_SHORT_LIVED] = "short-lived",
	[BYTES_KERNEL] = "kernel threads", [BYTES_DISKS] = "disks",   [BYTES_UNACCOUNTED] = "unaccounted",
};

static void close_parts(int64_t parts[BYTES_PARTS], uint64_t of_disks)
{
	parts[BYTES_DISKS] = (int64_t)of_disks;
	parts[BYTES_UNACCOUNTED] = (int64_t)of_disks;
	for (size_t i = 0; i < BYTES_DISKS; i++)
		parts[BYTES_UNACCOUNTED] -= parts[i];
}

void machine_bytes_close(struct machine_bytes *bytes, const struct disk_bytes *before,
			 const struct disk_bytes *after)
{
	bytes->known = before->known && after->known;
	close_parts(bytes->read, growth(after->read, before->read));
	close_parts(bytes->written, growth(after->written, before->written));
}

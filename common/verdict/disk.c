/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/verdict/disk.h"

#define BUSY_PART 0.5
#define LATE_REQUEST_NS 10000000U
/* Less than any disk moves of large requests. */
#define LITTLE_BYTES_A_SECOND (4ULL << 20)

bool verdict_disk_is_busy(const struct verdict_disk *disk)
{
	return disk->span_ns && (double)disk->busy_ns >= BUSY_PART * (double)disk->span_ns;
}

bool verdict_disk_is_late(const struct verdict_disk *disk)
{
	return disk->requests && disk->wait_ns / disk->requests >= LATE_REQUEST_NS;
}

bool verdict_disk_is_slow(const struct verdict_disk *disk, uint64_t waited_ns, uint64_t span_ns)
{
	double span_s = (double)disk->span_ns / 1e9;

	if (!disk->requests)
		return verdict_disk_is_busy(disk);
	/* the spans differ: the disk is not known before the trigger */
	return verdict_disk_is_late(disk) && (double)disk->bytes < (double)LITTLE_BYTES_A_SECOND * span_s &&
	       (double)waited_ns * (double)disk->span_ns >= (double)disk->wait_ns * (double)span_ns / 2;
}

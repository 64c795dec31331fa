/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * machine_bytes.h owns the account of the bytes that were read and written in a capture's span: by whom, beside what the
 * disks counted.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_MACHINE_BYTES_H
#define BOURDON_CONSUMER_CAPTURE_MACHINE_BYTES_H

#include "common/kernel/disk_bytes.h"

/*
 * The kernel counts a read when a process sends it to a disk, and a write when a process changes a page of a file, or
 * sends it past the page cache. Pages that are written to the disk later, or never, are the difference.
 */
enum byte_part {
	BYTES_TARGETS,
	BYTES_OTHERS,
	BYTES_SHORT_LIVED, /* processes that began and ended between two walks, targets among them */
	BYTES_KERNEL,      /* kernel threads */
	BYTES_DISKS,       /* what the disks counted */
	BYTES_UNACCOUNTED, /* disks without all parts before; negative: pages that were not written yet */
	BYTES_PARTS,
};

extern const char *const byte_part_names[BYTES_PARTS];

struct machine_bytes {
	bool known;                                      /* false: /proc/diskstats could not be read */
	int64_t read[BYTES_PARTS], written[BYTES_PARTS]; /* the first four: set by the caller */
};

/* Computes the last two parts. A disk that was taken away meanwhile counts nothing. */
void machine_bytes_close(struct machine_bytes *bytes, const struct disk_bytes *before,
			 const struct disk_bytes *after);

#endif

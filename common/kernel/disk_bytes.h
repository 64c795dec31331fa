/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * disk_bytes.h reads what all disks of the machine have read and written, from /proc/diskstats
 * (Documentation/admin-guide/iostats.rst in the kernel's sources).
 */
#ifndef BOURDON_COMMON_KERNEL_DISK_BYTES_H
#define BOURDON_COMMON_KERNEL_DISK_BYTES_H

#include <stdbool.h>
#include <stdint.h>

/* Running sums. */
struct disk_bytes {
	bool known;
	uint64_t read, written;
};

/*
 * Adds up the lines of /proc/diskstats in `text`, each byte once: not partitions, which are part of the disk above
 * them, and not devices that pass requests on to others (device mapper, RAID, loop) or keep them in memory (ram, zram).
 */
struct disk_bytes disk_bytes_parse(const char *text);

/* Reads /proc/diskstats. Without it, the sums are not known. */
struct disk_bytes disk_bytes_read(void);

/* The text of /proc/diskstats, which the caller frees, or NULL. */
char *disk_lines_read(void);

#define DISK_NAME_BYTES 32

/* Writes the name that the text has for the disk, or returns false. `text` may be NULL. */
bool disk_name(const char *text, uint32_t major, uint32_t minor, char into[DISK_NAME_BYTES]);

#endif

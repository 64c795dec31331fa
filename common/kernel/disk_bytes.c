/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/kernel/disk_bytes.h"

#include "common/base/cleanup.h"
#include "common/system/files.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DISKSTATS_BYTES_MAX (4U << 20) /* some 100 bytes for each disk or partition */
#define SECTOR_BYTES 512U              /* on every disk */

/* "sda1" after "sda", "nvme0n1p2" after "nvme0n1" */
static bool is_partition(const char *name, const char *disk)
{
	size_t bytes = strlen(disk);
	const char *rest = name + bytes;

	if (!bytes || strncmp(name, disk, bytes))
		return false;
	rest += *rest == 'p';
	return *rest && !rest[strspn(rest, "0123456789")];
}

static bool has_own_bytes(const char *name)
{
	static const char *const passing_on[] = { "dm-", "md", "loop", "ram", "zram" };

	for (size_t i = 0; i < ARRAY_SIZE(passing_on); i++)
		if (!strncmp(name, passing_on[i], strlen(passing_on[i])))
			return false;
	return true;
}

struct disk_bytes disk_bytes_parse(const char *text)
{
	struct disk_bytes sums = { .known = true };
	char disk[32] = "", name[32];

	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		uint64_t read, written;

		line += *line == '\n';
		if (sscanf(line, "%*u %*u %31s %*u %*u %" SCNu64 " %*u %*u %*u %" SCNu64, name, &read,
			   &written) != 3 ||
		    is_partition(name, disk))
			continue;
		strcpy(disk, name);
		if (!has_own_bytes(name))
			continue;
		sums.read += read * SECTOR_BYTES;
		sums.written += written * SECTOR_BYTES;
	}
	return sums;
}

char *disk_lines_read(void)
{
	char *text = NULL;
	size_t bytes;

	return file_read_text(AT_FDCWD, "/proc/diskstats", DISKSTATS_BYTES_MAX, &text, &bytes) < 0 ? NULL
												   : text;
}

struct disk_bytes disk_bytes_read(void)
{
	_cleanup_free_ char *text = disk_lines_read();

	return text ? disk_bytes_parse(text) : (struct disk_bytes){ 0 };
}

bool disk_name(const char *text, uint32_t major, uint32_t minor, char into[DISK_NAME_BYTES])
{
	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		uint32_t of_major, of_minor;

		line += *line == '\n';
		if (sscanf(line, "%" SCNu32 " %" SCNu32 " %31s", &of_major, &of_minor, into) == 3 &&
		    of_major == major && of_minor == minor)
			return true;
	}
	return false;
}

/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/process/own_usage.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/kernel/cgroup.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#define SERVICE ".service"

/* Reads the begin of a file. Returns 0 or -errno. */
static int read_text(int fd, char *into, size_t into_bytes)
{
	ssize_t bytes = pread(fd, into, into_bytes - 1, 0);

	if (bytes < 0)
		return -errno;
	into[bytes] = '\0';
	return 0;
}

void own_cgroup_parse(const char *text, char into[OWN_CGROUP_BYTES])
{
	const char *line = strstr(text, "0::/"), *end;
	size_t bytes;

	into[0] = '\0';
	if (!line || (line != text && line[-1] != '\n'))
		return;
	line += strlen("0::");
	end = strchrnul(line, '\n');
	bytes = (size_t)(end - line);
	if (bytes >= OWN_CGROUP_BYTES || bytes < strlen(SERVICE) ||
	    memcmp(end - strlen(SERVICE), SERVICE, strlen(SERVICE)) != 0)
		return;
	memcpy(into, line, bytes);
	into[bytes] = '\0';
}

void own_usage_open(struct own_usage *ret_usage)
{
	_cleanup_close_ int fd = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
	char text[4096];

	*ret_usage = (struct own_usage){ .statm_fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC) };
	if (cgroup_mount(&ret_usage->cgroup_mount) < 0)
		ret_usage->cgroup_mount = NULL;
	if (fd >= 0 && !read_text(fd, text, sizeof(text)))
		own_cgroup_parse(text, ret_usage->cgroup);
}

void own_usage_close(struct own_usage *usage)
{
	cleanup_close(&usage->statm_fd);
	free(usage->cgroup_mount);
	usage->cgroup_mount = NULL;
}

/* The number behind `key` in a file of the unit's cgroup; with "", the first one. -1: not known. */
static int64_t read_cgroup(const struct own_usage *usage, const char *file, const char *key)
{
	_cleanup_close_ int fd = -EBADF;
	char path[PATH_MAX], text[1024];
	const char *at;
	int64_t value;

	if (!usage->cgroup_mount || !usage->cgroup[0] ||
	    snprintf(path, sizeof(path), "%s%s/%s", usage->cgroup_mount, usage->cgroup, file) >= PATH_MAX)
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read_text(fd, text, sizeof(text)))
		return -1;
	at = strstr(text, key);
	return at && sscanf(at + strlen(key), "%" SCNd64, &value) == 1 ? value : -1;
}

void own_usage_read(const struct own_usage *usage, struct own_used *ret_used)
{
	int64_t unit_us = read_cgroup(usage, "cpu.stat", "usage_usec ");
	unsigned long pages;
	char text[128];

	*ret_used = (struct own_used){ .cpu_ns = (int64_t)clock_read_ns(CLOCK_PROCESS_CPUTIME_ID),
				       .resident_bytes = -1,
				       .unit_cpu_ns = unit_us < 0 ? -1 : unit_us * 1000,
				       .unit_bytes = read_cgroup(usage, "memory.current", "") };
	if (usage->statm_fd >= 0 && !read_text(usage->statm_fd, text, sizeof(text)) &&
	    sscanf(text, "%*u %lu", &pages) == 1)
		ret_used->resident_bytes = (int64_t)pages * sysconf(_SC_PAGESIZE);
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads any bytes as the files of a cgroup, before and after a capture: their format is the kernel's, and a cgroup that
 * was mounted over may hold any file. Each statistic is one of those files', with names that are terminated.
 *
 * An input is one byte for the file, then its text before and, behind a NUL, after.
 */
#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "consumer/capture/kernel_stats.h"
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>

static const char *const files[] = { "cpu.stat",    "cpu.max",        "memory.events",
				     "memory.stat", "memory.current", "io.stat" };
static char mount[] = "/tmp/fuzz_kernel_stats.XXXXXX", cgroup[sizeof(mount) + 8];

static void remove_mount(void)
{
	rmdir(cgroup);
	rmdir(mount);
}

static void make_mount(void)
{
	HOLDS(mkdtemp(mount));
	snprintf(cgroup, sizeof(cgroup), "%s/web", mount);
	HOLDS(!mkdir(cgroup, 0700));
	atexit(remove_mount);
}

static void write_text(const char *path, const uint8_t *text, size_t bytes)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	HOLDS(fd >= 0 && write(fd, text, bytes) == (ssize_t)bytes);
}

static void check(const struct kernel_stats *stats, const char *file)
{
	for (uint32_t i = 0; i < stats->count; i++) {
		const struct kernel_stat *stat = &stats->stats[i];

		HOLDS(memchr(stat->name, '\0', sizeof(stat->name)) &&
		      memchr(stat->device, '\0', sizeof(stat->device)));
		HOLDS(stat->scope == KERNEL_STAT_SYSTEM || (!strcmp(stat->source, file) && !stat->scope));
		HOLDS(stat->before >= -1 && stat->after >= -1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct input input = { data, bytes };
	const char *file = files[input_byte(&input) % ARRAY_SIZE(files)];
	const uint8_t *nul = input.left ? memchr(input.next, '\0', input.left) : NULL;
	size_t before = nul ? (size_t)(nul - input.next) : input.left;
	struct kernel_stats stats = { 0 };
	char path[sizeof(cgroup) + 32];

	if (!*cgroup)
		make_mount();
	snprintf(path, sizeof(path), "%s/%s", cgroup, file);
	write_text(path, input.next, before);
	kernel_stats_begin(&stats, mount, "/web", 1);
	check(&stats, file);
	if (nul)
		write_text(path, nul + 1, input.left - before - 1);
	kernel_stats_end(&stats, mount, "/web", 2);
	check(&stats, file);
	kernel_stats_free(&stats);
	unlink(path);
	return 0;
}

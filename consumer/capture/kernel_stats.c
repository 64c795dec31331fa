/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/kernel_stats.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/system/files.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_BYTES_MAX (256U << 10)
#define STATS_MAX 4096U

/* ---- files and their formats ---- */

struct source;

/* Adds the statistics of one line. */
struct reading {
	struct kernel_stats *stats;
	const struct source *source;
	int scope;
	bool again;
	uint32_t next; /* position of the next statistic, if the file has the same lines as before */
};

struct source {
	const char *file;
	void (*read_line)(struct reading *reading, char *line);
	const char *const *names; /* prefixes of the statistics to keep, ended by NULL; NULL: all */
	bool limits;              /* kept even where they did not change */
};

static bool matters(const struct source *source, const char *name)
{
	if (!source->names)
		return true;
	for (const char *const *start = source->names; *start; start++)
		if (!strncmp(name, *start, strlen(*start)))
			return true;
	return false;
}

static bool is_it(const struct kernel_stat *stat, const struct reading *reading, const char *device,
		  const char *name)
{
	return stat->source == reading->source->file && stat->scope == reading->scope &&
	       !strcmp(stat->device, device) && !strcmp(stat->name, name);
}

static struct kernel_stat *find(struct reading *reading, const char *device, const char *name)
{
	struct kernel_stats *stats = reading->stats;

	for (uint32_t i = 0; i < stats->count; i++) {
		uint32_t at = (reading->next + i) % stats->count;

		if (is_it(&stats->stats[at], reading, device, name)) {
			reading->next = at + 1;
			return &stats->stats[at];
		}
	}
	return NULL;
}

static void set(struct reading *reading, const char *device, const char *name, int64_t value)
{
	struct kernel_stats *stats = reading->stats;
	struct kernel_stat *stat, fresh = { reading->source->file, reading->scope, "", "", -1, -1 };

	if (strlen(device) >= sizeof(fresh.device) || strlen(name) >= sizeof(fresh.name))
		return;
	stat = reading->again ? find(reading, device, name) : NULL;
	if (!stat) {
		if (stats->count == STATS_MAX || array_make_room(stats->stats, stats->count, stats->room, 1U))
			return;
		stat = &stats->stats[stats->count++];
		*stat = fresh;
		strcpy(stat->device, device);
		strcpy(stat->name, name);
	}
	*(reading->again ? &stat->after : &stat->before) = value;
}

static void add(struct reading *reading, const char *device, const char *name, uint64_t value)
{
	set(reading, device, name, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

/* "name value" */
static void read_flat(struct reading *reading, char *line)
{
	char name[32];
	uint64_t value;

	if (sscanf(line, "%31s %" SCNu64, name, &value) != 2 || !matters(reading->source, name))
		return;
	add(reading, "", name, value);
}

/* "major:minor name=value name=value ..." */
static void read_nested(struct reading *reading, char *line)
{
	char *rest, *device = strtok_r(line, " ", &rest), *pair;

	while (device && (pair = strtok_r(NULL, " ", &rest))) {
		char *equals = strchr(pair, '=');

		if (!equals)
			continue;
		*equals = '\0';
		add(reading, device, pair, strtoull(equals + 1, NULL, 10));
	}
}

/* A limit: a number, or "max", which adds nothing. */
static void read_limit(struct reading *reading, char *line)
{
	uint64_t value;

	if (sscanf(line, "%" SCNu64, &value) == 1)
		add(reading, "", "bytes", value);
}

/* "quota period" */
static void read_quota(struct reading *reading, char *line)
{
	uint64_t quota_us, period_us;

	if (sscanf(line, "%" SCNu64 " %" SCNu64, &quota_us, &period_us) != 2)
		return;
	add(reading, "", "quota_usec", quota_us);
	add(reading, "", "period_usec", period_us);
}

/* Columns: Documentation/admin-guide/iostats.rst. A sector is 512 bytes on every disk. */
static void read_disk(struct reading *reading, char *line)
{
	char device[32];
	uint64_t reads, read_sectors, read_ms, writes, write_sectors, write_ms, busy_ms;

	if (sscanf(line,
		   "%*u %*u %31s %" SCNu64 " %*u %" SCNu64 " %" SCNu64 " %" SCNu64 " %*u %" SCNu64 " %" SCNu64
		   " %*u %" SCNu64,
		   device, &reads, &read_sectors, &read_ms, &writes, &write_sectors, &write_ms,
		   &busy_ms) != 8)
		return;
	if (!reads && !writes)
		return; /* an unused device */
	add(reading, device, "reads", reads);
	add(reading, device, "read_bytes", read_sectors * 512);
	add(reading, device, "read_ms", read_ms);
	add(reading, device, "writes", writes);
	add(reading, device, "write_bytes", write_sectors * 512);
	add(reading, device, "write_ms", write_ms);
	add(reading, device, "busy_ms", busy_ms);
}

static const char *const vmstat_names[] = {
	"allocstall_",    "pgscan_direct",  "pgscan_kswapd",
	"pgsteal_direct", "pgsteal_kswapd", "workingset_refault_",
	"pgfault",        "pgmajfault",     "pswp",
	"oom_kill",       "compact_stall",  NULL,
};

static const char *const memory_names[] = { "pgscan", "pgsteal", "workingset_refault_", "pgmajfault", NULL };

static const struct source system_sources[] = {
	{ "vmstat", read_flat, vmstat_names, false },
	{ "diskstats", read_disk, NULL, false },
};

#define SOURCE_CPU 0 /* position in cgroup_sources */

static const struct source cgroup_sources[] = {
	[SOURCE_CPU] = { "cpu.stat", read_flat, NULL, false },
	{ "cpu.max", read_quota, NULL, true },
	{ "memory.events", read_flat, NULL, false },
	{ "memory.events.local", read_flat, NULL, false },
	{ "memory.stat", read_flat, memory_names, false },
	{ "memory.current", read_limit, NULL, true },
	{ "memory.high", read_limit, NULL, true },
	{ "memory.max", read_limit, NULL, true },
	{ "io.stat", read_nested, NULL, false },
};

static const struct source recorder_sources[] = {
	[RECORDER_PROGRAMS] = { "bpf", NULL, NULL, false },
	[RECORDER_QUEUES] = { "queue", NULL, NULL, true },
	[RECORDER_OWN] = { "own", NULL, NULL, true },
};

/* ---- reading ---- */

static void read_file(struct reading *reading, const char *path)
{
	_cleanup_free_ char *text = NULL;
	size_t bytes;
	char *rest;

	if (file_read_text(AT_FDCWD, path, FILE_BYTES_MAX, &text, &bytes) < 0)
		return;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		reading->source->read_line(reading, line);
}

/* The length of the path of the ancestor `levels` above `cgroup`; -1 where there is none. */
static int ancestor_length(const char *cgroup, int levels)
{
	int length = (int)strlen(cgroup);

	for (; levels; levels--) {
		if (length <= 1)
			return -1;
		while (length && cgroup[length - 1] != '/')
			length--;
		length -= length > 1;
	}
	return length;
}

/* Whether the directory is that of the cgroup that was there at the begin. */
static bool is_same_cgroup(const struct reading *reading, const char *path)
{
	uint64_t *id = &reading->stats->cgroup_ids[reading->scope];
	struct stat at;

	if (stat(path, &at))
		return false;
	if (!reading->again)
		*id = at.st_ino;
	return *id == at.st_ino;
}

static void read_cgroups(struct reading *reading, const char *mount, const char *cgroup)
{
	char path[PATH_MAX];
	int length;

	for (int level = 0; level < KERNEL_STAT_LEVELS && (length = ancestor_length(cgroup, level)) >= 0;
	     level++) {
		reading->scope = level;
		snprintf(path, sizeof(path), "%s%.*s", mount, length, cgroup);
		if (!is_same_cgroup(reading, path))
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(cgroup_sources); i++) {
			reading->source = &cgroup_sources[i];
			snprintf(path, sizeof(path), "%s%.*s/%s", mount, length, cgroup,
				 reading->source->file);
			read_file(reading, path);
		}
	}
}

static void read_all(struct kernel_stats *stats, const char *mount, const char *cgroup, bool again)
{
	struct reading reading = { .stats = stats, .again = again };
	char path[PATH_MAX];

	if (cgroup)
		read_cgroups(&reading, mount, cgroup);
	reading.scope = KERNEL_STAT_SYSTEM;
	for (size_t i = 0; i < ARRAY_SIZE(system_sources); i++) {
		reading.source = &system_sources[i];
		snprintf(path, sizeof(path), "/proc/%s", reading.source->file);
		read_file(&reading, path);
	}
	if (cgroup)
		return; /* the root is the last of its ancestors */
	reading.source = &cgroup_sources[SOURCE_CPU];
	snprintf(path, sizeof(path), "%s/%s", mount, reading.source->file);
	read_file(&reading, path);
}

void kernel_stats_begin(struct kernel_stats *stats, const char *mount, const char *cgroup, uint64_t now_ns)
{
	*stats = (struct kernel_stats){ .from_ns = now_ns };
	read_all(stats, mount, cgroup, false);
}

void kernel_stats_look(struct kernel_stats *stats, const char *mount, const char *cgroup)
{
	struct reading reading = { .stats = stats, .again = true };

	if (cgroup)
		read_cgroups(&reading, mount, cgroup);
}

static bool is_limit(const struct kernel_stat *stat)
{
	for (size_t i = 0; i < ARRAY_SIZE(cgroup_sources); i++)
		if (cgroup_sources[i].file == stat->source)
			return cgroup_sources[i].limits;
	for (size_t i = 0; i < ARRAY_SIZE(recorder_sources); i++)
		if (recorder_sources[i].file == stat->source)
			return recorder_sources[i].limits;
	return false;
}

void kernel_stats_set(struct kernel_stats *stats, bool again, enum recorder_stat source, const char *device,
		      const char *name, int64_t value)
{
	struct reading reading = { .stats = stats,
				   .source = &recorder_sources[source],
				   .scope = KERNEL_STAT_RECORDER,
				   .again = again };

	set(&reading, device, name, value);
}

void kernel_stats_end(struct kernel_stats *stats, const char *mount, const char *cgroup, uint64_t now_ns)
{
	uint32_t kept = 0;

	read_all(stats, mount, cgroup, true);
	for (uint32_t i = 0; i < stats->count; i++)
		if (stats->stats[i].before != stats->stats[i].after || is_limit(&stats->stats[i]))
			stats->stats[kept++] = stats->stats[i];
	stats->count = kept;
	stats->to_ns = now_ns;
}

void kernel_stats_free(struct kernel_stats *stats)
{
	free(stats->stats);
	*stats = (struct kernel_stats){ 0 };
}

int kernel_stat_scope_length(const struct kernel_stat *stat, const char *cgroup)
{
	return ancestor_length(cgroup, stat->scope);
}

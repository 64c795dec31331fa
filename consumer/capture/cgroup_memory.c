/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/cgroup_memory.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/numbers.h"
#include "common/system/files.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_BYTES_MAX (64U << 10)
#define PAGE_BYTES 4096
/* Reading one takes some 50 us; longer where the kernel has many descendants to add up, and on an emulated CPU. */
#define READING_MAX_CPU_NS (CLOCK_SECOND_NS / 5)
#define LOOK_MAX_CPU_NS (CLOCK_SECOND_NS / 500) /* within a capture */
#define READING_MAX_NS CLOCK_SECOND_NS          /* where others take the CPU meanwhile */
#define LEVELS_MAX 8U                           /* to look upwards for one with the controller */

/* When to stop reading. */
struct limit {
	uint64_t until_ns, until_cpu_ns; /* CLOCK_MONOTONIC; of this thread */
};

/* What the processes of one cgroup use. */
struct share {
	uint64_t cgroup_id;
	uint64_t of[4]; /* memory, major faults, bytes read, bytes written */
};
#define SHARES_BY ARRAY_SIZE(((struct share *)0)->of)

static const struct cgroup_memory_counts unknown = { -1, -1, -1, -1, -1, -1, -1, -1 };

void cgroup_memory_free(struct cgroup_memory *memory)
{
	for (uint32_t i = 0; i < memory->count; i++)
		free(memory->rows[i].cgroup);
	free(memory->rows);
	*memory = (struct cgroup_memory){ 0 };
}

static struct limit limit_from(uint64_t now_ns, uint64_t cpu_ns)
{
	return (struct limit){ now_ns + READING_MAX_NS, clock_read_ns(CLOCK_THREAD_CPUTIME_ID) + cpu_ns };
}

static bool may_read(const struct limit *limit)
{
	return clock_monotonic_ns() < limit->until_ns &&
	       clock_read_ns(CLOCK_THREAD_CPUTIME_ID) < limit->until_cpu_ns;
}

/* ---- files ---- */

static int64_t bytes_of(uint64_t count, int64_t unit)
{
	return count > (uint64_t)(INT64_MAX / unit) ? INT64_MAX : (int64_t)count * unit;
}

static void add(int64_t *sum, uint64_t count, int64_t unit)
{
	int64_t more = bytes_of(count, unit), before = *sum < 0 ? 0 : *sum;

	*sum = more > INT64_MAX - before ? INT64_MAX : before + more;
}

static void read_line(struct cgroup_memory_counts *counts, const char *line)
{
	const struct {
		const char *name;
		int64_t *sum;
		int64_t unit;
	} kept[] = { { "anon", &counts->anon, 1 },
		     { "file", &counts->file, 1 },
		     { "workingset_refault_anon", &counts->refaulted, PAGE_BYTES },
		     { "workingset_refault_file", &counts->refaulted, PAGE_BYTES },
		     { "pgscan", &counts->scanned, PAGE_BYTES },
		     { "pgsteal", &counts->reclaimed, PAGE_BYTES } };
	char name[32];
	uint64_t value;

	if (sscanf(line, "%31s %" SCNu64, name, &value) != 2)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		if (!strcmp(name, kept[i].name))
			add(kept[i].sum, value, kept[i].unit);
}

/* "8:0 rbytes=1 wbytes=2 rios=3 …": a line for each device. */
static void read_devices(struct cgroup_memory_counts *counts, char *stat)
{
	char *rest, *word;
	uint64_t bytes;

	counts->device_read = counts->device_written = 0;
	for (word = strtok_r(stat, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest))
		if (sscanf(word, "rbytes=%" SCNu64, &bytes) == 1)
			add(&counts->device_read, bytes, 1);
		else if (sscanf(word, "wbytes=%" SCNu64, &bytes) == 1)
			add(&counts->device_written, bytes, 1);
}

/* Reads a file of a cgroup. Returns NULL where there is none; otherwise the caller frees it. */
static char *read_text(const char *mount, const char *cgroup, const char *file)
{
	char path[PATH_MAX], *text;
	size_t bytes;

	snprintf(path, sizeof(path), "%s%s/%s", mount, cgroup, file);
	return file_read_text(AT_FDCWD, path, FILE_BYTES_MAX, &text, &bytes) < 0 ? NULL : text;
}

/* Returns whether the cgroup has the memory controller. */
static bool read_counts(const char *mount, const char *cgroup, struct cgroup_memory_counts *ret_counts)
{
	struct cgroup_memory_counts counts = unknown;
	_cleanup_free_ char *stat = read_text(mount, cgroup, "memory.stat"), *current = NULL, *io = NULL;
	uint64_t value;
	char *rest;

	if (!stat)
		return false;
	for (char *line = strtok_r(stat, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		read_line(&counts, line);
	current = read_text(mount, cgroup, "memory.current");
	if (current && sscanf(current, "%" SCNu64, &value) == 1)
		counts.current = bytes_of(value, 1);
	io = read_text(mount, cgroup, "io.stat");
	if (io)
		read_devices(&counts, io);
	*ret_counts = counts;
	return true;
}

static uint64_t id_of(const char *mount, const char *cgroup)
{
	char path[PATH_MAX];
	struct stat at;

	snprintf(path, sizeof(path), "%s%s", mount, cgroup);
	return stat(path, &at) ? 0 : at.st_ino;
}

/* ---- which cgroups ---- */

static int compare_cgroups(const void *a, const void *b)
{
	const struct share *left = a, *right = b;

	return COMPARE(left->cgroup_id, right->cgroup_id);
}

static int compare_shares(const void *a, const void *b, void *by)
{
	const struct share *left = a, *right = b;
	size_t i = *(const size_t *)by;

	return COMPARE(right->of[i], left->of[i]);
}

/* The shares of all cgroups of processes that live. */
static struct share *sum_shares(const struct usage *usage, uint32_t *ret_count)
{
	struct share *shares = calloc(usage->count + 1UL, sizeof(*shares));
	uint32_t count = 0, kept = 0;

	for (uint32_t i = 0; shares && i < usage->count; i++) {
		const struct usage_process *process = &usage->processes[i];

		if (!process->is_kernel && !process->is_final && process->walk == usage->walk)
			shares[count++] =
				(struct share){ process->cgroup_id,
						{ process->sums.rss_bytes, process->sums.task.major_faults,
						  process->sums.task.read_bytes,
						  process->sums.task.write_bytes } };
	}
	if (shares)
		qsort(shares, count, sizeof(*shares), compare_cgroups);
	for (uint32_t i = 0; i < count; i++)
		if (kept && shares[kept - 1].cgroup_id == shares[i].cgroup_id)
			for (size_t j = 0; j < SHARES_BY; j++)
				shares[kept - 1].of[j] += shares[i].of[j];
		else
			shares[kept++] = shares[i];
	*ret_count = kept;
	return shares;
}

static struct cgroup_memory_row *find(const struct cgroup_memory *memory, const char *cgroup)
{
	for (uint32_t i = 0; i < memory->count; i++)
		if (!strcmp(memory->rows[i].cgroup, cgroup))
			return &memory->rows[i];
	return NULL;
}

/* Takes ownership of nothing. Returns false where there is no room. */
static bool add_row(struct cgroup_memory *memory, const char *mount, const char *cgroup,
		    const struct cgroup_memory_counts *counts)
{
	struct cgroup_memory_row row = { .cgroup = strdup(cgroup),
					 .after = *counts,
					 .was_read = true,
					 .cgroup_id = id_of(mount, cgroup) };

	row.before = unknown;
	if (memory->count == CGROUP_MEMORY_MAX || !row.cgroup) {
		free(row.cgroup);
		return false;
	}
	memory->rows[memory->count++] = row;
	return true;
}

/* Adds the cgroup, or the nearest above it that has the memory controller, unless it is there. */
static void add_nearest(struct cgroup_memory *memory, const char *mount, const char *cgroup)
{
	_cleanup_free_ char *at = strdup(cgroup);

	for (unsigned int level = 0; at && at[0] == '/' && at[1] && level < LEVELS_MAX; level++) {
		struct cgroup_memory_counts counts;
		char *last;

		if (find(memory, at))
			return;
		if (read_counts(mount, at, &counts)) {
			add_row(memory, mount, at, &counts);
			return;
		}
		last = strrchr(at, '/');
		*last = '\0';
	}
}

/* A quarter of the room for the first of each measure. The room that is left then is for the first by memory again. */
static void add_largest(struct cgroup_memory *memory, const char *mount, const struct usage *usage,
			cgroup_memory_path path, void *user, const struct limit *limit)
{
	uint32_t count = 0;
	_cleanup_free_ struct share *shares = sum_shares(usage, &count);

	for (size_t turn = 0; shares && turn <= SHARES_BY; turn++) {
		size_t by = turn % SHARES_BY;
		uint32_t most =
			turn < SHARES_BY
				? (CGROUP_MEMORY_MAX - 1) * (uint32_t)(turn + 1) / (uint32_t)SHARES_BY + 1
				: CGROUP_MEMORY_MAX;

		qsort_r(shares, count, sizeof(*shares), compare_shares, &by);
		for (uint32_t i = 0; i < count && i < CGROUP_MEMORY_MAX && memory->count < most &&
				     shares[i].of[by] && may_read(limit);
		     i++) {
			const char *cgroup = path(user, shares[i].cgroup_id);

			if (cgroup)
				add_nearest(memory, mount, cgroup);
		}
	}
}

void cgroup_memory_begin(struct cgroup_memory *memory, const char *mount, const struct usage *usage,
			 cgroup_memory_path path, void *user, uint64_t now_ns)
{
	struct limit limit = limit_from(now_ns, READING_MAX_CPU_NS);
	struct cgroup_memory_counts counts;

	*memory = (struct cgroup_memory){ .from_ns = now_ns };
	if (!read_counts(mount, "", &counts))
		return; /* the controller is that of version 1, or off */
	memory->rows = calloc(CGROUP_MEMORY_MAX, sizeof(*memory->rows));
	if (!memory->rows || !add_row(memory, mount, "/", &counts))
		return;
	add_largest(memory, mount, usage, path, user, &limit);
	for (uint32_t i = 0; i < memory->count; i++) {
		memory->rows[i].before = memory->rows[i].after;
		memory->rows[i].was_read = false;
	}
}

/* What was read before stays where the cgroup is gone. */
static void read_row(struct cgroup_memory_row *row, const char *mount)
{
	if (id_of(mount, row->cgroup) == row->cgroup_id)
		row->was_read |= read_counts(mount, row->cgroup[1] ? row->cgroup : "", &row->after);
}

void cgroup_memory_look(struct cgroup_memory *memory, const char *mount)
{
	struct limit limit = limit_from(clock_monotonic_ns(), LOOK_MAX_CPU_NS);

	for (uint32_t i = 0; i < memory->count && may_read(&limit); i++)
		read_row(&memory->rows[memory->next++ % memory->count], mount);
}

/* Removes cgroups that were not read since the begin. */
static void sweep(struct cgroup_memory *memory)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < memory->count; i++)
		if (memory->rows[i].was_read)
			memory->rows[kept++] = memory->rows[i];
		else
			free(memory->rows[i].cgroup);
	memory->count = kept;
}

void cgroup_memory_end(struct cgroup_memory *memory, const char *mount, const struct usage *usage,
		       cgroup_memory_path path, void *user, uint64_t now_ns)
{
	struct limit limit = limit_from(now_ns, READING_MAX_CPU_NS);

	memory->to_ns = now_ns;
	for (uint32_t i = 0; i < memory->count && may_read(&limit); i++)
		read_row(&memory->rows[i], mount);
	sweep(memory);
	if (memory->count)
		add_largest(memory, mount, usage, path, user, &limit);
}

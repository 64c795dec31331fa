/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/cgroup_memory.h"

#include "common/array.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/files.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define FILE_BYTES_MAX (64U << 10)
#define PAGE_BYTES 4096
/* Reading one takes some 50 us; longer where the kernel has many descendants to add up, and on an emulated CPU. */
#define READING_MAX_NS (CLOCK_SECOND_NS / 5)
#define LEVELS_MAX 8U /* to look upwards for one with the controller */

/* What the processes of one cgroup use. */
struct share {
	uint64_t cgroup_id;
	uint64_t of[3]; /* memory, major faults, bytes read */
};
#define SHARES_BY ARRAY_SIZE(((struct share *)0)->of)

void cgroup_memory_free(struct cgroup_memory *memory)
{
	for (uint32_t i = 0; i < memory->count; i++)
		free(memory->rows[i].cgroup);
	free(memory->rows);
	*memory = (struct cgroup_memory){ 0 };
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

/* Returns whether the cgroup has the memory controller. */
static bool read_counts(const char *mount, const char *cgroup, struct cgroup_memory_counts *ret_counts)
{
	struct cgroup_memory_counts counts = { -1, -1, -1, -1, -1, -1 };
	_cleanup_free_ char *stat = NULL, *current = NULL;
	char path[PATH_MAX], *rest;
	uint64_t value;
	size_t bytes;

	snprintf(path, sizeof(path), "%s%s/memory.stat", mount, cgroup);
	if (file_read_text(AT_FDCWD, path, FILE_BYTES_MAX, &stat, &bytes) < 0)
		return false;
	for (char *line = strtok_r(stat, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		read_line(&counts, line);
	snprintf(path, sizeof(path), "%s%s/memory.current", mount, cgroup);
	if (file_read_text(AT_FDCWD, path, FILE_BYTES_MAX, &current, &bytes) == 0 &&
	    sscanf(current, "%" SCNu64, &value) == 1)
		counts.current = bytes_of(value, 1);
	*ret_counts = counts;
	return true;
}

/* ---- which cgroups ---- */

static int compare_cgroups(const void *a, const void *b)
{
	const struct share *left = a, *right = b;

	return (left->cgroup_id > right->cgroup_id) - (left->cgroup_id < right->cgroup_id);
}

static int compare_shares(const void *a, const void *b, void *by)
{
	const struct share *left = a, *right = b;
	size_t i = *(const size_t *)by;

	return (left->of[i] < right->of[i]) - (left->of[i] > right->of[i]);
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
						  process->sums.task.read_bytes } };
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
static bool add_row(struct cgroup_memory *memory, const char *cgroup,
		    const struct cgroup_memory_counts *counts)
{
	struct cgroup_memory_row row = { .cgroup = strdup(cgroup), .after = *counts, .was_read = true };

	row.before = (struct cgroup_memory_counts){ -1, -1, -1, -1, -1, -1 };
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
			add_row(memory, at, &counts);
			return;
		}
		last = strrchr(at, '/');
		*last = '\0';
	}
}

/* A third of the room for the first of each measure. */
static void add_largest(struct cgroup_memory *memory, const char *mount, const struct usage *usage,
			cgroup_memory_path path, void *user, uint64_t until_ns)
{
	uint32_t count = 0;
	_cleanup_free_ struct share *shares = sum_shares(usage, &count);

	for (size_t by = 0; shares && by < SHARES_BY; by++) {
		uint32_t most = (CGROUP_MEMORY_MAX - 1) * (uint32_t)(by + 1) / (uint32_t)SHARES_BY + 1;

		qsort_r(shares, count, sizeof(*shares), compare_shares, &by);
		for (uint32_t i = 0; i < count && i < CGROUP_MEMORY_MAX && memory->count < most &&
				     shares[i].of[by] && clock_monotonic_ns() < until_ns;
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
	struct cgroup_memory_counts counts;

	*memory = (struct cgroup_memory){ .from_ns = now_ns };
	if (!read_counts(mount, "", &counts))
		return; /* the controller is that of version 1, or off */
	memory->rows = calloc(CGROUP_MEMORY_MAX, sizeof(*memory->rows));
	if (!memory->rows || !add_row(memory, "/", &counts))
		return;
	add_largest(memory, mount, usage, path, user, now_ns + READING_MAX_NS);
	for (uint32_t i = 0; i < memory->count; i++) {
		memory->rows[i].before = memory->rows[i].after;
		memory->rows[i].was_read = false;
	}
}

/* Removes cgroups that have gone meanwhile, or that there was no time for. */
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
	uint64_t until_ns = now_ns + READING_MAX_NS;

	memory->to_ns = now_ns;
	for (uint32_t i = 0; i < memory->count && clock_monotonic_ns() < until_ns; i++) {
		struct cgroup_memory_row *row = &memory->rows[i];

		row->was_read = read_counts(mount, row->cgroup[1] ? row->cgroup : "", &row->after);
	}
	sweep(memory);
	if (memory->count)
		add_largest(memory, mount, usage, path, user, until_ns);
}

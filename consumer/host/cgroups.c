/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/host/cgroups.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/hash_index.h"
#include "common/base/numbers.h"
#include "common/system/log.h"
#include "consumer/host/fair_share.h"
#include "consumer/process/heap.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* Once there is no room, this much is made, so that sorting all of it is rare. */
#define ROOM_MADE_BYTES (CGROUPS_BYTES_MAX / 4)
#define ENTRIES_MAX (CGROUPS_BYTES_MAX / CGROUPS_ENTRY_BYTES)
#define EXPIRE_NS (10 * CLOCK_SECOND_NS) /* how often expired entries are looked for */
#define GIVEN_BACK_BYTES 65536U          /* less is not worth a system call */

struct entry {
	uint64_t id, account;
	uint64_t used_ns;
	uint32_t at;    /* offset of the path in `text` */
	uint16_t bytes; /* length of the path; 0: it is too long */
	bool goes;      /* will be removed by sweep() */
};

/* Paths lie in `text` in the order of their entries, so that sweep() can close the gaps in one pass. */
struct cgroups {
	const char *mount;
	int known_fd;
	uint64_t now_ns, expired_ns;
	struct entry *entries; /* mapped with room for all, and of that only what is used takes memory */
	char *text;
	uint32_t text_bytes, text_touched;
	struct hash_index index;
	struct cgroups_gauges gauges;
};

#define ENTRIES_BYTES (ENTRIES_MAX * sizeof(struct entry))
#define TEXT_BYTES CGROUPS_BYTES_MAX

/* ---- the table ---- */

static uint64_t cost_of(const struct entry *entry)
{
	return CGROUPS_ENTRY_BYTES + entry->bytes + 1UL;
}

static struct entry *find(const struct cgroups *cgroups, uint64_t id)
{
	uint32_t found = hash_index_find_key(&cgroups->index, HASH_KEYS(cgroups->entries, id), &id);

	return found == HASH_INDEX_NONE ? NULL : &cgroups->entries[found];
}

static int index_entry(struct cgroups *cgroups, uint32_t position)
{
	return hash_index_add_key(&cgroups->index, HASH_KEYS(cgroups->entries, id), position);
}

/* Confirms to the kernel programs that the path is here. If that fails, they tell it again, within a budget. */
static void confirm(const struct cgroups *cgroups, uint64_t id)
{
	const __u32 one = 1;

	if (cgroups->known_fd >= 0)
		bpf_map_update_elem(cgroups->known_fd, &id, &one, BPF_ANY);
}

static void unconfirm(const struct cgroups *cgroups, uint64_t id)
{
	if (cgroups->known_fd >= 0)
		bpf_map_delete_elem(cgroups->known_fd, &id);
}

static void give_back(struct cgroups *cgroups)
{
	size_t entries_bytes = cgroups->gauges.count * sizeof(struct entry);

	if (cgroups->text_touched < cgroups->text_bytes + GIVEN_BACK_BYTES)
		return;
	if (!heap_drop(cgroups->text + cgroups->text_bytes, TEXT_BYTES - cgroups->text_bytes))
		cgroups->text_touched = cgroups->text_bytes;
	heap_drop((char *)cgroups->entries + entries_bytes, ENTRIES_BYTES - entries_bytes);
}

/* Removes the entries that go, and closes the gaps. An entry for which there is no memory goes, too. */
static void sweep(struct cgroups *cgroups)
{
	uint32_t kept = 0, count = cgroups->gauges.count;
	uint32_t text_bytes = 0;

	hash_index_free(&cgroups->index);
	cgroups->gauges.bytes = cgroups->gauges.too_long = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct entry *entry = &cgroups->entries[i];

		cgroups->entries[kept] = *entry;
		if (entry->goes || index_entry(cgroups, kept) < 0) {
			unconfirm(cgroups, entry->id);
			continue;
		}
		memmove(cgroups->text + text_bytes, cgroups->text + entry->at, entry->bytes + 1UL);
		entry = &cgroups->entries[kept++];
		entry->at = text_bytes;
		text_bytes += entry->bytes + 1U;
		cgroups->gauges.bytes += cost_of(entry);
		cgroups->gauges.too_long += !entry->bytes;
	}
	cgroups->gauges.count = kept;
	cgroups->text_bytes = text_bytes;
	give_back(cgroups);
}

/* ---- forgetting ---- */

static int compare_by_account(const void *a, const void *b, void *user)
{
	const struct entry *entries = user, *left = &entries[*(const uint32_t *)a],
			   *right = &entries[*(const uint32_t *)b];

	return COMPARE(left->account, right->account) ?: COMPARE(left->used_ns, right->used_ns);
}

/*
 * Stores how much each account has. `order` has the entries by account. Returns the number of accounts.
 */
static uint32_t sum_accounts(const struct cgroups *cgroups, const uint32_t *order, uint64_t *sums)
{
	uint32_t accounts = 0;

	for (uint32_t i = 0; i < cgroups->gauges.count; i++) {
		const struct entry *entry = &cgroups->entries[order[i]];

		if (!i || cgroups->entries[order[i - 1]].account != entry->account)
			sums[accounts++] = 0;
		sums[accounts - 1] += cost_of(entry);
	}
	return accounts;
}

/* Of each account, those that were used last stay, up to the share. */
static void cut_accounts(struct cgroups *cgroups, const uint32_t *order, uint64_t share)
{
	uint64_t sum = 0;

	for (uint32_t i = cgroups->gauges.count; i-- > 0;) {
		struct entry *entry = &cgroups->entries[order[i]];

		if (i + 1 == cgroups->gauges.count ||
		    cgroups->entries[order[i + 1]].account != entry->account)
			sum = 0;
		sum += cost_of(entry);
		entry->goes = sum > share;
		cgroups->gauges.forgotten += entry->goes;
	}
}

/* Without memory for sorting, all go. */
static void make_room(struct cgroups *cgroups)
{
	uint32_t count = cgroups->gauges.count;
	_cleanup_free_ uint32_t *order = malloc(count * sizeof(*order));
	_cleanup_free_ uint64_t *sums = malloc(count * sizeof(*sums));

	for (uint32_t i = 0; i < count; i++)
		cgroups->entries[i].goes = true;
	if (order && sums) {
		for (uint32_t i = 0; i < count; i++)
			order[i] = i;
		qsort_r(order, count, sizeof(*order), compare_by_account, cgroups->entries);
		cut_accounts(cgroups, order,
			     fair_share(sums, sum_accounts(cgroups, order, sums),
					CGROUPS_BYTES_MAX - ROOM_MADE_BYTES));
	}
	sweep(cgroups);
}

static void expire(struct cgroups *cgroups, uint64_t before_ns)
{
	bool any = false;

	for (uint32_t i = 0; i < cgroups->gauges.count; i++) {
		struct entry *entry = &cgroups->entries[i];

		entry->goes = entry->used_ns < before_ns;
		any |= entry->goes;
	}
	if (any)
		sweep(cgroups);
}

void cgroups_tick(struct cgroups *cgroups, uint64_t now_ns, uint64_t keep_ns)
{
	cgroups->now_ns = now_ns;
	if (now_ns - cgroups->expired_ns < EXPIRE_NS || now_ns < keep_ns)
		return;
	cgroups->expired_ns = now_ns;
	expire(cgroups, now_ns - keep_ns);
}

/* ---- learning ---- */

void cgroups_learn(struct cgroups *cgroups, const struct cgroup_record *record, const char *path)
{
	struct entry entry = { .id = record->cgroup_id,
			       .account = record->account,
			       .used_ns = cgroups->now_ns,
			       .bytes = (uint16_t)record->path_bytes };

	if (!find(cgroups, record->cgroup_id)) {
		if (cgroups->gauges.bytes + cost_of(&entry) > CGROUPS_BYTES_MAX)
			make_room(cgroups);
		entry.at = cgroups->text_bytes;
		cgroups->entries[cgroups->gauges.count] = entry;
		if (index_entry(cgroups, cgroups->gauges.count) < 0)
			return; /* out of memory: it is told again */
		memcpy(cgroups->text + entry.at, path, entry.bytes);
		cgroups->text[entry.at + entry.bytes] = '\0';
		cgroups->text_bytes += entry.bytes + 1U;
		if (cgroups->text_touched < cgroups->text_bytes)
			cgroups->text_touched = cgroups->text_bytes;
		cgroups->gauges.count++;
		cgroups->gauges.bytes += cost_of(&entry);
		cgroups->gauges.too_long += !entry.bytes;
		cgroups->gauges.learned++;
	}
	confirm(cgroups, record->cgroup_id);
}

enum cgroup_state cgroups_find(struct cgroups *cgroups, uint64_t id, const char **ret_path)
{
	struct entry *entry = find(cgroups, id);

	*ret_path = NULL;
	if (!entry)
		return CGROUP_UNKNOWN;
	entry->used_ns = cgroups->now_ns;
	if (!entry->bytes)
		return CGROUP_UNUSABLE;
	*ret_path = cgroups->text + entry->at;
	return CGROUP_KNOWN;
}

const char *cgroups_path(struct cgroups *cgroups, uint64_t id)
{
	const char *path;

	cgroups_find(cgroups, id, &path);
	return path;
}

struct cgroups_gauges cgroups_gauges(const struct cgroups *cgroups)
{
	return cgroups->gauges;
}

/* ---- opening ---- */

/* What an earlier daemon knew, this one does not. */
static void unconfirm_all(int known_fd)
{
	uint64_t id;

	for (uint32_t i = 0; i < CGROUPS_KNOWN && !bpf_map_get_next_key(known_fd, NULL, &id); i++)
		bpf_map_delete_elem(known_fd, &id);
}

static void *map_room(size_t bytes)
{
	void *at =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

int cgroups_open(struct cgroups **ret_cgroups, const char *mount, int known_fd, uint64_t now_ns)
{
	struct cgroups *cgroups = calloc(1, sizeof(*cgroups));
	int result;

	if (!cgroups)
		return -ENOMEM;
	cgroups->mount = mount;
	cgroups->known_fd = known_fd;
	cgroups->now_ns = now_ns;
	cgroups->entries = map_room(ENTRIES_BYTES);
	cgroups->text = map_room(TEXT_BYTES);
	if (!cgroups->entries || !cgroups->text) {
		result = -errno;
		log_error("cannot map memory for the paths of cgroups: %s", strerror(-result));
		cgroups_free(cgroups);
		return result;
	}
	if (known_fd >= 0)
		unconfirm_all(known_fd);
	*ret_cgroups = cgroups;
	return 0;
}

void cgroups_free(struct cgroups *cgroups)
{
	if (!cgroups)
		return;
	hash_index_free(&cgroups->index);
	if (cgroups->entries)
		munmap(cgroups->entries, ENTRIES_BYTES);
	if (cgroups->text)
		munmap(cgroups->text, TEXT_BYTES);
	free(cgroups);
}

const char *cgroups_mount(const struct cgroups *cgroups)
{
	return cgroups->mount;
}

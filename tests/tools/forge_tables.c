/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * forge_tables plays an attacker who controls the consumer. It writes the tables by which the kernel programs
 * unwind a stack: with --garbage, random bytes into all of them, over and over; with --all, into each map
 * that the consumer may write; with --slow, a table by which every stack takes as long as it can; with
 * --hotspot, mappings by which HotSpot made all code; otherwise a table by which every word of the stack is a
 * return address. It then prints how often the rings have a word that only the stack has.
 */
#include "common/abi/abi.h"
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/system/log.h"
#include "common/system/options.h"
#include "tests/workloads/secret.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define BATCH_BYTES 65536U

struct map {
	int fd;
	struct bpf_map_info info;
};

static int map_open(const char *directory, const char *name, struct map *ret_map)
{
	char path[512];
	__u32 bytes = sizeof(ret_map->info);

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	memset(&ret_map->info, 0, sizeof(ret_map->info)); /* since Linux 6.18 the kernel reads from it, too */
	ret_map->fd = bpf_obj_get(path);
	if (ret_map->fd < 0 || bpf_obj_get_info_by_fd(ret_map->fd, &ret_map->info, &bytes)) {
		log_error("cannot open %s: %s", path, strerror(errno));
		return -errno;
	}
	return 0;
}

static uint64_t random_word(uint64_t *state)
{
	*state = *state * 6364136223846793005U + 1442695040888963407U;
	return *state ^ *state >> 29;
}

/*
 * Fills each element. Values in which every other word is 0 or all ones reach other code than random values.
 */
static int fill(const struct map *map, uint64_t *state)
{
	static uint64_t values[BATCH_BYTES / sizeof(uint64_t)];
	static __u32 keys[BATCH_BYTES];
	uint32_t each = (map->info.value_size + 7U) / 8 * 8, most = BATCH_BYTES / each;

	for (uint32_t from = 0; from < map->info.max_entries; from += most) {
		__u32 count = map->info.max_entries - from < most ? map->info.max_entries - from : most;

		for (uint32_t i = 0; i < count; i++)
			keys[i] = from + i;
		for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
			uint64_t dice = random_word(state) % 4;

			values[i] = dice == 0 ? 0 : dice == 1 ? UINT64_MAX : random_word(state);
		}
		if (bpf_map_update_batch(map->fd, keys, values, &count, NULL))
			return -errno;
	}
	return 0;
}

static int put(const struct map *map, __u32 key, const void *value)
{
	return bpf_map_update_elem(map->fd, &key, value, BPF_ANY) ? -errno : 0;
}

/* ---- all maps ---- */

#define KEYS_A_ROUND 2000

static void roll(void *bytes, size_t length, uint64_t *state)
{
	unsigned char *at = bytes;
	uint64_t dice = random_word(state) % 4;

	for (size_t i = 0; i < length; i++)
		at[i] = dice == 0 ? 0 : dice == 1 ? 0xff : (unsigned char)(random_word(state) >> 32);
}

/* Maps with keys of any bytes may refuse a key; that is no failure. */
static void scatter(const struct map *map, uint64_t *state)
{
	unsigned char key[64], value[64];

	for (int i = 0; i < KEYS_A_ROUND; i++) {
		roll(key, map->info.key_size, state);
		roll(value, map->info.value_size, state);
		if (map->info.type == BPF_MAP_TYPE_LPM_TRIE) {
			__u32 bits = (__u32)random_word(state) % (8 * ABI_COMM_BYTES + 2);

			memcpy(key, &bits, sizeof(bits));
		}
		if (random_word(state) % 8)
			bpf_map_update_elem(map->fd, key, value, BPF_ANY);
		else
			bpf_map_delete_elem(map->fd, key);
	}
}

/* The only page of a ring buffer that its reader may write: the position of the reader. */
static int misplace(const struct map *map, uint64_t *state)
{
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, map->fd, 0);

	if (page == MAP_FAILED)
		return -errno;
	roll(page, bytes, state);
	munmap(page, bytes);
	return 0;
}

/* Elements one by one, because they may be large. */
static int overwrite(const struct map *map, uint64_t *state)
{
	static unsigned char value[BATCH_BYTES];

	for (__u32 i = 0; i < map->info.max_entries; i++) {
		roll(value, map->info.value_size, state);
		if (bpf_map_update_elem(map->fd, &i, value, BPF_ANY))
			return -errno;
	}
	return 0;
}

static int fill_any(const struct map *map, uint64_t *state)
{
	if (map->info.key_size > 64 || map->info.value_size > BATCH_BYTES)
		return -EFBIG;
	switch (map->info.type) {
	case BPF_MAP_TYPE_ARRAY:
		return overwrite(map, state);
	case BPF_MAP_TYPE_RINGBUF:
		return misplace(map, state);
	default:
		scatter(map, state);
		return 0;
	}
}

#define WRITABLE_MODE 0660
#define WRITABLE_MAX 32

/* Opens the maps that the consumer may write, by their modes. Returns how many, or -errno. */
static int open_writable(const char *directory, struct map maps[WRITABLE_MAX], int *ret_control)
{
	_cleanup_dir_ DIR *pins = opendir(directory);
	struct dirent *entry;
	int count = 0;

	*ret_control = -1;
	while (pins && count < WRITABLE_MAX && (entry = readdir(pins))) {
		struct stat at;

		if (fstatat(dirfd(pins), entry->d_name, &at, AT_SYMLINK_NOFOLLOW) || !S_ISREG(at.st_mode) ||
		    (at.st_mode & 0777) != WRITABLE_MODE)
			continue;
		if (map_open(directory, entry->d_name, &maps[count]))
			return -errno;
		if (!strcmp(entry->d_name, "control"))
			*ret_control = count;
		count++;
	}
	return *ret_control < 0 ? -ENOENT : count;
}

/* Writes a heartbeat most of the time: the kernel programs do nothing without it. */
static int run_all(const char *directory, uint64_t seconds)
{
	uint64_t until_ns = clock_monotonic_ns() + seconds * CLOCK_SECOND_NS, state = until_ns;
	struct map maps[WRITABLE_MAX] = { 0 };
	unsigned long long rounds = 0;
	int control, count = open_writable(directory, maps, &control), result = count < 0 ? count : 0;

	for (; !result && clock_monotonic_ns() < until_ns; rounds++) {
		for (int i = 0; i < count && !result; i++) {
			result = fill_any(&maps[i], &state);
			if (!result && rounds % 4) {
				struct control beating;

				roll(&beating, sizeof(beating), &state);
				beating.heartbeat_ns = clock_monotonic_ns();
				result = put(&maps[control], 0, &beating);
			}
		}
	}
	if (result < 0) {
		log_error("%s", strerror(-result));
		return EXIT_FAILED;
	}
	printf("rounds %llu, maps %d\n", rounds, count);
	return EXIT_DONE;
}

/* ---- tables ---- */

enum { PROCS, MAPS, PAGES, ROWS, RULES, HOTSPOTS, TARGETS, MAPS_OPEN };
static const char *const names[MAPS_OPEN] = { "unwind_procs", "unwind_maps",    "unwind_pages", "unwind_rows",
					      "unwind_rules", "unwind_hotspot", "targets" };

static int claim_process(const struct map maps[MAPS_OPEN], __u32 tgid, __u32 count)
{
	struct unwind_process process = { .count = count };
	struct target target;

	if (bpf_map_lookup_elem(maps[TARGETS].fd, &tgid, &target))
		return -errno;
	process.started_ns = target.started_ns;
	return put(&maps[PROCS], tgid, &process);
}

/*
 * Finds the code of the process, as an attacker reads it from the iterator, or all that it can read. Returns how many
 * mappings, or -errno.
 */
static int find_mappings(__u32 tgid, bool code, struct unwind_mapping *mappings, int most)
{
	_cleanup_file_ FILE *file = NULL;
	char path[64], line[1024], flags[8];
	int count = 0;

	snprintf(path, sizeof(path), "/proc/%u/maps", tgid);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	while (count < most && fgets(line, sizeof(line), file)) {
		unsigned long long begins, ends;

		if (sscanf(line, "%llx-%llx %7s", &begins, &ends, flags) != 3 || flags[code ? 2 : 0] == '-')
			continue;
		mappings[count++] = (struct unwind_mapping){ .begins = begins,
							     .ends = ends,
							     .table_at = begins,
							     .pages = (__u32)((ends - begins) / 4096) };
	}
	return count;
}

/* The return address is the word at the stack pointer, and the stack is one word shorter. */
static const struct unwind_rule word_by_word = { .kind = UNWIND_CFA,
						 .cfa_register = 7,
						 .cfa_offset = 8,
						 .return_address = UNWIND_AT_CFA,
						 .return_address_at = 2000 };

/*
 * A function calls itself without end, and each frame is described by words in two places that are too far
 * apart to be read at once.
 */
static const struct unwind_rule round_in_circles = { .kind = UNWIND_CFA_DEREF,
						     .cfa_register = 6,
						     .cfa_offset = 2048,
						     .is_signal = 1,
						     .return_address = UNWIND_AT_FRAME_POINTER,
						     .return_address_at = 8 };

/* The rule holds for every address. */
static int forge(const struct map maps[MAPS_OPEN], __u32 tgid, const struct unwind_rule *rule)
{
	const struct unwind_page page = { .rows = 1 };
	static struct unwind_chunk chunk;
	struct unwind_mapping mappings[16];
	int count = find_mappings(tgid, true, mappings, ARRAY_SIZE(mappings)), result = count < 0 ? count : 0;

	for (size_t i = 0; i < UNWIND_CHUNK_ROWS; i++)
		chunk.rows[i].rule = 1;
	for (__u32 i = 0; i < maps[PAGES].info.max_entries && !result; i++)
		result = put(&maps[PAGES], i, &page);
	if (!result)
		result = put(&maps[ROWS], 0, &chunk);
	if (!result)
		result = put(&maps[RULES], 1, rule);
	for (__u32 i = 0; i < (__u32)count && !result; i++)
		result = put(&maps[MAPS], i, &mappings[i]);
	return result ? result : claim_process(maps, tgid, (__u32)count);
}

/* By these mappings HotSpot made all code; its structures are in the lowest mapping of the process (workloads/secret.h). */
static int forge_hotspot(const struct map maps[MAPS_OPEN], __u32 tgid)
{
	struct unwind_hotspot hotspot = { .heaps = SECRET_HOTSPOT_HEAPS,
					  .block_bytes = SECRET_HOTSPOT_BLOCK,
					  .complete_bytes = 4 };
	struct unwind_mapping lowest, code[16];
	int count = find_mappings(tgid, true, code, ARRAY_SIZE(code)), result = count < 0 ? count : 0;

	if (!result && find_mappings(tgid, false, &lowest, 1) != 1)
		result = -ESRCH;
	for (__u32 i = 0; i < HOTSPOT_FIELDS; i++)
		hotspot.offsets[i] = i * (__u32)sizeof(uint64_t);
	if (!result)
		result = put(&maps[HOTSPOTS], 1, &hotspot);
	for (__u32 i = 0; i < (__u32)count && !result; i++) {
		code[i].table_at = lowest.begins;
		code[i].first_page = 1;
		code[i].pages = 0;
		result = put(&maps[MAPS], i, &code[i]);
	}
	return result ? result : claim_process(maps, tgid, (__u32)count);
}

/* Whether the tables led from the innermost frame to an address of no code. What HotSpot's structures say is a guess. */
static bool led_to_no_code(const struct sample *sample)
{
	return sample->user_ended == UNWIND_ENDED_UNMAPPED ||
	       (sample->user_ended == UNWIND_ENDED_NO_RULE && sample->unwinder & UNWINDER_EH_FRAME);
}

struct ring {
	const struct sample *samples;
	uint32_t count;
	uint64_t searched_ns;              /* samples up to then are counted */
	unsigned long long found, stopped; /* words that equal the secret; walks that led to no code */
};

static int ring_open(struct ring *ring, const char *directory)
{
	struct map map = { .fd = -EBADF };
	int result = map_open(directory, "oncpu", &map);

	if (result < 0)
		return result;
	*ring = (struct ring){ .count = map.info.max_entries };
	ring->samples = mmap(NULL, ring->count * sizeof(*ring->samples), PROT_READ, MAP_SHARED, map.fd, 0);
	return ring->samples == MAP_FAILED ? -errno : 0;
}

static void ring_search(struct ring *ring, uint64_t word)
{
	uint64_t newest_ns = ring->searched_ns;

	for (size_t i = 0; i < ring->count * sizeof(*ring->samples) / sizeof(word); i++)
		ring->found += ((const uint64_t *)ring->samples)[i] == word;
	for (uint32_t i = 0; i < ring->count; i++) {
		const struct sample *sample = &ring->samples[i];

		if (!sample->seq || sample->time_ns <= ring->searched_ns)
			continue;
		ring->stopped += led_to_no_code(sample);
		newest_ns = sample->time_ns > newest_ns ? sample->time_ns : newest_ns;
	}
	ring->searched_ns = newest_ns;
}

enum forgery { GARBAGE, HOTSPOT, SLOW, WORD_BY_WORD };

static int write_forgery(const struct map maps[MAPS_OPEN], __u32 tgid, enum forgery forgery, uint64_t *state)
{
	int result = 0;

	switch (forgery) {
	case HOTSPOT:
		return forge_hotspot(maps, tgid);
	case SLOW:
		return forge(maps, tgid, &round_in_circles);
	case WORD_BY_WORD:
		return forge(maps, tgid, &word_by_word);
	default:
		for (size_t i = MAPS; i <= HOTSPOTS && !result; i++)
			result = fill(&maps[i], state);
		return result ? result : claim_process(maps, tgid, (__u32)random_word(state));
	}
}

static int run(const char *directory, __u32 tgid, uint64_t seconds, const char *secret, enum forgery forgery)
{
	uint64_t until_ns = clock_monotonic_ns() + seconds * CLOCK_SECOND_NS, state = until_ns;
	unsigned long long rounds = 0;
	struct map maps[MAPS_OPEN];
	struct ring ring;
	int result = ring_open(&ring, directory);

	for (size_t i = 0; i < MAPS_OPEN && !result; i++)
		result = map_open(directory, names[i], &maps[i]);
	for (; !result && clock_monotonic_ns() < until_ns; rounds++) {
		result = write_forgery(maps, tgid, forgery, &state);
		if (forgery != GARBAGE)
			usleep(100000); /* the daemon also writes the tables, when something changes */
		ring_search(&ring, strtoull(secret, NULL, 16));
	}
	if (result < 0) {
		log_error("%s", strerror(-result));
		return EXIT_FAILED;
	}
	printf("rounds %llu, words found %llu, walks stopped %llu\n", rounds, ring.found, ring.stopped);
	return EXIT_DONE;
}

int main(int count, char **words)
{
	const char *garbage = NULL, *all = NULL, *slow = NULL, *hotspot = NULL;
	const struct option_spec options[] = {
		{ "garbage", NULL, "random tables instead of forged ones", &garbage },
		{ "all", NULL, "random bytes, zeros and ones in all maps; no word is looked for", &all },
		{ "slow", NULL, "tables by which each stack takes as long as it can", &slow },
		{ "hotspot", NULL, "mappings by which HotSpot made all code of 'secret --hotspot'",
		  &hotspot },
	};
	const struct command_spec command = {
		"forge_tables",
		"[--garbage | --all | --slow | --hotspot] PIN_DIR TGID SECONDS SECRET",
		"Writes tables as an attacker would, and looks for a word in the ring.",
		"forge_tables /sys/fs/bpf/bourdon 4711 5 5ec2e75ec2e75ec2",
		options,
		ARRAY_SIZE(options)
	};
	unsigned long long tgid, seconds;
	int found, parsed;

	log_init(command.program);
	parsed = options_parse(&command, count, words, &found);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (found != 4 || options_number(words[2], 1, INT32_MAX, &tgid) < 0 ||
	    options_number(words[3], 1, 86400, &seconds) < 0) {
		log_error("takes a pin directory, a process, seconds and a word: see --help");
		return EXIT_USAGE;
	}
	if (all)
		return run_all(words[1], seconds);
	return run(words[1], (__u32)tgid, seconds, words[4],
		   garbage   ? GARBAGE
		   : hotspot ? HOTSPOT
		   : slow    ? SLOW
			     : WORD_BY_WORD);
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spin_rings plays an attacker who controls the consumer: it maps a pinned ring and reads it over and over,
 * as fast as one CPU can, to catch an absolute kernel address between the moment the kernel stores a stack
 * and the moment it is rebased. A design that rebases in place shows thousands; bourdon must show none.
 */
#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define KERNEL_HALF 0xffff800000000000ULL
#define ERRNO_BEGINS 0xfffffffffffff000ULL /* MAX_ERRNO: from here on it is a small negative number */
#define SHOWN_MOST 10U

struct rings {
	const volatile uint64_t *words;
	size_t words_count;
	size_t mapped_bytes;
	size_t element_bytes; /* as the kernel spaces them */
};

struct tally {
	unsigned long long passes;
	unsigned long long kernel_pointers;
};

static size_t round_up(size_t value, size_t to)
{
	return (value + to - 1) / to * to;
}

/* Returns 0 or -errno; -EINVAL if it is no array that can be mapped. */
static int rings_map(const char *path, struct rings *ret_rings)
{
	_cleanup_close_ int fd = bpf_obj_get(path);
	struct bpf_map_info info = { .type = BPF_MAP_TYPE_UNSPEC };
	__u32 info_bytes = sizeof(info);
	struct rings rings;
	void *memory;

	if (fd < 0)
		return -errno;
	if (bpf_obj_get_info_by_fd(fd, &info, &info_bytes))
		return -errno;
	if (info.type != BPF_MAP_TYPE_ARRAY || !(info.map_flags & BPF_F_MMAPABLE))
		return -EINVAL;
	rings.element_bytes = round_up(info.value_size, sizeof(uint64_t));
	rings.words_count = rings.element_bytes * info.max_entries / sizeof(uint64_t);
	rings.mapped_bytes = round_up(rings.words_count * sizeof(uint64_t), (size_t)sysconf(_SC_PAGESIZE));
	memory = mmap(NULL, rings.mapped_bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return -errno;
	rings.words = memory;
	*ret_rings = rings;
	return 0;
}

/* Prints the upper half only: it tells the kind of the address and does not reveal it. */
static void show(const struct rings *rings, size_t word, uint64_t value)
{
	size_t at = word * sizeof(uint64_t);

	printf("element=%zu offset=%zu upper_half=0x%08llx\n", at / rings->element_bytes,
	       at % rings->element_bytes, (unsigned long long)(value >> 32));
}

static void rings_pass(const struct rings *rings, struct tally *tally)
{
	for (size_t i = 0; i < rings->words_count; i++) {
		uint64_t value = rings->words[i];

		if (value < KERNEL_HALF || value >= ERRNO_BEGINS)
			continue;
		if (tally->kernel_pointers++ < SHOWN_MOST)
			show(rings, i, value);
	}
	tally->passes++;
}

static struct tally rings_spin(const struct rings *rings, unsigned long long seconds)
{
	struct tally tally = { .passes = 0 };
	struct timespec begun, now;

	clock_gettime(CLOCK_MONOTONIC, &begun);
	do {
		rings_pass(rings, &tally);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begun.tv_sec) * 1000000000LL + (now.tv_nsec - begun.tv_nsec) <
		 (long long)seconds * 1000000000LL);
	return tally;
}

int main(int argc, char **argv)
{
	const struct command_spec command = {
		"spin_rings",
		"PIN_PATH SECONDS",
		"Exits 1 where an absolute kernel address shows up in a mapped BPF array.",
		"spin_rings /sys/fs/bpf/bourdon/oncpu 5\n"
		"Says words= (of 64 bits, in the map), passes= over them and kernel_pointers= seen in all.",
		NULL,
		0
	};
	unsigned long long seconds;
	struct rings rings = { .words = NULL };
	struct tally tally;
	int words, parsed, error;

	log_init(command.program);
	parsed = options_parse(&command, argc, argv, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (words != 2 || options_number(argv[2], 1, 86400, &seconds) < 0) {
		log_error("takes a pin and 1 to 86400 seconds: see --help");
		return EXIT_USAGE;
	}
	error = rings_map(argv[1], &rings);
	if (error) {
		log_error("cannot map '%s': %s%s", argv[1], strerror(-error),
			  error == -EINVAL ? ": it must be an array with BPF_F_MMAPABLE" : "");
		return EXIT_FAILED;
	}
	tally = rings_spin(&rings, seconds);
	munmap((void *)rings.words, rings.mapped_bytes);
	printf("words=%zu passes=%llu kernel_pointers=%llu\n", rings.words_count, tally.passes,
	       tally.kernel_pointers);
	return tally.kernel_pointers ? EXIT_FAILED : EXIT_DONE;
}

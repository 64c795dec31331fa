/* SPDX-License-Identifier: GPL-2.0-only */
/* secret uses CPU time with a stack full of one word, which no other process knows or may learn. */
#include "tests/workloads/secret.h"
#include "common/abi/abi.h"
#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define WORDS 512U

/* The heap of code: from below the program to above it. */
#define BELOW_BYTES (2UL << 20)
#define SEGMENT_SHIFT 16U
#define SEGMENTS 250U

extern const char __executable_start[]; /* of the linker */

static volatile uint64_t spins;

/* ---- HotSpot's structures ---- */

struct space {
	uint64_t begins, ends;
};

struct code_heap {
	struct space memory, segments;
	uint64_t shift;
};

struct code_blob {
	uint64_t name, bytes, code;
	uint32_t complete, frame_words;
};

struct hotspot {
	uint64_t offsets[HOTSPOT_FIELDS];
	char name[SECRET_HOTSPOT_HEAPS - HOTSPOT_FIELDS * sizeof(uint64_t)];
	uint64_t heaps_at;
	char padding[SECRET_HOTSPOT_BLOCK - SECRET_HOTSPOT_HEAPS - sizeof(uint64_t)];
	struct code_blob blob;
	struct {
		uint64_t count, data;
	} array;
	uint64_t list[2];
	struct code_heap heaps[2];
	uint8_t tags[SEGMENTS];
};

/*
 * By these structures all code of this program is one function, whose return address is a word of main()'s stack; and the secret
 * is an address in the second heap. Returns -1 without memory.
 */
static int pretend_hotspot(uint64_t secret)
{
	uint64_t below = (uintptr_t)__executable_start - BELOW_BYTES, at;
	struct hotspot *hotspot;
	void *wanted;

	memcpy(&wanted, &below, sizeof(wanted));
	hotspot = mmap(wanted, sizeof(*hotspot), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (hotspot == MAP_FAILED)
		return -1;
	at = (uintptr_t)hotspot;
	*hotspot = (struct hotspot){
		.offsets = { [HOTSPOT_ARRAY_DATA] = sizeof(uint64_t),
			     [HOTSPOT_HEAP_SEGMENTS] = offsetof(struct code_heap, segments),
			     [HOTSPOT_HEAP_SHIFT] = offsetof(struct code_heap, shift),
			     [HOTSPOT_SPACE_ENDS] = offsetof(struct space, ends),
			     [HOTSPOT_BLOB_BYTES] = offsetof(struct code_blob, bytes),
			     [HOTSPOT_BLOB_CODE] = offsetof(struct code_blob, code),
			     [HOTSPOT_BLOB_COMPLETE] = offsetof(struct code_blob, complete),
			     [HOTSPOT_BLOB_FRAME] = offsetof(struct code_blob, frame_words) },
		.name = "nmethod",
		.heaps_at = at + offsetof(struct hotspot, array),
		.blob = { .name = at + offsetof(struct hotspot, name),
			  .bytes = (uint64_t)SEGMENTS << SEGMENT_SHIFT,
			  .code = at,
			  .frame_words = 64 },
		.array = { 2, at + offsetof(struct hotspot, list) },
		.list = { at + offsetof(struct hotspot, heaps[0]), at + offsetof(struct hotspot, heaps[1]) },
		.heaps = { { .memory = { at, at + ((uint64_t)SEGMENTS << SEGMENT_SHIFT) },
			     .segments = { at + offsetof(struct hotspot, tags), 0 },
			     .shift = SEGMENT_SHIFT },
			   { .memory = { secret - 1, secret + 1 },
			     .segments = { at + offsetof(struct hotspot, tags), 0 },
			     .shift = SEGMENT_SHIFT } },
	};
	for (unsigned int i = 0; i < SEGMENTS; i++)
		hotspot->tags[i] = (uint8_t)i; /* so many segments before, the block begins */
	return 0;
}

/* ---- the program ---- */

static __attribute__((noinline)) void burn_secret(volatile const uint64_t *words, time_t until)
{
	while (time(NULL) < until)
		for (unsigned int i = 0; i < 1000000; i++)
			spins += words[i % WORDS];
}

int main(int argc, char **argv)
{
	const char *seconds = "10", *word = NULL, *hotspot = NULL;
	const struct option_spec options[] = {
		{ "seconds", "N", "how long (10)", &seconds },
		{ "word", "HEX", "what the stack is full of", &word },
		{ "hotspot", NULL, "have structures in memory by which all code may be HotSpot's", &hotspot },
	};
	const struct command_spec command = { "secret",
					      "--word HEX [--seconds N] [--hotspot]",
					      "Burns CPU time over a secret.",
					      "secret --word 5ec2e75ec2e75ec2",
					      options,
					      ARRAY_SIZE(options) };
	volatile uint64_t words[WORDS];
	int found, parsed;

	log_init(command.program);
	parsed = options_parse(&command, argc, argv, &found);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (found || !word) {
		log_error("takes --word HEX");
		return EXIT_USAGE;
	}
	if (hotspot && pretend_hotspot(strtoull(word, NULL, 16))) {
		log_error("no memory below the program: %s", strerror(errno));
		return EXIT_FAILED;
	}
	for (size_t i = 0; i < WORDS; i++)
		words[i] = strtoull(word, NULL, 16);
	puts("ready");
	fflush(stdout);
	burn_secret(words, time(NULL) + strtol(seconds, NULL, 10));
	return EXIT_DONE;
}

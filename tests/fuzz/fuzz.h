/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fuzz.h owns what all fuzz targets share: the entry point of libFuzzer, the assertion, and functions that
 * take an input apart. A target without assertions is still checked by the sanitizers.
 */
#ifndef BOURDON_FUZZ_H
#define BOURDON_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Always returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define HOLDS(condition)                                                                                     \
	do {                                                                                                 \
		if (!(condition)) {                                                                          \
			fprintf(stderr, "does not hold: %s (%s:%d)\n", #condition, __FILE__, __LINE__);      \
			abort();                                                                             \
		}                                                                                            \
	} while (0)

/* The part of an input that has not been read. */
struct input {
	const uint8_t *next;
	size_t left;
};

/* Reads the next bytes; zeros behind the end. */
static inline void input_read(struct input *input, void *into, size_t bytes)
{
	size_t there = bytes < input->left ? bytes : input->left;

	memset(into, 0, bytes);
	if (there)
		memcpy(into, input->next, there);
	input->next += there;
	input->left -= there;
}

static inline uint8_t input_byte(struct input *input)
{
	uint8_t byte;

	input_read(input, &byte, sizeof(byte));
	return byte;
}

/* A copy of exactly these bytes, so that AddressSanitizer sees reads behind the end. The caller frees. */
static inline void *copy_bytes(const void *from, size_t bytes)
{
	char *copy = calloc(1, bytes + !bytes);

	HOLDS(copy);
	if (bytes)
		memcpy(copy, from, bytes);
	return copy;
}

/* The same with a NUL at the end. */
static inline char *copy_text(const void *from, size_t bytes)
{
	char *copy = calloc(1, bytes + 1);

	HOLDS(copy);
	if (bytes)
		memcpy(copy, from, bytes);
	return copy;
}

#endif

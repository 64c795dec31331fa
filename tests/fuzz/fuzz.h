/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fuzz.h owns what every fuzz target has: libFuzzer's entry, what it asserts with, and taking an input
 * apart. A target that asserts nothing of its own still has the sanitizers.
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

/* What is left of an input. */
struct input {
	const uint8_t *next;
	size_t left;
};

/* The next bytes; zeros where there are no more. */
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

/* A copy of exactly these bytes, so that AddressSanitizer sees what is read beyond. The caller frees. */
static inline void *copy_bytes(const void *from, size_t bytes)
{
	char *copy = calloc(1, bytes + !bytes);

	HOLDS(copy);
	if (bytes)
		memcpy(copy, from, bytes);
	return copy;
}

/* The same with a NUL behind them. */
static inline char *copy_text(const void *from, size_t bytes)
{
	char *copy = calloc(1, bytes + 1);

	HOLDS(copy);
	if (bytes)
		memcpy(copy, from, bytes);
	return copy;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * helpers.h owns what several unit tests need: repeatable random numbers, files that are gone afterwards,
 * what was logged, and sample rings that are written as the kernel programs write them.
 */
#ifndef BOURDON_UNIT_HELPERS_H
#define BOURDON_UNIT_HELPERS_H

#include "common/abi.h"
#include "common/findings.h"

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ck_assert() tells the parent process each time: this is for what is asserted a million times. */
#define HOLDS(condition)                                                                                     \
	do {                                                                                                 \
		if (!(condition))                                                                            \
			ck_abort_msg("does not hold: %s", #condition);                                       \
	} while (0)

/* A sanitizer's runtime makes system calls of its own, which no policy of ours allows. */
#ifdef __has_feature
#define CLANG_SANITIZES __has_feature(address_sanitizer)
#else
#define CLANG_SANITIZES 0
#endif
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED true
#else
#define SANITIZED CLANG_SANITIZES
#endif

/* How many times slower than others this machine may be: check's own CK_TIMEOUT_MULTIPLIER, or 1. */
uint64_t patience(void);

/* ---- random numbers ---- */

/* The seed of this run, in decimal. main() chooses one, and shows it when a test has failed. */
#define SEED_VARIABLE "BOURDON_UNIT_SEED"

struct dice {
	uint64_t state;
};

/* Each `salt` gives another sequence of the run's seed. */
struct dice dice_new(uint64_t salt);
uint64_t dice_roll(struct dice *dice);

/* From 0 to below - 1. */
uint32_t dice_below(struct dice *dice, uint32_t below);

/* ---- files ---- */

/* A new directory, which main() removes in the end, whatever became of the test. The caller frees. */
char *directory_make(void);
void directory_remove(const char *path);

/* DIRECTORY/NAME. The caller frees. */
char *path_join(const char *directory, const char *name);
void file_put(const char *path, const void *bytes, size_t length);

/* ROOT/PATH, with the directories on the way to it. */
void file_put_below(const char *root, const char *path, const char *text);

/* This program's own file, and where in it the code at `address` lies. */
#define OWN_PATH "/proc/self/exe"
uint64_t own_offset(const void *address);

/* How many descriptors this process has open. */
size_t descriptors_open(void);

/* What tests/make_symbols.sh made. The caller frees the path, or closes the descriptor. */
#define SYMBOLS_VARIABLE "BOURDON_UNIT_SYMBOLS"
char *symbols_path(const char *name);
int symbols_open(const char *name);

/* Where in that file the place is that a symbol of any kind marks; the file must have them. */
uint64_t symbols_offset(const char *name, const char *symbol);

/* ---- findings ---- */

/* The first of that name; without one the test fails. */
const struct finding *finding_find(const struct findings *findings, const char *name);

/* ---- what goes to standard error ---- */

/* Keeps standard error in a file from here on; log_diverted() gives it back, and what was in it. */
int log_divert(void);
char *log_diverted(int saved);

/* ---- rings ---- */

struct fake_ring {
	struct sample *slots;
	uint32_t slots_count;
	uint64_t written;
};

void fake_ring_make(struct fake_ring *ring, uint32_t slots_count);
void fake_ring_free(struct fake_ring *ring);

/* The next slot, with a seq of 0 and a header, for the caller to fill; and its end. bpf/oncpu.bpf.c. */
struct sample *fake_ring_begin(struct fake_ring *ring);
void fake_ring_publish(struct fake_ring *ring);

/* Writes all of a sample but seq. */
void fake_ring_write(struct fake_ring *ring, const struct sample *sample);

/* A sample with a header and stacks of this depth, each frame `frames` plus its position. */
struct sample sample_make(uint32_t tgid, uint64_t time_ns, int kernel_depth, int user_depth, uint64_t frames);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * helpers.h owns what several unit tests need: tests that a machine cannot run, repeatable random numbers, files that are
 * removed afterwards, the text that was logged, and sample rings written as the kernel programs write them.
 */
#ifndef BOURDON_UNIT_HELPERS_H
#define BOURDON_UNIT_HELPERS_H

#include "common/abi/abi.h"
#include "common/system/findings.h"

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Like ck_assert(), which sends a message to the parent process each time and is too slow for a million
 * calls.
 */
#define HOLDS(condition)                                                                                     \
	do {                                                                                                 \
		if (!(condition))                                                                            \
			ck_abort_msg("does not hold: %s", #condition);                                       \
	} while (0)

/* A sanitizer's runtime makes system calls that the policies do not allow. */
#ifdef __has_feature
#define CLANG_SANITIZES (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define CLANG_SANITIZES 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#else
#define SANITIZED CLANG_SANITIZES
#endif

/* How many times slower than others this machine may be: CK_TIMEOUT_MULTIPLIER of check, or 1. */
uint64_t patience(void);

/* ---- tests that this machine cannot run ---- */

/*
 * Ends the test as skipped if there is an obstacle: a text that says why this process cannot run it. main() counts such tests
 * apart. First in a test, before it makes anything.
 */
#define SKIP_IF(obstacle)                                                                                    \
	do {                                                                                                 \
		const char *why_not = (obstacle);                                                            \
                                                                                                             \
		if (why_not) {                                                                               \
			skip_note(__FILE__, __func__, why_not);                                              \
			return;                                                                              \
		}                                                                                            \
	} while (0)

/*
 * The obstacles: not root; a kernel or a container that refuses bpf(); no pressure; no cgroup2 that has the cgroup of this
 * process. NULL if there is none.
 */
const char *no_root(void);
const char *no_bpf(void);
const char *no_pressure(void);
const char *no_cgroup2(void);

/*
 * Whoever this thread connects to from now on sees this user; what it opens, it opens as before. Only root can: end with 0.
 */
void connect_as(uid_t uid);

void skip_note(const char *file, const char *function, const char *why);

/* Prints each test that was skipped, and how often. Returns the sum. */
unsigned int skips_print(void);

/* ---- random numbers ---- */

/* The seed of this run, in decimal. main() chooses it, and prints it when a test fails. */
#define SEED_VARIABLE "BOURDON_UNIT_SEED"

struct dice {
	uint64_t state;
};

/* Each `salt` gives another sequence of numbers from the seed of the run. */
struct dice dice_new(uint64_t salt);
uint64_t dice_roll(struct dice *dice);

/* From 0 to below - 1. */
uint32_t dice_below(struct dice *dice, uint32_t below);

/* Between 0 and 1. */
double dice_uniform(struct dice *dice);

/* How many events there are by chance where `mean` are expected, which is below 700. */
uint32_t dice_poisson(struct dice *dice, double mean);

/* ---- files ---- */

/* A new directory; main() removes it when all tests have ended. The caller frees the path. */
char *directory_make(void);
void directory_remove(const char *path);

/* DIRECTORY/NAME. The caller frees. */
char *path_join(const char *directory, const char *name);
void file_put(const char *path, const void *bytes, size_t length);

/* Writes ROOT/PATH, and makes the directories above it. */
void file_put_below(const char *root, const char *path, const char *text);

/* The file of this program, and the offset in it of the code at `address`. */
#define OWN_PATH "/proc/self/exe"
uint64_t own_offset(const void *address);

/* The number of descriptors that this process has open. */
size_t descriptors_open(void);

/* A file that tests/make_symbols.sh made. The caller frees the path, or closes the descriptor. */
#define SYMBOLS_VARIABLE "BOURDON_UNIT_SYMBOLS"
char *symbols_path(const char *name);
int symbols_open(const char *name);

/* The offset in that file of a symbol of any kind; the file must have a symbol table. */
uint64_t symbols_offset(const char *name, const char *symbol);

/* ---- findings ---- */

/* The first finding with that name; the test fails if there is none. */
const struct finding *finding_find(const struct findings *findings, const char *name);

/* ---- standard error ---- */

/*
 * Sends standard error to a file until log_diverted(), which restores it and returns the text; the caller
 * frees.
 */
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

/*
 * The next slot, with a header and a seq of 0, for the caller to fill; fake_ring_publish() ends it. As
 * bpf/oncpu.bpf.c.
 */
struct sample *fake_ring_begin(struct fake_ring *ring);
void fake_ring_publish(struct fake_ring *ring);

/* Writes all fields of a sample but seq. */
void fake_ring_write(struct fake_ring *ring, const struct sample *sample);

/* A sample with a header and stacks of these depths; each frame is `frames` plus its position. */
struct sample sample_make(uint32_t tgid, uint64_t time_ns, int kernel_depth, int user_depth, uint64_t frames);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hash.h hashes bytes with a secret key: SipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast short-input
 * PRF", 2012; the variant with fewer rounds is the one that Python's and Rust's hash tables use). Targets
 * choose paths, inode numbers, addresses and rules; without the key they cannot choose such that collide.
 * Each process draws its key from getrandom(2) before main(). No caller passes one, so none can forget it.
 */
#ifndef BOURDON_COMMON_BASE_HASH_H
#define BOURDON_COMMON_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* The hash is valid within this process only. */
uint32_t hash_bytes(const void *bytes, size_t length);

/* The same of a number and the bytes behind it. */
uint32_t hash_number_and_bytes(uint64_t number, const void *bytes, size_t length);

/*
 * Draws another key. A child that parses foreign files calls it, so that its memory does not hold its
 * parent's key. The process must hold no hash yet.
 */
void hash_choose_key(void);

struct hash_key {
	uint64_t words[2];
};

/* For comparison with published results. */
uint64_t hash_with_key(const struct hash_key *key, const void *bytes, size_t length);

#endif

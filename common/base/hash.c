/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/base/hash.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static struct hash_key process_key;

/* Runs before main(), so no hash precedes it. */
__attribute__((constructor)) void hash_choose_key(void)
{
	struct hash_key key;
	ssize_t got;

	do
		got = getrandom(&key, sizeof(key), 0);
	while (got < 0 && errno == EINTR);
	if (got != sizeof(key)) {
		fputs("cannot draw the key of the hash tables: getrandom failed\n", stderr);
		abort();
	}
	process_key = key;
}

/* ---- SipHash, with one round for each word and three at the end ---- */

struct state {
	uint64_t v0, v1, v2, v3;
};

static uint64_t rotate(uint64_t value, unsigned int bits)
{
	return value << bits | value >> (64 - bits);
}

static void turn(struct state *state)
{
	state->v0 += state->v1;
	state->v1 = rotate(state->v1, 13) ^ state->v0;
	state->v0 = rotate(state->v0, 32);
	state->v2 += state->v3;
	state->v3 = rotate(state->v3, 16) ^ state->v2;
	state->v0 += state->v3;
	state->v3 = rotate(state->v3, 21) ^ state->v0;
	state->v2 += state->v1;
	state->v1 = rotate(state->v1, 17) ^ state->v2;
	state->v2 = rotate(state->v2, 32);
}

static struct state begin(const struct hash_key *key)
{
	return (struct state){ .v0 = key->words[0] ^ 0x736f6d6570736575U,
			       .v1 = key->words[1] ^ 0x646f72616e646f6dU,
			       .v2 = key->words[0] ^ 0x6c7967656e657261U,
			       .v3 = key->words[1] ^ 0x7465646279746573U };
}

static void add_word(struct state *state, uint64_t word)
{
	state->v3 ^= word;
	turn(state);
	state->v0 ^= word;
}

/* `total` is the length of the whole input: of the words added before, and of these bytes. */
static uint64_t end(struct state *state, const void *bytes, size_t length, size_t total)
{
	const unsigned char *at = bytes;
	uint64_t word;

	for (; length >= sizeof(word); at += sizeof(word), length -= sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		add_word(state, word);
	}
	word = 0;
	if (length)
		memcpy(&word, at, length);
	add_word(state, word | (uint64_t)total << 56);
	state->v2 ^= 0xff;
	for (int i = 0; i < 3; i++)
		turn(state);
	return state->v0 ^ state->v1 ^ state->v2 ^ state->v3;
}

uint64_t hash_with_key(const struct hash_key *key, const void *bytes, size_t length)
{
	struct state state = begin(key);

	return end(&state, bytes, length, length);
}

uint32_t hash_bytes(const void *bytes, size_t length)
{
	return (uint32_t)hash_with_key(&process_key, bytes, length);
}

uint32_t hash_number_and_bytes(uint64_t number, const void *bytes, size_t length)
{
	struct state state = begin(&process_key);

	add_word(&state, number);
	return (uint32_t)end(&state, bytes, length, sizeof(number) + length);
}

/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/base/cleanup.h"
#include "common/base/hash.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <string.h>

/* SipHash-1-3 of the bytes 0, 1, 2 … with the key 0, 1, 2 … 15, as the tests of Rust's library have them. */
START_TEST(results_are_those_published)
{
	static const struct {
		size_t length;
		uint64_t hash;
	} published[] = {
		{ 0, 0xabac0158050fc4dcU },  { 1, 0xc9f49bf37d57ca93U },  { 4, 0xcf75576088d38328U },
		{ 7, 0xd3927d989bb11140U },  { 8, 0x369095118d299a8eU },  { 9, 0x25a48eb36c063de4U },
		{ 15, 0xd320d86d2a519956U }, { 16, 0xcc4fdd1a7d908b66U }, { 17, 0x9cf2689063dbd80cU },
		{ 63, 0x9d199062b7bbb3a8U },
	};
	struct hash_key key = { { 0x0706050403020100U, 0x0f0e0d0c0b0a0908U } };
	unsigned char bytes[64];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)i;
	for (size_t i = 0; i < ARRAY_SIZE(published); i++)
		ck_assert_uint_eq(hash_with_key(&key, bytes, published[i].length), published[i].hash);
}
END_TEST

START_TEST(bytes_are_hashed_whole)
{
	unsigned char bytes[40];
	struct dice dice = dice_new(20);

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)dice_roll(&dice);
	for (size_t length = 0; length <= sizeof(bytes); length++) {
		struct hash_key key = { { 7, 0 } };
		uint64_t hash = hash_with_key(&key, bytes, length);

		ck_assert_uint_eq(hash_with_key(&key, bytes, length), hash);
		for (size_t i = 0; i < 128; i++) {
			key.words[i / 64] ^= 1ULL << i % 64;
			HOLDS(hash_with_key(&key, bytes, length) != hash);
			key.words[i / 64] ^= 1ULL << i % 64;
		}
		for (size_t i = 0; i < length * 8; i++) {
			bytes[i / 8] ^= (unsigned char)(1U << i % 8);
			HOLDS(hash_with_key(&key, bytes, length) != hash);
			bytes[i / 8] ^= (unsigned char)(1U << i % 8);
		}
	}
	memset(bytes, 0, sizeof(bytes));
	for (size_t length = 1; length <= sizeof(bytes); length++) /* zeros are hashed, too */
		ck_assert_uint_ne(hash_bytes(bytes, length), hash_bytes(bytes, length - 1));
}
END_TEST

START_TEST(a_number_counts_as_its_bytes)
{
	uint64_t words[3] = { 42, 7, 8 };

	for (size_t length = 0; length <= 16; length++)
		ck_assert_uint_eq(hash_number_and_bytes(words[0], words + 1, length),
				  hash_bytes(words, sizeof(words[0]) + length));
}
END_TEST

/* 16 names hash alike under two keys with a chance of 2^-512. */
static void hash_names(uint32_t hashes[16])
{
	for (uint32_t i = 0; i < 16; i++)
		hashes[i] = hash_bytes(&i, sizeof(i));
}

START_TEST(a_process_has_a_key_that_nobody_chose)
{
	static const struct hash_key zeros;
	uint32_t hashes[16], again[16], same = 0;

	hash_names(hashes);
	for (uint32_t i = 0; i < 16; i++)
		same += hashes[i] == (uint32_t)hash_with_key(&zeros, &i, sizeof(i));
	ck_assert_uint_ne(same, 16);
	hash_choose_key();
	hash_names(again);
	HOLDS(memcmp(hashes, again, sizeof(hashes)) != 0);
}
END_TEST

SUITE(hash)
{
	Suite *suite = suite_create("hash");
	TCase *hash = tcase_create("hash");

	tcase_add_test(hash, results_are_those_published);
	tcase_add_test(hash, bytes_are_hashed_whole);
	tcase_add_test(hash, a_number_counts_as_its_bytes);
	tcase_add_test(hash, a_process_has_a_key_that_nobody_chose);
	suite_add_tcase(suite, hash);
	return suite;
}

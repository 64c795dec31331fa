/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads lines as comm patterns and the last line as a comm. The trie finds the same patterns as a plain
 * search, and the keys for the kernel's trie match the same comms.
 */
#include "common/policy/comm_trie.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>

#define PATTERNS_KEPT 64

struct patterns {
	struct comm_pattern patterns[PATTERNS_KEPT];
	uint32_t count;
};

static bool is_there(const struct patterns *patterns, const struct comm_pattern *pattern)
{
	for (uint32_t i = 0; i < patterns->count; i++)
		if (patterns->patterns[i].prefix == pattern->prefix &&
		    !strcmp(patterns->patterns[i].text, pattern->text))
			return true;
	return false;
}

static void add(struct comm_trie *trie, struct patterns *patterns, const char *line)
{
	struct comm_pattern pattern;
	const char *why = NULL;
	int result = comm_pattern_parse(line, &pattern, &why);

	HOLDS(result ? result == -EINVAL && why : !why);
	if (result || patterns->count == PATTERNS_KEPT)
		return;
	result = comm_trie_add(trie, &pattern, patterns->count + 1);
	HOLDS(result == (is_there(patterns, &pattern) ? -EEXIST : 0));
	if (!result)
		patterns->patterns[patterns->count++] = pattern;
}

static bool matches(const struct comm_pattern *pattern, const char *comm)
{
	return pattern->prefix ? !strncmp(pattern->text, comm, strlen(pattern->text))
			       : !strcmp(pattern->text, comm);
}

/* As kernel/bpf/lpm_trie.c compares; all prefixes here are whole bytes. */
static bool key_matches(const struct comm_pattern *pattern, const char *comm)
{
	struct pattern_key key = comm_pattern_key(pattern), lookup = comm_lookup_key(comm);

	HOLDS(!(key.prefix_bits % 8) && key.prefix_bits <= lookup.prefix_bits);
	return !memcmp(key.comm, lookup.comm, key.prefix_bits / 8);
}

/* An exact pattern before a prefix, a longer prefix before a shorter one. */
static size_t rank_of(const struct comm_pattern *pattern)
{
	return pattern->prefix ? strlen(pattern->text) : ABI_COMM_BYTES;
}

static void check(const struct comm_trie *trie, const struct patterns *patterns,
		  const char comm[ABI_COMM_BYTES])
{
	uint32_t ids[COMM_TRIE_PATH];
	size_t count = comm_trie_match(trie, comm, ids), expected = 0;

	for (size_t i = 0; i < count; i++) {
		HOLDS(ids[i] && ids[i] <= patterns->count);
		HOLDS(!i || rank_of(&patterns->patterns[ids[i] - 1]) <
				    rank_of(&patterns->patterns[ids[i - 1] - 1]));
		HOLDS(matches(&patterns->patterns[ids[i] - 1], comm));
	}
	for (uint32_t i = 0; i < patterns->count; i++) {
		expected += matches(&patterns->patterns[i], comm);
		HOLDS(matches(&patterns->patterns[i], comm) == key_matches(&patterns->patterns[i], comm));
	}
	HOLDS(count == expected);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *text = copy_text(data, bytes), *rest = text, *line;
	struct comm_trie *trie = comm_trie_new();
	struct patterns patterns = { .count = 0 };
	char comm[ABI_COMM_BYTES] = "";

	HOLDS(trie);
	while ((line = strsep(&rest, "\n"))) {
		if (rest)
			add(trie, &patterns, line);
		else
			snprintf(comm, sizeof(comm), "%s", line);
	}
	check(trie, &patterns, comm);
	comm_trie_free(trie);
	free(text);
	return 0;
}

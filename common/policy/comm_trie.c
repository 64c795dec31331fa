/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/policy/comm_trie.h"

#include "common/base/array.h"

#include <string.h>

/* One node a byte, with children in a list: rules are few, and a comm has at most 15 bytes. */
struct node {
	uint32_t first_child, next_sibling; /* indices; 0: none, since the root is no node's child */
	uint32_t prefix_id, exact_id;       /* 0: no pattern ends here */
	char byte;
};

struct comm_trie {
	struct node *nodes;
	uint32_t count, room;
};

struct comm_trie *comm_trie_new(void)
{
	struct comm_trie *trie = calloc(1, sizeof(*trie));

	if (!trie)
		return NULL;
	trie->room = 64;
	trie->nodes = calloc(trie->room, sizeof(*trie->nodes));
	if (!trie->nodes) {
		free(trie);
		return NULL;
	}
	trie->count = 1; /* the root */
	return trie;
}

void comm_trie_free(struct comm_trie *trie)
{
	if (!trie)
		return;
	free(trie->nodes);
	free(trie);
}

static uint32_t find_child(const struct comm_trie *trie, uint32_t node, char byte)
{
	uint32_t child = trie->nodes[node].first_child;

	while (child && trie->nodes[child].byte != byte)
		child = trie->nodes[child].next_sibling;
	return child;
}

static int add_child(struct comm_trie *trie, uint32_t node, char byte, uint32_t *ret_child)
{
	if (array_make_room(trie->nodes, trie->count, trie->room, 1U))
		return -ENOMEM;
	trie->nodes[trie->count] =
		(struct node){ .byte = byte, .next_sibling = trie->nodes[node].first_child };
	trie->nodes[node].first_child = trie->count;
	*ret_child = trie->count++;
	return 0;
}

int comm_trie_add(struct comm_trie *trie, const struct comm_pattern *pattern, uint32_t id)
{
	uint32_t node = 0, *at;

	for (const char *byte = pattern->text; *byte; byte++) {
		uint32_t child = find_child(trie, node, *byte);

		if (!child) {
			int result = add_child(trie, node, *byte, &child);

			if (result < 0)
				return result;
		}
		node = child;
	}
	at = pattern->prefix ? &trie->nodes[node].prefix_id : &trie->nodes[node].exact_id;
	if (*at)
		return -EEXIST;
	*at = id;
	return 0;
}

size_t comm_trie_match(const struct comm_trie *trie, const char comm[ABI_COMM_BYTES],
		       uint32_t ret_ids[COMM_TRIE_PATH])
{
	uint32_t path[COMM_TRIE_PATH], node = 0;
	size_t bytes = strnlen(comm, ABI_COMM_BYTES - 1), depth = 0, count = 0;

	path[depth++] = 0;
	for (size_t i = 0; i < bytes; i++) {
		node = find_child(trie, node, comm[i]);
		if (!node)
			break;
		path[depth++] = node;
	}
	if (depth == bytes + 1 && trie->nodes[path[bytes]].exact_id)
		ret_ids[count++] = trie->nodes[path[bytes]].exact_id;
	while (depth--)
		if (trie->nodes[path[depth]].prefix_id)
			ret_ids[count++] = trie->nodes[path[depth]].prefix_id;
	return count;
}

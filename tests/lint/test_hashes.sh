#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Proves that hashes.sh finds what it should: each mistake is planted in a small tree, and must be named.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

tree=$(mktemp -d)
found=0
trap 'rm -rf "$tree"' EXIT
mkdir "$tree"/{bpf,common,consumer,loader,policy,report}

# accepts LINE...: hashes.sh must accept a source of these lines
accepts() {
	printf '%s\n' "$@" > "$tree/consumer/planted.c"
	tests/lint/hashes.sh "$tree" > /dev/null || {
		printf 'test_hashes.sh: refused:\n%s\n' "$(printf '%s\n' "$@")" >&2
		exit 1
	}
}

# refuses LINE MESSAGE SOURCE...: it must name that line, with a message that begins so
refuses() {
	local output
	printf '%s\n' "${@:3}" > "$tree/consumer/planted.c"
	if output=$(tests/lint/hashes.sh "$tree") || [[ $output != "consumer/planted.c:$1: $2"* || $output == *$'\n'* ]]; then
		printf 'test_hashes.sh: expected line %s, "%s", but it printed:\n%s\n' "$1" "$2" "$output" >&2
		exit 1
	fi
	found=$((found + 1))
}

FUNCTION=('static uint32_t hash_of(const struct thing *thing)' '{' '	return hash_bytes(thing->key, sizeof(thing->key));' '}')
DIGEST=('static uint32_t hash_of(const struct thing *thing)' '{' '	uint32_t hash;' ''
	'	memcpy(&hash, thing->digest, sizeof(hash));' '	return hash;' '}')
CALL='	return hash_index_find(&things->index, hash_of(thing), is_thing, thing);'

accepts '	hash_index_add(&index, hash_bytes(&id, sizeof(id)), position);'
accepts "${FUNCTION[@]}" "$CALL"
accepts '	uint32_t hash = hash_number_and_bytes((uint64_t)kind << 32 | process, path, strlen(path)), found;' \
	'	found = hash_index_find(&index, hash, is_it, &it);'
accepts '	stack.hash = hash_bytes(frames, bytes);' '	hash_index_add(&stacks->index, stack.hash, stacks->count);'
accepts '/* hcreate(3) and 5381 */' '	log_info("5381 & hsearch");'

refuses 8 "hash_index_find() gets 'hash_of(thing)'" "${DIGEST[@]}" "$CALL"
refuses 1 "hash_index_add() gets 'id'" '	hash_index_add(&index, id, position);'
refuses 1 "hash_index_add() gets '(uint32_t)id'" '	hash_index_add(&index, (uint32_t)id, position);'
refuses 1 "hash_index_remove() gets 'hash_bytes(&id, sizeof(id)) & 1'" \
	'	hash_index_remove(&index, hash_bytes(&id, sizeof(id)) & 1, position);'
refuses 3 "hash_index_find() gets 'hash'" '	uint32_t hash = hash_bytes(&id, sizeof(id));' '	hash = id;' \
	'	hash_index_find(&index, hash, is_it, &it);'
refuses 3 "hash_index_find() gets 'hash'" '	uint32_t hash = hash_bytes(&id, sizeof(id));' '	hash ^= id;' \
	'	hash_index_find(&index, hash, is_it, &it);'
refuses 3 "hash_index_find() gets 'hash'" '	uint32_t hash = hash_bytes(&id, sizeof(id));' \
	'	memcpy(&hash, &id, sizeof(hash));' '	hash_index_find(&index, hash, is_it, &it);'
refuses 1 "hash_index_find() gets 'hash'" '	uint32_t hash = hash_bytes(&id, sizeof(id)) + id; hash_index_find(&index, hash, is_it, &it);'
refuses 6 "hash_index_find() gets 'hash_of(thing)'" 'static uint32_t hash_of(const struct thing *thing)' '{' \
	'	if (thing->id) return thing->id;' '	return hash_bytes(thing->key, 8);' '}' "$CALL"
refuses 2 'hash_with_key()' '' '	hash = hash_with_key(&key, bytes, length);'
refuses 1 'hcreate' '	hcreate(1000);'
refuses 1 '5381' '	for (hash = 5381; *text; text++)'
refuses 1 '0x811c9dc5U' '	uint32_t hash = 0x811c9dc5U;'
refuses 1 'a slot chosen by a mask' '	slot = &table->slots[inode & table->mask];'
refuses 2 'BPF_F_ZERO_SEED' 'struct {' '	__uint(map_flags, BPF_F_ZERO_SEED);' '};'

echo "test_hashes: hashes.sh finds $found planted mistakes"

/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbols/known_files.h"

#include "common/base/array.h"
#include "common/base/hash_index.h"
#include "common/symbolizer/protocol.h"
#include "common/text/hexadecimal.h"
#include "consumer/kept/file_cache.h"

#include <string.h>

/* At this number all files are forgotten; those in use come back with the next capture. */
#define FILES_MAX 2048U
#define SETTLED_MAX 256U /* settled offsets in a file; further ones are looked up again */

struct settled {
	int64_t offset;
	bool is_named;
};

struct entry {
	struct file_key key;
	char build_id[HEXADECIMAL_BYTES(SYMBOLIZE_BUILD_ID_BYTES)];
	bool with_debug_file; /* whether the settled offsets were looked up with the debug file */
	struct settled *settled;
	uint32_t settled_count, settled_room;
};

struct known_files {
	struct entry *entries;
	uint32_t count, room;
	struct hash_index index;
};

static uint32_t find_entry(const struct known_files *files, const struct stat *at)
{
	const struct file_key key = file_key_of(at, at->st_dev);

	return files ? hash_index_find_key(&files->index, HASH_KEYS(files->entries, key), &key)
		     : HASH_INDEX_NONE;
}

struct known_files *known_files_new(void)
{
	return calloc(1, sizeof(struct known_files));
}

static void forget_all(struct known_files *files)
{
	for (uint32_t i = 0; i < files->count; i++)
		free(files->entries[i].settled);
	hash_index_free(&files->index);
	files->count = 0;
}

void known_files_free(struct known_files *files)
{
	if (!files)
		return;
	forget_all(files);
	free(files->entries);
	free(files);
}

const char *known_files_build_id(const struct known_files *files, const struct stat *at)
{
	uint32_t found = find_entry(files, at);

	return found == HASH_INDEX_NONE ? NULL : files->entries[found].build_id;
}

void known_files_add(struct known_files *files, const struct stat *at, const char *build_id)
{
	const struct file_key key = file_key_of(at, at->st_dev);
	uint32_t found;

	if (!files || !*build_id || strlen(build_id) >= sizeof(files->entries->build_id) ||
	    find_entry(files, at) != HASH_INDEX_NONE)
		return;
	if (files->count == FILES_MAX)
		forget_all(files);
	if (hash_index_intern(&files->index, HASH_KEYS(files->entries, key), files->entries, files->count,
			      files->room, &key, &found) > 0)
		strcpy(files->entries[found].build_id, build_id);
}

bool known_files_is_settled(const struct known_files *files, const struct stat *at, bool with_debug_file,
			    int64_t offset, bool is_named)
{
	uint32_t found = find_entry(files, at);
	const struct entry *entry;

	if (found == HASH_INDEX_NONE)
		return false;
	entry = &files->entries[found];
	for (uint32_t i = 0; entry->with_debug_file == with_debug_file && i < entry->settled_count; i++)
		if (entry->settled[i].offset == offset && entry->settled[i].is_named == is_named)
			return true;
	return false;
}

void known_files_settle(struct known_files *files, const struct stat *at, bool with_debug_file,
			int64_t offset, bool is_named)
{
	uint32_t found = find_entry(files, at);
	struct entry *entry;

	if (found == HASH_INDEX_NONE || known_files_is_settled(files, at, with_debug_file, offset, is_named))
		return;
	entry = &files->entries[found];
	if (entry->with_debug_file != with_debug_file)
		entry->settled_count = 0;
	entry->with_debug_file = with_debug_file;
	if (entry->settled_count < SETTLED_MAX &&
	    !array_make_room(entry->settled, entry->settled_count, entry->settled_room, 1U))
		entry->settled[entry->settled_count++] = (struct settled){ offset, is_named };
}

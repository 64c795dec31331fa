/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbols/file_table.h"

#include "common/base/array.h"

#include <string.h>

struct wanted_file {
	const struct file_table *table;
	const struct mapping_record *record;
	const char *path;
};

static bool is_file(const void *user, uint32_t position)
{
	const struct wanted_file *wanted = user;
	const struct mapped_file *file = wanted->table->files[position];
	const struct mapping_record *record = wanted->record;

	return file->inode == record->inode && file->device_major == record->device_major &&
	       file->device_minor == record->device_minor && strlen(file->path) == record->path_bytes &&
	       !memcmp(file->path, wanted->path, record->path_bytes);
}

static uint32_t hash_file(uint64_t inode, uint32_t major, uint32_t minor, const char *path, size_t bytes)
{
	uint64_t identity[2] = { inode, (uint64_t)major << 32 | minor };

	return hash_number_and_bytes(hash_bytes(identity, sizeof(identity)), path, bytes);
}

struct mapped_file *file_table_intern(struct file_table *table, struct mapping_room *room,
				      const struct mapping_record *record, const char *path, uint32_t uid)
{
	struct wanted_file wanted = { table, record, path };
	uint32_t hash = hash_file(record->inode, record->device_major, record->device_minor, path,
				  record->path_bytes);
	uint32_t found = hash_index_find(&table->by_file, hash, is_file, &wanted);
	struct mapped_file *file;

	if (found != HASH_INDEX_NONE) {
		table->files[found]->users++;
		return table->files[found];
	}
	if (!mapping_room_has_file(room, uid, record->path_bytes) ||
	    array_make_room(table->files, table->count, table->room, 1U))
		return NULL;
	file = malloc(sizeof(*file));
	if (!file)
		return NULL;
	*file = (struct mapped_file){ .inode = record->inode,
				      .device_major = record->device_major,
				      .device_minor = record->device_minor,
				      .users = 1,
				      .uid = uid,
				      .path = strndup(path, record->path_bytes) };
	if (!file->path || hash_index_add(&table->by_file, hash, table->count)) {
		free(file->path);
		free(file);
		return NULL;
	}
	table->files[table->count++] = file;
	mapping_room_add_file(room, uid, record->path_bytes);
	return file;
}

void file_table_sweep(struct file_table *table, struct mapping_room *room)
{
	uint32_t kept = 0;

	hash_index_free(&table->by_file);
	for (uint32_t i = 0; i < table->count; i++) {
		struct mapped_file *file = table->files[i];

		if (!file->users) {
			free(file->path);
			free(file);
			continue;
		}
		table->files[kept] = file;
		mapping_room_add_file(room, file->uid, strlen(file->path));
		/* if out of memory, the file is not found again and stored twice */
		hash_index_add(&table->by_file,
			       hash_file(file->inode, file->device_major, file->device_minor, file->path,
					 strlen(file->path)),
			       kept++);
	}
	table->count = kept;
}

void file_table_free(struct file_table *table)
{
	for (uint32_t i = 0; i < table->count; i++) {
		free(table->files[i]->path);
		free(table->files[i]);
	}
	free(table->files);
	hash_index_free(&table->by_file);
}

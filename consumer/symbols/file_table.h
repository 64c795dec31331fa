/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * file_table.h owns the mapped files: each path of a file once, however many mappings share it. mappings.h has one, on the worker thread.
 */
#ifndef BOURDON_CONSUMER_SYMBOLS_FILE_TABLE_H
#define BOURDON_CONSUMER_SYMBOLS_FILE_TABLE_H

#include "common/base/hash_index.h"
#include "consumer/symbols/mapping.h"
#include "consumer/symbols/mapping_room.h"

/* Begins as zeros. */
struct file_table {
	struct mapped_file **files;
	uint32_t count, room;
	struct hash_index by_file;
};

/* Returns the file of the record, with one user more, or NULL without memory or room. A new one counts as this user's. */
struct mapped_file *file_table_intern(struct file_table *table, struct mapping_room *room,
				      const struct mapping_record *record, const char *path, uint32_t uid);

/* Frees the files without users, and counts the others in `room`. */
void file_table_sweep(struct file_table *table, struct mapping_room *room);

void file_table_free(struct file_table *table);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * file_cache.h owns DIRECTORY/tables.db: what symbolizers found in files, kept so that a file that was ever seen needs none.
 * Content belongs to one state of one file: device, inode, owner, size and time of change, which no user can set. What is damaged, was
 * made by another version, or is of another state is lost, and made again. The file may be removed at any time. May block: for
 * the worker thread only.
 *
 * Room: what is kept of mapped files between captures and runs. The worker thread alone; it touches
 * tables.db.
 */
#ifndef BOURDON_CONSUMER_KEPT_FILE_CACHE_H
#define BOURDON_CONSUMER_KEPT_FILE_CACHE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define FILE_CACHE_FILE "tables.db"

enum file_cache_kind {
	FILE_CACHE_TABLES, /* unwind tables: table_cache.h */
	FILE_CACHE_NAMES,  /* names of code: name_index.h */
	FILE_CACHE_KINDS
};

/*
 * Of the whole file, whatever the kinds. What was not used for longest goes first. A table of libc has 140 kB, of node 1.6 MB;
 * content of more than half of it is not kept.
 */
#define FILE_CACHE_BYTES_MAX (32UL << 20)

/* One state of one file. The owner is in it because on btrfs a user's file may have the device and inode of one of root's. */
struct file_key {
	uint64_t device, inode, owner, bytes;
	int64_t changed_s, changed_ns;
};

/* `device`: what the kernel records for a mapping. stat(2) has another one on btrfs, and for each container on overlayfs. */
struct file_key file_key_of(const struct stat *at, dev_t device);

/* Whether the same file is still in that state. */
bool file_key_is_of(const struct file_key *key, const struct stat *at);

/*
 * Whether a later change would be another state. The time of change stays the same if a file changes twice within a tick of its
 * clock; and in images that are made with a fixed time, which has no nanoseconds.
 */
bool file_key_is_settled(const struct file_key *key);

/* Zeros: none. */
struct kept_bytes {
	char *bytes;
	size_t used, room;
};

/* Makes room for exactly so many bytes in all. Returns 0 or -ENOMEM. */
int kept_bytes_reserve(struct kept_bytes *kept, size_t bytes);

/* Returns 0 or -ENOMEM. */
int kept_bytes_add(struct kept_bytes *kept, const void *data, size_t bytes);
void kept_bytes_free(struct kept_bytes *kept);

struct file_cache;

/*
 * Opens it, or begins it anew where it cannot be read or is of another version. `give_up_ns` as in sql.h. Returns NULL after
 * logging why there is none: the daemon goes on without.
 */
struct file_cache *file_cache_open(const char *directory, const atomic_uint_fast64_t *give_up_ns);

/* Accepts NULL, like all functions here. Writes what was added. */
void file_cache_close(struct file_cache *cache);

/*
 * Passes the content to `take`, which returns 0, -EBADMSG if it is invalid, in which case it is removed, or another -errno.
 * Returns what `take` returned, -ENOENT: there is none, or no more, or -EBUSY: somebody else has locked the file.
 */
int file_cache_load(struct file_cache *cache, enum file_cache_kind kind, const struct file_key *key,
		    int (*take)(void *user, const char *content, size_t bytes), void *user);

/* Whether content of the file is kept, or will be with the next file_cache_flush(). True without a cache. */
bool file_cache_has(struct file_cache *cache, enum file_cache_kind kind, const struct file_key *key);

/* Takes over the bytes, in place of others of that file. They are written by file_cache_flush(), which this calls when much waits. */
void file_cache_add(struct file_cache *cache, enum file_cache_kind kind, const struct file_key *key,
		    struct kept_bytes *content);

/*
 * Adds what was made from the open file, if the file is still in the state `key`, and settled. Otherwise frees the bytes.
 * Returns whether they were added.
 */
bool file_cache_keep(struct file_cache *cache, enum file_cache_kind kind, const struct file_key *key, int fd,
		     struct kept_bytes *content);

/* Writes what was added, in one transaction. */
void file_cache_flush(struct file_cache *cache);

struct file_cache_counts {
	uint64_t files, bytes; /* kept */
	uint64_t loaded, added, damaged;
};

struct file_cache_counts file_cache_count(const struct file_cache *cache, enum file_cache_kind kind);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* file_replace.h replaces a file in one step: a reader sees the old content or the new, never a part. */
#ifndef BOURDON_COMMON_SYSTEM_FILE_REPLACE_H
#define BOURDON_COMMON_SYSTEM_FILE_REPLACE_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Writes PATH.new beside `path`, with this mode and owner regardless of the umask, and syncs it.
 * file_commit() renames it into place, so a reader sees either the old file or the complete new one.
 * file_abandon() deletes it. Return 0 or -errno.
 */
int file_prepare(const char *path, const void *bytes, size_t length, mode_t mode, uid_t uid, gid_t gid);
int file_commit(const char *path);
void file_abandon(const char *path);

/* Writes all of it, however often a signal interrupts. Returns 0 or -errno. */
int file_write_all(int fd, const void *from, size_t length);

#endif

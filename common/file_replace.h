/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * file_replace.h owns replacing a file as a whole.
 */
#ifndef BOURDON_FILE_REPLACE_H
#define BOURDON_FILE_REPLACE_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Writes a file beside `path` (PATH.new), with this mode and owner whatever the umask is, and syncs it.
 * file_commit() then renames it into place: a reader sees the old file or the whole new one. 0 or -errno.
 */
int file_prepare(const char *path, const void *bytes, size_t length, mode_t mode, uid_t uid, gid_t gid);
int file_commit(const char *path);
void file_abandon(const char *path);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* files.h reads whole files and finds their owners. Room: options, log, files, threads. All programs; may block. */
#ifndef BOURDON_COMMON_SYSTEM_FILES_H
#define BOURDON_COMMON_SYSTEM_FILES_H

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * Reads a whole file, also one that reports no size (procfs). The caller frees *ret_text; a NUL follows its
 * *ret_bytes bytes. Returns 0, -EFBIG if it has more than `most` bytes, or -errno.
 */
int file_read_text(int directory, const char *path, size_t most, char **ret_text, size_t *ret_bytes);

/* As file_read_text(), from an open descriptor, which may be that of a BPF iterator. */
int file_read_all(int fd, size_t most, char **ret_text, size_t *ret_bytes);

/* True if root owns the file and no other user can write to it: its content can be trusted as root's. */
bool file_is_roots_alone(const struct stat *at);

/* Look up a user or group by name or decimal number. Return 0, -ENOENT or -errno. */
int account_user(const char *name, uid_t *ret_uid, gid_t *ret_gid);
int account_group(const char *name, gid_t *ret_gid);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * files.h owns reading whole files, and the accounts that files belong to.
 */
#ifndef BOURDON_FILES_H
#define BOURDON_FILES_H

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * Reads all of a file, which may have no size (procfs), into *ret_text, which the caller frees and which
 * has a NUL behind its *ret_bytes bytes. 0, -EFBIG for more than `most` bytes, or -errno.
 */
int file_read_text(int directory, const char *path, size_t most, char **ret_text, size_t *ret_bytes);

/* The same from a descriptor that is open, which may be an iterator's. */
int file_read_all(int fd, size_t most, char **ret_text, size_t *ret_bytes);

/* Whether it belongs to root, and nobody else may write to it: what is said there, root says. */
bool file_is_roots_alone(const struct stat *at);

/* A user or group by name or decimal number. 0, -ENOENT or -errno. */
int account_user(const char *name, uid_t *ret_uid, gid_t *ret_gid);
int account_group(const char *name, gid_t *ret_gid);

#endif

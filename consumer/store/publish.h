/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * publish.h puts a file in its place in one step, for readers that may look at any time: metrics, and what the hook is told. Unlike
 * common/system/file_replace.h it makes only system calls that the confined daemon may make, and waits for no disk: after a crash
 * of the host the file is written anew.
 */
#ifndef BOURDON_CONSUMER_STORE_PUBLISH_H
#define BOURDON_CONSUMER_STORE_PUBLISH_H

#include <stddef.h>
#include <sys/types.h>

/* Writes the file, with this mode whatever the umask is. Returns 0 or -errno; a failure leaves the file of before. */
int publish_file(const char *path, const char *bytes, size_t length, mode_t mode);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * known_files.h remembers, for the daemon's lifetime, what symbolizers reported about files: build ids, and
 * offsets for which nothing more can be found. A second capture of the same code then needs no symbolizer.
 */
#ifndef BOURDON_CONSUMER_SYMBOLS_KNOWN_FILES_H
#define BOURDON_CONSUMER_SYMBOLS_KNOWN_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct known_files;

/* Returns NULL if out of memory. The caller frees. */
struct known_files *known_files_new(void);
void known_files_free(struct known_files *files);

/*
 * Returns the file's build id in hexadecimal, or NULL if unknown. A file whose owner, size or time of
 * change is another is another file (struct file_key). All of these functions accept NULL for `files` and then know nothing.
 */
const char *known_files_build_id(const struct known_files *files, const struct stat *at);

/* Remembers the file's build id if memory allows. A file without a build id ("") is not remembered. */
void known_files_add(struct known_files *files, const struct stat *at, const char *build_id);

/*
 * Settled offsets of a known file lack a name, or have one (`is_named`) and lack a source line, and looking again would not find
 * it. Results with and without a debug file are kept apart.
 */
void known_files_settle(struct known_files *files, const struct stat *at, bool with_debug_file,
			int64_t offset, bool is_named);
bool known_files_is_settled(const struct known_files *files, const struct stat *at, bool with_debug_file,
			    int64_t offset, bool is_named);

#endif

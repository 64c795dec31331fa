/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * known_files.h owns what a symbolizer said of files as long as the daemon lives: their build ids, and the
 * places of which it has no more to say, though something is missing. A second capture of the same code then
 * needs no symbolizer to hear it again.
 */
#ifndef BOURDON_CONSUMER_SYMBOLS_KNOWN_FILES_H
#define BOURDON_CONSUMER_SYMBOLS_KNOWN_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct known_files;

/* The caller frees. NULL without memory. */
struct known_files *known_files_new(void);
void known_files_free(struct known_files *files);

/*
 * The file's build id in hexadecimal, or NULL. One of another content, or that was touched, is another file.
 * All of these accept NULL for `files`, which knows nothing.
 */
const char *known_files_build_id(const struct known_files *files, const struct stat *at);

/* Without memory it is not remembered. "" is a file that has none: nothing is remembered of it. */
void known_files_add(struct known_files *files, const struct stat *at, const char *build_id);

/*
 * Places of a file that was added, which miss a name or a source place. With its debug file they may have
 * one, and without it not: the two are not taken for each other.
 */
void known_files_settle(struct known_files *files, const struct stat *at, bool with_debug_file,
			int64_t offset);
bool known_files_is_settled(const struct known_files *files, const struct stat *at, bool with_debug_file,
			    int64_t offset);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * debug_files.h owns where a module's debugging information may lie, and opening what is there. Whether a
 * file belongs to the module the symbolizer says, which reads it.
 */
#ifndef BOURDON_CONSUMER_SYMBOLS_DEBUG_FILES_H
#define BOURDON_CONSUMER_SYMBOLS_DEBUG_FILES_H

#include "consumer/symbolizer/protocol.h"

/* Where distributions put them. */
#define DEBUG_ROOT "/usr/lib/debug"

/*
 * Opens ROOT/.build-id/xx/yyyy.debug of a build id in hexadecimal. All of these return a descriptor of a
 * regular file, -ENOENT, or another -errno.
 */
int debug_file_open_by_id(const char *root, const char *build_id);

/*
 * Opens the debug file that a module's link names: candidates count from 0, beside the module, in .debug/
 * beside it, and in its directory below `root`. -ERANGE behind the last.
 */
int debug_file_open_by_link(const char *root, const char *module_path, const char *link,
			    unsigned int candidate);

/*
 * Opens the alternate file that a path names, if it is one in `root`: the module may have been made to lie.
 */
int debug_file_open_alternate(const char *root, const char *path);

#endif

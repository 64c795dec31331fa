/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * debug_files.h finds and opens the files that may hold a module's debugging information. The symbolizer,
 * which reads them, decides whether a file belongs to the module.
 */
#ifndef BOURDON_COMMON_SYMBOLIZER_DEBUG_FILES_H
#define BOURDON_COMMON_SYMBOLIZER_DEBUG_FILES_H

#include "common/symbolizer/protocol.h"

/* The directory where distributions install debug files. */
#define DEBUG_ROOT "/usr/lib/debug"

/*
 * Opens ROOT/.build-id/xx/yyyy.debug for a build id in hexadecimal. Each of these functions returns the
 * descriptor of a regular file, -ENOENT, or another -errno.
 */
int debug_file_open_by_id(const char *root, const char *build_id);

/*
 * Opens the debug file named by a module's .gnu_debuglink. `candidate` 0 is beside the module, 1 in .debug/
 * beside it, 2 in its directory below `root`. Returns -ERANGE after the last.
 */
int debug_file_open_by_link(const char *root, const char *module_path, const char *link,
			    unsigned int candidate);

/*
 * Opens the alternate debug file at `path`, but only if it is below `root`: a hostile module may name any
 * path.
 */
int debug_file_open_alternate(const char *root, const char *path);

#endif

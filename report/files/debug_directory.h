/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * debug_directory.h owns finding files by build ID below a directory. First it looks where /usr/lib/debug
 * would have them; for other layouts it reads the build IDs of all files, once.
 */
#ifndef BOURDON_REPORT_FILES_DEBUG_DIRECTORY_H
#define BOURDON_REPORT_FILES_DEBUG_DIRECTORY_H

#include "common/symbolizer/protocol.h"
#include "common/text/hexadecimal.h"

#include <stdbool.h>
#include <stdint.h>

struct debug_directory {
	const char *root; /* the caller's */
	bool scanned;
	struct file_by_id *files;
	uint32_t count, room;
};

#define BUILD_ID_TEXT_BYTES HEXADECIMAL_BYTES(SYMBOLIZE_BUILD_ID_BYTES)

/*
 * Writes the build ID of an ELF file, in hexadecimal. The symbolizer reads the file, this process does not.
 * Returns false if there is none, or the file cannot be read.
 */
typedef bool (*build_id_of)(void *user, int fd, char build_id[BUILD_ID_TEXT_BYTES]);

/*
 * Opens the files with this build ID, at most `most`. Returns how many; the caller closes them. A file that
 * was found by its name may have another build ID inside.
 */
uint32_t debug_directory_open(struct debug_directory *directory, const char *build_id, build_id_of ask,
			      void *user, int *ret_fds, uint32_t most);

void debug_directory_free(struct debug_directory *directory);

#endif

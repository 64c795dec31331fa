/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * debug_directory.h owns finding files by their build id, in a directory that is laid out as /usr/lib/debug
 * is, or in no way at all: then all of it is looked through, once.
 */
#ifndef BOURDON_REPORT_DEBUG_DIRECTORY_H
#define BOURDON_REPORT_DEBUG_DIRECTORY_H

#include "common/hexadecimal.h"
#include "consumer/symbolizer/protocol.h"

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
 * Says of an ELF file what its build id is, in hexadecimal: the one who is asked reads it, we do not. False:
 * it has none, or cannot be read.
 */
typedef bool (*build_id_of)(void *user, int fd, char build_id[BUILD_ID_TEXT_BYTES]);

/*
 * Opens the files of a build id, at most `most` of them. Returns how many; the caller closes them. What is
 * found by its name may still be another's.
 */
uint32_t debug_directory_open(struct debug_directory *directory, const char *build_id, build_id_of ask,
			      void *user, int *ret_fds, uint32_t most);

void debug_directory_free(struct debug_directory *directory);

#endif

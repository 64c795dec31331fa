/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * file_reader.h owns the confined child process of symbolize that reads programs and debug files, and what it is asked. Such files
 * may be hostile: this process opens them and reads nothing of them.
 */
#ifndef BOURDON_REPORT_FILES_FILE_READER_H
#define BOURDON_REPORT_FILES_FILE_READER_H

#include "common/symbolizer/protocol.h"
#include "report/files/debug_directory.h"

#include <stdbool.h>
#include <stdint.h>

struct file_reader {
	int spawner, symbolizer; /* negative: none is open */
};

/*
 * Forks the spawner of symbolizers before the database is opened: the process that reads hostile files inherits nothing
 * of the database, not even the mapping of its -shm file. Returns 0; or -errno, and the reason was logged.
 */
int file_reader_start(struct file_reader *reader);

/* Ends the symbolizer, if there is one: the next file gets a new one, with its own CPU time limit. */
void file_reader_end(struct file_reader *reader);

/* Ends the spawner as well. */
void file_reader_close(struct file_reader *reader);

/*
 * A build_id_of. A symbolizer has one CPU time limit for all files that it reads, so a file on which it dies
 * is read once more by a new one.
 */
bool file_reader_build_id(void *user, int fd, char build_id[BUILD_ID_TEXT_BYTES]);

/*
 * Opens the file of this build ID in the symbolizer, with its debug files. Returns false if no file has it, or
 * none can be read.
 */
bool file_reader_choose(struct file_reader *reader, const char *build_id, const int *fds, uint32_t count,
			bool *ret_by_address);

/* Names addresses of the file that was chosen. Returns 0; or -errno if the symbolizer died, or answered nothing: it was ended. */
int file_reader_name(struct file_reader *reader, const struct symbolize_request *request,
		     struct symbolize_reply *ret_reply);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * files_read.h notes whose files a symbolizer has read. A file may take over the symbolizer that reads it, which then lies about
 * the files that follow. So what it says of a file is kept for others only if nobody but root and the owner could have made it lie.
 */
#ifndef BOURDON_CONSUMER_SYMBOLS_FILES_READ_H
#define BOURDON_CONSUMER_SYMBOLS_FILES_READ_H

#include <stdbool.h>
#include <sys/stat.h>

/* Begins as zeros, with each symbolizer: it has read nothing. */
struct files_read {
	bool has_others;  /* files that others than root may write, of `owner` */
	bool has_several; /* and of somebody else */
	uid_t owner;
};

void files_read_note(struct files_read *read, const struct stat *file);

/* Whether what the symbolizer says of this file, which it has read or will read, may be kept. */
bool files_read_is_credible(const struct files_read *read, const struct stat *file);

/* Whether a new symbolizer would be more credible for this file. */
bool files_read_is_unfit(const struct files_read *read, const struct stat *file);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* mapping.h defines an executable mapping of a process, and the file that it is of. mappings.h owns both. */
#ifndef BOURDON_CONSUMER_SYMBOLS_MAPPING_H
#define BOURDON_CONSUMER_SYMBOLS_MAPPING_H

#include "common/abi/abi.h"

#include <stdbool.h>
#include <stdint.h>

/* A process that maps a file. */
struct mapping_user {
	uint32_t tgid, uid;
	uint64_t started_ns;
	uint64_t begins; /* address of the file's mapping */
};

#define FILE_USERS 3U

/* A mapped file, shared by all its mappings. */
struct mapped_file {
	uint64_t inode;
	uint32_t device_major, device_minor;
	uint32_t users; /* mappings, and mapping_hold_file() */
	uint32_t uid;   /* of the process that was seen first with it: the file counts as this user's */
	struct file_user {
		struct mapping_user process;
		uint32_t slice; /* the last one that showed it; 0: no process */
	} youngest[FILE_USERS]; /* processes that map it, of different uids if there are any; in no order */
	char *path;             /* as the kernel writes it, possibly ending in " (deleted)"; "" if unknown */
	/* mapped_files.c: bourdon-grant refuses the file for processes started until then */
	uint64_t refused_ns;
	bool is_put_off; /* mapped_files.c: the request for it has to wait, which was counted */
	uint32_t text; /* its first page with code, plus 1; 0: not known, before its unwind table was made */
	uint32_t runtime; /* its sign of a runtime (runtime_sign.h), once its unwind table was asked for */
};

#define MAPPING_BYTES_MAX ((1UL << 56) - 1)

/* Of these there are many: 40 bytes. */
struct mapping {
	uint64_t begins;
	uint64_t bytes : 56, flags : 8; /* MAPPING_* */
	uint64_t file_offset;
	uint32_t since, slice;    /* the first and the last slice of a scan that showed it */
	struct mapped_file *file; /* NULL: anonymous, or the vDSO */
};

/*
 * Stores the offset in the file that is mapped at the mapping's begin. Returns false if that is not known: of memory without a file
 * in which the executable's code lies.
 */
static inline bool mapping_find_offset(const struct mapping *mapping, uint64_t *ret_offset)
{
	bool is_text = mapping->flags & MAPPING_IS_TEXT;

	if (is_text && !(mapping->file && mapping->file->text))
		return false;
	*ret_offset = mapping->file_offset +
		      (is_text ? (uint64_t)(mapping->file->text - 1) * UNWIND_PAGE_BYTES : 0);
	return true;
}

/* The first address behind the mapping. */
static inline uint64_t mapping_ends(const struct mapping *mapping)
{
	return mapping->begins + mapping->bytes;
}

/* Keeps the file until mapping_drop_file(), whatever scans show; mappings_forget() frees what nobody keeps. Both accept NULL. */
static inline void mapping_hold_file(struct mapped_file *file)
{
	if (file)
		file->users++;
}

static inline void mapping_drop_file(struct mapped_file *file)
{
	if (file)
		file->users--;
}

#endif

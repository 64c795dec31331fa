/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * elf_file.h owns one ELF file that was handed over: what it is, and what it says of others that belong to
 * it.
 */
#ifndef BOURDON_SYMBOLIZER_ELF_FILE_H
#define BOURDON_SYMBOLIZER_ELF_FILE_H

#include "consumer/symbolizer/protocol.h"

#include <gelf.h>
#include <stdbool.h>

struct elf_file {
	int fd;
	Elf *elf;    /* NULL: there is none */
	void *image; /* of one that was packed in another */
};

#define ELF_FILE_NONE ((struct elf_file){ .fd = -1 })

struct build_id {
	uint8_t bytes[SYMBOLIZE_BUILD_ID_BYTES];
	uint32_t count; /* 0: there is none */
};

/* SYMBOLIZER: takes the descriptor over, whatever comes of it. 0 or -ENOEXEC. */
int elf_file_open(struct elf_file *ret_file, int fd);

/*
 * SYMBOLIZER: the symbols that are packed in another file: .gnu_debugdata, which has the table of functions
 * that .dynsym lacks. 0, -ENOENT or -EBADMSG.
 */
int elf_file_open_packed(struct elf_file *ret_file, const struct elf_file *file);
void elf_file_close(struct elf_file *file);

struct build_id elf_file_build_id(const struct elf_file *file);
bool build_id_is(const struct build_id *one, const struct build_id *other);

/* What the section holds, or NULL without it or without bytes in the file. */
Elf_Data *elf_file_section(const struct elf_file *file, const char *name);

/* The name of the file with the debugging information, which lies in no directory but ours, and its CRC. */
bool elf_file_debuglink(const struct elf_file *file, char name[SYMBOLIZE_LINK_BYTES], uint32_t *ret_crc);

/* Whether this file has the CRC that another's link says. Reads all of it. */
bool elf_file_has_crc(const struct elf_file *file, uint32_t crc);

/* Where the first segment is to be: the same in a module and in its debug file, unless one was moved. */
uint64_t elf_file_begins(const struct elf_file *file);

#endif

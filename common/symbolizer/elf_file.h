/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * elf_file.h opens one ELF file received from the consumer: its build id, sections, and links to related
 * files.
 */
#ifndef BOURDON_COMMON_SYMBOLIZER_ELF_FILE_H
#define BOURDON_COMMON_SYMBOLIZER_ELF_FILE_H

#include "common/symbolizer/protocol.h"

#include <gelf.h>
#include <stdbool.h>

struct elf_file {
	int fd;
	Elf *elf;    /* NULL: not open */
	void *image; /* memory of a file that was packed in another */
};

#define ELF_FILE_NONE ((struct elf_file){ .fd = -1 })

struct build_id {
	uint8_t bytes[SYMBOLIZE_BUILD_ID_BYTES];
	uint32_t count; /* 0: none */
};

/* SYMBOLIZER: takes ownership of the descriptor, also on error. Returns 0 or -ENOEXEC. */
int elf_file_open(struct elf_file *ret_file, int fd);

/*
 * SYMBOLIZER: opens the symbols packed in another file: .gnu_debugdata, whose symbol table has functions that
 * .dynsym lacks. Returns 0, -ENOENT or -EBADMSG.
 */
int elf_file_open_packed(struct elf_file *ret_file, const struct elf_file *file);
void elf_file_close(struct elf_file *file);

struct build_id elf_file_build_id(const struct elf_file *file);
bool build_id_is(const struct build_id *one, const struct build_id *other);

/* Returns the section's data, or NULL if it is missing or has no bytes in the file. */
Elf_Data *elf_file_section(const struct elf_file *file, const char *name);

/* Reads the name of the debug file, without a directory, and its CRC. Returns false if there is none. */
bool elf_file_debuglink(const struct elf_file *file, char name[SYMBOLIZE_LINK_BYTES], uint32_t *ret_crc);

/* True if this file has the CRC given in another file's link. Reads the whole file. */
bool elf_file_has_crc(const struct elf_file *file, uint32_t crc);

/*
 * Returns the address of the first segment: equal in a module and its debug file, unless one was relocated.
 */
uint64_t elf_file_begins(const struct elf_file *file);

#endif

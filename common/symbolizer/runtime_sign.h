/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * runtime_sign.h tells from the content of an ELF file which language's runtime it has: Go from its sections, the others
 * from the functions that it defines or that it imports. A name of a file says nothing here.
 */
#ifndef BOURDON_COMMON_SYMBOLIZER_RUNTIME_SIGN_H
#define BOURDON_COMMON_SYMBOLIZER_RUNTIME_SIGN_H

#include <stdbool.h>
#include <stdint.h>

/* A sign is the position of an entry of runtime_marks[] plus RUNTIME_SIGNS_FIRST, perhaps with RUNTIME_IMPORTED. */
#define RUNTIME_NOT_READ 0U
#define RUNTIME_NO_SIGN 1U
#define RUNTIME_SIGNS_FIRST 2U
#define RUNTIME_IMPORTED 0x100U /* the file calls the function, which another file defines */

#define RUNTIME_MARKS 9U

struct runtime_mark {
	const char *runtime; /* in the words of process.runtime */
	const char *name;    /* of a section, if it begins with a dot, else of a symbol */
	const char *shown;   /* to people */
	/*
	 * A program that imports the function is the runtime's own launcher. Without this, it may as well be one that
	 * embeds the runtime, and only a definition counts.
	 */
	bool import_counts;
};

extern const struct runtime_mark runtime_marks[RUNTIME_MARKS];

/* Returns the mark of a sign, or NULL if it is none. */
const struct runtime_mark *runtime_mark_of(uint32_t sign);

bool runtime_sign_is_valid(uint32_t sign);

/* True if the file defines a Java virtual machine. */
bool runtime_sign_is_jvm(uint32_t sign);

/* SYMBOLIZER: returns the file's sign; RUNTIME_NOT_READ if it is no ELF file. The descriptor stays the caller's. */
uint32_t runtime_sign_find(int elf_fd);

#endif

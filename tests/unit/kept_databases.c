/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/unit/kept_databases.h"

#include "tests/unit/helpers.h"

#define KEEP(version)                                                                                        \
	__asm__(".pushsection .rodata\n"                                                                     \
		".global kept_database_" #version "\n"                                                       \
		".global kept_database_" #version "_end\n"                                                   \
		"kept_database_" #version ":\n"                                                              \
		".incbin \"tests/databases/schema" #version ".db\"\n"                                        \
		"kept_database_" #version "_end:\n"                                                          \
		".popsection\n");                                                                            \
	extern const unsigned char kept_database_##version[], kept_database_##version##_end[]

KEEP(6);
KEEP(7);
KEEP(8);
KEEP(9);

const struct kept_database kept_databases[KEPT_DATABASES] = {
	{ 6, kept_database_6, kept_database_6_end },
	{ 7, kept_database_7, kept_database_7_end },
	{ 8, kept_database_8, kept_database_8_end },
	{ 9, kept_database_9, kept_database_9_end },
};

void kept_database_put(const char *path, const struct kept_database *kept)
{
	file_put(path, kept->bytes, (size_t)(kept->end - kept->bytes));
}

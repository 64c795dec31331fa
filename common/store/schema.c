/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/store/schema.h"

/* make next adds statements that make the schema another one. */
#ifdef SCHEMA_ADDED
#define TEXT_OF(path) #path
#define TEXT(path) TEXT_OF(path)
#define ADDED ".incbin \"" TEXT(SCHEMA_ADDED) "\"\n"
#else
#define ADDED
#endif

__asm__(".pushsection .rodata\n"
	".global schema_sql\n"
	".type schema_sql, %object\n"
	"schema_sql:\n"
	".incbin \"common/store/schema.sql\"\n" ADDED ".byte 0\n"
	".size schema_sql, . - schema_sql\n"
	".popsection\n");

const struct schema schema_present = { SCHEMA_VERSION, schema_sql };

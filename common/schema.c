/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/schema.h"

__asm__(".pushsection .rodata\n"
	".global schema_sql\n"
	".type schema_sql, %object\n"
	"schema_sql:\n"
	".incbin \"common/schema.sql\"\n"
	".byte 0\n"
	".size schema_sql, . - schema_sql\n"
	".popsection\n");

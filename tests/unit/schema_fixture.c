/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/unit/schema_fixture.h"

#include "tests/unit/helpers.h"

__asm__(".pushsection .rodata\n"
	".global example, example_end, next_sql\n"
	"example:\n"
	".incbin \"tests/example.db\"\n"
	"example_end:\n"
	"next_sql:\n"
	".incbin \"common/store/schema.sql\"\n"
	".incbin \"tests/unit/next_schema.sql\"\n"
	".asciz \"ALTER TABLE capture DROP COLUMN note;\"\n"
	".popsection\n");

extern const unsigned char example[], example_end[];
extern const char next_sql[];

static const struct {
	const unsigned char *begin, *end;
} example_bytes = { example, example_end };

const struct schema next_schema = { SCHEMA_VERSION + 1, next_sql };

void example_put(const char *path)
{
	file_put(path, example_bytes.begin, (size_t)(example_bytes.end - example_bytes.begin));
}

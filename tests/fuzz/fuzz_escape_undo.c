/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Undoes the escapes in any text, as bourdon does with a name from a database that it does not trust: the result is no
 * longer, and is the one name that has this form, if a name has it.
 */
#include "common/text/escape_name.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *text = copy_text(data, bytes), *name = copy_text(data, bytes), *form, *again;

	escape_name_undo(name);
	HOLDS(strlen(name) <= strlen(text));
	if (!strchr(text, '\\'))
		HOLDS(!strcmp(name, text));
	form = escape_name(name);
	again = strdup(form);
	HOLDS(form && again);
	escape_name_undo(again);
	HOLDS(!strcmp(again, name));
	free(again);
	free(form);
	free(name);
	free(text);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* Escapes any text into a buffer of any size: the result ends within the buffer and is plain text. */
#include "common/text/escape.h"
#include "common/text/escape_name.h"
#include "tests/fuzz/fuzz.h"

#include <ctype.h>

static void check_terminal(const char *text, size_t room)
{
	char *escaped = escape_terminal(text, malloc(room), room), *again;

	HOLDS(strlen(escaped) < room);
	for (const char *at = escaped; *at; at++)
		HOLDS(!iscntrl((unsigned char)*at));
	/* escaping it again changes nothing */
	again = escape_terminal(escaped, malloc(room), room);
	HOLDS(!strcmp(escaped, again));
	free(again);
	free(escaped);
}

static void check_json(const char *text, size_t room)
{
	char *escaped = escape_json(text, malloc(room), room);
	const char *at = escaped;

	HOLDS(strlen(escaped) < room);
	while (*at) {
		unsigned int code, length = escape_utf8(at, &code);

		HOLDS(length && code >= 0x20 && code != '"');
		if (code == '\\' && at[1] == 'u') {
			for (int i = 2; i < 6; i++)
				HOLDS(isxdigit((unsigned char)at[i]));
			length = 6;
		} else if (code == '\\') {
			HOLDS(at[1] == '"' || at[1] == '\\');
			length = 2;
		}
		at += length;
	}
	free(escaped);
}

/* An escaped name, as the daemon sends it: a terminal shows it unchanged, and it can be undone. */
static void check_name(const char *text)
{
	char *form = escape_name(text), *shown = malloc(strlen(form) + 1);

	HOLDS(escape_name_is_plain(text) == !strcmp(text, form));
	HOLDS(!strcmp(escape_terminal(form, shown, strlen(form) + 1), form));
	escape_name_undo(form);
	HOLDS(!strcmp(form, text));
	free(shown);
	free(form);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct input input = { data, bytes };
	size_t room = 1 + (size_t)input_byte(&input);
	char *text = copy_text(input.next, input.left);

	check_terminal(text, room);
	check_json(text, room);
	check_name(text);
	free(text);
	return 0;
}

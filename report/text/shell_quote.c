/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/text/shell_quote.h"

#include "common/base/cleanup.h"
#include "common/text/escape_name.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

enum quoting { BARE, SINGLE, DOLLAR };

/* Only ASCII is shown as itself: another character may look like one that it is not. */
static enum quoting quoting_of(const char *bytes)
{
	enum quoting quoting = !*bytes ? SINGLE : BARE;

	for (const char *at = bytes; *at; at++) {
		if (*at < ' ' || *at > '~')
			return DOLLAR;
		if (!strchr(LETTERS "/._-:,+@%", *at))
			quoting = SINGLE;
	}
	return quoting;
}

static void put_single(FILE *out, const char *bytes)
{
	fputc('\'', out);
	for (; *bytes; bytes++)
		fputs(*bytes == '\'' ? "'\\''" : (char[]){ *bytes, '\0' }, out);
	fputc('\'', out);
}

static void put_dollar(FILE *out, const char *bytes)
{
	fputs("$'", out);
	for (; *bytes; bytes++) {
		/* a hexadecimal digit behind \xHH is no part of it in bash, and is in others: three octal digits are clear */
		if (*bytes < ' ' || *bytes > '~' || *bytes == '\'' || *bytes == '\\')
			fprintf(out, "\\%03o", (unsigned char)*bytes);
		else
			fputc(*bytes, out);
	}
	fputc('\'', out);
}

char *shell_quote(const char *name)
{
	_cleanup_free_ char *bytes = NULL;
	char *word = NULL;
	size_t size;
	FILE *out;

	/* a path that begins with a dash would be an option */
	if (asprintf(&bytes, "%s%s", *name == '-' ? "./" : "", name) < 0) {
		bytes = NULL;
		return NULL;
	}
	escape_name_undo(bytes);
	out = open_memstream(&word, &size);
	if (!out)
		return NULL;
	switch (quoting_of(bytes)) {
	case BARE:
		fputs(bytes, out);
		break;
	case SINGLE:
		put_single(out, bytes);
		break;
	default:
		put_dollar(out, bytes);
	}
	if (fclose(out)) {
		free(word);
		return NULL;
	}
	return word;
}

bool shell_is_unit(const char *name)
{
	static const char *const types[] = { ".service", ".scope", ".slice" };
	size_t length = strlen(name);

	if (*name == '-' || *name == '.' || length > NAME_MAX || name[strspn(name, LETTERS ":-_.\\@")])
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (length > strlen(types[i]) && !strcmp(name + length - strlen(types[i]), types[i]))
			return true;
	/* the root slice, which no one can give less to */
	return false;
}

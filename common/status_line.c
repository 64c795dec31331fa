/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/status_line.h"

#include "common/cleanup.h"

#include <stdarg.h>
#include <string.h>

void status_line_begin(FILE *out, const char *kind)
{
	fputs(kind, out);
}

static void write_escaped(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\t')
			fputs("\\t", out);
		else if (*text == '\n')
			fputs("\\n", out);
		else if (*text == '\\')
			fputs("\\\\", out);
		else
			fputc(*text, out);
	}
}

void status_line_field(FILE *out, const char *key, const char *format, ...)
{
	_cleanup_free_ char *value = NULL;
	va_list arguments;

	va_start(arguments, format);
	if (vasprintf(&value, format, arguments) < 0)
		value = NULL;
	va_end(arguments);
	fprintf(out, "\t%s=", key);
	write_escaped(out, value ? value : "");
}

void status_line_end(FILE *out)
{
	fputc('\n', out);
}

static int unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		if (*from != '\\') {
			*to++ = *from;
			continue;
		}
		from++;
		if (*from != 't' && *from != 'n' && *from != '\\')
			return -EBADMSG;
		*to++ = *from == 't' ? '\t' : *from == 'n' ? '\n' : '\\';
	}
	*to = '\0';
	return 0;
}

int status_line_parse(char *text, struct status_line *ret_line)
{
	struct status_line line = { .kind = strsep(&text, "\t") };
	char *field;

	while ((field = strsep(&text, "\t"))) {
		char *value = strchr(field, '=');

		if (!value || line.count == STATUS_FIELDS_MAX)
			return -EBADMSG;
		*value++ = '\0';
		if (unescape(value) < 0)
			return -EBADMSG;
		line.keys[line.count] = field;
		line.values[line.count++] = value;
	}
	*ret_line = line;
	return 0;
}

const char *status_line_get(const struct status_line *line, const char *key)
{
	for (size_t i = 0; i < line->count; i++)
		if (!strcmp(line->keys[i], key))
			return line->values[i];
	return "";
}

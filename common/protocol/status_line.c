/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/protocol/status_line.h"

#include "common/base/cleanup.h"
#include "common/text/escape_name.h"

#include <stdarg.h>
#include <string.h>

void status_line_begin(FILE *out, const char *kind)
{
	fputs(kind, out);
}

void status_line_field(FILE *out, const char *key, const char *format, ...)
{
	_cleanup_free_ char *value = NULL, *form = NULL;
	va_list arguments;

	va_start(arguments, format);
	if (vasprintf(&value, format, arguments) < 0)
		value = NULL;
	va_end(arguments);
	form = value ? escape_name(value) : NULL;
	fprintf(out, "\t%s=%s", key, form ? form : "");
}

void status_line_end(FILE *out)
{
	fputc('\n', out);
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

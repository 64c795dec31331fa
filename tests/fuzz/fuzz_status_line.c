/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads any text as a line of the control socket: one that parses can be written as one line, and is the same
 * after it was parsed again and its values were unescaped.
 */
#include "common/protocol/status_line.h"
#include "common/text/escape_name.h"
#include "tests/fuzz/fuzz.h"

static char *write_line(const struct status_line *line)
{
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	HOLDS(stream);
	status_line_begin(stream, line->kind);
	for (size_t i = 0; i < line->count; i++)
		status_line_field(stream, line->keys[i], "%s", line->values[i]);
	fclose(stream);
	HOLDS(!strchr(text, '\n'));
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *text = copy_text(data, bytes), *again;
	struct status_line line, back;

	/* the reader has split the text into lines */
	if (!strchr(text, '\n') && !status_line_parse(text, &line)) {
		HOLDS(line.count <= STATUS_FIELDS_MAX);
		again = write_line(&line);
		HOLDS(!status_line_parse(again, &back));
		HOLDS(!strcmp(line.kind, back.kind) && line.count == back.count);
		for (size_t i = 0; i < line.count; i++) {
			char *value = copy_text((const uint8_t *)back.values[i], strlen(back.values[i]));

			escape_name_undo(value);
			HOLDS(!strcmp(line.keys[i], back.keys[i]) && !strcmp(line.values[i], value));
			HOLDS(status_line_get(&back, back.keys[i]));
			free(value);
		}
		free(again);
	}
	free(text);
	return 0;
}

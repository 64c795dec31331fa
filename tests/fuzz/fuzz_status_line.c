/* SPDX-License-Identifier: GPL-2.0-only */
/* Any text as a line of the control socket: what can be parsed is the same after it was written and parsed
 * again. */
#include "common/status_line.h"
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
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *text = copy_text(data, bytes), *again;
	struct status_line line, back;

	if (!status_line_parse(text, &line)) {
		HOLDS(line.count <= STATUS_FIELDS_MAX);
		again = write_line(&line);
		HOLDS(!status_line_parse(again, &back));
		HOLDS(!strcmp(line.kind, back.kind) && line.count == back.count);
		for (size_t i = 0; i < line.count; i++) {
			HOLDS(!strcmp(line.keys[i], back.keys[i]) && !strcmp(line.values[i], back.values[i]));
			HOLDS(!strcmp(status_line_get(&line, line.keys[i]),
				      status_line_get(&back, line.keys[i])));
		}
		free(again);
	}
	free(text);
	return 0;
}

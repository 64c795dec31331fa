/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads any text as an INI file: each line that is not blank or a comment is one entry or one mistake, in
 * order.
 */
#include "common/system/ini.h"
#include "tests/fuzz/fuzz.h"

struct seen {
	size_t entries;
	unsigned int line;
};

static void see(void *user, const struct ini_entry *entry)
{
	struct seen *seen = user;

	HOLDS(!strcmp(entry->file, "f"));
	HOLDS(entry->line > seen->line);
	HOLDS(strlen(entry->section) < 50);
	HOLDS(!entry->key == !entry->value);
	HOLDS(entry->key ? entry->key[0] != '\0' : entry->section[0] != '\0');
	seen->entries++;
	seen->line = entry->line;
}

static const char *skip_blanks(const char *text, const char *end)
{
	while (text < end && (*text == ' ' || *text == '\t'))
		text++;
	return text;
}

/* Whether a line is more than blanks or a comment. */
static int says_something(const char *text, const char *end)
{
	while (text < end && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
		end--;
	text = skip_blanks(text, end);
	return text < end && *text != ';' && *text != '#';
}

static size_t count_lines(const char *text, size_t bytes)
{
	const char *end = text + bytes;
	size_t count = 0;

	if (bytes >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		text += 3;
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *line_end = newline ? newline : end;

		count += (size_t)says_something(text, line_end);
		text = line_end + !!newline;
	}
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *text = copy_bytes(data, bytes);
	struct config_errors errors = { 0 };
	struct seen seen = { 0 };
	size_t lines = count_lines(text, bytes);

	HOLDS(!ini_read_text("f", text, bytes, see, &seen, &errors));
	/* keys below an invalid section line are skipped, and an invalid comment is a mistake */
	HOLDS(errors.count ? seen.entries <= lines : seen.entries == lines);
	for (size_t i = 0; i < errors.count && i < CONFIG_ERRORS_KEPT; i++)
		HOLDS(!strncmp(errors.messages[i], "f:", 2));
	config_errors_free(&errors);
	free(text);
	return 0;
}

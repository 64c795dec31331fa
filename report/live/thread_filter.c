/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/live/thread_filter.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

int thread_column_find(const char *name, size_t bytes)
{
	for (int column = 0; column < THREAD_GROUPING; column++)
		if (strlen(thread_columns[column].name) == bytes &&
		    !memcmp(thread_columns[column].name, name, bytes))
			return column;
	return -ENOENT;
}

bool thread_column_is_known(uint32_t column, enum thread_origin origin)
{
	return thread_columns[column].origins >> origin & 1;
}

uint32_t thread_filter_unknown(const struct thread_filter *filter, enum thread_origin origin)
{
	for (uint32_t i = 0; i < filter->count; i++) {
		uint32_t column = filter->parts[i].column;

		if (column < THREAD_GROUPING && !thread_column_is_known(column, origin))
			return column;
	}
	return THREAD_GROUPING;
}

/* Reads one word, which is terminated and begins at `at` of the filter's words. */
static int read_word(const char *word, uint32_t at, struct filter_word *ret_word)
{
	const char *equals = strchr(word, '=');
	struct filter_word read = { .column = THREAD_GROUPING, .glob = at };
	size_t bytes;
	int column;

	/* a name may have the character, too: only letters before it make a column */
	bytes = strspn(word, "abcdefghijklmnopqrstuvwxyz");
	if (equals && bytes &&
	    (word + bytes == equals || (word[bytes] == '!' && word + bytes + 1 == equals))) {
		column = thread_column_find(word, bytes);
		if (column < 0)
			return column;
		read = (struct filter_word){ (uint32_t)column, word[bytes] == '!',
					     at + (uint32_t)(equals + 1 - word) };
	}
	*ret_word = read;
	return 0;
}

int thread_filter_read(struct thread_filter *filter, const char *text, const char **ret_word)
{
	struct thread_filter read = { 0 };
	size_t bytes = strlen(text);
	char *at = read.words;

	*ret_word = text;
	if (bytes >= FILTER_BYTES)
		return -E2BIG;
	memcpy(read.text, text, bytes + 1);
	memcpy(read.words, text, bytes + 1);
	for (char *word; (word = strsep(&at, " \t"));) {
		int result;

		if (!*word)
			continue;
		*ret_word = text + (word - read.words);
		if (read.count == FILTER_WORDS_MAX)
			return -E2BIG;
		result = read_word(word, (uint32_t)(word - read.words), &read.parts[read.count]);
		if (result < 0)
			return result;
		read.has_state = read.has_state || read.parts[read.count].column == THREAD_STATE;
		read.count++;
	}
	*filter = read;
	return 0;
}

static bool part_matches(const struct thread_filter *filter, const struct filter_word *part,
			 const char *const *values)
{
	const char *glob = filter->words + part->glob;

	if (part->column < THREAD_GROUPING)
		return !fnmatch(glob, values[part->column], 0) != part->unless;
	for (uint32_t column = 0; column < THREAD_GROUPING; column++)
		if (!fnmatch(glob, values[column], 0))
			return true;
	return false;
}

bool thread_filter_matches(const struct thread_filter *filter, const char *const *values)
{
	for (uint32_t i = 0; i < filter->count; i++)
		if (!part_matches(filter, &filter->parts[i], values))
			return false;
	return true;
}

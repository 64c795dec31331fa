/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/live/past_looks.h"

#include <string.h>

static size_t bytes_of(const struct thread_lines *lines)
{
	return lines->text_bytes + lines->room * sizeof(lines->lines[0]);
}

static void forget_oldest(struct past_looks *past)
{
	past->bytes -= bytes_of(&past->looks[0]);
	thread_lines_free(&past->looks[0]);
	past->count--;
	memmove(past->looks, past->looks + 1, past->count * sizeof(past->looks[0]));
}

void past_looks_keep(struct past_looks *past, struct thread_lines *lines, uint32_t most)
{
	while (past->count && (past->count >= most || past->bytes + bytes_of(lines) > PAST_BYTES_MAX))
		forget_oldest(past);
	past->bytes += bytes_of(lines);
	past->looks[past->count++] = *lines;
	*lines = (struct thread_lines){ 0 };
}

const struct thread_lines *past_looks_find(const struct past_looks *past, int64_t at_ns)
{
	for (uint32_t i = past->count; i-- > 0;)
		if (past->looks[i].at_ns == at_ns)
			return &past->looks[i];
	return NULL;
}

const struct thread_lines *past_looks_last(const struct past_looks *past)
{
	return past->count ? &past->looks[past->count - 1] : NULL;
}

void past_looks_free(struct past_looks *past)
{
	while (past->count)
		forget_oldest(past);
}

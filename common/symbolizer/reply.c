/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/symbolizer/reply.h"

#include "common/symbolizer/demangle.h"
#include "common/symbolizer/text.h"

#include <string.h>

struct reply reply_begin(struct symbolize_reply *into)
{
	memset(into, 0, offsetof(struct symbolize_reply, frames));
	return (struct reply){ .into = into };
}

static bool add_text(struct reply *reply, const char *text, size_t bytes, uint32_t *ret_at,
		     uint32_t *ret_bytes)
{
	char *into = reply->into->text + reply->text_bytes;

	if (bytes > SYMBOLIZE_TEXT_BYTES - reply->text_bytes)
		return false;
	for (size_t i = 0; i < bytes; i++)
		into[i] = text_is_control(text[i]) ? '?' : text[i];
	*ret_at = (uint32_t)reply->text_bytes;
	*ret_bytes = (uint32_t)bytes;
	reply->text_bytes += bytes;
	return true;
}

static bool add_name(struct reply *reply, const struct found_frame *found, struct symbolize_frame *frame)
{
	char name[SYMBOLIZE_NAME_BYTES];
	size_t bytes;

	if (!found->name)
		return true;
	if (!found->is_written) {
		bytes = demangle(found->name, name, sizeof(name));
		return add_text(reply, name, bytes, &frame->name, &frame->name_bytes);
	}
	bytes = strnlen(found->name, SYMBOLIZE_NAME_BYTES + 1);
	if (bytes > SYMBOLIZE_NAME_BYTES)
		bytes = text_cut(found->name, SYMBOLIZE_NAME_BYTES);
	return add_text(reply, found->name, bytes, &frame->name, &frame->name_bytes);
}

/*
 * Adds the path whole or not at all: a truncated path would be another file. Inlined functions often share
 * the path of the function before.
 */
static bool add_place(struct reply *reply, const struct found_frame *found, const struct found_frame *before,
		      struct symbolize_frame *frame)
{
	size_t bytes = found->file ? strnlen(found->file, SYMBOLIZE_NAME_BYTES + 1) : 0;

	if (!bytes || bytes > SYMBOLIZE_NAME_BYTES)
		return true;
	frame->line = found->line;
	if (before && before->file && frame[-1].file_bytes && !strcmp(before->file, found->file)) {
		frame->file = frame[-1].file;
		frame->file_bytes = frame[-1].file_bytes;
		return true;
	}
	return add_text(reply, found->file, bytes, &frame->file, &frame->file_bytes);
}

bool reply_add(struct reply *reply, const struct found_frame *frames, uint32_t count, struct reply_span span)
{
	struct symbolize_reply *into = reply->into;
	size_t text_bytes = reply->text_bytes;

	if (count > SYMBOLIZE_FRAMES_MAX - into->frames_count)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		struct symbolize_frame *frame = &into->frames[into->frames_count + i];

		*frame = (struct symbolize_frame){ .function_offset = frames[i].function_offset };
		if (!add_name(reply, &frames[i], frame) ||
		    !add_place(reply, &frames[i], i ? &frames[i - 1] : NULL, frame)) {
			reply->text_bytes = text_bytes;
			return false;
		}
	}
	into->before[into->count] = span.before;
	into->after[into->count] = span.after;
	into->depths[into->count++] = count;
	into->frames_count += count;
	return true;
}

size_t reply_bytes(const struct reply *reply)
{
	return offsetof(struct symbolize_reply, text) + reply->text_bytes;
}

/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbols/name_index.h"

#include "common/base/array.h"
#include "common/base/hash_index.h"

#include <string.h>

/* What an index that was read may grow by before it doubles: under attack, memory is scarce. */
#define SPARE_SPANS 256U
#define SPARE_FRAMES 512U
#define SPARE_TEXT_BYTES 16384U

/* The content is these structures, as they are in memory, one behind the other, and then the text. */
struct head {
	uint32_t spans, frames, text_bytes, reserved;
	struct name_source source;
};

struct name_span {
	uint64_t begins;
	uint32_t bytes;
	uint32_t first, depth; /* in the frames */
	uint32_t reserved;
};

struct name_frame {
	uint64_t function_begins;
	uint32_t function, file; /* in the text; 0: unknown */
	uint32_t line, reserved;
};

struct name_index {
	struct name_source source;
	struct name_span *spans; /* sorted, none overlaps another */
	struct name_frame *frames;
	char *text; /* each with its NUL; the first one is "" */
	uint32_t spans_count, spans_room, frames_count, frames_room, text_bytes, text_room;
	struct hash_index texts; /* empty until the first text is added */
	bool has_changed, was_full;
};

/* Behind the head. */
static size_t content_bytes(uint32_t spans, uint32_t frames, uint32_t text_bytes)
{
	return spans * sizeof(struct name_span) + frames * sizeof(struct name_frame) + text_bytes;
}

bool name_source_is(const struct name_source *one, const struct name_source *other)
{
	return !strcmp(one->build_id, other->build_id) && !strcmp(one->debuglink, other->debuglink) &&
	       one->has_bias == other->has_bias && one->bias == other->bias &&
	       !memcmp(&one->debug_file, &other->debug_file, sizeof(one->debug_file));
}

struct name_index *name_index_new(const struct name_source *source)
{
	struct name_index *index = calloc(1, sizeof(*index));

	if (index)
		index->source = *source;
	return index;
}

void name_index_free(struct name_index *index)
{
	if (!index)
		return;
	free(index->spans);
	free(index->frames);
	free(index->text);
	hash_index_free(&index->texts);
	free(index);
}

const struct name_source *name_index_source(const struct name_index *index)
{
	return &index->source;
}

bool name_index_has_changed(const struct name_index *index)
{
	return index->has_changed;
}

/* ---- finding ---- */

/* Returns the number of spans that begin at the offset or before it. */
static uint32_t spans_up_to(const struct name_index *index, uint64_t offset)
{
	return array_partition_point(index->spans_count, i, index->spans[i].begins <= offset);
}

int name_index_find(const struct name_index *index, uint64_t offset, frame_name_add add, void *adder)
{
	uint32_t behind = spans_up_to(index, offset);
	const struct name_span *span = behind ? &index->spans[behind - 1] : NULL;
	int result = 0;

	if (!span || offset - span->begins >= span->bytes)
		return -ENOENT;
	for (uint32_t i = 0; i < span->depth && !result; i++) {
		const struct name_frame *frame = &index->frames[span->first + i];
		const char *function = index->text + frame->function, *file = index->text + frame->file;
		const struct frame_name name = {
			.function = frame->function ? function : NULL,
			.function_bytes = strlen(function),
			.function_offset = frame->function ? (int64_t)(offset - frame->function_begins) : 0,
			.file = frame->file ? file : NULL,
			.file_bytes = strlen(file),
			.line = frame->line,
		};

		result = add(adder, &name);
	}
	return result;
}

/* ---- adding ---- */

struct wanted {
	const struct name_index *index;
	const char *text;
	size_t bytes;
};

/* Implements hash_equal; positions are in the text. */
static bool is_text(const void *user, uint32_t position)
{
	const struct wanted *wanted = user;
	const char *there = wanted->index->text + position;

	return !strncmp(there, wanted->text, wanted->bytes) && !there[wanted->bytes];
}

/* Of the texts that were read. In a new index, adds the first one. */
static int index_texts(struct name_index *index)
{
	int result = 0;

	if (index->texts.count)
		return 0;
	if (!index->text_bytes) {
		if (array_make_room(index->text, index->text_bytes, index->text_room, 1U))
			return -ENOMEM;
		index->text[index->text_bytes++] = '\0';
	}
	for (uint32_t at = 1; at < index->text_bytes && !result; at += (uint32_t)strlen(index->text + at) + 1)
		result = hash_index_add(&index->texts, hash_bytes(index->text + at, strlen(index->text + at)),
					at);
	return result;
}

/* Most texts are there already: functions and files recur in many spans. */
static int add_text(struct name_index *index, const char *text, size_t bytes, uint32_t *ret_at)
{
	const struct wanted wanted = { index, text, bytes };
	uint32_t hash, found;

	*ret_at = 0;
	if (!text || !bytes)
		return 0;
	hash = hash_bytes(text, bytes);
	found = hash_index_find(&index->texts, hash, is_text, &wanted);
	if (found != HASH_INDEX_NONE) {
		*ret_at = found;
		return 0;
	}
	if (array_make_room(index->text, index->text_bytes, index->text_room, (uint32_t)bytes + 1))
		return -ENOMEM;
	if (hash_index_add(&index->texts, hash, index->text_bytes))
		return -ENOMEM;
	*ret_at = index->text_bytes;
	memcpy(index->text + index->text_bytes, text, bytes);
	index->text_bytes += (uint32_t)bytes;
	index->text[index->text_bytes++] = '\0';
	return 0;
}

static int add_frame(struct name_index *index, uint64_t offset, const struct frame_name *name)
{
	struct name_frame frame = { .line = name->line };
	int result = add_text(index, name->function, name->function_bytes, &frame.function);

	if (!result)
		result = add_text(index, name->file, name->file_bytes, &frame.file);
	if (result < 0 || array_make_room(index->frames, index->frames_count, index->frames_room, 1U))
		return -ENOMEM;
	if (frame.function)
		frame.function_begins = offset - (uint64_t)name->function_offset;
	index->frames[index->frames_count++] = frame;
	return 0;
}

static void forget_all(struct name_index *index)
{
	struct name_index emptied = { .source = index->source, .has_changed = true, .was_full = true };

	free(index->spans);
	free(index->frames);
	free(index->text);
	hash_index_free(&index->texts);
	*index = emptied;
}

static bool has_room(const struct name_index *index, const struct frame_name *frames, uint32_t count)
{
	size_t bytes = content_bytes(index->spans_count + 1, index->frames_count + count, index->text_bytes);

	for (uint32_t i = 0; i < count; i++)
		bytes += frames[i].function_bytes + frames[i].file_bytes + 3;
	return bytes <= NAME_INDEX_BYTES_MAX;
}

int name_index_add(struct name_index *index, uint64_t offset, uint32_t before, uint32_t after,
		   const struct frame_name *frames, uint32_t count)
{
	struct name_span span = { .begins = offset - before, .bytes = before + after, .depth = count };
	uint32_t place;

	for (uint32_t i = 0; i < count; i++)
		if (frames[i].function && (uint64_t)frames[i].function_offset > offset)
			return 0;
	if (!has_room(index, frames, count)) {
		if (index->was_full)
			return 0;
		forget_all(index);
	}
	place = spans_up_to(index, span.begins + span.bytes - 1);
	if (place && index->spans[place - 1].begins + index->spans[place - 1].bytes > span.begins)
		return 0;
	span.first = index->frames_count;
	if (index_texts(index) || array_make_room(index->spans, index->spans_count, index->spans_room, 1U))
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		if (add_frame(index, offset, &frames[i]))
			return -ENOMEM;
	memmove(index->spans + place + 1, index->spans + place,
		(index->spans_count - place) * sizeof(*index->spans));
	index->spans[place] = span;
	index->spans_count++;
	index->has_changed = true;
	return 0;
}

/* ---- content ---- */

int name_index_write(const struct name_index *index, struct kept_bytes *content)
{
	struct head head = { .spans = index->spans_count,
			     .frames = index->frames_count,
			     .text_bytes = index->text_bytes,
			     .source = index->source };
	size_t bytes = content_bytes(index->spans_count, index->frames_count, index->text_bytes);
	int result = kept_bytes_reserve(content, content->used + sizeof(head) + bytes);

	if (!result)
		result = kept_bytes_add(content, &head, sizeof(head));
	if (!result)
		result = kept_bytes_add(content, index->spans, index->spans_count * sizeof(*index->spans));
	if (!result)
		result = kept_bytes_add(content, index->frames, index->frames_count * sizeof(*index->frames));
	if (!result)
		result = kept_bytes_add(content, index->text, index->text_bytes);
	return result;
}

static bool is_frame(const struct name_index *index, const struct name_frame *frame)
{
	return frame->function < index->text_bytes && frame->file < index->text_bytes &&
	       frame->line <= INT32_MAX;
}

static bool is_span(const struct name_index *index, uint32_t position)
{
	const struct name_span *span = &index->spans[position], *next = span + 1;

	if (!span->bytes || span->bytes > UINT64_MAX - span->begins ||
	    (position + 1 < index->spans_count && span->begins + span->bytes > next->begins) ||
	    !span->depth || span->depth > SYMBOLIZE_DEPTH || span->first > index->frames_count ||
	    span->depth > index->frames_count - span->first)
		return false;
	for (uint32_t i = 0; i < span->depth; i++)
		if (!is_frame(index, &index->frames[span->first + i]) ||
		    index->frames[span->first + i].function_begins > span->begins)
			return false;
	return true;
}

static bool is_sound(const struct name_index *index)
{
	if (index->text_bytes ? index->text[0] || index->text[index->text_bytes - 1] : index->spans_count)
		return false;
	for (uint32_t i = 0; i < index->spans_count; i++)
		if (!is_span(index, i))
			return false;
	return index->source.has_bias <= 1 &&
	       memchr(index->source.build_id, '\0', sizeof(index->source.build_id)) &&
	       memchr(index->source.debuglink, '\0', sizeof(index->source.debuglink));
}

/* Copies what is next in the content. */
static void take(const char **at, void *into, size_t bytes)
{
	if (bytes)
		memcpy(into, *at, bytes);
	*at += bytes;
}

int name_index_read(const char *content, size_t bytes, struct name_index **ret_index)
{
	struct name_index *index;
	struct head head;
	int result = 0;

	if (bytes < sizeof(head) || bytes > sizeof(head) + NAME_INDEX_BYTES_MAX)
		return -EBADMSG;
	memcpy(&head, content, sizeof(head));
	content += sizeof(head);
	if (head.spans > NAME_INDEX_BYTES_MAX || head.frames > NAME_INDEX_BYTES_MAX ||
	    head.text_bytes > NAME_INDEX_BYTES_MAX ||
	    bytes - sizeof(head) != content_bytes(head.spans, head.frames, head.text_bytes))
		return -EBADMSG;
	index = name_index_new(&head.source);
	if (!index)
		return -ENOMEM;
	index->spans_room = head.spans + SPARE_SPANS;
	index->frames_room = head.frames + SPARE_FRAMES;
	index->text_room = head.text_bytes + SPARE_TEXT_BYTES;
	index->spans = calloc(index->spans_room, sizeof(*index->spans));
	index->frames = calloc(index->frames_room, sizeof(*index->frames));
	index->text = malloc(index->text_room);
	if (!index->spans || !index->frames || !index->text) {
		result = -ENOMEM;
	} else {
		index->spans_count = head.spans;
		index->frames_count = head.frames;
		index->text_bytes = head.text_bytes;
		take(&content, index->spans, head.spans * sizeof(*index->spans));
		take(&content, index->frames, head.frames * sizeof(*index->frames));
		take(&content, index->text, head.text_bytes);
	}
	if (!result && !is_sound(index))
		result = -EBADMSG;
	if (result < 0)
		name_index_free(index);
	else
		*ret_index = index;
	return result;
}

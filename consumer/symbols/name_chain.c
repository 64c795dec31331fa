/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbols/name_chain.h"

#include "common/text/escape_name.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int set_text(char **ret_text, const char *text, size_t bytes)
{
	if (!text || !bytes)
		return 0;
	*ret_text = strndup(text, bytes);
	return *ret_text ? 0 : -ENOMEM;
}

/* Upper limit of the text's size in the database. */
static uint64_t stored_bytes(const char *text)
{
	return !text ? 0 : escape_name_is_plain(text) ? strlen(text) : 4 * strlen(text);
}

static bool has_room(struct name_chain *chain, const struct resolved_frame *frame)
{
	struct name_room *room = chain->room;
	uint64_t bytes =
		room->resolved->names_bytes + stored_bytes(frame->function) + stored_bytes(frame->file);

	chain->is_cut |= bytes > room->most;
	room->is_exceeded |= chain->is_cut;
	if (!chain->is_cut)
		room->resolved->names_bytes = bytes;
	return !chain->is_cut;
}

int name_chain_add(void *user, const struct frame_name *name)
{
	struct name_chain *chain = user;
	struct resolved *resolved = chain->room->resolved;
	struct resolved_frame *place = &resolved->frames[chain->place];
	struct resolved_frame frame = { .module = place->module,
					.offset = place->offset,
					.function_offset = name->function ? name->function_offset : -1,
					.line = name->line,
					.inlined = chain->count };
	bool is_kept;
	int result;

	if (chain->wants_file && !chain->count && !name->file)
		return -ENOENT;
	result = set_text(&frame.function, name->function, name->function_bytes);
	if (!result)
		result = set_text(&frame.file, name->file, name->file_bytes);
	is_kept = !result && has_room(chain, &frame);
	if (is_kept && chain->count) {
		uint32_t added;

		result = resolved_add_frame(resolved, &frame, &added);
		if (!result)
			resolved->frames[chain->last].inner = added;
		chain->last = added;
	}
	if (result < 0 || !is_kept) {
		free(frame.function);
		free(frame.file);
		return result;
	}
	if (!chain->count++) {
		free(place->file); /* of an earlier attempt that found no name */
		*place = frame;
	}
	return 0;
}

struct name_chain name_chain_begin(struct name_room *room, uint32_t place)
{
	return (struct name_chain){ .room = room, .place = place, .last = place };
}

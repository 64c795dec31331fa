/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/model/profile.h"

#include "common/base/array.h"
#include "common/system/log.h"

#include <string.h>

#define TEXT_BLOCK_BYTES 65536UL
#define TEXT_BYTES_MOST (256UL << 20) /* of one capture; a hostile view may have texts without end */

/* ---- texts ---- */

struct text_block {
	struct text_block *next;
	size_t used, room;
	char bytes[];
};

static const char *keep_bytes(struct profile_texts *texts, const char *text, size_t bytes)
{
	struct text_block *block = texts->blocks;

	if (!block || block->room - block->used <= bytes) {
		size_t room = bytes < TEXT_BLOCK_BYTES ? TEXT_BLOCK_BYTES : bytes + 1;

		block = texts->bytes > TEXT_BYTES_MOST ? NULL : malloc(sizeof(*block) + room);
		if (!block)
			return NULL;
		*block = (struct text_block){ .next = texts->blocks, .room = room };
		texts->blocks = block;
		texts->bytes += room;
	}
	memcpy(block->bytes + block->used, text, bytes);
	block->bytes[block->used + bytes] = '\0';
	block->used += bytes + 1;
	return block->bytes + block->used - bytes - 1;
}

struct wanted_text {
	const struct profile_texts *texts;
	const char *text;
};

static bool is_text(const void *user, uint32_t position)
{
	const struct wanted_text *wanted = user;

	return !strcmp(wanted->texts->texts[position], wanted->text);
}

int profile_intern(struct profile *profile, const char *text, uint32_t *ret_position)
{
	struct profile_texts *texts = &profile->texts;
	size_t bytes = strlen(text);
	uint32_t hash = hash_bytes(text, bytes);
	uint32_t found = hash_index_find(&texts->index, hash, is_text, &(struct wanted_text){ texts, text });

	if (found == HASH_INDEX_NONE) {
		const char *kept = keep_bytes(texts, text, bytes);

		if (!kept)
			return texts->bytes > TEXT_BYTES_MOST ? -E2BIG : -ENOMEM;
		if (array_make_room(texts->texts, texts->count, texts->room, 1U) ||
		    hash_index_add(&texts->index, hash, texts->count))
			return -ENOMEM;
		texts->texts[texts->count] = kept;
		found = texts->count++;
	}
	*ret_position = found;
	return 0;
}

static void free_texts(struct profile_texts *texts)
{
	while (texts->blocks) {
		struct text_block *next = texts->blocks->next;

		free(texts->blocks);
		texts->blocks = next;
	}
	free(texts->texts);
	hash_index_free(&texts->index);
}

const char *profile_keep(struct profile *profile, const char *text)
{
	uint32_t position;

	return profile_intern(profile, text, &position) < 0 ? NULL : profile_text(profile, position);
}

void profile_fail(struct database *database, int error)
{
	if (database->failed)
		return;
	database->failed = true;
	if (error == -E2BIG)
		log_error(
			"cannot report the capture: '%s' is damaged: the capture is far larger than bourdond writes",
			database->path);
	else if (error == -EUCLEAN)
		log_error(
			"cannot report the capture: '%s' is damaged: a column is no array of numbers ('bourdon db check' tells which)",
			database->path);
	else
		log_error("cannot report the capture: %s", strerror(-error));
}

void profile_free(struct profile *profile)
{
	free(profile->samples);
	free(profile->threads);
	free(profile->processes);
	free(profile->stacks);
	free(profile->nodes);
	free(profile->path_frames);
	free(profile->frames);
	free(profile->modules);
	free(profile->times.times);
	free_texts(&profile->texts);
	*profile = (struct profile){ 0 };
}

struct profile_walk profile_walk_of(const struct profile *profile, const struct profile_stack *stack)
{
	return (struct profile_walk){ profile, stack->node,
				      stack->node == PROFILE_NONE ? 0 : profile->nodes[stack->node].count };
}

const struct profile_frame *profile_walk_next(struct profile_walk *walk)
{
	const struct profile *profile = walk->profile;

	while (walk->node != PROFILE_NONE && !walk->left) {
		walk->node = profile->nodes[walk->node].parent;
		walk->left = walk->node == PROFILE_NONE ? 0 : profile->nodes[walk->node].count;
	}
	if (walk->node == PROFILE_NONE)
		return NULL;
	walk->left--;
	return &profile->frames[profile->path_frames[profile->nodes[walk->node].first + walk->left]];
}

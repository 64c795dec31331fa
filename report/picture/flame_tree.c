/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/picture/flame_tree.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"

#include <string.h>

/*
 * bourdond writes at most 16,384 stacks of some 190 frames, most of which share most of their frames. The tree of a database
 * that somebody else wrote ends here.
 */
#define NODES_MOST (1U << 21)

/* What the tree says of samples without any frame, and of stacks without their outermost frames. */
#define NO_STACK "[no stack]"
#define FRAMES_MISSING "[outer frames missing]"

const char *flame_kind_name(enum flame_kind kind)
{
	static const char *const names[FLAME_KINDS] = { "program", "user",    "inlined", "kernel",
							"jit",     "unknown", "missing" };

	return names[kind];
}

void flame_tree_free(struct flame_tree *tree)
{
	free(tree->frames);
	free(tree->nodes);
	hash_index_free(&tree->frames_index);
	hash_index_free(&tree->nodes_index);
	*tree = (struct flame_tree){ 0 };
}

/* ---- frames ---- */

struct wanted_frame {
	const struct flame_tree *tree;
	const struct flame_frame *frame;
};

static bool is_frame(const void *user, uint32_t position)
{
	const struct wanted_frame *wanted = user;
	const struct flame_frame *there = &wanted->tree->frames[position], *frame = wanted->frame;

	return there->kind == frame->kind && !strcmp(there->function, frame->function) &&
	       !strcmp(there->module, frame->module);
}

static int intern_frame(struct flame_tree *tree, const struct flame_frame *frame, uint32_t *ret_frame)
{
	uint32_t of_module = hash_number_and_bytes(frame->kind, frame->module, strlen(frame->module));
	uint32_t hash = hash_number_and_bytes(of_module, frame->function, strlen(frame->function));
	uint32_t found =
		hash_index_find(&tree->frames_index, hash, is_frame, &(struct wanted_frame){ tree, frame });

	if (found == HASH_INDEX_NONE) {
		if (array_make_room(tree->frames, tree->frames_count, tree->frames_room, 1U) ||
		    hash_index_add(&tree->frames_index, hash, tree->frames_count))
			return -ENOMEM;
		tree->frames[tree->frames_count] = *frame;
		found = tree->frames_count++;
	} else if (!tree->frames[found].file) {
		tree->frames[found].file = frame->file;
	}
	*ret_frame = found;
	return 0;
}

static enum flame_kind kind_of(const struct profile_module *module, const struct profile_frame *frame)
{
	if (module->is_kernel)
		return FLAME_KERNEL;
	if (!strcmp(module->kind, "jit"))
		return FLAME_JIT;
	if (!strcmp(module->kind, "anonymous"))
		return FLAME_UNKNOWN;
	return frame->inlined > 0 ? FLAME_INLINED : FLAME_USER;
}

/* ---- nodes ---- */

/* Goes from *node to the child with this frame, which is made if there is none. */
static int descend(struct flame_tree *tree, uint32_t frame, uint32_t *node)
{
	const struct flame_node wanted = { *node, frame };
	int added = hash_index_intern(&tree->nodes_index, HASH_ELEMENTS(tree->nodes), tree->nodes,
				      tree->nodes_count, tree->nodes_room, &wanted, node);

	if (added > 0 && tree->nodes_count > NODES_MOST)
		return -E2BIG;
	return added < 0 ? added : 0;
}

/* ---- stacks ---- */

/* A stack of processes of one name: it is added once. */
struct pair {
	uint32_t stack, comm; /* comm: a text, or PROFILE_NONE */
	uint32_t leaf;
};

struct adding {
	struct flame_tree *tree;
	const struct profile *profile;
	uint32_t *of_frame; /* frames of the tree; PROFILE_NONE: not looked up yet */
	struct pair *pairs;
	uint32_t pairs_count, pairs_room;
	struct hash_index pairs_index;
	uint32_t *path; /* frames of the stack at hand, the innermost first */
	uint32_t path_count, path_room;
};

static void adding_free(struct adding *adding)
{
	free(adding->of_frame);
	free(adding->pairs);
	free(adding->path);
	hash_index_free(&adding->pairs_index);
}

#define _cleanup_adding_ _cleanup_(adding_free)

static int descend_to(struct flame_tree *tree, const char *function, enum flame_kind kind, uint32_t *node)
{
	uint32_t frame;
	int result = intern_frame(tree, &(struct flame_frame){ function, "", NULL, kind }, &frame);

	return result ? result : descend(tree, frame, node);
}

static int frame_of(struct adding *adding, const struct profile_frame *frame, uint32_t *ret_frame)
{
	const struct profile *profile = adding->profile;
	const struct profile_module *module = &profile->modules[frame->module];
	uint32_t *known = &adding->of_frame[frame - profile->frames];
	int result = 0;

	if (*known == PROFILE_NONE)
		result = intern_frame(adding->tree,
				      &(struct flame_frame){ profile_text(profile, frame->function),
							     module->path, frame->file,
							     kind_of(module, frame) },
				      known);
	*ret_frame = *known;
	return result;
}

static int add_stack(struct adding *adding, const struct pair *pair, uint32_t *ret_leaf)
{
	const struct profile *profile = adding->profile;
	const struct profile_stack *stack = &profile->stacks[pair->stack];
	struct profile_walk walk = profile_walk_of(profile, stack);
	const struct profile_frame *frame;
	uint32_t node = 0;
	int result = descend_to(adding->tree,
				pair->comm == PROFILE_NONE ? "[unknown program]"
							   : profile_text(profile, pair->comm),
				FLAME_PROGRAM, &node);

	adding->path_count = 0;
	while (!result && (frame = profile_walk_next(&walk))) {
		result = array_make_room(adding->path, adding->path_count, adding->path_room, 1U);
		if (!result)
			result = frame_of(adding, frame, &adding->path[adding->path_count++]);
	}
	if (!result && (stack->truncated || !adding->path_count))
		result = descend_to(adding->tree, adding->path_count ? FRAMES_MISSING : NO_STACK,
				    FLAME_MISSING, &node);
	for (uint32_t i = adding->path_count; i-- > 0 && !result;)
		result = descend(adding->tree, adding->path[i], &node);
	*ret_leaf = node;
	return result;
}

static int leaf_of(struct adding *adding, const struct profile_sample *sample, uint32_t *ret_leaf)
{
	const struct profile_process *process = profile_process_of(adding->profile, sample);
	const struct pair pair = { sample->stack, process->is_known ? process->comm : PROFILE_NONE, 0 };
	uint32_t position;
	int result = hash_index_intern(&adding->pairs_index, HASH_KEYS_BEFORE(adding->pairs, leaf),
				       adding->pairs, adding->pairs_count, adding->pairs_room, &pair,
				       &position);

	if (result > 0)
		result = add_stack(adding, &pair, &adding->pairs[position].leaf);
	if (!result)
		*ret_leaf = adding->pairs[position].leaf;
	return result;
}

int flame_tree_add(struct flame_tree *tree, const struct profile *profile, uint32_t **ret_leaves)
{
	_cleanup_adding_ struct adding adding = { .tree = tree, .profile = profile };
	size_t frames_bytes = (profile->frames_count + 1UL) * sizeof(*adding.of_frame);
	_cleanup_free_ uint32_t *leaves = calloc(profile->samples_count + 1UL, sizeof(*leaves));
	uint32_t root = 0;
	int result = 0;

	adding.of_frame = malloc(frames_bytes);
	if (!leaves || !adding.of_frame)
		return -ENOMEM;
	memset(adding.of_frame, 0xff, frames_bytes);
	if (!tree->nodes_count)
		result = descend(tree, PROFILE_NONE, &root); /* its own parent */
	for (uint32_t i = 0; i < profile->samples_count && !result; i++)
		result = leaf_of(&adding, &profile->samples[i], &leaves[i]);
	if (!result)
		*ret_leaves = TAKE_PTR(leaves);
	return result;
}

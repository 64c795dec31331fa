/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads the stacks of a profile: the tree of their nodes, the frames of each, and the modules of these. */
#include "report/model/profile_load_stacks.h"
#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "report/model/id_index.h"
#include "report/model/profile_row.h"

#include <string.h>

/*
 * What one capture may have. bourdond writes at most 16,384 stacks of some 190 frames (and functions inlined in them), in a tree of
 * twice as many nodes.
 */
#define NODES_MOST (1U << 18)
#define PATH_FRAMES_MOST (1U << 23)
#define FRAMES_MOST (1U << 21)
#define STACK_CLASSES_MOST 1024U
#define DEPTH_MOST 10000U /* frames of a stack: a node that is deeper begins a path of its own */

struct loading {
	struct database *database;
	struct profile *profile;
	uint32_t nodes_room, path_frames_room, modules_room;
	struct id_index node_ids, frame_ids, module_ids;
	struct node_row {
		int64_t parent_id; /* 0: none */
		int64_t class;
		bool has_class; /* a stack ends at the node */
	} * node_rows;
	uint32_t node_rows_room;
	uint32_t *levels; /* of the nodes; a level's parent is one less */
	struct stack_class {
		int64_t class;
		uint32_t unwinder, ended;
		bool truncated;
	} * classes;
	uint32_t classes_count, classes_room;
	struct frame_list node_frames; /* of the node at hand */
};

/* ---- frames ---- */

/* Stores PROFILE_NONE if there is no such module. */
static int find_module(struct loading *loading, struct query *query, int64_t module_id, uint32_t *ret_module)
{
	struct profile *profile = loading->profile;
	struct profile_module module = { .module_id = module_id };
	uint32_t found = id_index_find(&loading->module_ids, module_id);
	int result;

	*ret_module = found;
	if (found != HASH_INDEX_NONE || !query_find(query, module_id))
		return 0;
	result = row_keep(loading->profile, query, 0, &module.path);
	if (!result)
		result = row_keep(loading->profile, query, 1, &module.kind);
	if (!result)
		result = row_keep(loading->profile, query, 2, &module.build_id);
	if (!result && (!module.path || !module.kind))
		return 0;
	if (!result)
		result = array_make_room(profile->modules, profile->modules_count, loading->modules_room, 1U);
	if (!result)
		result = id_index_add(&loading->module_ids, module_id);
	if (result < 0)
		return result;
	module.is_kernel = !strcmp(module.kind, "kernel") || !strcmp(module.kind, "module");
	*ret_module = profile->modules_count;
	profile->modules[profile->modules_count++] = module;
	return 0;
}

/* The frame on which the query stands. */
static int read_frame(struct loading *loading, const struct query *query, struct query *modules,
		      struct profile_frame *frame)
{
	int result = find_module(loading, modules, query_number_at(query, 0), &frame->module);

	if (!result)
		result = row_intern(loading->profile, query, 1, &frame->function);
	if (!result)
		result = row_keep(loading->profile, query, 3, &frame->file);
	frame->is_resolved = !query_is_null_at(query, 2);
	frame->line = query_number_at(query, 4);
	frame->has_line = !query_is_null_at(query, 4);
	frame->inlined = query_number_at(query, 5);
	frame->function_offset = query_number_at(query, 2);
	frame->offset = query_number_at(query, 6);
	return result;
}

/* The frames that occur in paths, in the order of their first occurrence. */
static int load_frames(struct loading *loading)
{
	_cleanup_query_ struct query query = query_begin(
		loading->database,
		"SELECT module_id, function, function_offset, file, line, inlined, offset FROM frame WHERE frame_id = ?1",
		0, 0);
	_cleanup_query_ struct query modules = query_begin(
		loading->database, "SELECT path, kind, build_id FROM module WHERE module_id = ?1", 0, 0);
	struct profile *profile = loading->profile;
	int result = 0;

	if (loading->frame_ids.count > FRAMES_MOST)
		return -E2BIG;
	profile->frames = calloc(loading->frame_ids.count + 1UL, sizeof(*profile->frames));
	if (!profile->frames)
		return -ENOMEM;
	for (; profile->frames_count < loading->frame_ids.count && !result; profile->frames_count++) {
		struct profile_frame *frame = &profile->frames[profile->frames_count];

		frame->module = PROFILE_NONE;
		if (query_find(&query, loading->frame_ids.ids[profile->frames_count]))
			result = read_frame(loading, &query, &modules, frame);
	}
	return result;
}

/* Removes those that are not in the database, or whose module is not. */
static void drop_unknown_frames(struct profile *profile)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < profile->nodes_count; i++) {
		struct profile_node *node = &profile->nodes[i];
		uint32_t first = kept;

		for (uint32_t j = node->first; j < node->first + node->count; j++)
			if (profile->frames[profile->path_frames[j]].module != PROFILE_NONE)
				profile->path_frames[kept++] = profile->path_frames[j];
		node->first = first;
		node->count = kept - first;
	}
	profile->path_frames_count = kept;
}

/* ---- the tree of stacks ---- */

static int add_path_frame(struct loading *loading, int64_t frame_id)
{
	struct profile *profile = loading->profile;
	uint32_t found = id_index_find(&loading->frame_ids, frame_id);
	int result = 0;

	if (found == HASH_INDEX_NONE) {
		found = loading->frame_ids.count;
		result = id_index_add(&loading->frame_ids, frame_id);
	}
	if (!result && profile->path_frames_count == PATH_FRAMES_MOST)
		return -E2BIG;
	if (!result)
		result = array_make_room(profile->path_frames, profile->path_frames_count,
					 loading->path_frames_room, 1U);
	if (!result)
		profile->path_frames[profile->path_frames_count++] = found;
	return result;
}

/* Adds the frames that are in this column. */
static int add_stored_frames(struct loading *loading, const struct query *query, int column)
{
	struct frame_list *list = &loading->node_frames;
	int result;

	list->count = 0;
	result = stored_frames_read(query->statement, column,
				    PATH_FRAMES_MOST - loading->profile->path_frames_count, list);
	for (uint32_t i = 0; i < list->count && !result; i++)
		result = add_path_frame(loading, list->frames[i]);
	return result == -EFBIG ? -E2BIG : result;
}

static int add_node(struct loading *loading, int64_t node_id, const struct node_row *row)
{
	struct profile *profile = loading->profile;

	if (profile->nodes_count == NODES_MOST)
		return -E2BIG;
	if (array_make_room(profile->nodes, profile->nodes_count, loading->nodes_room, 1U) ||
	    array_make_room(loading->node_rows, profile->nodes_count, loading->node_rows_room, 1U) ||
	    id_index_add(&loading->node_ids, node_id))
		return -ENOMEM;
	loading->node_rows[profile->nodes_count] = *row;
	profile->nodes[profile->nodes_count++] =
		(struct profile_node){ .parent = PROFILE_NONE, .first = profile->path_frames_count };
	return 0;
}

static int load_classes(struct loading *loading)
{
	_cleanup_query_ struct query query = query_begin(
		loading->database, "SELECT class, truncated, unwinder, ended FROM stack_class", 0, 0);
	int result = 0;

	while (!result && query_next(&query) && loading->classes_count < STACK_CLASSES_MOST) {
		struct stack_class class = { .class = query_number_at(&query, 0),
					     .truncated = query_number_at(&query, 1) };

		result = row_intern(loading->profile, &query, 2, &class.unwinder);
		if (!result)
			result = row_intern(loading->profile, &query, 3, &class.ended);
		if (!result)
			result = array_make_room(loading->classes, loading->classes_count,
						 loading->classes_room, 1U);
		if (!result)
			loading->classes[loading->classes_count++] = class;
	}
	return result;
}

static void set_class(const struct loading *loading, struct profile_stack *stack, int64_t class)
{
	for (uint32_t i = 0; i < loading->classes_count; i++)
		if (loading->classes[i].class == class) {
			stack->is_known = true;
			stack->truncated = loading->classes[i].truncated;
			stack->unwinder = loading->classes[i].unwinder;
			stack->ended = loading->classes[i].ended;
			return;
		}
}

/* Reads a node, and those above it, up to one that is known. */
static int load_node(struct loading *loading, struct query *query, int64_t node_id)
{
	struct profile *profile = loading->profile;
	int result = 0;

	while (!result && node_id && id_index_find(&loading->node_ids, node_id) == HASH_INDEX_NONE &&
	       query_find(query, node_id)) {
		struct node_row row = { query_number_at(query, 0), query_number_at(query, 2),
					!query_is_null_at(query, 2) };

		result = add_node(loading, node_id, &row);
		if (!result)
			result = add_stored_frames(loading, query, 1);
		if (!result) {
			struct profile_node *node = &profile->nodes[profile->nodes_count - 1];

			node->count = profile->path_frames_count - node->first;
		}
		node_id = row.parent_id;
	}
	return result;
}

static int load_tree(struct loading *loading)
{
	_cleanup_query_ struct query query =
		query_begin(loading->database,
			    "SELECT parent_id, frames, class FROM stack_node WHERE node_id = ?1", 0, 0);
	int result = load_classes(loading);

	for (uint32_t i = 0; i < loading->profile->stacks_count && !result; i++) {
		struct profile_stack *stack = &loading->profile->stacks[i];
		uint32_t node;

		result = load_node(loading, &query, stack->stack_id);
		node = id_index_find(&loading->node_ids, stack->stack_id);
		if (node == HASH_INDEX_NONE || !loading->node_rows[node].has_class)
			continue;
		stack->node = node;
		set_class(loading, stack, loading->node_rows[node].class);
	}
	return result;
}

#define LEVEL_UNKNOWN 0U
#define LEVEL_BEING_FOUND UINT32_MAX

/*
 * Gives a node, and those above it, a level: 1 without a parent. A node whose parents lead back to it, or whose path
 * is too long, loses its parent. `climbed` has room for all nodes, `depths` has the frames of each path.
 */
static void find_level(const struct loading *loading, uint32_t node, uint32_t *climbed, uint32_t *depths)
{
	struct profile_node *nodes = loading->profile->nodes;
	uint32_t count = 0;

	for (; node != PROFILE_NONE && loading->levels[node] == LEVEL_UNKNOWN; node = nodes[node].parent) {
		loading->levels[node] = LEVEL_BEING_FOUND;
		climbed[count++] = node;
	}
	if (node != PROFILE_NONE && loading->levels[node] == LEVEL_BEING_FOUND)
		nodes[climbed[count - 1]].parent = PROFILE_NONE;
	while (count--) {
		struct profile_node *here = &nodes[climbed[count]];

		if (here->parent != PROFILE_NONE && depths[here->parent] + here->count > DEPTH_MOST)
			here->parent = PROFILE_NONE;
		depths[climbed[count]] =
			here->count + (here->parent == PROFILE_NONE ? 0 : depths[here->parent]);
		loading->levels[climbed[count]] =
			here->parent == PROFILE_NONE ? 1 : loading->levels[here->parent] + 1;
	}
}

/* Moves the nodes so that each is behind its parent. places[i] is where node i goes. */
static int move_nodes(struct loading *loading, uint32_t *places)
{
	struct profile *profile = loading->profile;
	uint32_t count = profile->nodes_count;
	_cleanup_free_ uint32_t *of_level = calloc(count + 2UL, sizeof(*of_level));
	struct profile_node *moved = calloc(count + 1UL, sizeof(*moved));

	if (!of_level || !moved) {
		free(moved);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < count; i++)
		of_level[loading->levels[i]]++; /* from 1 to count */
	for (uint32_t i = 1, before = 0; i <= count; i++) {
		uint32_t here = of_level[i];

		of_level[i] = before;
		before += here;
	}
	for (uint32_t i = 0; i < count; i++)
		places[i] = of_level[loading->levels[i]]++;
	for (uint32_t i = 0; i < count; i++) {
		struct profile_node *node = &moved[places[i]];

		*node = profile->nodes[i];
		if (node->parent != PROFILE_NONE)
			node->parent = places[node->parent];
	}
	free(profile->nodes);
	profile->nodes = moved;
	for (uint32_t i = 0; i < profile->stacks_count; i++)
		if (profile->stacks[i].node != PROFILE_NONE)
			profile->stacks[i].node = places[profile->stacks[i].node];
	return 0;
}

static int order_nodes(struct loading *loading)
{
	struct profile *profile = loading->profile;
	uint32_t count = profile->nodes_count;
	_cleanup_free_ uint32_t *climbed = calloc(count + 1UL, sizeof(*climbed));
	_cleanup_free_ uint32_t *depths = calloc(count + 1UL, sizeof(*depths));

	loading->levels = calloc(count + 1UL, sizeof(*loading->levels));
	if (!climbed || !depths || !loading->levels)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		if (loading->node_rows[i].parent_id)
			profile->nodes[i].parent =
				id_index_find(&loading->node_ids, loading->node_rows[i].parent_id);
	for (uint32_t i = 0; i < count; i++)
		find_level(loading, i, climbed, depths);
	return move_nodes(loading, climbed);
}

int profile_load_stacks(struct database *database, struct profile *profile)
{
	struct loading loading = { .database = database, .profile = profile };
	int result = load_tree(&loading);

	if (!result)
		result = load_frames(&loading);
	if (!result) {
		drop_unknown_frames(profile);
		result = order_nodes(&loading);
	}
	id_index_free(&loading.node_ids);
	id_index_free(&loading.frame_ids);
	id_index_free(&loading.module_ids);
	free(loading.node_rows);
	free(loading.levels);
	free(loading.classes);
	free(loading.node_frames.frames);
	return result;
}

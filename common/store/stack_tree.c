/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/store/stack_tree.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/base/numbers.h"
#include "common/store/stored_json.h"

#include <inttypes.h>
#include <string.h>

int stack_tree_prepare(struct sql *sql, struct stack_tree *ret_tree)
{
	const struct sql_prepared statements[] = {
		/* the conditions match the index stack_node_child */
		{ &ret_tree->find_child,
		  "SELECT node_id, frames FROM stack_node WHERE parent_id IS nullif(?1, 0) "
		  "AND " NODE_FIRST_FRAME " = ?2" },
		{ &ret_tree->find_variant, "SELECT node_id FROM stack_node WHERE parent_id IS nullif(?, 0) "
					   "AND " NODE_FIRST_FRAME " = 0 AND class = ?" },
		{ &ret_tree->end_at, "SELECT class, hash FROM stack_node WHERE node_id = ?" },
		{ &ret_tree->add_node, "INSERT INTO stack_node(parent_id, frames, class, depth, hash) "
				       "VALUES(nullif(?, 0), ?, nullif(?, 0), nullif(?, -1), ?)" },
		{ &ret_tree->set_upper,
		  "UPDATE stack_node SET parent_id = ?2, frames = ?3 WHERE node_id = ?1" },
		{ &ret_tree->set_end,
		  "UPDATE stack_node SET class = ?2, depth = ?3, hash = ?4 WHERE node_id = ?1" },
	};

	return sql_prepare_all(sql, statements, ARRAY_SIZE(statements));
}

void stack_tree_finalize(struct stack_tree *tree)
{
	sqlite3_stmt *const statements[] = { tree->find_child, tree->find_variant, tree->end_at,
					     tree->add_node,   tree->set_upper,    tree->set_end };

	for (size_t i = 0; i < ARRAY_SIZE(statements); i++)
		sqlite3_finalize(statements[i]);
	*tree = (struct stack_tree){ 0 };
}

/* ---- the tree of the new stacks ---- */

/* A piece of path `path`, from `from` to `to` (exclusive) of its frames. */
struct piece {
	uint32_t path, from, to;
	uint32_t parent; /* position of another piece, or NO_PIECE */
	uint32_t ends;   /* the first path that ends here, or NO_PATH */
	int64_t node_id;
	bool is_new; /* the node was added for this piece: it has no children but those of other pieces */
};

#define NO_PIECE UINT32_MAX
#define NO_PATH UINT32_MAX

struct adding {
	struct sql *sql;
	const struct stack_tree *tree;
	struct stack_path *paths;
	uint32_t count;
	stack_tree_hash hash;
	void *user;
	uint32_t *order;    /* of the paths */
	uint32_t *piece_of; /* for each path, the piece at whose end it ends; NO_PIECE for an empty one */
	struct piece *pieces;
	uint32_t pieces_count, pieces_room;
	char *text; /* of frames */
	size_t text_room;
	struct frame_list child; /* the frames of the child that was found last */
};

static int compare_paths(const void *a, const void *b, void *user)
{
	const struct stack_path *paths = user, *left = &paths[*(const uint32_t *)a],
				*right = &paths[*(const uint32_t *)b];

	for (uint32_t i = 0; i < left->count && i < right->count; i++)
		if (left->frames[i] != right->frames[i])
			return left->frames[i] < right->frames[i] ? -1 : 1;
	return COMPARE(left->count, right->count);
}

static uint32_t common_frames(const int64_t *one, uint32_t one_count, const int64_t *other,
			      uint32_t other_count)
{
	uint32_t count = one_count < other_count ? one_count : other_count, i = 0;

	while (i < count && one[i] == other[i])
		i++;
	return i;
}

static int add_piece(struct adding *adding, struct piece piece, uint32_t *ret_position)
{
	if (array_make_room(adding->pieces, adding->pieces_count, adding->pieces_room, 1U))
		return -ENOMEM;
	*ret_position = adding->pieces_count;
	adding->pieces[adding->pieces_count++] = piece;
	return 0;
}

/*
 * Cuts the sorted paths into pieces where they part. `at` is the last piece of the path before, and leads
 * upwards to all pieces that the next one can share.
 */
static int cut_path(struct adding *adding, uint32_t path, uint32_t common, uint32_t *at)
{
	const struct stack_path *here = &adding->paths[path];
	int result = 0;

	while (*at != NO_PIECE && adding->pieces[*at].from >= common)
		*at = adding->pieces[*at].parent;
	if (*at != NO_PIECE && adding->pieces[*at].to > common) {
		struct piece upper = adding->pieces[*at];
		uint32_t position;

		upper.to = common;
		upper.ends = NO_PATH;
		result = add_piece(adding, upper, &position);
		if (result < 0)
			return result;
		adding->pieces[*at].from = common;
		adding->pieces[*at].parent = position;
		*at = position;
	}
	if (here->count > common)
		result = add_piece(adding,
				   (struct piece){ .path = path,
						   .from = common,
						   .to = here->count,
						   .parent = *at,
						   .ends = path },
				   at);
	adding->piece_of[path] = *at;
	if (!result && *at != NO_PIECE && adding->pieces[*at].ends == NO_PATH)
		adding->pieces[*at].ends = path;
	return result;
}

static int cut_paths(struct adding *adding)
{
	uint32_t at = NO_PIECE;
	int result = 0;

	for (uint32_t i = 0; i < adding->count; i++)
		adding->order[i] = i;
	qsort_r(adding->order, adding->count, sizeof(*adding->order), compare_paths, adding->paths);
	for (uint32_t i = 0; i < adding->count && !result; i++) {
		const struct stack_path *path = &adding->paths[adding->order[i]],
					*before = i ? &adding->paths[adding->order[i - 1]] : path;

		result = cut_path(
			adding, adding->order[i],
			i ? common_frames(before->frames, before->count, path->frames, path->count) : 0, &at);
	}
	return result;
}

/* ---- the tree in the database ---- */

/* Stores the text of these frames. */
static int format_frames(struct adding *adding, const int64_t *frames, uint32_t count)
{
	size_t bytes = count * 21UL + 1, at = 0;

	if (bytes > adding->text_room) {
		char *text = realloc(adding->text, bytes);

		if (!text)
			return -ENOMEM;
		adding->text = text;
		adding->text_room = bytes;
	}
	adding->text[0] = 0;
	for (uint32_t i = 0; i < count; i++)
		at += (size_t)sprintf(adding->text + at, "%s%" PRId64, i ? "," : "", frames[i]);
	return 0;
}

/* `path` is the one that ends there, or NO_PATH. */
static int add_node(struct adding *adding, int64_t parent_id, const int64_t *frames, uint32_t count,
		    uint32_t path, int64_t *ret_node)
{
	const struct stack_path *ends = path == NO_PATH ? NULL : &adding->paths[path];
	uint8_t hash[STACK_HASH_BYTES];
	sqlite3_int64 node_id = 0;
	int result = format_frames(adding, frames, count);

	if (ends)
		adding->hash(adding->user, path, hash);
	if (!result)
		result = sql_run(adding->sql, adding->tree->add_node, NULL, "itiib", parent_id, adding->text,
				 ends ? ends->class : (int64_t)0, ends ? (int64_t)ends->count : (int64_t)-1,
				 ends ? hash : NULL, sizeof(hash));
	if (!result)
		node_id = sqlite3_last_insert_rowid(adding->sql->db);
	*ret_node = node_id;
	return result;
}

/* Finds the child of a node that begins with this frame, and reads its frames, none without one. */
static int find_child(struct adding *adding, int64_t parent_id, int64_t first, int64_t *ret_node)
{
	sqlite3_stmt *statement = adding->tree->find_child;
	int result = 0, step;

	adding->child.count = 0;
	sqlite3_bind_int64(statement, 1, parent_id);
	sqlite3_bind_int64(statement, 2, first);
	step = sqlite3_step(statement);
	if (step == SQLITE_ROW) {
		*ret_node = sqlite3_column_int64(statement, 0);
		result = stored_frames_read(statement, 1, UINT32_MAX, &adding->child);
	} else if (step != SQLITE_DONE) {
		result = sql_failed(adding->sql);
	}
	sqlite3_reset(statement);
	return result;
}

/* Divides the found child behind its outer `common` frames: the inner ones keep the id, because stacks end there. */
static int divide_child(struct adding *adding, int64_t parent_id, int64_t node_id, uint32_t common,
			int64_t *ret_upper)
{
	const struct frame_list *child = &adding->child;
	int result = add_node(adding, parent_id, child->frames, common, NO_PATH, ret_upper);

	if (!result)
		result = format_frames(adding, child->frames + common, child->count - common);
	if (!result)
		result = sql_run(adding->sql, adding->tree->set_upper, NULL, "iit", node_id, *ret_upper,
				 adding->text);
	return result;
}

/* Goes down one node along the frames. Returns how many of them it has, 0 if no child has any, or -errno. */
static int descend(struct adding *adding, const int64_t *frames, uint32_t count, int64_t *node_id)
{
	int64_t child = 0;
	int result = find_child(adding, *node_id, frames[0], &child);
	uint32_t common;

	if (result < 0 || !adding->child.count)
		return result;
	common = common_frames(frames, count, adding->child.frames, adding->child.count);
	if (common < adding->child.count) {
		result = divide_child(adding, *node_id, child, common, &child);
		if (result < 0)
			return result;
	}
	*node_id = child;
	return (int)common;
}

static int place_piece(struct adding *adding, struct piece *piece)
{
	const struct piece *parent = piece->parent == NO_PIECE ? NULL : &adding->pieces[piece->parent];
	const int64_t *frames = adding->paths[piece->path].frames;
	uint32_t at = piece->from;
	int result;

	piece->node_id = parent ? parent->node_id : 0;
	piece->is_new = parent && parent->is_new;
	while (at < piece->to && !piece->is_new) {
		int found = descend(adding, frames + at, piece->to - at, &piece->node_id);

		if (found < 0)
			return found;
		at += (uint32_t)found;
		piece->is_new = !found;
	}
	if (at == piece->to)
		return 0;
	result = add_node(adding, piece->node_id, frames + at, piece->to - at, piece->ends, &piece->node_id);
	if (!result && piece->ends != NO_PATH)
		adding->paths[piece->ends].stack_id = piece->node_id;
	return result;
}

static int compare_pieces(const void *a, const void *b, void *user)
{
	const struct adding *adding = user;
	const struct piece *left = &adding->pieces[*(const uint32_t *)a],
			   *right = &adding->pieces[*(const uint32_t *)b];

	return COMPARE(left->from, right->from);
}

/* Each piece after its parent: a parent begins further out. */
static int place_pieces(struct adding *adding)
{
	_cleanup_free_ uint32_t *order = calloc(adding->pieces_count + 1UL, sizeof(*order));
	int result = order ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < adding->pieces_count && !result; i++)
		order[i] = i;
	if (!result)
		qsort_r(order, adding->pieces_count, sizeof(*order), compare_pieces, adding);
	for (uint32_t i = 0; i < adding->pieces_count && !result; i++)
		result = place_piece(adding, &adding->pieces[order[i]]);
	return result;
}

/* Stores class 0 if no stack ends at the node. */
static int read_end(struct adding *adding, int64_t node_id, int64_t *ret_class,
		    uint8_t hash[STACK_HASH_BYTES])
{
	sqlite3_stmt *statement = adding->tree->end_at;
	int result = 0;

	sqlite3_bind_int64(statement, 1, node_id);
	if (sqlite3_step(statement) == SQLITE_ROW) {
		*ret_class = sqlite3_column_int64(statement, 0);
		memset(hash, 0, STACK_HASH_BYTES);
		if (sqlite3_column_bytes(statement, 1) == STACK_HASH_BYTES)
			memcpy(hash, sqlite3_column_blob(statement, 1), STACK_HASH_BYTES);
	} else {
		result = sql_failed(adding->sql);
	}
	sqlite3_reset(statement);
	return result;
}

/* The path ends at this node, which had this hash. A function that got its name since then may change the hash. */
static int end_at(struct adding *adding, uint32_t path, int64_t node_id, const uint8_t *before)
{
	struct stack_path *here = &adding->paths[path];
	uint8_t hash[STACK_HASH_BYTES];

	here->stack_id = node_id;
	adding->hash(adding->user, path, hash);
	if (before && !memcmp(before, hash, sizeof(hash)))
		return 0;
	return sql_run(adding->sql, adding->tree->set_end, NULL, "iiib", node_id, here->class,
		       (int64_t)here->count, hash, sizeof(hash));
}

/* A stack of another class ends at the node: an empty node below it stands for this one. */
static int end_at_variant(struct adding *adding, uint32_t path, int64_t node_id)
{
	struct stack_path *here = &adding->paths[path];
	uint8_t hash[STACK_HASH_BYTES];
	sqlite3_int64 found = 0;
	int64_t class;
	int result = sql_run(adding->sql, adding->tree->find_variant, &found, "ii", node_id, here->class);

	if (result < 0)
		return result;
	if (!found)
		return add_node(adding, node_id, NULL, 0, path, &here->stack_id);
	result = read_end(adding, found, &class, hash);
	return result < 0 ? result : end_at(adding, path, found, hash);
}

static int end_path(struct adding *adding, uint32_t path)
{
	struct stack_path *here = &adding->paths[path];
	uint8_t hash[STACK_HASH_BYTES];
	int64_t class = 0, node_id;
	int result;

	if (here->stack_id)
		return 0; /* its node is new */
	if (adding->piece_of[path] == NO_PIECE)
		return end_at_variant(adding, path, 0);
	node_id = adding->pieces[adding->piece_of[path]].node_id;
	result = read_end(adding, node_id, &class, hash);
	if (result < 0)
		return result;
	if (class && class != here->class)
		return end_at_variant(adding, path, node_id);
	return end_at(adding, path, node_id, class ? hash : NULL);
}

int stack_tree_add(struct sql *sql, const struct stack_tree *tree, struct stack_path *paths, uint32_t count,
		   stack_tree_hash hash, void *user)
{
	struct adding adding = {
		.sql = sql, .tree = tree, .paths = paths, .count = count, .hash = hash, .user = user
	};
	int result;

	adding.order = calloc(count + 1UL, sizeof(*adding.order));
	adding.piece_of = calloc(count + 1UL, sizeof(*adding.piece_of));
	for (uint32_t i = 0; i < count; i++)
		paths[i].stack_id = 0;
	result = adding.order && adding.piece_of ? cut_paths(&adding) : -ENOMEM;
	if (!result)
		result = place_pieces(&adding);
	for (uint32_t i = 0; i < count && !result; i++)
		result = end_path(&adding, adding.order[i]);
	free(adding.order);
	free(adding.piece_of);
	free(adding.pieces);
	free(adding.text);
	free(adding.child.frames);
	return result;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flame_tree.h owns the tree that flame graphs draw: the stacks of one profile or several from the program inwards, where
 * frames of the same function are one. `bourdon flame` and the page of `bourdon report` share it.
 *
 * Function and module tell functions apart, not lines: the same function at two lines is one node. A node stands behind its
 * parent, so a pass over the nodes from the last one adds up totals.
 * Room: `flame` and `report`: captures as SVG and as a page. It reads the model and writes one file.
 */
#ifndef BOURDON_REPORT_PICTURE_FLAME_TREE_H
#define BOURDON_REPORT_PICTURE_FLAME_TREE_H

#include "common/base/hash_index.h"
#include "report/model/profile.h"

#include <stdint.h>

enum flame_kind {
	FLAME_PROGRAM, /* the name of a process: below the outermost frames */
	FLAME_USER,
	FLAME_INLINED, /* a function that was inlined into the one below */
	FLAME_KERNEL,  /* of the kernel or one of its modules */
	FLAME_JIT,     /* made by a runtime, named by a perf map */
	FLAME_UNKNOWN, /* anonymous memory, or no known mapping */
	FLAME_MISSING, /* frames that a stack lacks */
	FLAME_KINDS
};

/* The name of a kind, one word. */
const char *flame_kind_name(enum flame_kind kind);

/* Texts are those of the profiles, which outlive the tree. */
struct flame_frame {
	const char *function;
	const char *module; /* its path; "" of a program */
	const char *file;   /* source file; NULL: not known */
	enum flame_kind kind;
};

struct flame_node {
	uint32_t parent; /* 0 is the root, which is its own parent */
	uint32_t frame;  /* of the root: none */
};

struct flame_tree {
	struct flame_frame *frames;
	struct flame_node *nodes;
	uint32_t frames_count, frames_room, nodes_count, nodes_room;
	struct hash_index frames_index, nodes_index;
};

/* Accepts a zeroed tree. */
void flame_tree_free(struct flame_tree *tree);

/*
 * Adds the stacks of all samples to a tree, which was zeroed before the first profile. ret_leaves[i] is the node where the
 * stack of sample i ends; the caller frees it. Returns 0, -ENOMEM, or -E2BIG for more nodes than a capture has.
 */
int flame_tree_add(struct flame_tree *tree, const struct profile *profile, uint32_t **ret_leaves);

#endif

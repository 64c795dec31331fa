/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * profile.h owns one capture's samples, stacks, threads and processes, read into memory once, so that each report is
 * a pass over arrays. Elements refer to each other by their positions.
 *
 * The database may be hostile: every reference is checked when it is read, a circle of stack nodes is cut, and a
 * capture far larger than bourdond writes is refused.
 *
 * Room: the database read into memory, and sums of it. Called by every room of report/; it reads a database
 * that may be hostile, in one transaction, and writes nothing.
 */
#ifndef BOURDON_REPORT_MODEL_PROFILE_H
#define BOURDON_REPORT_MODEL_PROFILE_H

#include "common/base/hash_index.h"
#include "common/store/stored_json.h"
#include "report/model/database.h"

#include <stdbool.h>
#include <stdint.h>

#define PROFILE_NONE UINT32_MAX

/* Texts that occur often, each once: equal texts have equal positions. */
struct profile_texts {
	const char **texts;
	uint32_t count, room;
	struct hash_index index;
	struct text_block *blocks;
	size_t bytes;
};

/* Samples of one thread with one stack in one second, or intervals off CPU that ended in it. */
struct profile_sample {
	uint32_t stack, thread;
	uint32_t kind, stall; /* texts */
	uint32_t role;        /* text; of PROFILE_OF_ALL */
	int64_t second, samples, weight_ns;
	uint32_t first_time, times_count; /* of the profile's times, of PROFILE_OF_ALL: at most `samples` */
};

struct profile_thread {
	uint32_t process;
	uint32_t name; /* text */
	int64_t tid;
};

struct profile_process {
	int64_t process_id, tgid, uid;
	bool is_known; /* false: there is no such process; only process_id is set */
	bool has_uid;
	uint32_t comm;                             /* text */
	const char *exe, *cgroup, *unit, *runtime; /* NULL: unknown */
};

struct profile_stack {
	int64_t stack_id;
	uint32_t node; /* PROFILE_NONE: no frames */
	bool is_known; /* false: there is no such stack; only stack_id is set */
	bool truncated;
	uint32_t unwinder; /* text */
	uint32_t ended;    /* text; "": it has no user frames */
};

/* A piece of a path from the outermost frame to a leaf. A parent is before its children. */
struct profile_node {
	uint32_t parent;       /* PROFILE_NONE: it begins with an outermost frame */
	uint32_t first, count; /* of path_frames, the outermost first */
};

struct profile_frame {
	uint32_t function; /* text */
	uint32_t module;
	const char *file; /* NULL: unknown */
	int64_t line, inlined;
	int64_t offset;          /* as frame.offset */
	int64_t function_offset; /* if it is resolved */
	bool has_line;
	bool is_resolved; /* the function's name is one, not an address */
};

struct profile_module {
	int64_t module_id;
	const char *path, *kind;
	const char *build_id; /* NULL: none */
	bool is_kernel;       /* the kernel itself or one of its modules */
};

struct profile {
	struct profile_sample *samples;
	struct profile_thread *threads;
	struct profile_process *processes;
	struct profile_stack *stacks;
	struct profile_node *nodes;
	uint32_t *path_frames; /* of all nodes */
	struct profile_frame *frames;
	struct profile_module *modules;
	struct time_list times; /* of each sample in turn */
	uint32_t samples_count, threads_count, processes_count, stacks_count, nodes_count, path_frames_count,
		frames_count, modules_count;
	struct profile_texts texts;
	uint32_t on_cpu, off_cpu; /* the texts of these kinds */
	uint32_t target;          /* the text of this role */
};

/*
 * Whose samples: those of view sample; or of view other_sample, all of them or those of one role; or of both views, with
 * their roles and times, and with the stacks of wakers and of threads' states.
 */
enum profile_of {
	PROFILE_OF_TARGETS,
	PROFILE_OF_OTHERS,
	PROFILE_OF_BYSTANDERS,
	PROFILE_OF_KERNEL,
	PROFILE_OF_ALL
};

/* Returns 0; or -errno, the reason was logged, and database->failed is set. */
int profile_load(struct database *database, int64_t capture_id, enum profile_of of,
		 struct profile *ret_profile);

/* Accepts a zeroed profile. */
void profile_free(struct profile *profile);

#define _cleanup_profile_ _cleanup_(profile_free)

static inline const char *profile_text(const struct profile *profile, uint32_t text)
{
	return profile->texts.texts[text];
}

static inline struct profile_process *profile_process_of(const struct profile *profile,
							 const struct profile_sample *sample)
{
	return &profile->processes[profile->threads[sample->thread].process];
}

/* Whether two samples differ by their time and numbers alone. */
static inline bool profile_samples_are_alike(const struct profile_sample *one,
					     const struct profile_sample *other)
{
	return one->stack == other->stack && one->thread == other->thread && one->kind == other->kind &&
	       one->stall == other->stall && one->role == other->role;
}

/* Goes through the frames of a stack, leaf first. */
struct profile_walk {
	const struct profile *profile;
	uint32_t node, left;
};

struct profile_walk profile_walk_of(const struct profile *profile, const struct profile_stack *stack);

/* The next frame; NULL at the end. */
const struct profile_frame *profile_walk_next(struct profile_walk *walk);

/* Finds or adds a text. Returns 0, -ENOMEM, or -E2BIG for more text than a capture has. */
int profile_intern(struct profile *profile, const char *text, uint32_t *ret_position);

/* Keeps a copy of a text as long as the profile; NULL without memory. */
const char *profile_keep(struct profile *profile, const char *text);

/* Logs why `database` cannot be reported, and sets database->failed. */
void profile_fail(struct database *database, int error);

#endif

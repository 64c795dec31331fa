/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * resolved.h owns the places of a capture's stacks, each once: the modules, and the frames in them. resolve.c
 * finds the places, and naming.c their names.
 */
#ifndef BOURDON_CONSUMER_SYMBOLS_RESOLVED_H
#define BOURDON_CONSUMER_SYMBOLS_RESOLVED_H

#include "common/hash_index.h"
#include "common/hexadecimal.h"
#include "consumer/symbolizer/protocol.h"
#include "consumer/symbols/mapped_files.h"

enum module_kind {
	MODULE_KERNEL,
	MODULE_KERNEL_MODULE,
	MODULE_FILE,
	MODULE_VDSO,
	MODULE_JIT, /* anonymous memory of one process, with a perf map */
	MODULE_ANONYMOUS,
	MODULE_NONE, /* no frame is in it any more */
	MODULE_KINDS
};
extern const char *const module_kind_names[MODULE_KINDS];

struct resolved_module {
	enum module_kind kind;
	char *path;
	struct mapped_file *file;                                   /* MODULE_FILE */
	uint32_t process;                                           /* MODULE_JIT: position in the capture */
	char build_id[HEXADECIMAL_BYTES(SYMBOLIZE_BUILD_ID_BYTES)]; /* "" where it is not known */
	bool has_bias;
	int64_t bias; /* from an offset to the address that the file's symbols mean */
	/*
	 * What tells this boot's kernel module, or this process's code, from others. Of a file that is root's
	 * and has a build id: nothing. Else its times, because it may not be what it says.
	 */
	char version[64];
};

/*
 * A function at a place. Those that are inlined there are frames of their own, behind all places: `inner`
 * leads from the real function inwards.
 */

struct resolved_frame {
	uint32_t module;
	int64_t offset;          /* kernel: from _text; file: in the file; else the address */
	char *function;          /* never NULL: module+0xoffset where there is no name */
	int64_t function_offset; /* -1: no name */
	char *file;              /* NULL: the source place is not known */
	uint32_t line;
	uint32_t inlined; /* 0: the real function; the innermost has the highest number */
	uint32_t inner;   /* position of what is inlined here, 0 for nothing */
};

struct resolved {
	struct resolved_module *modules;
	uint32_t modules_count, modules_room;
	struct resolved_frame *frames;
	uint32_t frames_count, frames_room;
	uint32_t
		*of_stack_frame; /* for each of capture->stacks.frames, the real function's position in frames
				  */
	uint16_t *depths;        /* for each stack, how many of its addresses are believed */
	uint64_t names_bytes;    /* that those of functions and their files take in the database, at most */
	uint32_t unresolved;     /* places without a name */
	uint32_t failures;       /* symbolizers that ended early, or that were not to be had */
	struct hash_index modules_index, frames_index;
};

/* Finds or adds a module; `file` of MODULE_FILE, `process` of MODULE_JIT. -ENOMEM, or 0. */
int resolved_intern_module(struct resolved *resolved, enum module_kind kind, const char *path,
			   struct mapped_file *file, uint32_t process, uint32_t *ret_module);

/* The module of anonymous memory without a name. -ENOMEM, or 0. */
int resolved_anonymous(struct resolved *resolved, uint32_t *ret_module);

/* Finds or adds the real function's frame at this offset. -ENOMEM, or 0. */
int resolved_intern_frame(struct resolved *resolved, uint32_t module, int64_t offset, uint32_t *ret_frame);

/* Adds a frame, whether there is one at its offset or not. -ENOMEM, or 0. */
int resolved_add_frame(struct resolved *resolved, const struct resolved_frame *frame, uint32_t *ret_frame);

void resolved_free(struct resolved *resolved);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * resolved.h owns the resolved stacks of a capture: its modules and the frames in them, stored once each.
 * resolve.c finds modules and offsets, naming.c the names.
 */
#ifndef BOURDON_CONSUMER_SYMBOLS_RESOLVED_H
#define BOURDON_CONSUMER_SYMBOLS_RESOLVED_H

#include "common/base/hash_index.h"
#include "common/symbolizer/protocol.h"
#include "common/text/hexadecimal.h"
#include "consumer/symbols/mapped_files.h"

#include <stdbool.h>

enum module_kind {
	MODULE_KERNEL,
	MODULE_KERNEL_MODULE,
	MODULE_FILE,
	MODULE_VDSO,
	MODULE_JIT, /* anonymous memory of one process that has a perf map */
	MODULE_ANONYMOUS,
	MODULE_NONE, /* no frame refers to it any more */
	MODULE_KINDS
};
extern const char *const module_kind_names[MODULE_KINDS];

struct resolved_module {
	enum module_kind kind;
	char *path;
	struct mapped_file *file;                                   /* MODULE_FILE */
	uint32_t process;                                           /* MODULE_JIT: position in the capture */
	char build_id[HEXADECIMAL_BYTES(SYMBOLIZE_BUILD_ID_BYTES)]; /* "" if unknown */
	bool has_bias;
	int64_t bias; /* added to a file offset, gives the address that the file's symbols use */
	/*
	 * Distinguishes modules of the same name: kernel modules of different boots, JIT code of different
	 * processes. Empty for a trusted file of root with a build id; otherwise made of the file's times,
	 * because the file may lie.
	 */
	char version[64];
	bool was_late; /* there was, or is, no time to name its frames */
	bool was_lost; /* a symbolizer died of it, or had no answer in time */
};

/*
 * A function at an offset. Inlined functions are separate elements after all offsets; `inner` links from the
 * outermost function inwards. The real functions are found by what stands before `line`.
 */

struct resolved_frame {
	int64_t offset; /* kernel: from _text; file: in the file; otherwise the address */
	uint32_t module;
	uint32_t line;           /* 0: unknown, as `file` is */
	char *function;          /* never NULL after resolve_capture(): module+0xoffset if unnamed */
	int64_t function_offset; /* -1: unnamed */
	char *file;              /* NULL: source line unknown */
	uint32_t inlined;        /* 0: the outermost, real function; the innermost has the highest number */
	uint32_t inner;          /* position of the function inlined here, 0 if there is none */
};

struct resolved {
	struct resolved_module *modules;
	uint32_t modules_count, modules_room;
	struct resolved_frame *frames;
	uint32_t frames_count, frames_room;
	/* for each of capture->stacks.frames, the position of its real function in `frames` */
	uint32_t *of_stack_frame;
	uint16_t *depths;     /* for each stack, the number of its addresses that are trusted */
	uint64_t names_bytes; /* upper limit of the size of all names in the database */
	uint32_t unresolved;  /* offsets without a name */
	uint32_t failures;    /* symbolizers that died or were not available */
	uint32_t cut;         /* processes of which only some executable mappings are known */
	struct hash_index modules_index, frames_index;
};

/* Finds or adds a module; `file` is for MODULE_FILE, `process` for MODULE_JIT. Returns 0 or -ENOMEM. */
int resolved_intern_module(struct resolved *resolved, enum module_kind kind, const char *path,
			   struct mapped_file *file, uint32_t process, uint32_t *ret_module);

/* Finds or adds the module of unnamed anonymous memory. Returns 0 or -ENOMEM. */
int resolved_anonymous(struct resolved *resolved, uint32_t *ret_module);

/* Finds or adds the frame of the real function at this offset. Returns 0 or -ENOMEM. */
int resolved_intern_frame(struct resolved *resolved, uint32_t module, int64_t offset, uint32_t *ret_frame);

/* Appends a frame, even if one exists at its offset. Returns 0 or -ENOMEM. */
int resolved_add_frame(struct resolved *resolved, const struct resolved_frame *frame, uint32_t *ret_frame);

void resolved_free(struct resolved *resolved);

#endif

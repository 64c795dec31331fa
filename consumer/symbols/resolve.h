/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * resolve.h converts addresses into frames: the module that contains the address, and the offset in it.
 * naming.h then finds the names. Runs on the store thread after a capture has ended.
 */
#ifndef BOURDON_CONSUMER_SYMBOLS_RESOLVE_H
#define BOURDON_CONSUMER_SYMBOLS_RESOLVE_H

#include "common/hexadecimal.h"
#include "common/manifest.h"
#include "consumer/capture/capture.h"
#include "consumer/symbolizer/protocol.h"
#include "consumer/symbols/kernel_symbols.h"
#include "consumer/symbols/mapped_files.h"
#include "consumer/symbols/mappings.h"

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
};

/*
 * A function at an offset. Inlined functions are separate elements after all offsets; `inner` links from the
 * outermost function inwards.
 */

struct resolved_frame {
	uint32_t module;
	int64_t offset;          /* kernel: from _text; file: in the file; otherwise the address */
	char *function;          /* never NULL after resolve_capture(): module+0xoffset if unnamed */
	int64_t function_offset; /* -1: unnamed */
	char *file;              /* NULL: source line unknown */
	uint32_t line;
	uint32_t inlined; /* 0: the outermost, real function; the innermost has the highest number */
	uint32_t inner;   /* position of the function inlined here, 0 if there is none */
};

struct resolved {
	struct resolved_module *modules;
	uint32_t modules_count, modules_room;
	struct resolved_frame *frames;
	uint32_t frames_count, frames_room;
	uint32_t
		/* for each of capture->stacks.frames, the position of its real function in `frames` */
		*of_stack_frame;
	uint16_t *depths;     /* for each stack, the number of its addresses that are trusted */
	uint64_t names_bytes; /* upper limit of the size of all names in the database */
	uint32_t unresolved;  /* offsets without a name */
	uint32_t failures;    /* symbolizers that died or were not available */
	struct hash_index modules_index, frames_index;
};

struct naming;

/*
 * Resolves all stacks of a capture. A stack ends at its first user frame outside the process's mappings:
 * frame-pointer unwinding beyond it is meaningless, because the program uses the register otherwise. Does not
 * wait for names after `deadline_ns` (CLOCK_MONOTONIC). Returns 0 or -ENOMEM. The caller frees with
 * resolved_free().
 */
int resolve_capture(const struct capture *capture, const struct mappings *mappings,
		    const struct kernel_symbols *symbols, const struct manifest *manifest,
		    const struct naming *naming, uint64_t deadline_ns, struct resolved *ret_resolved);
void resolved_free(struct resolved *resolved);

/* For naming.c: find the module of unnamed anonymous memory; append a frame. Return 0 or -ENOMEM. */
int resolved_anonymous(struct resolved *resolved, uint32_t *ret_module);
int resolved_add_frame(struct resolved *resolved, const struct resolved_frame *frame, uint32_t *ret_frame);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * resolve.h owns the way from addresses to places: which module a frame lies in and at which offset. What is
 * there naming.h finds out. It runs on the store thread, after a capture has ended.
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

struct naming;

/*
 * Resolves all stacks of a capture. A stack ends at its first user frame that lies in no mapping of the
 * process: what a walk by frame pointers finds behind it is made up by whoever uses the register otherwise.
 * Names that are not there at `deadline_ns` (CLOCK_MONOTONIC) are not waited for. 0 or -ENOMEM. The caller
 * frees with resolved_free().
 */
int resolve_capture(const struct capture *capture, const struct mappings *mappings,
		    const struct kernel_symbols *symbols, const struct manifest *manifest,
		    const struct naming *naming, uint64_t deadline_ns, struct resolved *ret_resolved);
void resolved_free(struct resolved *resolved);

/* For naming.c: the module of anonymous memory without a name; and a frame more. -ENOMEM, or 0. */
int resolved_anonymous(struct resolved *resolved, uint32_t *ret_module);
int resolved_add_frame(struct resolved *resolved, const struct resolved_frame *frame, uint32_t *ret_frame);

#endif

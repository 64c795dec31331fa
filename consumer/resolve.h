/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * resolve.h owns the way from addresses to names: which module a frame lies in, at which offset, and what
 * the function there is called. It runs on the store thread, after a capture has ended.
 */
#ifndef BOURDON_CONSUMER_RESOLVE_H
#define BOURDON_CONSUMER_RESOLVE_H

#include "common/manifest.h"
#include "consumer/capture.h"
#include "consumer/kernel_symbols.h"
#include "consumer/mapped_files.h"
#include "consumer/mappings.h"
#include "consumer/symbolizer/protocol.h"

enum module_kind {
	MODULE_KERNEL,
	MODULE_KERNEL_MODULE,
	MODULE_FILE,
	MODULE_VDSO,
	MODULE_ANONYMOUS,
	MODULE_KINDS
};
extern const char *const module_kind_names[MODULE_KINDS];

struct resolved_module {
	enum module_kind kind;
	char *path;
	struct mapped_file *file;                        /* MODULE_FILE */
	char build_id[2 * SYMBOLIZE_BUILD_ID_BYTES + 1]; /* "" where it is not known */
	char version[64]; /* without a build id: what tells this file, or this boot's kernel module, from
			     others */
};

struct resolved_frame {
	uint32_t module;
	int64_t offset;          /* kernel: from _text; file: in the file; else the address */
	char *function;          /* never NULL: module+0xoffset where there is no name */
	int64_t function_offset; /* -1: no name */
};

struct resolved {
	struct resolved_module *modules;
	uint32_t modules_count, modules_room;
	struct resolved_frame *frames;
	uint32_t frames_count, frames_room;
	uint32_t *of_stack_frame; /* for each of capture->stacks.frames, its position in frames */
	uint16_t *depths;         /* for each stack, how many of its frames are believed */
	uint32_t unresolved;      /* frames without a name */
	struct hash_index modules_index, frames_index;
};

/*
 * Resolves all stacks of a capture. A stack ends at its first user frame that lies in no mapping of the
 * process: what a walk by frame pointers finds behind it is made up by whoever uses the register otherwise.
 * `spawner_socket` gives symbolizers; one that dies costs the names of the
 * module that it had in hand, and is replaced, a few times. Names that are not there at `deadline_ns`
 * (CLOCK_MONOTONIC) are not waited for. 0 or -ENOMEM. The caller frees with resolved_free().
 */
int resolve_capture(const struct capture *capture, const struct mappings *mappings,
		    struct mapped_files *files, const struct kernel_symbols *symbols,
		    const struct manifest *manifest, int spawner_socket, uint64_t deadline_ns,
		    struct resolved *ret_resolved);
void resolved_free(struct resolved *resolved);

#endif

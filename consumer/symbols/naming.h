/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * naming.h owns finding out what is at the user frames of a capture: first from what earlier captures found,
 * then from the symbolizer, which is handed every file that may help.
 */
#ifndef BOURDON_CONSUMER_SYMBOLS_NAMING_H
#define BOURDON_CONSUMER_SYMBOLS_NAMING_H

#include "consumer/capture/capture.h"
#include "consumer/process/own_counters.h"
#include "consumer/symbols/known_files.h"
#include "consumer/symbols/mapped_files.h"
#include "consumer/symbols/mappings.h"
#include "consumer/symbols/resolved.h"

/* A function at a place, as it was found out. Nothing in it needs a NUL. */
struct frame_name {
	const char *function; /* NULL: not known */
	size_t function_bytes;
	int64_t function_offset;
	const char *file; /* NULL: not known */
	size_t file_bytes;
	uint32_t line;
};

/* Takes the functions at one place, one a call, the real one first. 0 for more, or -errno. */
typedef int (*frame_name_add)(void *user, const struct frame_name *name);

/*
 * What earlier captures found out. find() gives what is at an offset of the file with this build id to `add`
 * and returns 0, -ENOENT for a place that is not known or has no name, or what `add` returned. A build id is
 * what a file says of itself: under another path, or of another version, it may be a lie, and name the
 * functions of somebody else.
 */
struct known_frames {
	int (*find)(void *user, const char *path, const char *build_id, const char *version, int64_t offset,
		    frame_name_add add, void *adder);
	void *user;
};

struct naming {
	int spawner_socket;
	struct known_frames known;                  /* find may be NULL */
	struct mapped_files *mapped_files;          /* how what is mapped is opened */
	struct known_files *files;                  /* or NULL */
	struct own_counters *counters;              /* or NULL */
	const char *debug_root, *jit_map_directory; /* DEBUG_ROOT, JIT_MAP_DIRECTORY */
};

/*
 * Names the places of `resolved`, and adds what is inlined there. A symbolizer that dies costs the names of
 * the module that it had in hand, from there on, and is replaced, a few times. 0 or -ENOMEM.
 */
int naming_run(const struct naming *naming, const struct capture *capture, const struct mappings *mappings,
	       uint64_t deadline_ns, struct resolved *resolved);

#endif

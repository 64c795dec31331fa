/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * naming.h names the user frames of a capture: first from the index of each file's names and from earlier captures, then with
 * the symbolizer, which receives every file that may help.
 *
 * Room: mappings, and names for addresses. The worker thread; mapping_reader.c has a thread of its own,
 * because the kernel may make it wait. It opens files, or has bourdon-grant open them, and talks to
 * symbolizers.
 */
#ifndef BOURDON_CONSUMER_SYMBOLS_NAMING_H
#define BOURDON_CONSUMER_SYMBOLS_NAMING_H

#include "consumer/capture/capture.h"
#include "consumer/kept/file_cache.h"
#include "consumer/process/own_counters.h"
#include "consumer/symbols/frame_name.h"
#include "consumer/symbols/known_files.h"
#include "consumer/symbols/mapped_files.h"
#include "consumer/symbols/mappings.h"
#include "consumer/symbols/name_cache.h"
#include "consumer/symbols/resolved.h"

/*
 * Names found by earlier captures. find() passes the functions at an offset of a file to `add`. It returns 0,
 * -ENOENT if the offset is unknown or has no name, or the result of `add`. A build id is only a claim of the
 * file: path and version must match, too, or a file could give its names to another user's functions.
 */
struct known_frames {
	int (*find)(void *user, const char *path, const char *build_id, const char *version, int64_t offset,
		    frame_name_add add, void *adder);
	void *user;
};

struct naming {
	int spawner_socket;
	int vdso;                          /* vdso_open(); 0 or negative: its functions get no names */
	struct known_frames known;         /* `find` may be NULL */
	struct mapped_files *mapped_files; /* opens mapped files */
	struct known_files *files;         /* may be NULL */
	struct file_cache *kept;           /* where indexes of names are; may be NULL */
	struct name_cache *cache;          /* of live seconds, which log no limits; NULL: a capture */
	struct own_counters *counters;     /* may be NULL */
	const char *debug_root, *jit_map_directory; /* DEBUG_ROOT, JIT_MAP_DIRECTORY */
	const atomic_bool *hurry;  /* NULL; or as soon as it is true, naming ends and says nothing */
	struct cpu_budget *budget; /* of names that are late; NULL: none is at the daemon's own priority */
	void (*meanwhile)(void *user); /* NULL; or called between two files: it may scan the mappings */
	void *user;
};

/*
 * Names the frames of `resolved` and adds inlined functions. If a symbolizer dies, the rest of the current
 * module gets no names, and a new symbolizer is started, a few times at most. Returns 0 or -ENOMEM.
 */
int naming_run(const struct naming *naming, const struct capture *capture, const struct mappings *mappings,
	       uint64_t deadline_ns, struct resolved *resolved);

#endif

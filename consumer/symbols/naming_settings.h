/* SPDX-License-Identifier: GPL-2.0-only */
/* naming_settings.h has what the naming of captures uses, which its caller sets. On the worker thread. */
#ifndef BOURDON_CONSUMER_SYMBOLS_NAMING_SETTINGS_H
#define BOURDON_CONSUMER_SYMBOLS_NAMING_SETTINGS_H

#include "consumer/kept/file_cache.h"
#include "consumer/process/cpu_budget.h"
#include "consumer/process/own_counters.h"
#include "consumer/symbols/frame_name.h"
#include "consumer/symbols/known_files.h"
#include "consumer/symbols/mapped_files.h"
#include "consumer/symbols/name_cache.h"

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

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * naming_pending.h owns the state of naming one capture, and the offsets of the current module that still need a name: from the index
 * of its file, from earlier captures, or from a symbolizer. For naming.c and naming_file.c, on the worker thread.
 */
#ifndef BOURDON_CONSUMER_SYMBOLS_NAMING_PENDING_H
#define BOURDON_CONSUMER_SYMBOLS_NAMING_PENDING_H

#include "common/symbolizer/symbolizer.h"
#include "consumer/capture/capture.h"
#include "consumer/symbols/name_chain.h"
#include "consumer/symbols/name_index.h"
#include "consumer/symbols/naming_plan.h"
#include "consumer/symbols/naming_settings.h"
#include "consumer/symbols/supervisor.h"

/* State of naming one capture. */
struct naming_run {
	const struct naming *naming;
	const struct capture *capture;
	const struct mappings *mappings;
	struct resolved *resolved;
	struct name_room room; /* in it */
	struct naming_plan plan;
	struct supervisor symbolizers;
	struct symbolize_reply *reply;
	uint32_t *pending; /* offsets of the current module that still need a name */
	uint32_t pending_count, pending_room;
	struct stat file;         /* the module's file */
	struct name_index *index; /* of that file; NULL: none */
	bool index_is_fit;        /* to be kept for other captures */
	bool has_debug_file;
	bool is_put_off;       /* the module's file has to wait for bourdon-grant */
	const char *first_cut; /* path of the first such module */
	uint32_t cut, late;    /* modules with names beyond the limit; modules behind the deadline */
};

bool naming_is_in_hurry(const struct naming *naming);

/* Whether naming ends: its deadline has come, or it is in a hurry. */
bool naming_is_late(const struct naming_run *run);

/* Collects the module's offsets that have no name yet. Returns 0 or -ENOMEM. */
int naming_find_pending(struct naming_run *run, uint32_t module);

/*
 * Names what the index knows, from the pending offset number `at` on; the others remain. `names_only`: so do those that it knows
 * to have no name. Returns 0 or -ENOMEM.
 */
int naming_use_index(struct naming_run *run, uint32_t at, bool names_only);

/*
 * Uses the names that earlier captures found. An offset is looked up again if it has no name, or no source
 * file while there is a debug file (which may be new), unless an earlier look-up was in vain. A name that an
 * earlier look-up found need not be there: live seconds and lost captures are not written.
 */
int naming_reuse(struct naming_run *run, const struct resolved_module *module);

/* Looks up all pending offsets in batches, in the current module or the perf map. On -errno the symbolizer is unusable. */
int naming_ask(struct naming_run *run, uint32_t kind, int perf_map);

/* Remembers the pending offsets for which nothing more can be found. */
void naming_settle(struct naming_run *run);

#endif

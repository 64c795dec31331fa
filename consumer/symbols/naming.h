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
#include "consumer/symbols/naming_settings.h"
#include "consumer/symbols/resolved.h"

/*
 * Names the frames of `resolved` and adds inlined functions. If a symbolizer dies, the rest of the current
 * module gets no names, and a new symbolizer is started, a few times at most. Returns 0 or -ENOMEM.
 */
int naming_run(const struct naming *naming, const struct capture *capture, const struct mappings *mappings,
	       uint64_t deadline_ns, struct resolved *resolved);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * naming_file.h names the offsets of one file: it opens the file, tells it from others, finds its debug files, and keeps the index of
 * its names. For naming.c, on the worker thread.
 */
#ifndef BOURDON_CONSUMER_SYMBOLS_NAMING_FILE_H
#define BOURDON_CONSUMER_SYMBOLS_NAMING_FILE_H

#include "consumer/symbols/naming_pending.h"

/* Names what is pending of the module. Returns 0, -ENOMEM, or another -errno: the symbolizer is unusable. Sets run->is_put_off. */
int naming_file_name(struct naming_run *run, struct resolved_module *module);

#endif

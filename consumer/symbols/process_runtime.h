/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * process_runtime.h judges which language's runtime a process is, by the files that it maps: by their content
 * (common/symbolizer/runtime_sign.h), and by their names only where the content could not be read.
 */
#ifndef BOURDON_CONSUMER_SYMBOLS_PROCESS_RUNTIME_H
#define BOURDON_CONSUMER_SYMBOLS_PROCESS_RUNTIME_H

#include "consumer/symbols/mappings.h"

#define RUNTIME_EVIDENCE_BYTES 384U

struct process_runtime {
	const char *name; /* static: python, jvm, node, go, php, ruby, perl or native; NULL: not known */
	char evidence
		[RUNTIME_EVIDENCE_BYTES]; /* what says so, of a hostile process perhaps; "" without a name */
};

/* `process` may be NULL: then nothing is known. */
void process_runtime_find(const struct mapped_process *process, struct process_runtime *ret_runtime);

#endif

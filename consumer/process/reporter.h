/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * reporter.h tells the kernel programs which file the command `bourdon` is, so that what waits for it waits for bourdon itself.
 * Call it before the daemon is confined.
 */
#ifndef BOURDON_CONSUMER_PROCESS_REPORTER_H
#define BOURDON_CONSUMER_PROCESS_REPORTER_H

#include "consumer/process/kernel_objects.h"

/* Where there is no such file, the command counts as any other. */
void reporter_tell(const struct kernel_objects *kernel);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * blame.h makes the rows of a capture's accounts and of its blame: victims by program and unit, and for each how long its
 * threads waited for whom. Each waiting nanosecond is in one row. The kernel's sums tell who ran while a thread waited for a
 * CPU, and who ended its other waits. Waits for I/O are divided by the requests that the device had meanwhile, or, as those for
 * memory, by what each party used.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_BLAME_H
#define BOURDON_CONSUMER_CAPTURE_BLAME_H

#include "consumer/capture/blame_rows.h"
#include "consumer/capture/capture.h"

/*
 * Which part, 0 to 1, of what the victim's threads waited for each other they waited for locks that only their runtime knows, not the
 * kernel: a goroutine that waits for one leaves its thread to others, and a thread of Java sleeps at a condition.
 */
typedef double (*blame_lock_part)(void *user, const struct victim_row *victim);

/*
 * Of a capture that has ended and lives as long as the rows. lock_part NULL: there are none. 0, also where there are no accounts,
 * or -ENOMEM.
 */
int blame_make(const struct capture *capture, blame_lock_part lock_part, void *user,
	       struct blame_rows *ret_rows);
void blame_free(struct blame_rows *rows);

#endif

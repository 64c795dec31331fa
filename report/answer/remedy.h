/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * remedy.h owns what to do about a verdict: the limit or the weight to change and the command that does it; or, where no command
 * can end the pressure, the one that tells more. A command that changes something is true on the capture's host, as far as that can
 * be read: what is in force is other than what it sets. It never gives less to a unit that holds the victim, to init, to a kernel
 * thread, or to bourdon. Names in commands are those of other processes: they are quoted.
 */
#ifndef BOURDON_REPORT_ANSWER_REMEDY_H
#define BOURDON_REPORT_ANSWER_REMEDY_H

#include "report/answer/answer.h"

/* Reads the verdict of the answer. Returns 0, -ENOMEM or -EIO. */
int remedy_find(struct answer *answer, struct remedy *ret_remedy);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * remedy.h owns what to do about a verdict: the limit or the weight to change and the command that does it; or, where nothing
 * can be changed by one, the command that tells more. Names in commands are those of other processes: they are quoted.
 */
#ifndef BOURDON_REPORT_REMEDY_H
#define BOURDON_REPORT_REMEDY_H

#include "report/answer_facts.h"

/* Reads all of the answer but its remedy. Returns 0 or -ENOMEM. */
int remedy_find(struct answer *answer, struct remedy *ret_remedy);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * parties.h owns whom a verdict names: the victim itself, a neighbour, several of them, a crowd, or the machine. The judge
 * (judge.c) decides for which wait. The functions that decide return whether there is a verdict.
 */
#ifndef BOURDON_VERDICT_PARTIES_H
#define BOURDON_VERDICT_PARTIES_H

#include "common/verdict/sums.h"

#include <stdbool.h>

/* Who is named alone has so much of the blame; a quota and a limit count from here on. */
#define PARTIES_LEADER_PERCENT 20.0

/* The verdict, with what is charged to those whom it names. */
bool parties_decide(struct verdict *verdict, enum verdict_kind kind, uint64_t ns);

/* Adds somebody to those whom it names. */
void parties_name(struct verdict *verdict, const struct verdict_party *party);

/* The same for one sum, whose largest party it names. */
bool parties_decide_by_sum(struct verdict *verdict, enum verdict_kind kind, const struct sum *sum);

/* Whether so much of the wait is enough for a party to be named alone. */
bool parties_is_leading(const struct verdict *verdict, uint64_t ns);

/* One neighbour, several, or a crowd of those who are each too small. */
bool parties_decide_neighbours(struct verdict *verdict, const struct sums *sums);

/* Who is blamed is one of the crowd, however little CPU time it used. */
void parties_count_crowd(const struct verdict_facts *facts, struct verdict *verdict);

/* Whoever has the largest part. `own` is the kind for the victim itself. */
bool parties_decide_by_largest(struct verdict *verdict, const struct sums *sums, enum verdict_kind own);

/* Those who ended the wait, whoever they are: the victim's own threads, others, or the network. */
bool parties_decide_by_all(struct verdict *verdict, const struct sums *sums, enum verdict_kind kind);

#endif

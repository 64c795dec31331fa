/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/verdict/parties.h"

#include "common/base/cleanup.h"
#include "common/base/optional_text.h"

/* ---- thresholds: docs/WHY.md explains them ---- */

/* Who is named alone has so many times what the next one has. */
#define LEADER_TIMES 1.5
/* One of several who are named together has so much, and all of them half of what all neighbours have. */
#define SEVERAL_PERCENT 10.0
#define SEVERAL_PART 0.5
#define CROWD_LEAST 3U

bool parties_decide(struct verdict *verdict, enum verdict_kind kind, uint64_t ns)
{
	verdict->kind = kind;
	verdict->blamed_ns = ns < verdict->waited_ns ? ns : verdict->waited_ns;
	verdict->blamed_percent = sums_percent(verdict->blamed_ns, verdict->waited_ns);
	return true;
}

void parties_name(struct verdict *verdict, const struct verdict_party *party)
{
	if (party && verdict->blamed_count < VERDICT_BLAMED_MAX)
		verdict->blamed[verdict->blamed_count++] =
			(struct verdict_blamed){ party, sums_percent(party->ns, verdict->waited_ns) };
}

bool parties_decide_by_sum(struct verdict *verdict, enum verdict_kind kind, const struct sum *sum)
{
	parties_name(verdict, sum->first);
	return parties_decide(verdict, kind, sum->ns);
}

bool parties_is_leading(const struct verdict *verdict, uint64_t ns)
{
	return sums_percent(ns, verdict->waited_ns) >= PARTIES_LEADER_PERCENT;
}

/* Neighbours who are named together: each has its part, and all of them half of what all neighbours have. */
static bool decide_several(struct verdict *verdict, const struct sums *sums)
{
	uint64_t ns = 0;
	size_t count = 0;

	while (count < VERDICT_BLAMED_MAX && sums->neighbours[count] &&
	       sums_percent(sums->neighbours[count]->ns, verdict->waited_ns) >= SEVERAL_PERCENT)
		ns += sums->neighbours[count++]->ns;
	if (count < 2 || (double)ns < SEVERAL_PART * (double)sums->neighbours_ns)
		return false;
	for (size_t i = 0; i < count; i++)
		parties_name(verdict, sums->neighbours[i]);
	return parties_decide(verdict, VERDICT_NEIGHBOURS, ns);
}

bool parties_decide_neighbours(struct verdict *verdict, const struct sums *sums)
{
	uint64_t first_ns = sums->neighbours[0] ? sums->neighbours[0]->ns : 0,
		 next_ns = sums->neighbours[1] ? sums->neighbours[1]->ns : 0;

	if (parties_is_leading(verdict, first_ns) && (double)first_ns >= LEADER_TIMES * (double)next_ns) {
		parties_name(verdict, sums->neighbours[0]);
		return parties_decide(verdict, VERDICT_NEIGHBOUR, first_ns);
	}
	if (!parties_is_leading(verdict, sums->neighbours_ns) || sums->neighbours_ns < sums->unknown_ns)
		return false;
	if (decide_several(verdict, sums))
		return true;
	for (size_t i = 0; i < VERDICT_BLAMED_MAX; i++)
		parties_name(verdict, sums->neighbours[i]);
	return parties_decide(verdict,
			      sums->neighbours_count < CROWD_LEAST ? VERDICT_NEIGHBOURS : VERDICT_CROWD,
			      sums->neighbours_ns);
}

static bool is_of_crowd(const struct verdict_facts *facts, const struct verdict *verdict, uint32_t party)
{
	const struct verdict_party *of = &facts->parties[party];

	return of->who.program && &facts->victims[of->victim] == verdict->victim &&
	       of->wait == verdict->wait && sums_is_neighbour(of);
}

static bool is_first_of_place(const struct verdict_facts *facts, const struct verdict *verdict,
			      uint32_t party)
{
	const char *place = verdict_place(&facts->parties[party].who);

	for (uint32_t i = 0; i < party && place; i++)
		if (is_of_crowd(facts, verdict, i) &&
		    optional_text_is_same(verdict_place(&facts->parties[i].who), place))
			return false;
	return place;
}

void parties_count_crowd(const struct verdict_facts *facts, struct verdict *verdict)
{
	uint32_t programs = 0, units = 0;

	for (uint32_t i = 0; i < facts->parties_count; i++)
		if (is_of_crowd(facts, verdict, i)) {
			programs++;
			units += is_first_of_place(facts, verdict, i);
		}
	verdict->programs = facts->programs > programs ? facts->programs : programs;
	verdict->units = facts->units > units ? facts->units : units;
}

bool parties_decide_by_largest(struct verdict *verdict, const struct sums *sums, enum verdict_kind own)
{
	const struct candidate {
		enum verdict_kind kind;
		const struct sum *sum;
	} candidates[] = { { own, &sums->own },
			   { VERDICT_DEVICE, &sums->device },
			   { VERDICT_INTERRUPTS, &sums->interrupts },
			   { VERDICT_STEAL, &sums->steal } },
	  *most = &candidates[0];
	uint64_t neighbour_ns = sums->neighbours[0] ? sums->neighbours[0]->ns : 0;

	for (size_t i = 1; i < ARRAY_SIZE(candidates); i++)
		if (candidates[i].sum->ns > most->sum->ns)
			most = &candidates[i];
	/* those who have no name have more than anybody with one */
	if (sums->denied_ns > most->sum->ns && sums->denied_ns > neighbour_ns)
		return false;
	if (parties_is_leading(verdict, most->sum->ns) && neighbour_ns <= most->sum->ns)
		return parties_decide_by_sum(verdict, most->kind, most->sum);
	return parties_decide_neighbours(verdict, sums);
}

bool parties_decide_by_all(struct verdict *verdict, const struct sums *sums, enum verdict_kind kind)
{
	const struct verdict_party *own = sums->own.first;

	for (size_t i = 0; i < VERDICT_BLAMED_MAX; i++) {
		if (own && (!sums->neighbours[i] || own->ns >= sums->neighbours[i]->ns)) {
			parties_name(verdict, own);
			own = NULL;
		}
		parties_name(verdict, sums->neighbours[i]);
	}
	return parties_decide(verdict, kind, sums->own.ns + sums->neighbours_ns);
}

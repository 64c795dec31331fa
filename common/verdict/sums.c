/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/verdict/sums.h"

#include <string.h>

double sums_percent(uint64_t part, uint64_t all)
{
	double percent = all ? 100 * (double)part / (double)all : 0;

	return percent > 100 ? 100 : percent;
}

bool sums_is_blamed(const struct verdict_party *party)
{
	if (party->role == ROLE_UNKNOWN)
		return party->wait == ACCOUNT_NETWORK && !party->where;
	return party->role != ROLE_NOBODY;
}

static void add(struct sum *sum, const struct verdict_party *party)
{
	sum->ns += party->ns;
	if (!sum->first || party->ns > sum->first->ns)
		sum->first = party;
}

/* ksoftirqd does nothing but handle soft interrupts. */
static bool is_interrupts(const struct verdict_party *party)
{
	return party->role == ROLE_IRQ ||
	       (party->role == ROLE_KERNEL && party->who.program && !strcmp(party->who.program, "ksoftirqd"));
}

bool sums_is_neighbour(const struct verdict_party *party)
{
	return party->role == ROLE_OTHER || party->role == ROLE_RECORDER ||
	       (party->role == ROLE_KERNEL && !is_interrupts(party));
}

/* Of one wait the parties come in the order of their size. */
static void add_neighbour(struct sums *sums, const struct verdict_party *party)
{
	bool has_name = party->who.program || party->role == ROLE_RECORDER;

	sums->neighbours_ns += party->ns;
	sums->neighbours_count += has_name || party->who.processes < 1 ? 1 : (uint64_t)party->who.processes;
	for (size_t i = 0; i < VERDICT_BLAMED_MAX && has_name; i++)
		if (!sums->neighbours[i]) {
			sums->neighbours[i] = party;
			break;
		}
}

static void add_party(struct sums *sums, const struct verdict_party *party)
{
	struct sum *of_role[BLAME_ROLES] = {
		[ROLE_OWN] = &sums->own,     [ROLE_IRQ] = &sums->interrupts, [ROLE_STEAL] = &sums->steal,
		[ROLE_QUOTA] = &sums->quota, [ROLE_LIMIT] = &sums->limit,    [ROLE_DEVICE] = &sums->device
	};

	if (is_interrupts(party)) {
		add(&sums->interrupts, party);
	} else if (of_role[party->role]) {
		add(of_role[party->role], party);
	} else if (sums_is_neighbour(party)) {
		add_neighbour(sums, party);
	} else if (!sums_is_blamed(party)) {
		sums->unknown_ns += party->ns;
		sums->idle_ns += party->role == ROLE_NOBODY ? party->ns : 0;
		sums->denied_ns += party->where && !strcmp(party->where, "denied") ? party->ns : 0;
	}
}

struct sums sums_make(const struct verdict_facts *facts, const struct verdict_victim *victim,
		      unsigned int waits)
{
	struct sums sums = { 0 };

	for (uint32_t i = 0; i < facts->parties_count; i++)
		if (&facts->victims[facts->parties[i].victim] == victim &&
		    (waits & WAIT(facts->parties[i].wait)))
			add_party(&sums, &facts->parties[i]);
	return sums;
}

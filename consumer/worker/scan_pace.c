/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/worker/scan_pace.h"

#include "common/base/clock.h"

/*
 * No stack leads to a file that a process maps before it sleeps. So further scans follow the last process that began, each four
 * times as long after it as the one before. Where processes begin all the time, the first scan of each is enough.
 */
#define FOLLOW_UP_FIRST_NS (CLOCK_SECOND_NS / 4)
#define FOLLOW_UP_FACTOR 4U
/*
 * While processes are young, or a capture is under way, the worker thread looks so often at whether stacks led to addresses
 * outside of the known mappings; scans that change nothing make that rarer.
 */
#define LOOK_NS (CLOCK_SECOND_NS / 40)
#define LOOK_NS_MAX CLOCK_SECOND_NS
/* If stacks did, new processes are scanned at once, and all others only after this time: mostly it was a new one. */
#define LOOK_ALL_NS (CLOCK_SECOND_NS / 10)
#define YOUNG_NS (10 * CLOCK_SECOND_NS)
/*
 * CPU time of scans, and of what follows from them: a 160th of a CPU for those of all processes, a 120th for those of new ones, and
 * twice that while a capture is under way. Some of it is saved up, so that scans can follow each other closely when many programs
 * begin. A capture's own scans do not wait.
 */
#define PART_OF_ALL 160U
#define PART_OF_NEW 120U
#define SAVED_NS (CLOCK_SECOND_NS / 5)

void scan_pace_begin(struct scan_pace *pace, uint64_t unmapped, uint64_t now_ns)
{
	*pace = (struct scan_pace){ .look_every_ns = LOOK_NS, .unmapped = unmapped };
	for (int kind = 0; kind < SCAN_KINDS; kind++)
		pace->turns[kind] = (struct scan_turn){ .credit_ns = SAVED_NS, .credited_ns = now_ns };
}

bool scan_pace_want(struct scan_pace *pace, enum scan_kind kind, uint64_t at_ns)
{
	struct scan_turn *turn = &pace->turns[kind];
	bool is_sooner = !turn->due_ns || at_ns < turn->due_ns;

	if (is_sooner)
		turn->due_ns = at_ns;
	return is_sooner;
}

void scan_pace_note_process(struct scan_pace *pace, uint64_t now_ns)
{
	pace->began_ns = now_ns;
	pace->follow_up_ns = FOLLOW_UP_FIRST_NS;
	pace->look_every_ns = LOOK_NS;
}

/* Looks become rare where scans find nothing: what stacks lead to is garbage, perhaps. */
void scan_pace_note_scan(struct scan_pace *pace, bool has_found)
{
	if (has_found)
		pace->look_every_ns = LOOK_NS;
	else if (pace->looked && pace->look_every_ns < LOOK_NS_MAX)
		pace->look_every_ns *= 2;
	pace->looked = false;
}

/* CPU time is saved up to SAVED_NS. Whoever took more rests until that is made up for. */
void scan_pace_spend(struct scan_pace *pace, enum scan_kind kind, uint64_t cpu_ns, bool captures,
		     uint64_t now_ns)
{
	struct scan_turn *turn = &pace->turns[kind];
	uint64_t part = (kind == SCAN_OF_NEW ? PART_OF_NEW : PART_OF_ALL) / (captures ? 2 : 1),
		 earned_ns = (now_ns - turn->credited_ns) / part;

	if (earned_ns > SAVED_NS)
		earned_ns = SAVED_NS;
	turn->credit_ns += (int64_t)earned_ns;
	if (turn->credit_ns > (int64_t)SAVED_NS)
		turn->credit_ns = (int64_t)SAVED_NS;
	turn->credit_ns -= (int64_t)cpu_ns;
	turn->credited_ns = now_ns;
	turn->rest_ns = now_ns + (turn->credit_ns < 0 ? part * (uint64_t)-turn->credit_ns : 0);
}

/* When the next scan of that kind is due, 0 if none is wanted. */
static uint64_t next_scan_ns(const struct scan_pace *pace, enum scan_kind kind)
{
	const struct scan_turn *turn = &pace->turns[kind];

	return turn->due_ns && turn->due_ns < turn->rest_ns ? turn->rest_ns : turn->due_ns;
}

/* Whether processes are young, or a capture is under way. */
static bool looks_are_wanted(const struct scan_pace *pace, bool captures, uint64_t now_ns)
{
	return captures || now_ns < pace->began_ns + YOUNG_NS;
}

/* Wants scans if stacks led to unknown addresses since the last look. */
static void look_for_unmapped(struct scan_pace *pace, uint64_t unmapped, uint64_t now_ns)
{
	if (now_ns < pace->look_due_ns)
		return;
	pace->look_due_ns = now_ns + pace->look_every_ns;
	if (unmapped == pace->unmapped)
		return;
	pace->unmapped = unmapped;
	pace->looked = true;
	scan_pace_want(pace, SCAN_OF_NEW, now_ns);
	scan_pace_want(pace, SCAN_OF_ALL, now_ns + LOOK_ALL_NS);
}

/* When the next scan is due that follows up on the last process, 0 if there is none. */
static uint64_t follow_up_due_ns(const struct scan_pace *pace)
{
	return pace->follow_up_ns ? pace->began_ns + pace->follow_up_ns : 0;
}

/* Wants that scan if it is due. */
static void follow_up(struct scan_pace *pace, uint64_t now_ns)
{
	if (!clock_is_due(follow_up_due_ns(pace), now_ns))
		return;
	pace->follow_up_ns *= FOLLOW_UP_FACTOR;
	if (pace->follow_up_ns > YOUNG_NS)
		pace->follow_up_ns = 0;
	scan_pace_want(pace, SCAN_OF_ALL, now_ns);
}

enum scan_due scan_pace_take_due(struct scan_pace *pace, bool captures, uint64_t unmapped, uint64_t now_ns,
				 uint64_t *ret_next_ns)
{
	bool looks = looks_are_wanted(pace, captures, now_ns);
	uint64_t all_ns, new_ns;

	if (looks)
		look_for_unmapped(pace, unmapped, now_ns);
	follow_up(pace, now_ns);
	all_ns = next_scan_ns(pace, SCAN_OF_ALL);
	new_ns = next_scan_ns(pace, SCAN_OF_NEW);
	if (clock_is_due(new_ns, now_ns)) {
		pace->turns[SCAN_OF_NEW].due_ns = 0;
		return SCAN_DUE_NEW;
	}
	if (clock_is_due(all_ns, now_ns)) {
		pace->turns[SCAN_OF_ALL].due_ns = 0;
		return SCAN_DUE_ALL;
	}
	if (clock_is_due(pace->tables_due_ns, now_ns))
		return SCAN_DUE_TABLES;
	*ret_next_ns = clock_sooner(clock_sooner(all_ns, new_ns), pace->tables_due_ns);
	*ret_next_ns = clock_sooner(*ret_next_ns, follow_up_due_ns(pace));
	if (looks)
		*ret_next_ns = clock_sooner(*ret_next_ns, pace->look_due_ns);
	return SCAN_DUE_NOTHING;
}

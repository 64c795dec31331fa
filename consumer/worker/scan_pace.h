/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * scan_pace.h owns when the mappings are scanned: what wants a scan, and what CPU time scans may take. It scans nothing and reads
 * no clock. Call its functions with the worker's lock.
 */
#ifndef BOURDON_CONSUMER_WORKER_SCAN_PACE_H
#define BOURDON_CONSUMER_WORKER_SCAN_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* Scans of all processes with few mappings, and of those of them that are new. */
enum scan_kind { SCAN_OF_ALL, SCAN_OF_NEW, SCAN_KINDS };

/* What the mappings need. */
enum scan_due { SCAN_DUE_NOTHING, SCAN_DUE_ALL, SCAN_DUE_NEW, SCAN_DUE_TABLES };

struct scan_turn {
	int64_t credit_ns; /* CPU time that scans may take at once; negative: they took more than their share */
	uint64_t credited_ns; /* when that was */
	uint64_t due_ns;      /* 0: no scan is wanted */
	uint64_t rest_ns;     /* until then, only captures scan */
};

struct scan_pace {
	struct scan_turn turns[SCAN_KINDS];
	uint64_t tables_due_ns; /* symbolizers are at work: when to see to them; 0: they are not */
	uint64_t began_ns;      /* when the last process began */
	uint64_t follow_up_ns;  /* from then to the next scan that follows up on it; 0: there is none */
	uint64_t look_due_ns, look_every_ns;
	bool looked;       /* the scan that is due is wanted by a look */
	uint64_t unmapped; /* control->unmapped, when a scan was last wanted for it */
};

void scan_pace_begin(struct scan_pace *pace, uint64_t unmapped, uint64_t now_ns);

/* Wants a scan at this time. Returns false if one is due by then anyway. */
bool scan_pace_want(struct scan_pace *pace, enum scan_kind kind, uint64_t at_ns);

/* A process has begun or executed a program: further scans follow up on it. */
void scan_pace_note_process(struct scan_pace *pace, uint64_t now_ns);

/* A scan is over, and whether it found new mappings. */
void scan_pace_note_scan(struct scan_pace *pace, bool has_found);

/* It took so much CPU time. During a capture scans may take twice their share. */
void scan_pace_spend(struct scan_pace *pace, enum scan_kind kind, uint64_t cpu_ns, bool captures,
		     uint64_t now_ns);

/*
 * Tells what is due, and takes it off; or when it will be: *ret_next_ns, 0: never. `captures`: one is under way. `unmapped` is
 * control->unmapped: how many stacks led to addresses outside of the known mappings.
 */
enum scan_due scan_pace_take_due(struct scan_pace *pace, bool captures, uint64_t unmapped, uint64_t now_ns,
				 uint64_t *ret_next_ns);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* chain.h owns functions that differ in how their caller is found: each has one frame, and calls the next. */
#ifndef BOURDON_WORKLOADS_UNWIND_CHAIN_H
#define BOURDON_WORKLOADS_UNWIND_CHAIN_H

struct chain;
typedef void chain_level(const struct chain *chain, unsigned long left);

/* Level `left`, counted down to 1, is levels[left % count]; below them all is the leaf. */
struct chain {
	chain_level *levels[4];
	unsigned int count;
	void (*leaf)(void);
};

void chain_descend(const struct chain *chain, unsigned long depth);

chain_level level_small;     /* a frame of nothing but the return address and padding */
chain_level level_pushes;    /* saves all registers that a callee must keep, also the frame pointer */
chain_level level_large;     /* some hundred bytes of locals */
chain_level level_alloca;    /* a size known at run time only: found by the frame pointer */
chain_level level_realigned; /* aligned to a cache line, like its frame */
chain_level level_drap;      /* with arguments on the stack: found by a pointer that is on the stack, too */

/*
 * Short functions of the same kinds that call nothing. They are called often enough that a sample hits each
 * instruction of their prologues and epilogues.
 */
void leaf_small(void);
void leaf_pushes(void);
void leaf_large(void);
void leaf_alloca(unsigned int bytes);
void leaf_realigned(void);
void leaf_drap(unsigned int bytes);

#endif

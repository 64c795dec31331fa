/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * interrupt_time.h owns what interrupts took of a capture's span: a row for each soft-interrupt vector, and for the
 * busiest hard interrupts.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_INTERRUPT_TIME_H
#define BOURDON_CONSUMER_CAPTURE_INTERRUPT_TIME_H

#include "consumer/host/interrupts.h"

/* Hard interrupts with a row of their own; the others have one row together. */
#define INTERRUPT_ROWS_MAX 32U

/* Begins as zeros. */
struct interrupt_time {
	struct interrupt *rows; /* those that took time or occurred in the span, the longest first */
	uint32_t count;
	struct interrupt rest;     /* of hard interrupts without a row; its count is 0 if each has one */
	uint64_t soft_ns, hard_ns; /* of all */
};

/* There are no rows where either was not read. 0 or -ENOMEM. */
int interrupt_time_make(const struct interrupts *before, const struct interrupts *after,
			struct interrupt_time *ret_time);
void interrupt_time_free(struct interrupt_time *time);

/* "NET_RX"; NULL: there is no such vector. */
const char *softirq_name(uint32_t vector);

/* "softirq" or "irq". */
const char *interrupt_kind(const struct interrupt *interrupt);

/* "NET_RX", "virtio0-input.0", "local timer"; NULL: not known. */
const char *interrupt_name(const struct interrupt *interrupt);

#endif

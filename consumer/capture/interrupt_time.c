/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/interrupt_time.h"

#include "common/base/cleanup.h"
#include "common/base/numbers.h"

#include <errno.h>
#include <stdlib.h>

/* softirq_to_name in the kernel's kernel/softirq.c */
static const char *const vector_names[] = { "HI",       "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
					    "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU" };

void interrupt_time_free(struct interrupt_time *time)
{
	free(time->rows);
	*time = (struct interrupt_time){ 0 };
}

static int compare_time_falling(const void *a, const void *b)
{
	const struct interrupt *left = a, *right = b;

	return left->sums.ns != right->sums.ns ? compare_falling(&left->sums.ns, &right->sums.ns)
					       : compare_falling(&left->sums.count, &right->sums.count);
}

static void add_to_rest(struct interrupt_time *time, const struct interrupt *row)
{
	time->rest.key.kind = INTERRUPT_HARD;
	time->rest.sums.count += row->sums.count;
	time->rest.sums.ns += row->sums.ns;
}

int interrupt_time_make(const struct interrupts *before, const struct interrupts *after,
			struct interrupt_time *ret_time)
{
	struct interrupt_time time = { 0 };
	uint32_t kept = 0, hard = 0;

	*ret_time = time;
	if (!before->are_known || !after->are_known)
		return 0;
	time.rows = calloc(after->count + 1UL, sizeof(*time.rows));
	if (!time.rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < after->count; i++) {
		struct interrupt row = after->each[i];
		const struct interrupt *from = interrupts_find(before, &row.key);

		row.sums.count = growth(row.sums.count, from ? from->sums.count : 0);
		row.sums.ns = growth(row.sums.ns, from ? from->sums.ns : 0);
		if (!row.sums.count)
			continue;
		*(row.key.kind == INTERRUPT_SOFT ? &time.soft_ns : &time.hard_ns) += row.sums.ns;
		time.rows[time.count++] = row;
	}
	qsort(time.rows, time.count, sizeof(*time.rows), compare_time_falling);
	for (uint32_t i = 0; i < time.count; i++)
		if (time.rows[i].key.kind == INTERRUPT_HARD && hard++ >= INTERRUPT_ROWS_MAX)
			add_to_rest(&time, &time.rows[i]);
		else
			time.rows[kept++] = time.rows[i];
	time.count = kept;
	*ret_time = time;
	return 0;
}

const char *softirq_name(uint32_t vector)
{
	return vector < ARRAY_SIZE(vector_names) ? vector_names[vector] : NULL;
}

const char *interrupt_kind(const struct interrupt *interrupt)
{
	return interrupt->key.kind == INTERRUPT_SOFT ? "softirq" : "irq";
}

const char *interrupt_name(const struct interrupt *interrupt)
{
	if (interrupt->key.kind == INTERRUPT_TIMER)
		return "local timer";
	if (interrupt->key.kind == INTERRUPT_SOFT)
		return softirq_name(interrupt->key.number);
	return *interrupt->name ? interrupt->name : NULL;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* The sections of `why` about the waits of the targets' threads: for which resource, who ended them, and for which locks. */
#include "report/why/section.h"

#include "report/model/sums.h"
#include "report/text/table.h"

static const struct column waiting_columns[] = {
	{ "WAITING FOR", "stall", -14, cell_text },
	{ "TIME", "weight_ns", 8, cell_duration_ns },
	{ "SHARE", "percent", 7, cell_percent },
	{ "INTERVALS", "intervals", 9, cell_number },
};

static int compute_waiting(struct why *why, struct rows *ret_rows)
{
	return sums_of_stalls(&why->profile, ret_rows);
}

const struct section waiting_section = {
	.name = "waiting",
	.shows = "what the targets waited for",
	.compute = compute_waiting,
	.head = "time off CPU of the targets' threads, added up, by the resource they waited for",
	.columns = waiting_columns,
	.columns_count = ARRAY_SIZE(waiting_columns),
};

static const struct column wakers_columns[] = {
	{ "WOKEN BY", "comm", -15, cell_text },
	{ "WHO", "role", -9, cell_text },
	{ "TGID", "tgid", 7, cell_number },
	{ "TID", "tid", 7, cell_number },
	{ "WAITED", "waited_ns", 8, cell_duration_ns },
	{ "SHARE", "percent", 7, cell_percent },
	{ "INTERVALS", "intervals", 9, cell_number },
};

const struct section wakers_section = {
	.name = "wakers",
	.shows = "who ended waits",
	.sql = "SELECT waker_comm AS comm, waker_role AS role, waker_tgid AS tgid, waker_tid AS tid, sum(waited_ns) AS "
	       "waited_ns, sum(percent) AS percent, sum(intervals) AS intervals FROM waker WHERE capture_id = ?1 "
	       "GROUP BY waker_comm, waker_role, waker_tgid, waker_tid ORDER BY sum(waited_ns) DESC, waker_tid LIMIT 10",
	.head = "who ended the waits of the targets' threads, of 1 ms or longer, by the time that they had waited",
	.columns = wakers_columns,
	.columns_count = ARRAY_SIZE(wakers_columns),
};

static const struct column locks_columns[] = {
	{ "LOCK", "lock", -16, cell_text },
	{ "WAITED", "waited_ns", 8, cell_duration_ns },
	{ "WAITERS", "waiters", 7, cell_number },
	{ "HELD BY", "comm", -15, cell_text },
	{ "TID", "tid", 7, cell_number },
	{ "SHARE", "percent", 7, cell_percent },
	{ "GIVEN FREE IN", "place", -28, cell_text },
};

const struct section locks_section = {
	.name = "locks",
	.shows = "locks that were waited for",
	.sql = "SELECT h.lock, h.waited_ns, h.waiters, h.holder_comm AS comm, h.holder_tgid AS tgid, h.holder_tid AS tid, "
	       "h.held_ns, h.held_percent AS percent, h.intervals, h.holder_stack_id AS stack_id, (SELECT "
	       "group_concat(function, ' < ') FROM (SELECT f.function FROM stack_frame s JOIN frame f USING(frame_id) JOIN "
	       "module m USING(module_id) WHERE s.stack_id = h.holder_stack_id AND m.kind NOT IN ('kernel', 'module') "
	       "ORDER BY s.position)) AS place FROM (SELECT * FROM lock_holder WHERE capture_id = ?1 LIMIT 10) h",
	.head = "locks that the targets' threads waited for, and who gave them free; SHARE is of the lock's waits",
	.columns = locks_columns,
	.columns_count = ARRAY_SIZE(locks_columns),
};

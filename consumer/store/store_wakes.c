/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/store/store_wakes.h"

#include <inttypes.h>
#include <stdio.h>

static int write_wake(struct sql *sql, struct wakes_statements *statements, const struct wake *wake,
		      const struct capture_ids *ids)
{
	int64_t thread = 0, waker = 0;
	int64_t waker_stack = wake->waker_stack == WAKE_UNKNOWN ? 0 : ids->stacks[wake->waker_stack];
	char lock[17];
	int result = store_threads_find(sql, ids->threads, wake->process, wake->tid, wake->thread, &thread);

	if (!result && wake->waker_process != WAKE_UNKNOWN)
		result = store_threads_find(sql, ids->threads, wake->waker_process, wake->waker_tid,
					    wake->waker, &waker);
	if (result < 0)
		return result;
	snprintf(lock, sizeof(lock), "%016" PRIx64, wake->lock);
	return sql_insert(sql, &statements->add_wake, "wake_row", NULL, NULL,
			  SQL_COLUMNS(SQL_NUMBER(capture_id, ids->capture_id), SQL_NUMBER(thread_id, thread),
				      SQL_NUMBER(stack_id, ids->stacks[wake->stack]),
				      SQL_TEXT(stall, capture_stall_name(wake->stall)),
				      SQL_TEXT(lock, wake->lock ? lock : NULL),
				      SQL_TEXT(role, wake_role_names[wake->role]),
				      SQL_NUMBER_IF(waker_thread_id, waker, waker),
				      SQL_NUMBER_IF(waker_stack_id, waker_stack, waker_stack),
				      SQL_NUMBER(releases, wake->releases),
				      SQL_NUMBER(intervals, wake->intervals),
				      SQL_NUMBER(waited_ns, wake->waited_ns)));
}

int store_wakes_write(struct sql *sql, struct wakes_statements *statements, const struct wakes *wakes,
		      const struct capture_ids *ids)
{
	int result = 0;

	for (uint32_t i = 0; i < wakes->count && !result; i++)
		result = write_wake(sql, statements, &wakes->rows[i], ids);
	return result;
}

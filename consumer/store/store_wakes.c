/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/store/store_wakes.h"

#include <inttypes.h>
#include <stdio.h>

int store_wakes_prepare(struct sql *sql, struct wakes_statements *ret_statements)
{
	int result = sql_prepare(sql, &ret_statements->add_thread,
				 "INSERT INTO thread(process_id, tid, thread) VALUES(?, ?, ?) "
				 "ON CONFLICT DO UPDATE SET tid = excluded.tid RETURNING thread_id");

	if (!result)
		result = sql_prepare(
			sql, &ret_statements->add_wake,
			"INSERT INTO wake_row(capture_id, thread_id, stack_id, stall, lock, role, waker_thread_id, "
			"waker_stack_id, releases, intervals, waited_ns) "
			"VALUES(?, ?, ?, ?, nullif(?, ''), ?, nullif(?, 0), nullif(?, 0), ?, ?, ?)");
	return result;
}

static int write_wake(struct sql *sql, const struct wakes_statements *statements, const struct wake *wake,
		      const struct wakes_ids *ids)
{
	sqlite3_int64 thread = 0, waker = 0;
	char lock[17] = "";
	int result = sql_run(sql, statements->add_thread, &thread, "iit",
			     (int64_t)ids->processes[wake->process], (int64_t)wake->tid, wake->thread);

	if (!result && wake->waker_process != WAKE_UNKNOWN)
		result = sql_run(sql, statements->add_thread, &waker, "iit",
				 (int64_t)ids->processes[wake->waker_process], (int64_t)wake->waker_tid,
				 wake->waker);
	if (result < 0)
		return result;
	if (wake->lock)
		snprintf(lock, sizeof(lock), "%016" PRIx64, wake->lock);
	return sql_run(sql, statements->add_wake, NULL, "iiitttiiiii", ids->capture_id, (int64_t)thread,
		       ids->stacks[wake->stack].stack_id, capture_stall_name(wake->stall), lock,
		       wake_role_names[wake->role], (int64_t)waker,
		       wake->waker_stack == WAKE_UNKNOWN ? (int64_t)0
							 : ids->stacks[wake->waker_stack].stack_id,
		       (int64_t)wake->releases, (int64_t)wake->intervals, (int64_t)wake->waited_ns);
}

int store_wakes_write(struct sql *sql, const struct wakes_statements *statements, const struct wakes *wakes,
		      const struct wakes_ids *ids)
{
	int result = 0;

	for (uint32_t i = 0; i < wakes->count && !result; i++)
		result = write_wake(sql, statements, &wakes->rows[i], ids);
	return result;
}

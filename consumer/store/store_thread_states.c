/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/store/store_thread_states.h"

#include "common/call_name.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const state_names[THREAD_STATES] = { THREAD_STATE_NAMES };

int store_thread_states_prepare(struct sql *sql, struct thread_states_statements *ret_statements)
{
	int result = sql_prepare(
		sql, &ret_statements->add_state,
		"INSERT INTO thread_state(capture_id, process_id, tid, thread, role, state, syscall, fd, lock, stack_id, "
		"second, seconds, samples) VALUES(?, ?, ?, ?, ?, ?, ?, nullif(?, -1), ?, nullif(?, 0), ?, ?, ?)");

	if (!result)
		result = sql_prepare(
			sql, &ret_statements->add_second,
			"INSERT INTO thread_look(capture_id, second, looks, threads) VALUES(?, ?, ?, ?)");
	return result;
}

static int write_state(struct sql *sql, const struct thread_states_statements *statements,
		       const struct capture *capture, const struct thread_state *state,
		       const struct wakes_ids *ids)
{
	char unknown[CALL_NAME_BYTES], lock[17];

	snprintf(lock, sizeof(lock), "%016" PRIx64, state->lock);
	return sql_run(sql, statements->add_state, NULL, "iiittttitiiii", ids->capture_id,
		       (int64_t)ids->processes[state->process], (int64_t)state->tid, state->thread,
		       usage_role_names[capture->processes[state->process].role], state_names[state->state],
		       state->call < 0 ? NULL : call_name((uint64_t)state->call, unknown), (int64_t)state->fd,
		       state->lock ? lock : NULL,
		       state->stack == THREAD_STATE_NO_STACK ? (int64_t)0
							     : ids->stacks[state->stack].stack_id,
		       (int64_t)state->second, (int64_t)state->seconds, (int64_t)state->samples);
}

int store_thread_states_write(struct sql *sql, const struct thread_states_statements *statements,
			      const struct capture *capture, const struct wakes_ids *ids)
{
	const struct thread_states *states = &capture->thread_states;
	int result = 0;

	for (uint32_t i = 0; i < states->count && !result; i++)
		result = write_state(sql, statements, capture, &states->rows[i], ids);
	for (uint32_t i = 0; i < states->seconds_count && !result; i++)
		result = sql_run(sql, statements->add_second, NULL, "iiii", ids->capture_id,
				 (int64_t)states->seconds[i].second, (int64_t)states->seconds[i].looks,
				 (int64_t)states->seconds[i].threads);
	return result;
}

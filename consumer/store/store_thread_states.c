/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/store/store_thread_states.h"

#include "common/text/call_name.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const state_names[THREAD_STATES] = { THREAD_STATE_NAMES };

static int write_state(struct sql *sql, struct thread_states_statements *statements,
		       const struct capture *capture, const struct thread_state *state,
		       const struct capture_ids *ids)
{
	int64_t stack = state->stack == THREAD_STATE_NO_STACK ? 0 : ids->stacks[state->stack];
	char unknown[CALL_NAME_BYTES], lock[17];

	snprintf(lock, sizeof(lock), "%016" PRIx64, state->lock);
	return sql_insert(
		sql, &statements->add_state, "thread_state", NULL, NULL,
		SQL_COLUMNS(
			SQL_NUMBER(capture_id, ids->capture_id),
			SQL_NUMBER(process_id, ids->processes[state->process]), SQL_NUMBER(tid, state->tid),
			SQL_TEXT(thread, state->thread),
			SQL_TEXT(role, usage_role_names[capture->processes[state->process].role]),
			SQL_TEXT(state, state_names[state->state]),
			SQL_TEXT(syscall, state->call < 0 ? NULL : call_name((uint64_t)state->call, unknown)),
			SQL_NUMBER_IF(fd, state->fd != -1, state->fd),
			SQL_TEXT(lock, state->lock ? lock : NULL), SQL_NUMBER_IF(stack_id, stack, stack),
			SQL_NUMBER(second, state->second), SQL_NUMBER(seconds, state->seconds),
			SQL_NUMBER(samples, state->samples)));
}

int store_thread_states_write(struct sql *sql, struct thread_states_statements *statements,
			      const struct capture *capture, const struct capture_ids *ids)
{
	const struct thread_states *states = &capture->thread_states;
	int result = 0;

	for (uint32_t i = 0; i < states->count && !result; i++)
		result = write_state(sql, statements, capture, &states->rows[i], ids);
	for (uint32_t i = 0; i < states->seconds_count && !result; i++)
		result = sql_insert(sql, &statements->add_second, "thread_look", NULL, NULL,
				    SQL_COLUMNS(SQL_NUMBER(capture_id, ids->capture_id),
						SQL_NUMBER(second, states->seconds[i].second),
						SQL_NUMBER(looks, states->seconds[i].looks),
						SQL_NUMBER(threads, states->seconds[i].threads)));
	return result;
}

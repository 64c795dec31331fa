/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/store/store_accounts.h"

#include "common/cleanup.h"
#include "consumer/capture/blame.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* A program, and where it runs. */
#define VICTIM_BYTES (ABI_COMM_BYTES + PATH_MAX)

static const char *victim_text(const struct victim_row *victim, char into[VICTIM_BYTES])
{
	const char *place = victim->place.unit ? victim->place.unit : victim->place.cgroup;

	snprintf(into, VICTIM_BYTES, "%s%s%s", victim->program, place ? " in " : "", place ? place : "");
	return into;
}

/* ---- where locks are released ---- */

static bool is_of_victim(const struct capture_process *process, const struct victim_row *victim)
{
	const char *cgroup = victim->place.cgroup;

	return !strcmp(process->comm, victim->program) &&
	       (process->cgroup == cgroup || (process->cgroup && cgroup && !strcmp(process->cgroup, cgroup)));
}

/* The innermost function of a program, not of the kernel or a library's, that has a name; NULL: none has. */
static const char *own_function(const struct capture *capture, const struct resolved *resolved,
				uint32_t stack)
{
	const char *any = NULL;

	for (uint32_t i = 0; i < resolved->depths[stack]; i++) {
		const struct resolved_frame *frame =
			&resolved->frames[resolved->of_stack_frame[capture->stacks.stacks[stack].first + i]];
		const struct resolved_module *module = &resolved->modules[frame->module];

		while (frame->inner)
			frame = &resolved->frames[frame->inner];
		if ((module->kind != MODULE_FILE && module->kind != MODULE_JIT) ||
		    !(frame->inlined || frame->function_offset >= 0))
			continue;
		if (!module->path || !strstr(module->path, ".so"))
			return frame->function;
		if (!any)
			any = frame->function;
	}
	return any;
}

/* The function in which threads of this program released locks for which threads of the victim had waited longest. */
static const char *release_site(const struct capture *capture, const struct resolved *resolved,
				const struct victim_row *victim, const struct blame_row *row)
{
	const struct wakes *wakes = &capture->wakes;
	uint64_t most_ns = 0;
	uint32_t stack = WAKE_UNKNOWN;

	for (uint32_t i = 0; i < wakes->count; i++) {
		const struct wake *wake = &wakes->rows[i];

		if (!wake->lock || !wake->releases || wake->waker_stack == WAKE_UNKNOWN ||
		    wake->waited_ns <= most_ns || !is_of_victim(&capture->processes[wake->process], victim) ||
		    strcmp(capture->processes[wake->waker_process].comm, row->program))
			continue;
		most_ns = wake->waited_ns;
		stack = wake->waker_stack;
	}
	return stack == WAKE_UNKNOWN ? NULL : own_function(capture, resolved, stack);
}

/* ---- rows ---- */

/* A name may look like a name and a place: victims whose texts are equal are one. */
static const char add_to_equal[] =
	"ON CONFLICT DO UPDATE SET threads = threads + excluded.threads, ns = ns + excluded.ns";

static int write_accounts(struct sql *sql, struct accounts_statements *statements, int64_t capture_id,
			  const struct victim_row *victim)
{
	char text[VICTIM_BYTES];
	int result = 0;

	victim_text(victim, text);
	for (uint32_t i = 0; i < ACCOUNTS && !result; i++)
		if (victim->ns[i])
			result = sql_insert(sql, &statements->add_account, "account", add_to_equal, NULL,
					    SQL_COLUMNS(SQL_NUMBER(capture_id, capture_id),
							SQL_TEXT(victim, text),
							SQL_TEXT(account, account_names[i]),
							SQL_NUMBER(threads, victim->threads),
							SQL_NUMBER(ns, victim->ns[i])));
	return result;
}

int store_accounts_write(struct sql *sql, struct accounts_statements *statements, int64_t capture_id,
			 const struct capture *capture, const struct resolved *resolved)
{
	_cleanup_(blame_free) struct blame_rows rows;
	char text[VICTIM_BYTES];
	int result = blame_make(capture, &rows);

	for (uint32_t i = 0; i < rows.victims_count && !result; i++)
		result = write_accounts(sql, statements, capture_id, &rows.victims[i]);
	for (uint32_t i = 0; i < rows.count && !result; i++) {
		const struct blame_row *row = &rows.rows[i];
		const struct victim_row *victim = &rows.victims[row->victim];
		const char *where = row->where;

		if (row->wait == ACCOUNT_LOCK && row->program && !where)
			where = release_site(capture, resolved, victim, row);
		result = sql_insert(
			sql, &statements->add_blame, "blame", NULL, NULL,
			SQL_COLUMNS(SQL_NUMBER(capture_id, capture_id),
				    SQL_TEXT(victim, victim_text(victim, text)),
				    SQL_TEXT(wait, account_names[row->wait]),
				    SQL_TEXT(role, blame_role_names[row->role]),
				    SQL_TEXT(program, row->program), SQL_TEXT(unit, row->place.unit),
				    SQL_TEXT(cgroup, row->place.cgroup),
				    SQL_NUMBER_IF(tgid, row->tgid, row->tgid),
				    SQL_NUMBER_IF(processes, row->processes, row->processes),
				    SQL_NUMBER(ns, row->ns), SQL_TEXT(where_text, where),
				    SQL_TEXT(then_account,
					     row->then < ACCOUNTS ? account_names[row->then] : NULL)));
	}
	return result;
}

/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/store/store_accounts.h"

#include "common/base/cleanup.h"
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

/* What a capture's stacks are made of. */
struct named {
	const struct capture *capture;
	const struct resolved *resolved;
};

/*
 * The function of a stack at this depth, in which are those that `inner` leads to, the innermost at the end; and its module. NULL: it
 * is the kernel's, or has no name.
 */
static const struct resolved_frame *named_frame(const struct named *named, uint32_t stack, uint32_t depth,
						const struct resolved_module **ret_module)
{
	const struct resolved *resolved = named->resolved;
	uint32_t at = named->capture->stacks.stacks[stack].first + depth;
	const struct resolved_frame *frame = &resolved->frames[resolved->of_stack_frame[at]];

	*ret_module = &resolved->modules[frame->module];
	return ((*ret_module)->kind == MODULE_FILE || (*ret_module)->kind == MODULE_JIT) &&
			       frame->function_offset >= 0
		       ? frame
		       : NULL;
}

static const struct resolved_frame *inner_frame(const struct named *named, const struct resolved_frame *frame)
{
	return frame->inner ? &named->resolved->frames[frame->inner] : NULL;
}

static bool begins_with(const char *text, const char *begin)
{
	return !strncmp(text, begin, strlen(begin));
}

/* The innermost function of this frame that is not of the runtime which is part of each program of Go, or NULL. */
static const char *innermost_own(const struct named *named, const struct resolved_frame *frame)
{
	const char *innermost = NULL;

	for (; frame; frame = inner_frame(named, frame))
		if (!begins_with(frame->function, "runtime.") && !begins_with(frame->function, "sync."))
			innermost = frame->function;
	return innermost;
}

/* The innermost function of a program, not of the kernel or a library's, that has a name; NULL: none has. */
static const char *own_function(const struct named *named, uint32_t stack)
{
	const char *any = NULL;

	for (uint32_t i = 0; i < named->resolved->depths[stack]; i++) {
		const struct resolved_module *module;
		const char *function = innermost_own(named, named_frame(named, stack, i, &module));

		if (function && (!module->path || !strstr(module->path, ".so")))
			return function;
		if (!any)
			any = function;
	}
	return any;
}

const char *store_own_function(const struct capture *capture, const struct resolved *resolved, uint32_t stack)
{
	const struct named named = { capture, resolved };

	return own_function(&named, stack);
}

/* The function in which threads of this program released locks for which threads of the victim had waited longest. */
static const char *release_site(const struct named *named, const struct victim_row *victim,
				const struct blame_row *row)
{
	const struct capture *capture = named->capture;
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
	return stack == WAKE_UNKNOWN ? NULL : own_function(named, stack);
}

/* ---- locks of runtimes ---- */

struct lock_function {
	const char *begin; /* of its name */
	bool is_lock;      /* it waits for one, or lets it go; false: for another thread's sign */
};

static const struct lock_function waits_at[] = { { "ObjectMonitor::enter(", true },
						 { "ObjectMonitor::EnterI(", true },
						 { "ObjectMonitor::wait(", false } },
				  releases_at[] = { { "sync.(*Mutex).", true },
						    { "sync.(*RWMutex).", true } };

/* What the innermost function that the table has says. */
static bool is_at_lock(const struct named *named, uint32_t stack, const struct lock_function *functions,
		       size_t count)
{
	const struct lock_function *found = NULL;

	for (uint32_t i = 0; i < named->resolved->depths[stack] && !found; i++) {
		const struct resolved_module *module;
		const struct resolved_frame *frame = named_frame(named, stack, i, &module);

		for (; frame; frame = inner_frame(named, frame))
			for (size_t j = 0; j < count; j++)
				if (begins_with(frame->function, functions[j].begin))
					found = &functions[j];
	}
	return found && found->is_lock;
}

/* Of waits that threads of the victim ended, as far as their stacks are known: the part at locks. */
static double lock_part(void *user, const struct victim_row *victim)
{
	const struct named *named = user;
	const struct wakes *wakes = &named->capture->wakes;
	const struct capture_process *processes = named->capture->processes;
	uint64_t locks_ns = 0, all_ns = 0;

	for (uint32_t i = 0; i < wakes->count; i++) {
		const struct wake *wake = &wakes->rows[i];

		if (wake->waker_stack == WAKE_UNKNOWN || !is_of_victim(&processes[wake->process], victim) ||
		    !is_of_victim(&processes[wake->waker_process], victim))
			continue;
		all_ns += wake->waited_ns;
		if (wake->lock && wake->releases &&
		    (is_at_lock(named, wake->stack, waits_at, ARRAY_SIZE(waits_at)) ||
		     is_at_lock(named, wake->waker_stack, releases_at, ARRAY_SIZE(releases_at))))
			locks_ns += wake->waited_ns;
	}
	return all_ns ? (double)locks_ns / (double)all_ns : 0;
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
	struct named named = { capture, resolved };
	_cleanup_(blame_free) struct blame_rows rows;
	char text[VICTIM_BYTES];
	int result = blame_make(capture, lock_part, &named, &rows);

	for (uint32_t i = 0; i < rows.victims_count && !result; i++)
		result = write_accounts(sql, statements, capture_id, &rows.victims[i]);
	for (uint32_t i = 0; i < rows.count && !result; i++) {
		const struct blame_row *row = &rows.rows[i];
		const struct victim_row *victim = &rows.victims[row->victim];
		const char *where = row->where;

		if (row->wait == ACCOUNT_LOCK && row->program && !where)
			where = release_site(&named, victim, row);
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

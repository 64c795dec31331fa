/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/store/store_capture.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/store/incidents.h"
#include "common/store/sample_row.h"
#include "consumer/capture/onset.h"
#include "consumer/store/store_room.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

int store_capture_prepare(struct sql *sql, struct capture_statements *ret_statements)
{
	const struct {
		sqlite3_stmt **statement;
		const char *sql;
	} statements[] = {
		/* negative: this capture has found a name or a line that the frame lacks */
		{ &ret_statements->find_frame,
		  "SELECT iif(function_offset IS NULL AND ?4 >= 0 OR file IS NULL AND ?5, -frame_id, frame_id) "
		  "FROM frame WHERE module_id = ?1 AND offset = ?2 AND inlined = ?3" },
		/* the frame that has the name and the file of frame ?1, if these are still so */
		{ &ret_statements->find_named,
		  "SELECT n.frame_id FROM frame_row f JOIN frame_row n ON n.frame_id = ifnull(f.named_by, f.frame_id) "
		  "WHERE f.frame_id = ?1 AND n.named_by IS NULL AND n.function_offset IS NOT NULL AND n.function = ?2 "
		  "AND n.file IS ?3" },
		/* a name that was found later applies to all captures */
		{ &ret_statements->complete_frame,
		  "UPDATE frame_row SET function = iif(function_offset IS NULL, ?2, function), "
		  "function_offset = ifnull(function_offset, nullif(?3, -1)), "
		  "line = iif(file IS NULL, nullif(?5, 0), line), file = ifnull(file, ?4) WHERE frame_id = ?1" },
	};
	int result = 0;

	for (size_t i = 0; i < ARRAY_SIZE(statements) && !result; i++)
		result = sql_prepare(sql, statements[i].statement, statements[i].sql);
	return result < 0 ? result : stack_tree_prepare(sql, &ret_statements->stacks);
}

/* When the stall began by PSI's readings; INT64_MAX: they do not show it. */
static int64_t trigger_onset_at(const struct capture_trigger *trigger)
{
	return capture_was_triggered(trigger) && trigger->onset_ns
		       ? trigger->triggered_at - (int64_t)(trigger->triggered_ns - trigger->onset_ns)
		       : INT64_MAX;
}

int store_capture_announce(struct sql *sql, int64_t run_id, const struct capture_trigger *trigger,
			   uint64_t history_ns, int64_t *ret_capture_id)
{
	const struct asking *asking = trigger->asking;
	bool fired = capture_was_triggered(trigger), is_pressure = capture_is_of_pressure(trigger);
	const char *resource = is_pressure ? psi_resource_names[trigger->psi.resource] : NULL;
	int64_t onset_at = trigger_onset_at(trigger);
	sqlite3_stmt *statement = NULL;
	sqlite3_int64 capture_id = 0;
	int64_t incident_id = 0;
	int result = fired ? incidents_find(sql, run_id, trigger->incident, trigger->triggered_at, resource,
					    &incident_id)
			   : 0;

	if (!result)
		result = sql_insert(
			sql, &statement, "capture", NULL, &capture_id,
			SQL_COLUMNS(SQL_NUMBER(run_id, run_id),
				    SQL_NUMBER_IF(rule_id, trigger->rule_id, trigger->rule_id),
				    SQL_TEXT(rule, asking ? NULL : trigger->rule),
				    SQL_TEXT(resource, resource),
				    SQL_TEXT(kind, is_pressure ? psi_kind_names[trigger->psi.kind] : NULL),
				    SQL_NUMBER_IF(stall_us, is_pressure, trigger->psi.stall_us),
				    SQL_NUMBER_IF(window_us, is_pressure, trigger->psi.window_us),
				    SQL_TEXT(trigger_mode, trigger_mode_names[trigger->mode]),
				    SQL_TEXT(cgroup, trigger->cgroup),
				    SQL_NUMBER(triggered_at, trigger->triggered_at),
				    SQL_NUMBER(began_at, trigger->triggered_at - (int64_t)history_ns),
				    SQL_NUMBER(history_ns, history_ns), SQL_TEXT(state, "recording"),
				    SQL_NUMBER_IF(observed_us, is_pressure, trigger->observed_us),
				    SQL_NUMBER(hz, trigger->hz), SQL_TEXT(verdict, NULL),
				    SQL_NUMBER_IF(verdict_version, false, 0), SQL_TEXT(not_examined, NULL),
				    SQL_NUMBER_IF(incident_id, incident_id, incident_id),
				    SQL_NUMBER_IF(onset_at, onset_at != INT64_MAX, onset_at),
				    SQL_NUMBER_IF(asked_by_uid, asking, asking->uid),
				    SQL_TEXT(asked_by, asking && asking->user[0] ? asking->user : NULL),
				    SQL_TEXT(asked_for, asking ? asking->text : NULL),
				    SQL_TEXT(note, asking ? asking->note : NULL)));
	sqlite3_finalize(statement);
	if (!result && fired)
		result = incidents_settle(sql, capture_id);
	if (!result)
		*ret_capture_id = capture_id;
	return result;
}

#define SECOND_NS ((int64_t)CLOCK_SECOND_NS)
#define STACK_UNWINDERS 4
#define STACK_ENDS 16
#define SAMPLE_STALLS 8

/* One capture that is being written, with the row ids that it was given so far. */
struct writing {
	struct sql *sql;
	struct capture_statements *statements;
	sqlite3_int64 run_id;
	const struct capture *capture;
	const struct resolved *resolved;
	const struct mappings *mappings;
	sqlite3_int64 capture_id;
	sqlite3_int64 *modules, *frames, *processes;
	struct stack_path *stacks;
	int64_t *path_frames; /* of all stacks */
	uint32_t path_frames_count, path_frames_room;
	uint8_t (*frame_hashes)[STACK_HASH_BYTES];
	bool *frame_counts; /* in the hash of a stack */
	sqlite3_int64 stack_classes[2][STACK_UNWINDERS]
				   [STACK_ENDS]; /* by truncated, unwinder, end; 0: not yet known */
	sqlite3_int64 sample_classes[2][SAMPLE_STALLS][USAGE_REST]; /* by on CPU, stall, role */
	struct store_threads threads;
	struct hash_index names_index; /* of frames */
	char *times;                   /* of the row at hand */
	size_t times_room;
	struct {
		int64_t processes, stacks, samples, intervals;
	} counts; /* of the rows, for the capture's own row */
};

/* A row in the order of the table. */
struct sample_key {
	int64_t stack, thread, class;
	int32_t second;
	uint32_t row;
};

struct wanted_name {
	const struct resolved *resolved;
	const struct resolved_frame *frame;
};

static bool has_name(const void *user, uint32_t position)
{
	const struct wanted_name *wanted = user;
	const struct resolved_frame *frame = wanted->frame, *there = &wanted->resolved->frames[position];

	return there->module == frame->module && !strcmp(there->function, frame->function) &&
	       !there->file == !frame->file && (!frame->file || !strcmp(there->file, frame->file));
}

/* Stores the position of the first written frame of the same function and file, or HASH_INDEX_NONE. */
static int find_named(struct writing *writing, uint32_t position, uint32_t *ret_position)
{
	const struct resolved_frame *frame = &writing->resolved->frames[position];
	const struct wanted_name wanted = { writing->resolved, frame };
	uint32_t hash;

	*ret_position = HASH_INDEX_NONE;
	if (frame->function_offset < 0 || (frame->line && !frame->file))
		return 0;
	hash = hash_number_and_bytes(frame->module, frame->function, strlen(frame->function));
	*ret_position = hash_index_find(&writing->names_index, hash, has_name, &wanted);
	return *ret_position == HASH_INDEX_NONE ? hash_index_add(&writing->names_index, hash, position) : 0;
}

/* Most frames are known from earlier captures, and are not written again. */
static int write_frame(struct writing *writing, uint32_t position)
{
	const struct resolved_frame *frame = &writing->resolved->frames[position];
	struct capture_statements *statements = writing->statements;
	int64_t module_id = writing->modules[frame->module];
	sqlite3_int64 frame_id = 0, named = 0;
	uint32_t other;
	int result = find_named(writing, position, &other);

	if (!result)
		result = sql_run(writing->sql, statements->find_frame, &frame_id, "iiiii", module_id,
				 frame->offset, (int64_t)frame->inlined, frame->function_offset,
				 (int64_t)(frame->file != NULL));
	if (!result && !frame_id) {
		if (other != HASH_INDEX_NONE)
			result = sql_run(writing->sql, statements->find_named, &named, "itt",
					 (int64_t)writing->frames[other], frame->function, frame->file);
		if (!result)
			result = sql_insert(
				writing->sql, &statements->add_frame, "frame_row", NULL, &frame_id,
				SQL_COLUMNS(SQL_NUMBER(module_id, module_id),
					    SQL_NUMBER(offset, frame->offset),
					    SQL_NUMBER(inlined, frame->inlined),
					    SQL_TEXT(function, named ? NULL : frame->function),
					    SQL_NUMBER_IF(function_offset, frame->function_offset != -1,
							  frame->function_offset),
					    SQL_TEXT(file, named && frame->line ? NULL : frame->file),
					    SQL_NUMBER_IF(line, frame->line, frame->line),
					    SQL_NUMBER_IF(named_by, named, named)));
	} else if (!result && frame_id < 0) {
		frame_id = -frame_id;
		result = sql_run(writing->sql, statements->complete_frame, NULL, "ititi", (int64_t)frame_id,
				 frame->function, frame->function_offset, frame->file, (int64_t)frame->line);
	}
	writing->frames[position] = frame_id;
	return result;
}

struct frame_use {
	uint32_t position, uses;
};

static int most_used_first(const void *a, const void *b)
{
	const struct frame_use *left = a, *right = b;

	if (left->uses != right->uses)
		return left->uses > right->uses ? -1 : 1;
	return left->position < right->position ? -1 : left->position > right->position;
}

/* Those in most stacks come first and get the shortest ids: the text of stack_node.frames repeats them. */
static struct frame_use *order_frames(const struct writing *writing)
{
	const struct resolved *resolved = writing->resolved;
	struct frame_use *order = calloc(resolved->frames_count + 1UL, sizeof(*order));

	if (!order)
		return NULL;
	for (uint32_t i = 0; i < resolved->frames_count; i++)
		order[i].position = i;
	for (uint32_t i = 0; i < writing->capture->stacks.count; i++)
		for (uint32_t j = 0; j < resolved->depths[i]; j++) {
			uint32_t at = resolved->of_stack_frame[writing->capture->stacks.stacks[i].first + j];

			do
				order[at].uses++;
			while ((at = resolved->frames[at].inner));
		}
	qsort(order, resolved->frames_count, sizeof(*order), most_used_first);
	return order;
}

static int write_frames(struct writing *writing)
{
	const struct resolved *resolved = writing->resolved;
	_cleanup_free_ struct frame_use *order = order_frames(writing);
	int result = order ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < resolved->modules_count && !result; i++) {
		const struct resolved_module *module = &resolved->modules[i];

		if (module->kind == MODULE_NONE)
			continue;
		result = sql_insert(
			writing->sql, &writing->statements->add_module, "module",
			"ON CONFLICT DO UPDATE SET bias = ifnull(bias, excluded.bias) RETURNING module_id",
			&writing->modules[i],
			SQL_COLUMNS(SQL_TEXT(path, module->path),
				    SQL_TEXT(build_id, *module->build_id ? module->build_id : NULL),
				    SQL_TEXT(version, module->version),
				    SQL_TEXT(kind, module_kind_names[module->kind]),
				    SQL_NUMBER_IF(bias, module->has_bias, module->bias)));
	}
	for (uint32_t i = 0; i < resolved->frames_count && !result; i++)
		result = write_frame(writing, order[i].position);
	return result;
}

static const char *unwinder_name(const struct stack *stack)
{
	static const char *const names[] = { "none", "frame-pointer", "eh-frame", "mixed" };

	return names[stack->unwinder & (UNWINDER_FRAME_POINTER | UNWINDER_EH_FRAME)];
}

/* NULL for a stack without user frames. */
static const char *ended_name(const struct stack *stack)
{
	static const char *const names[] = { NULL,
					     [UNWIND_ENDED_ROOT] = "root",
					     [UNWIND_ENDED_DEPTH] = "depth",
					     [UNWIND_ENDED_MEMORY] = "memory",
					     [UNWIND_ENDED_UNMAPPED] = "unmapped",
					     [UNWIND_ENDED_NO_RULE] = "no-rule",
					     [UNWIND_ENDED_EXPRESSION] = "expression",
					     [UNWIND_ENDED_REGISTER] = "register",
					     [UNWIND_ENDED_POLICY] = "policy",
					     [UNWIND_ENDED_CHANGED] = "mapping-changed",
					     [UNWIND_ENDED_EXITING] = "exiting" };

	return stack->ended < ARRAY_SIZE(names) ? names[stack->ended] : NULL;
}

static void hash_frame(struct writing *writing, uint32_t position)
{
	const struct resolved_frame *frame = &writing->resolved->frames[position];
	const struct resolved_module *module = &writing->resolved->modules[frame->module];
	const struct hashed_frame hashed = {
		.kind = module_kind_names[module->kind],
		.path = module->path,
		.version = module->version,
		.build_id = module->build_id,
		.function = frame->inlined || frame->function_offset >= 0 ? frame->function : NULL,
		.offset = frame->offset,
		.inlined = frame->inlined,
	};

	if (module->kind != MODULE_NONE)
		writing->frame_counts[position] = stack_hash_frame(&hashed, writing->frame_hashes[position]);
}

static void hash_path(void *user, uint32_t path, uint8_t hash[STACK_HASH_BYTES])
{
	const struct writing *writing = user;
	const struct resolved_frame *frames = writing->resolved->frames;
	const struct stack *stack = &writing->capture->stacks.stacks[path];
	struct stack_hash sum;

	stack_hash_begin(&sum);
	for (uint32_t i = writing->resolved->depths[path]; i-- > 0;) {
		uint32_t at = writing->resolved->of_stack_frame[stack->first + i];

		do {
			if (writing->frame_counts[at])
				stack_hash_add(&sum, writing->frame_hashes[at]);
		} while ((at = frames[at].inner));
	}
	stack_hash_end(&sum, hash);
}

/* Adds the frames of a stack, the outermost first. */
static int add_path(struct writing *writing, uint32_t position)
{
	const struct resolved_frame *frames = writing->resolved->frames;
	const struct stack *stack = &writing->capture->stacks.stacks[position];
	uint32_t count = 0;

	for (uint32_t i = writing->resolved->depths[position]; i-- > 0;) {
		uint32_t at = writing->resolved->of_stack_frame[stack->first + i];

		do {
			if (array_make_room(writing->path_frames, writing->path_frames_count,
					    writing->path_frames_room, 1U))
				return -ENOMEM;
			writing->path_frames[writing->path_frames_count++] = writing->frames[at];
			count++;
		} while ((at = frames[at].inner));
	}
	writing->stacks[position].count = count;
	return 0;
}

static int class_of_stack(struct writing *writing, uint32_t position)
{
	const struct stack *stack = &writing->capture->stacks.stacks[position];
	bool truncated = stack->truncated || writing->resolved->depths[position] <
						     (uint32_t)stack->kernel_depth + stack->user_depth;
	sqlite3_int64 *class = &writing->stack_classes[truncated][stack->unwinder % STACK_UNWINDERS]
						      [stack->ended % STACK_ENDS];
	int result = 0;

	if (!*class)
		result = sql_insert(writing->sql, &writing->statements->add_stack_class, "stack_class",
				    "ON CONFLICT DO UPDATE SET ended = excluded.ended RETURNING class", class,
				    SQL_COLUMNS(SQL_NUMBER(truncated, truncated),
						SQL_TEXT(unwinder, unwinder_name(stack)),
						SQL_TEXT(ended, ended_name(stack))));
	writing->stacks[position].class = *class;
	return result;
}

static int write_stacks(struct writing *writing)
{
	uint32_t count = writing->capture->stacks.count, first = 0;
	int result = 0;

	for (uint32_t i = 0; i < writing->resolved->frames_count; i++)
		hash_frame(writing, i);
	for (uint32_t i = 0; i < count && !result; i++) {
		result = class_of_stack(writing, i);
		if (!result)
			result = add_path(writing, i);
	}
	if (result < 0)
		return result;
	for (uint32_t i = 0; i < count; first += writing->stacks[i++].count)
		writing->stacks[i].frames = writing->path_frames + first;
	return stack_tree_add(writing->sql, &writing->statements->stacks, writing->stacks, count, hash_path,
			      writing);
}

static int write_process(struct writing *writing, uint32_t position)
{
	const struct capture_process *process = &writing->capture->processes[position];
	int result = 0;

	if (process->cgroup)
		result = sql_insert(writing->sql, &writing->statements->add_cgroup, "cgroup",
				    "ON CONFLICT DO NOTHING", NULL,
				    SQL_COLUMNS(SQL_NUMBER(cgroup_id, process->cgroup_id),
						SQL_TEXT(path, process->cgroup)));
	if (!result)
		result = store_process_write(
			writing->sql, &writing->statements->usage, writing->run_id,
			&(struct stored_process){ process->tgid, process->started_ns, process->comm,
						  mappings_exe(writing->mappings, process->tgid,
							       process->started_ns, process->program),
						  process->uid, process->cgroup,
						  mappings_of(writing->mappings, process->tgid,
							      process->started_ns, process->program) },
			&writing->processes[position]);
	return result;
}

/* ---- samples ---- */

/* Rows in the order of their primary key: the tree of the table grows at its end alone, without gaps. */
static int compare_rows(const void *a, const void *b, void *user)
{
	const struct sample_key *left = a, *right = b;

	(void)user;
	if (left->stack != right->stack)
		return left->stack < right->stack ? -1 : 1;
	if (left->thread != right->thread)
		return left->thread < right->thread ? -1 : 1;
	if (left->class != right->class)
		return left->class < right->class ? -1 : 1;
	return left->second < right->second ? -1 : left->second > right->second;
}

static int class_of_sample(struct writing *writing, const struct capture_row *row, int64_t *ret_class)
{
	enum usage_role role = writing->capture->processes[row->process].role;
	sqlite3_int64 *class =
		&writing->sample_classes[row->kind == SAMPLE_ON_CPU][row->stall % SAMPLE_STALLS][role];
	int result = 0;

	if (!*class)
		result = sql_insert(
			writing->sql, &writing->statements->add_sample_class, "sample_class",
			"ON CONFLICT DO UPDATE SET stall = excluded.stall RETURNING class", class,
			SQL_COLUMNS(SQL_TEXT(kind, row->kind == SAMPLE_ON_CPU ? "on-cpu" : "off-cpu"),
				    SQL_TEXT(stall, capture_stall_name(row->stall)),
				    SQL_TEXT(role, usage_role_names[role])));
	*ret_class = *class;
	return result;
}

/* Those of row i are by_row[first_of[i]] up to by_row[first_of[i + 1] - 1], in the order in which they came. */
static void sort_events(const struct capture *capture, uint32_t *first_of, uint32_t *by_row)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < capture->events_count; i++)
		first_of[capture->events[i].row]++;
	for (uint32_t i = 0; i <= capture->rows_count; i++)
		first_of[i] = sum += first_of[i];
	for (uint32_t i = capture->events_count; i-- > 0;)
		by_row[--first_of[capture->events[i].row]] = i;
}

#define EVENT_TEXT_BYTES sizeof("-2147483648,-32768,65535 ")

/* Stores the text of a row's events, which view sample makes a JSON array of, or NULL without any. */
static int format_times(struct writing *writing, const uint32_t *events, uint32_t count, bool on_cpu,
			const char **ret_text)
{
	size_t bytes = count * EVENT_TEXT_BYTES + 1, at = 0;

	*ret_text = NULL;
	if (!count)
		return 0;
	if (bytes > writing->times_room) {
		char *grown = realloc(writing->times, bytes);

		if (!grown)
			return -ENOMEM;
		writing->times = grown;
		writing->times_room = bytes;
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct capture_event *event = &writing->capture->events[events[i]];

		if (i)
			writing->times[at++] = ' ';
		if (!on_cpu)
			at += (size_t)sprintf(writing->times + at, "%d,", event->begin_ms);
		at += (size_t)sprintf(writing->times + at, "%d,", event->at_ms);
		at += event->cpu == CAPTURE_NO_CPU ? (size_t)sprintf(writing->times + at, "null")
						   : (size_t)sprintf(writing->times + at, "%u", event->cpu);
	}
	*ret_text = writing->times;
	return 0;
}

static int write_row(struct writing *writing, const struct sample_key *key, const uint32_t *first_of,
		     const uint32_t *by_row)
{
	const struct capture_row *row = &writing->capture->rows[key->row];
	uint32_t hz = writing->capture->trigger.hz;
	/* a weight that follows from the number of samples is not stored */
	int64_t usual_ns = row->kind == SAMPLE_ON_CPU && hz ? row->samples * (int64_t)(CLOCK_SECOND_NS / hz)
							    : -1;
	const char *times;
	int result = format_times(writing, by_row + first_of[key->row],
				  first_of[key->row + 1] - first_of[key->row], row->kind == SAMPLE_ON_CPU,
				  &times);

	if (result < 0)
		return result;
	return sql_insert(
		writing->sql, &writing->statements->add_sample, "sample_row", SAMPLE_ROW_SUM, NULL,
		SQL_COLUMNS(SQL_NUMBER(capture_id, writing->capture_id), SQL_NUMBER(stack_id, key->stack),
			    SQL_NUMBER(thread_id, key->thread), SQL_NUMBER(class, key->class),
			    SQL_NUMBER(second, row->second), SQL_NUMBER(samples, row->samples),
			    SQL_NUMBER_IF(weight_ns, (int64_t)row->weight_ns != usual_ns, row->weight_ns),
			    SQL_TEXT(times, times)));
}

static int compare_ids(const void *a, const void *b)
{
	sqlite3_int64 left = *(const sqlite3_int64 *)a, right = *(const sqlite3_int64 *)b;

	return (left > right) - (left < right);
}

/* Counts what the sorted keys have of targets. Two processes of the capture may be one row, if their cgroups have the same path. */
static int count_rows(struct writing *writing, const struct sample_key *keys)
{
	const struct capture *capture = writing->capture;
	_cleanup_free_ sqlite3_int64 *used = calloc(capture->processes_count + 1UL, sizeof(*used));
	sqlite3_int64 last_stack = 0;

	if (!used)
		return -ENOMEM;
	for (uint32_t i = 0; i < capture->rows_count; i++) {
		const struct capture_row *row = &capture->rows[keys[i].row];

		if (capture->processes[row->process].role != USAGE_TARGET)
			continue;
		writing->counts.stacks += keys[i].stack != last_stack;
		last_stack = keys[i].stack;
		writing->counts.samples += row->samples;
		writing->counts.intervals += row->kind == SAMPLE_OFF_CPU ? row->samples : 0;
		used[row->process] = writing->processes[row->process];
	}
	qsort(used, capture->processes_count, sizeof(*used), compare_ids);
	for (uint32_t i = 0; i < capture->processes_count; i++)
		writing->counts.processes += used[i] && (!i || used[i] != used[i - 1]);
	return 0;
}

static int write_rows(struct writing *writing)
{
	const struct capture *capture = writing->capture;
	_cleanup_free_ struct sample_key *keys = calloc(capture->rows_count + 1UL, sizeof(*keys));
	_cleanup_free_ uint32_t *first_of = calloc(capture->rows_count + 1UL, sizeof(*first_of));
	_cleanup_free_ uint32_t *by_row = calloc(capture->events_count + 1UL, sizeof(*by_row));
	int result = 0;

	if (!keys || !first_of || !by_row)
		return -ENOMEM;
	sort_events(capture, first_of, by_row);
	for (uint32_t i = 0; i < capture->rows_count && !result; i++) {
		const struct capture_row *row = &capture->rows[i];

		keys[i] = (struct sample_key){ .row = i,
					       .second = row->second,
					       .stack = writing->stacks[row->stack].stack_id };
		result = store_threads_find(writing->sql, &writing->statements->wakes.add_thread,
					    &writing->threads, row->process, row->tid, row->thread,
					    &keys[i].thread);
		if (!result)
			result = class_of_sample(writing, row, &keys[i].class);
	}
	if (!result)
		qsort_r(keys, capture->rows_count, sizeof(*keys), compare_rows, NULL);
	if (!result)
		result = count_rows(writing, keys);
	for (uint32_t i = 0; i < capture->rows_count && !result; i++)
		result = write_row(writing, &keys[i], first_of, by_row);
	return result;
}

/* Whether the reason is counted for this capture. What is counted from a begin to an end is not, of history alone. */
static bool is_counted(const struct capture *capture, size_t loss)
{
	switch (loss) {
	case LOSS_NOT_TAKEN:
	case LOSS_LOOKS:
	case LOSS_TARGETS_FULL:
	case LOSS_EVENTS:
	case LOSS_STALE_EVENTS:
	case LOSS_OFFCPU_UNSTACKED:
	case LOSS_PROGRAM_RUNS:
	case LOSS_OFFCPU_JOINED:
	case LOSS_OFFCPU_UNTRACKED:
	case LOSS_MISSING:
	case LOSS_WATCH_SUPPRESSED:
		return capture->trigger.mode != TRIGGER_BASELINE;
	default:
		return true;
	}
}

static int write_losses(struct writing *writing)
{
	const struct capture *capture = writing->capture;
	int result = 0;

	for (size_t i = 0; i < LOSS_REASONS && !result; i++)
		if (is_counted(capture, i))
			result = sql_insert(
				writing->sql, &writing->statements->add_loss, "loss", NULL, NULL,
				SQL_COLUMNS(SQL_NUMBER(capture_id, writing->capture_id),
					    SQL_TEXT(reason, loss_reasons[i].name),
					    SQL_NUMBER(events,
						       i == LOSS_UNRESOLVED_FRAMES
							       ? writing->resolved->unresolved
						       : i == LOSS_SYMBOLIZER   ? writing->resolved->failures
						       : i == LOSS_MAPPINGS_CUT ? writing->resolved->cut
										: capture->losses[i]),
					    SQL_TEXT(unit, loss_reasons[i].unit)));
	return result;
}

static int write_pressure(struct writing *writing)
{
	const struct capture *capture = writing->capture;
	const struct capture_trigger *trigger = &capture->trigger;
	int result = 0;

	for (uint32_t i = 0; i < capture->pressure.count && !result; i++) {
		const struct pressure_reading *reading = &capture->pressure.readings[i];
		const struct psi_totals *totals = &reading->totals;

		result = sql_insert(
			writing->sql, &writing->statements->add_pressure, "pressure", NULL, NULL,
			SQL_COLUMNS(SQL_NUMBER(capture_id, writing->capture_id),
				    SQL_NUMBER(at, trigger->triggered_at +
							   (int64_t)(reading->at_ns - trigger->triggered_ns)),
				    SQL_TEXT(scope, reading->scope == PRESSURE_SYSTEM    ? "system"
						    : reading->scope == PRESSURE_TARGETS ? "targets"
											 : trigger->cgroup),
				    SQL_TEXT(resource, psi_resource_names[reading->resource]),
				    SQL_NUMBER(some_us, totals->us[PSI_SOME]),
				    SQL_NUMBER_IF(full_us, totals->has[PSI_FULL], totals->us[PSI_FULL])));
	}
	return result;
}

static int write_kernel_stats(struct writing *writing)
{
	const struct capture_trigger *trigger = &writing->capture->trigger;
	const struct kernel_stats *stats = &writing->capture->kernel_stats;
	int64_t monotonic_at = trigger->triggered_at - (int64_t)trigger->triggered_ns;
	char scope[PATH_MAX];
	int result = 0;

	for (uint32_t i = 0; i < stats->count && !result; i++) {
		const struct kernel_stat *stat = &stats->stats[i];

		if (stat->scope == KERNEL_STAT_SYSTEM)
			strcpy(scope, "system");
		else if (stat->scope == KERNEL_STAT_RECORDER)
			strcpy(scope, "recorder");
		else
			snprintf(scope, sizeof(scope), "%.*s",
				 kernel_stat_scope_length(stat, trigger->cgroup), trigger->cgroup);
		result = sql_insert(writing->sql, &writing->statements->add_statistic, "statistic", NULL,
				    NULL,
				    SQL_COLUMNS(SQL_NUMBER(capture_id, writing->capture_id),
						SQL_NUMBER(from_at, monotonic_at + (int64_t)stats->from_ns),
						SQL_NUMBER(to_at, monotonic_at + (int64_t)stats->to_ns),
						SQL_TEXT(scope, scope), SQL_TEXT(source, stat->source),
						SQL_TEXT(device, *stat->device ? stat->device : NULL),
						SQL_TEXT(name, stat->name),
						SQL_NUMBER_IF(before, stat->before != -1, stat->before),
						SQL_NUMBER_IF(after, stat->after != -1, stat->after)));
	}
	return result;
}

/* What is about threads, but no samples. */
static int write_threads(struct writing *writing)
{
	const struct capture *capture = writing->capture;
	const struct wakes_ids ids = { writing->capture_id, writing->processes, writing->stacks,
				       &writing->threads };
	int result = store_wakes_write(writing->sql, &writing->statements->wakes, &capture->wakes, &ids);

	return result < 0 ? result
			  : store_thread_states_write(writing->sql, &writing->statements->thread_states,
						      capture, &ids);
}

/* When the stall began: the targets' waiting may show an earlier begin than PSI's readings did. INT64_MAX: not known. */
static int64_t capture_onset_at(const struct capture *capture)
{
	const struct capture_trigger *trigger = &capture->trigger;
	int64_t onset_at = trigger_onset_at(trigger), waited_at;
	struct onset waiting = { 0 };

	if (capture_is_of_pressure(trigger))
		waiting = onset_find(capture);
	waited_at = trigger->triggered_at - waiting.before_s * SECOND_NS;
	return waiting.before_s && waited_at < onset_at ? waited_at : onset_at;
}

static int write_capture(struct writing *writing, struct stored_verdict *ret_verdict)
{
	const struct capture *capture = writing->capture;
	const struct capture_trigger *trigger = &capture->trigger;
	uint64_t history_ns = capture_available_history_ns(capture);
	/* between two walks: there is none within a baseline */
	bool has_expected = capture_takes(capture, SAMPLE_ON_CPU) && trigger->mode != TRIGGER_BASELINE;
	int64_t capture_id = capture->capture_id, onset_at = capture_onset_at(capture);
	int result = 0;

	if (!capture_id)
		result = store_capture_announce(writing->sql, writing->run_id, trigger, history_ns,
						&capture_id);
	writing->capture_id = capture_id;
	if (!result)
		result = write_frames(writing);
	if (!result)
		result = write_stacks(writing);
	for (uint32_t i = 0; i < capture->processes_count && !result; i++)
		result = write_process(writing, i);
	if (!result)
		result = write_rows(writing);
	if (!result)
		result = write_threads(writing);
	if (!result)
		result = write_losses(writing);
	if (!result)
		result = write_pressure(writing);
	if (!result)
		result = write_kernel_stats(writing);
	if (!result)
		result = store_usage_write(writing->sql, &writing->statements->usage, writing->run_id,
					   writing->capture_id, capture, writing->mappings);
	if (!result)
		result = store_accounts_write(writing->sql, &writing->statements->accounts,
					      writing->capture_id, capture, writing->resolved);
	if (!result)
		result = sql_update(
			writing->sql, &writing->statements->finish_capture, "capture", "capture_id",
			capture_id,
			SQL_COLUMNS(
				SQL_NUMBER(began_at, trigger->triggered_at - (int64_t)history_ns),
				SQL_NUMBER_IF(onset_at, onset_at != INT64_MAX, onset_at),
				SQL_NUMBER(ended_at,
					   trigger->triggered_at +
						   (int64_t)(capture->ended_ns - trigger->triggered_ns)),
				SQL_NUMBER(history_ns, history_ns),
				SQL_NUMBER(offcpu_history_ns, capture_available_offcpu_history_ns(capture)),
				SQL_NUMBER_IF(expected_samples, has_expected,
					      capture_expected_samples(capture)),
				SQL_NUMBER_IF(received_samples, has_expected, capture->expected.received),
				SQL_NUMBER(process_count, writing->counts.processes),
				SQL_NUMBER(stack_count, writing->counts.stacks),
				SQL_NUMBER(sample_count, writing->counts.samples),
				SQL_NUMBER(interval_count, writing->counts.intervals),
				SQL_TEXT(state, capture->interrupted ? "interrupted" : "complete")));
	*ret_verdict = (struct stored_verdict){ .kind = VERDICT_KINDS };
	if (!result && trigger->mode != TRIGGER_BASELINE)
		result = store_verdict_write(writing->sql, &writing->statements->write_verdict, capture_id,
					     ret_verdict);
	if (!result && capture_was_triggered(trigger))
		result = incidents_settle(writing->sql, capture_id);
	return result;
}

/* ---- its size ---- */

struct sizing {
	const struct stacks *stacks;
	const struct resolved *resolved;
};

/* Frame `number` of a stack, the outermost first. */
static uint32_t frame_from_outside(const struct sizing *sizing, uint32_t stack, uint32_t number)
{
	return sizing->resolved->of_stack_frame[sizing->stacks->stacks[stack].first +
						sizing->resolved->depths[stack] - 1 - number];
}

static uint32_t common_depth(const struct sizing *sizing, uint32_t one, uint32_t other)
{
	uint32_t depth = 0;

	while (depth < sizing->resolved->depths[one] && depth < sizing->resolved->depths[other] &&
	       frame_from_outside(sizing, one, depth) == frame_from_outside(sizing, other, depth))
		depth++;
	return depth;
}

static int compare_stacks(const void *a, const void *b, void *user)
{
	const struct sizing *sizing = user;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b,
		 depth = common_depth(sizing, left, right);

	if (depth == sizing->resolved->depths[left] || depth == sizing->resolved->depths[right])
		return sizing->resolved->depths[left] - sizing->resolved->depths[right];
	return frame_from_outside(sizing, left, depth) < frame_from_outside(sizing, right, depth) ? -1 : 1;
}

/* With the functions that are inlined there. */
static uint32_t frames_of_function(const struct resolved *resolved, uint32_t at)
{
	uint32_t count = 0;

	do
		count++;
	while ((at = resolved->frames[at].inner));
	return count;
}

/* The frames in the tree of all stacks, which holds those that several stacks share outside once. */
static uint64_t count_tree_frames(const struct capture *capture, const struct resolved *resolved)
{
	struct sizing sizing = { &capture->stacks, resolved };
	uint32_t stacks = capture->stacks.count;
	_cleanup_free_ uint32_t *order = calloc(stacks + 1UL, sizeof(*order));
	uint64_t count = 0;

	for (uint32_t i = 0; order && i < stacks; i++)
		order[i] = i;
	if (order)
		qsort_r(order, stacks, sizeof(*order), compare_stacks, &sizing);
	for (uint32_t i = 0; i < stacks; i++) {
		uint32_t stack = order ? order[i] : i;
		uint32_t depth = order && i ? common_depth(&sizing, order[i - 1], stack) : 0;

		for (; depth < resolved->depths[stack]; depth++)
			count += frames_of_function(resolved, frame_from_outside(&sizing, stack, depth));
	}
	return count;
}

/* Of samples with their times, each a text in its row; one that is long has pages of its own, the last of them not full. */
static uint64_t rows_bytes(const struct capture *capture)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < capture->rows_count; i++) {
		const struct capture_row *row = &capture->rows[i];
		uint64_t times = row->samples * (row->kind == SAMPLE_ON_CPU ? 10UL : 16UL);

		bytes += 64 + times + (times > STORE_PAGE_BYTES / 8 ? STORE_PAGE_BYTES : 0);
	}
	return bytes;
}

/* Bytes of a row of each table with its indices, and of each id in a stack: measured, with some room more (unit/store_limit). */
uint64_t store_capture_bytes(const struct capture *capture, const struct resolved *resolved)
{
	return rows_bytes(capture) + capture->wakes.count * 128UL + capture->thread_states.count * 128UL +
	       capture->thread_states.seconds_count * 32UL + capture->pressure.count * 64UL +
	       (capture->usage.count + capture->usage.ended_count + capture->usage.kills.count) * 192UL +
	       capture->accounts.victims_count * 512UL + capture->accounts.parties_count * 160UL +
	       capture->kernel_stats.count * 128UL + capture->stacks.count * 96UL +
	       count_tree_frames(capture, resolved) * 8UL + resolved->frames_count * 64UL +
	       resolved->names_bytes + resolved->modules_count * 256UL + capture->processes_count * 192UL;
}

int store_capture_write(struct sql *sql, struct capture_statements *statements, int64_t run_id,
			const struct capture *capture, const struct resolved *resolved,
			const struct mappings *mappings, int64_t *ret_capture_id,
			struct stored_verdict *ret_verdict)
{
	size_t ids = (size_t)resolved->modules_count + resolved->frames_count + capture->processes_count;
	_cleanup_free_ sqlite3_int64 *rows = calloc(ids + 1, sizeof(*rows));
	struct writing writing = { .sql = sql,
				   .statements = statements,
				   .run_id = run_id,
				   .capture = capture,
				   .resolved = resolved,
				   .mappings = mappings,
				   .modules = rows };
	int result = -ENOMEM;

	writing.stacks = calloc(capture->stacks.count + 1UL, sizeof(*writing.stacks));
	writing.frame_hashes = calloc(resolved->frames_count + 1UL, sizeof(*writing.frame_hashes));
	writing.frame_counts = calloc(resolved->frames_count + 1UL, sizeof(*writing.frame_counts));
	if (rows && writing.stacks && writing.frame_hashes && writing.frame_counts) {
		writing.frames = writing.modules + resolved->modules_count;
		writing.processes = writing.frames + resolved->frames_count;
		writing.threads.processes = writing.processes;
		result = write_capture(&writing, ret_verdict);
	}
	if (!result)
		*ret_capture_id = writing.capture_id;
	free(writing.stacks);
	free(writing.frame_hashes);
	free(writing.frame_counts);
	free(writing.path_frames);
	store_threads_free(&writing.threads);
	free(writing.times);
	hash_index_free(&writing.names_index);
	return result;
}

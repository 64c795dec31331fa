/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbols/resolve.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"

#include <inttypes.h>
#include <string.h>

/* Module of addresses that are in no mapping of their process. */
#define UNKNOWN_PATH "[unknown]"
#define JIT_PATH "[jit]"

/* Files without content of their own. Runtimes map them to share code or to have it at two addresses. */
static const char *const anonymous_files[] = { "/memfd:doublemapper", "/dev/zero", "/anon_hugepage",
					       "//anon" };

/* ---- kernel frames ---- */

static int place_kernel_frame(struct resolved *resolved, const struct kernel_symbols *symbols, int64_t offset,
			      uint32_t *ret_frame)
{
	struct kernel_symbol symbol = { 0 };
	bool known = offset != KERNEL_FRAME_UNKNOWN && kernel_symbols_find(symbols, offset, &symbol);
	uint32_t module;
	int result;

	result = symbol.module[0] && known
			 ? resolved_intern_module(resolved, MODULE_KERNEL_MODULE, symbol.module, NULL, 0,
						  &module)
			 : resolved_intern_module(resolved, MODULE_KERNEL, "[kernel]", NULL, 0, &module);
	if (!result)
		result = resolved_intern_frame(resolved, module, offset, ret_frame);
	if (!result && known && !resolved->frames[*ret_frame].function) {
		resolved->frames[*ret_frame].function = strdup(symbol.name);
		resolved->frames[*ret_frame].function_offset = offset - symbol.offset;
		if (!resolved->frames[*ret_frame].function)
			result = -ENOMEM;
	}
	return result;
}

/* ---- user frames ---- */

static bool is_anonymous(const struct mapping *mapping)
{
	if (!mapping->file || !mapping->file->path[0])
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(anonymous_files); i++)
		if (!strncmp(mapping->file->path, anonymous_files[i], strlen(anonymous_files[i])))
			return true;
	return false;
}

/* When the first sample of the capture can have been. */
static uint64_t begin_of(const struct capture *capture)
{
	return capture->offcpu_from_ns < capture->covered_from_ns ? capture->offcpu_from_ns
								  : capture->covered_from_ns;
}

/* The address of user frame `i` of the stack, in the call: a return address belongs to the next instruction. The leaf is exact. */
static uint64_t user_address(const struct capture *capture, const struct stack *stack, uint32_t i)
{
	uint64_t address = capture->stacks.frames[stack->first + stack->kernel_depth + i];

	return i && address ? address - 1 : address;
}

/* The process of the stack or of the row at that position, if something of it was replaced since the capture began; else NULL. */
static const struct mapped_process *find_changed(const struct mappings *mappings,
						 const struct capture *capture, uint32_t position)
{
	const struct capture_process *process = &capture->processes[position];

	return mappings_changed(mappings, process->tgid, process->started_ns, begin_of(capture));
}

/* What was mapped at an address of the stack, or NULL. */
static const struct mapping *find_mapping(const struct mappings *mappings, const struct capture *capture,
					  const struct stack *stack, uint64_t address)
{
	const struct capture_process *process = &capture->processes[stack->process];
	const struct mapped_process *changed =
		stack->sighting ? find_changed(mappings, capture, stack->process) : NULL;

	if (!changed || !mapping_has_changed(changed, address))
		return mappings_find(mappings, process->tgid, process->started_ns, address);
	return stack->sighting == STACK_OF_NO_SCAN ? NULL
						   : mapping_seen_at(changed, address, stack->sighting);
}

static int place_user_frame(struct resolved *resolved, const struct mappings *mappings,
			    const struct capture *capture, const struct stack *stack, uint64_t address,
			    uint32_t *ret_frame, bool *ret_known)
{
	const struct mapping *mapping = find_mapping(mappings, capture, stack, address);
	int64_t offset = (int64_t)address;
	uint64_t begin;
	uint32_t module;
	int result;

	if (!mapping) {
		offset = 0;
		*ret_known = false;
		result = resolved_intern_module(resolved, MODULE_ANONYMOUS, UNKNOWN_PATH, NULL, 0, &module);
	} else if (mapping->flags & MAPPING_IS_VDSO && mapping->begins > UINT32_MAX) {
		offset = (int64_t)(address - mapping->begins);
		result = resolved_intern_module(resolved, MODULE_VDSO, "[vdso]", NULL, 0, &module);
	} else if (is_anonymous(mapping) || !mapping_find_offset(mapping, &begin)) {
		/* becomes anonymous later if there is no perf map, or no name in it */
		result =
			resolved_intern_module(resolved, MODULE_JIT, JIT_PATH, NULL, stack->process, &module);
	} else {
		offset = (int64_t)(address - mapping->begins + begin);
		result = resolved_intern_module(resolved, MODULE_FILE, mapping->file->path, mapping->file, 0,
						&module);
	}
	return result < 0 ? result : resolved_intern_frame(resolved, module, offset, ret_frame);
}

/* A caller's frame is the return address: the byte before it certainly belongs to the call. */
static int place_stack(struct resolved *resolved, struct capture *capture, uint32_t position,
		       const struct mappings *mappings, const struct kernel_symbols *symbols)
{
	struct stack *stack = &capture->stacks.stacks[position];
	uint32_t depth = (uint32_t)stack->kernel_depth + stack->user_depth, i;
	bool known = true;
	int result = 0;

	for (i = 0; i < depth && known && !result; i++) {
		uint64_t frame = capture->stacks.frames[stack->first + i];
		uint32_t *ret_frame = &resolved->of_stack_frame[stack->first + i];

		if (i < stack->kernel_depth) {
			int64_t offset = (int64_t)frame;

			if (i && offset != KERNEL_FRAME_UNKNOWN)
				offset--;
			result = place_kernel_frame(resolved, symbols, offset, ret_frame);
		} else {
			result = place_user_frame(resolved, mappings, capture, stack,
						  user_address(capture, stack, i - stack->kernel_depth),
						  ret_frame, &known);
		}
	}
	resolved->depths[position] = (uint16_t)i;
	if (!known && stack->sighting) {
		stack->ended = UNWIND_ENDED_CHANGED;
		stack->truncated = true;
	}
	return result;
}

/* ---- addresses that had something else before ---- */

static bool has_changed(const struct mappings *mappings, const struct capture *capture,
			const struct stack *stack)
{
	const struct mapped_process *process = find_changed(mappings, capture, stack->process);

	for (uint32_t i = 0; process && i < stack->user_depth; i++)
		if (mapping_has_changed(process, user_address(capture, stack, i)))
			return true;
	return false;
}

/*
 * Finds or adds the stack as that scan saw it. added[stack] is the last one that was added of it, and of that one the one before; 0:
 * there is none.
 */
static int find_seen(struct capture *capture, uint32_t stack, uint32_t sighting, uint32_t *added,
		     uint32_t *ret_stack)
{
	int result;

	for (uint32_t at = added[stack]; at; at = added[at])
		if (capture->stacks.stacks[at].sighting == sighting) {
			*ret_stack = at;
			return 0;
		}
	result = stacks_add_seen(&capture->stacks, stack, sighting, ret_stack);
	if (!result) {
		added[*ret_stack] = added[stack];
		added[stack] = *ret_stack;
	}
	return result;
}

/* Gives rows whose epoch a scan saw stacks of their own. The others' stacks, and all if there is no room, have frames that are not known. */
static int part_rows(struct capture *capture, const struct mappings *mappings)
{
	_cleanup_free_ uint32_t *added =
		calloc((size_t)capture->stacks.count + capture->rows_count + 1, sizeof(*added));
	int result = added ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < capture->rows_count && !result; i++) {
		struct capture_row *row = &capture->rows[i];
		const struct mapped_process *process = capture->stacks.stacks[row->stack].sighting
							       ? find_changed(mappings, capture, row->process)
							       : NULL;
		uint32_t sighting = process ? mapping_sighting(process,
							       capture->processes[row->process].program,
							       row->epoch)
					    : 0;

		if (sighting)
			result = find_seen(capture, row->stack, sighting, added, &row->stack);
	}
	return result == -ENOSPC ? 0 : result;
}

static int part_changed(struct capture *capture, const struct mappings *mappings)
{
	bool any = false;

	for (uint32_t i = 0; i < capture->stacks.count; i++) {
		struct stack *stack = &capture->stacks.stacks[i];

		if (stack->user_depth && has_changed(mappings, capture, stack)) {
			stack->sighting = STACK_OF_NO_SCAN;
			any = true;
		}
	}
	return any ? part_rows(capture, mappings) : 0;
}

/* ---- frames without names ---- */

/* Offsets from _text are valid for one kernel build; those of modules for one load. */
static void identify_kernel(struct resolved_module *module, const struct manifest *manifest)
{
	if (module->kind == MODULE_KERNEL || module->kind == MODULE_VDSO)
		snprintf(module->build_id, sizeof(module->build_id), "%s", manifest->kernel_build_id);
	else if (module->kind == MODULE_KERNEL_MODULE)
		snprintf(module->version, sizeof(module->version), "%" PRIu64, manifest->loaded_at);
}

/* Names each unresolved frame after its module and offset. */
static int name_rest(struct resolved *resolved)
{
	for (uint32_t i = 0; i < resolved->frames_count; i++) {
		struct resolved_frame *frame = &resolved->frames[i];
		const char *path = resolved->modules[frame->module].path, *slash = strrchr(path, '/');

		uint64_t offset = (uint64_t)frame->offset;
		char sign = '+';

		if (frame->function)
			continue;
		resolved->unresolved++;
		if (!strcmp(path, UNKNOWN_PATH)) {
			frame->function = strdup(UNKNOWN_PATH);
			if (!frame->function)
				return -ENOMEM;
			continue;
		}
		/* Only a kernel frame in neither area is negative; a user address uses all 64 bits. */
		if (resolved->modules[frame->module].kind == MODULE_KERNEL && frame->offset < 0) {
			sign = '-';
			offset = -offset;
		}
		if (asprintf(&frame->function, "%s%c0x%" PRIx64, slash && slash[1] ? slash + 1 : path, sign,
			     offset) < 0) {
			frame->function = NULL;
			return -ENOMEM;
		}
	}
	return 0;
}

/* Live seconds have names of earlier ones; naming looks for the rest, if there is time for that. */
static int name_frames(const struct capture *capture, const struct mappings *mappings,
		       const struct naming *naming, uint64_t deadline_ns, struct resolved *resolved)
{
	_cleanup_(name_questions_free) struct name_questions questions = { 0 };
	uint64_t now_ns = clock_monotonic_ns();
	int result = 0;

	if (naming->cache)
		result = name_cache_recall(naming->cache, capture, resolved, now_ns, &questions);
	if (!result)
		result = naming_run(naming, capture, mappings, deadline_ns, resolved);
	if (!result)
		result = name_rest(resolved);
	if (!result && naming->cache)
		name_cache_keep(naming->cache, capture, resolved, now_ns, &questions);
	return result;
}

int resolve_capture(struct capture *capture, const struct mappings *mappings,
		    const struct kernel_symbols *symbols, const struct manifest *manifest,
		    const struct naming *naming, uint64_t deadline_ns, struct resolved *ret_resolved)
{
	struct resolved resolved = { 0 };
	int result = part_changed(capture, mappings);

	if (result < 0)
		return result;
	/* one more element, because calloc(0) may return NULL */
	resolved.of_stack_frame =
		calloc((size_t)capture->stacks.frames_count + 1, sizeof(*resolved.of_stack_frame));
	resolved.depths = calloc((size_t)capture->stacks.count + 1, sizeof(*resolved.depths));
	if (!resolved.of_stack_frame || !resolved.depths)
		result = -ENOMEM;
	for (uint32_t i = 0; i < capture->stacks.count && !result; i++)
		result = place_stack(&resolved, capture, i, mappings, symbols);
	for (uint32_t i = 0; i < resolved.modules_count && !result; i++)
		identify_kernel(&resolved.modules[i], manifest);
	if (!result)
		result = name_frames(capture, mappings, naming, deadline_ns, &resolved);
	for (uint32_t i = 0; i < capture->processes_count; i++)
		resolved.cut += mappings_is_cut(mappings, capture->processes[i].tgid,
						capture->processes[i].started_ns);
	if (result < 0)
		resolved_free(&resolved);
	else
		*ret_resolved = resolved;
	return result;
}

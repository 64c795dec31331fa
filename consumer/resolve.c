/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/resolve.h"

#include "common/array.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/log.h"
#include "consumer/symbolizer/spawner.h"
#include "consumer/symbolizer/symbolizer.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

const char *const module_kind_names[MODULE_KINDS] = { "kernel", "module", "file", "vdso", "anonymous" };

/* So many files may be the end of a symbolizer, then one capture has had enough of them. */
#define SYMBOLIZERS_MAX 3U

/* The module of addresses that lie in no mapping of their process. */
#define UNKNOWN_PATH "[unknown]"

/* ---- modules and frames, each once ---- */

static bool is_module(const void *user, uint32_t position)
{
	const struct resolved_module *const *pair = user, *there = &pair[0][position], *wanted = pair[1];

	return there->kind == wanted->kind && there->file == wanted->file &&
	       !strcmp(there->path, wanted->path);
}

static int intern_module(struct resolved *resolved, enum module_kind kind, const char *path,
			 struct mapped_file *file, uint32_t *ret_module)
{
	struct resolved_module wanted = { .kind = kind, .path = (char *)path, .file = file };
	const struct resolved_module *pair[2] = { resolved->modules, &wanted };
	uint32_t hash = hash_bytes((uint64_t)kind, path, strlen(path)), found;

	found = hash_index_find(&resolved->modules_index, hash, is_module, pair);
	if (found != HASH_INDEX_NONE) {
		*ret_module = found;
		return 0;
	}
	if (array_make_room(resolved->modules, resolved->modules_count, resolved->modules_room, 1U))
		return -ENOMEM;
	wanted.path = strdup(path);
	if (!wanted.path || hash_index_add(&resolved->modules_index, hash, resolved->modules_count)) {
		free(wanted.path);
		return -ENOMEM;
	}
	resolved->modules[resolved->modules_count] = wanted;
	*ret_module = resolved->modules_count++;
	return 0;
}

static bool is_frame(const void *user, uint32_t position)
{
	const struct resolved_frame *const *pair = user, *there = &pair[0][position], *wanted = pair[1];

	return there->module == wanted->module && there->offset == wanted->offset;
}

static int intern_frame(struct resolved *resolved, uint32_t module, int64_t offset, uint32_t *ret_frame)
{
	struct resolved_frame wanted = { .module = module, .offset = offset, .function_offset = -1 };
	const struct resolved_frame *pair[2] = { resolved->frames, &wanted };
	uint32_t hash = hash_bytes(module, &offset, sizeof(offset)), found;

	found = hash_index_find(&resolved->frames_index, hash, is_frame, pair);
	if (found != HASH_INDEX_NONE) {
		*ret_frame = found;
		return 0;
	}
	if (array_make_room(resolved->frames, resolved->frames_count, resolved->frames_room, 1U) ||
	    hash_index_add(&resolved->frames_index, hash, resolved->frames_count))
		return -ENOMEM;
	resolved->frames[resolved->frames_count] = wanted;
	*ret_frame = resolved->frames_count++;
	return 0;
}

/* ---- kernel frames ---- */

static int place_kernel_frame(struct resolved *resolved, const struct kernel_symbols *symbols, int64_t offset,
			      uint32_t *ret_frame)
{
	struct kernel_symbol symbol = { 0 };
	bool known = offset != KERNEL_FRAME_UNKNOWN && kernel_symbols_find(symbols, offset, &symbol);
	uint32_t module;
	int result;

	result = symbol.module[0] && known
			 ? intern_module(resolved, MODULE_KERNEL_MODULE, symbol.module, NULL, &module)
			 : intern_module(resolved, MODULE_KERNEL, "[kernel]", NULL, &module);
	if (!result)
		result = intern_frame(resolved, module, offset, ret_frame);
	if (!result && known && !resolved->frames[*ret_frame].function) {
		resolved->frames[*ret_frame].function = strdup(symbol.name);
		resolved->frames[*ret_frame].function_offset = offset - symbol.offset;
		if (!resolved->frames[*ret_frame].function)
			result = -ENOMEM;
	}
	return result;
}

/* ---- user frames ---- */

static int place_user_frame(struct resolved *resolved, const struct mappings *mappings,
			    const struct capture_process *process, uint64_t address, uint32_t *ret_frame,
			    bool *ret_known)
{
	const struct mapping *mapping = mappings_find(mappings, process->tgid, process->started_ns, address);
	int64_t offset = (int64_t)address;
	uint32_t module;
	int result;

	if (mapping && mapping->file && mapping->file->path[0]) {
		offset = (int64_t)(address - mapping->begins + mapping->file_offset);
		result = intern_module(resolved, MODULE_FILE, mapping->file->path, mapping->file, &module);
	} else if (mapping && mapping->flags & MAPPING_IS_VDSO) {
		offset = (int64_t)(address - mapping->begins);
		result = intern_module(resolved, MODULE_VDSO, "[vdso]", NULL, &module);
	} else if (mapping) {
		result = intern_module(resolved, MODULE_ANONYMOUS, "[anonymous]", NULL, &module);
	} else {
		offset = 0;
		*ret_known = false;
		result = intern_module(resolved, MODULE_ANONYMOUS, UNKNOWN_PATH, NULL, &module);
	}
	return result < 0 ? result : intern_frame(resolved, module, offset, ret_frame);
}

/* A caller's frame is the address behind its call: the byte before belongs to the call for certain. */
static int place_stack(struct resolved *resolved, const struct capture *capture, uint32_t position,
		       const struct mappings *mappings, const struct kernel_symbols *symbols)
{
	const struct stack *stack = &capture->stacks.stacks[position];
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
			/* the first user frame is where the thread entered the kernel, or was interrupted */
			if (i > stack->kernel_depth && frame)
				frame--;
			result = place_user_frame(resolved, mappings, &capture->processes[stack->process],
						  frame, ret_frame, &known);
		}
	}
	resolved->depths[position] = (uint16_t)i;
	return result;
}

/* ---- names of user frames ---- */

static int take_reply(struct resolved *resolved, struct resolved_module *module, const uint32_t *frames,
		      const struct symbolize_reply *reply)
{
	for (uint32_t i = 0; i < reply->build_id_bytes; i++)
		snprintf(module->build_id + (size_t)2 * i, 3, "%02x", reply->build_id[i]);
	for (uint32_t i = 0; i < reply->count; i++) {
		const struct symbolize_name *symbol = &reply->symbols[i];
		struct resolved_frame *frame = &resolved->frames[frames[i]];

		if (!symbol->bytes)
			continue;
		frame->function = strndup(reply->names + symbol->at, symbol->bytes);
		if (!frame->function)
			return -ENOMEM;
		frame->function_offset = (int64_t)symbol->function_offset;
	}
	return 0;
}

/* Sends the module's frames in batches. -errno: the symbolizer is of no use any more. */
static int name_module(struct resolved *resolved, uint32_t module, const struct mappings *mappings,
		       struct mapped_files *files, int symbolizer, uint64_t deadline_ns,
		       struct symbolize_reply *reply)
{
	struct stat at = { 0 };
	_cleanup_close_ int elf =
		mapped_files_open(files, mappings, resolved->modules[module].file, deadline_ns, &at);
	struct symbolize_request request = { .kind = SYMBOLIZE_NAMES };
	uint32_t frames[SYMBOLIZE_BATCH] = { 0 };
	int result = 0;

	if (elf < 0)
		return 0; /* not readable for us, or not the file that was mapped: it stays path+0xoffset */
	for (uint32_t i = 0; i <= resolved->frames_count && !result; i++) {
		if (i < resolved->frames_count && resolved->frames[i].module == module) {
			frames[request.count] = i;
			request.offsets[request.count++] = (uint64_t)resolved->frames[i].offset;
		}
		if (request.count != SYMBOLIZE_BATCH && (i < resolved->frames_count || !request.count))
			continue;
		result = symbolizer_ask(symbolizer, elf, &request, deadline_ns, reply);
		if (!result)
			result = take_reply(resolved, &resolved->modules[module], frames, reply);
		request.count = 0;
	}
	if (!resolved->modules[module].build_id[0])
		snprintf(resolved->modules[module].version, sizeof(resolved->modules[module].version),
			 "%" PRIu64 ".%09ld-%" PRIu64, (uint64_t)at.st_mtim.tv_sec, at.st_mtim.tv_nsec,
			 (uint64_t)at.st_size);
	return result;
}

/* A symbolizer for the next module, or -errno with the reason logged. */
static int next_symbolizer(int spawner_socket, unsigned int *deaths, uint64_t deadline_ns)
{
	int symbolizer = *deaths < SYMBOLIZERS_MAX && clock_monotonic_ns() < deadline_ns
				 ? spawner_request(spawner_socket, deadline_ns)
				 : -ETIMEDOUT;

	if (symbolizer < 0)
		log_warning("no symbolizer: %s; more user frames of this capture stay without names",
			    *deaths ? "too many files were its end" : strerror(-symbolizer));
	return symbolizer;
}

static int name_modules(struct resolved *resolved, const struct mappings *mappings,
			struct mapped_files *files, int spawner_socket, uint64_t deadline_ns)
{
	_cleanup_free_ struct symbolize_reply *reply = malloc(sizeof(*reply));
	_cleanup_close_ int symbolizer = -EBADF;
	unsigned int deaths = 0;

	if (!reply)
		return -ENOMEM;
	for (uint32_t i = 0; i < resolved->modules_count; i++) {
		int result;

		if (resolved->modules[i].kind != MODULE_FILE)
			continue;
		if (symbolizer < 0)
			symbolizer = next_symbolizer(spawner_socket, &deaths, deadline_ns);
		if (symbolizer < 0)
			return 0;
		result = name_module(resolved, i, mappings, files, symbolizer, deadline_ns, reply);
		if (result == -ENOMEM)
			return result;
		if (result < 0) {
			log_warning("the symbolizer ended over %s: %s; its frames stay without names",
				    resolved->modules[i].path, strerror(-result));
			close(TAKE_FD(symbolizer));
			deaths++;
		}
	}
	return 0;
}

/* Offsets from _text mean one thing in one build; those of modules are from an anchor of one load. */
static void identify_kernel(struct resolved_module *module, const struct manifest *manifest)
{
	if (module->kind == MODULE_KERNEL || module->kind == MODULE_VDSO)
		snprintf(module->build_id, sizeof(module->build_id), "%s", manifest->kernel_build_id);
	else if (module->kind == MODULE_KERNEL_MODULE)
		snprintf(module->version, sizeof(module->version), "%" PRIu64, manifest->loaded_at);
}

/* What has no name is called after its place. */
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
		/* only what lies in neither of the kernel's areas is negative: a user address has all 64 bits
		 */
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

int resolve_capture(const struct capture *capture, const struct mappings *mappings,
		    struct mapped_files *files, const struct kernel_symbols *symbols,
		    const struct manifest *manifest, int spawner_socket, uint64_t deadline_ns,
		    struct resolved *ret_resolved)
{
	struct resolved resolved = { 0 };
	int result = 0;

	/* one more, because calloc(0) may be NULL */
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
		result = name_modules(&resolved, mappings, files, spawner_socket, deadline_ns);
	if (!result)
		result = name_rest(&resolved);
	if (result < 0)
		resolved_free(&resolved);
	else
		*ret_resolved = resolved;
	return result;
}

void resolved_free(struct resolved *resolved)
{
	for (uint32_t i = 0; i < resolved->modules_count; i++)
		free(resolved->modules[i].path);
	for (uint32_t i = 0; i < resolved->frames_count; i++)
		free(resolved->frames[i].function);
	free(resolved->modules);
	free(resolved->frames);
	free(resolved->of_stack_frame);
	free(resolved->depths);
	hash_index_free(&resolved->modules_index);
	hash_index_free(&resolved->frames_index);
	*resolved = (struct resolved){ 0 };
}

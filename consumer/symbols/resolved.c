/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbols/resolved.h"

#include "common/base/array.h"

#include <string.h>

const char *const module_kind_names[MODULE_KINDS] = { "kernel", "module",    "file", "vdso",
						      "jit",    "anonymous", "none" };

#define ANONYMOUS_PATH "[anonymous]"

static bool is_module(const void *user, uint32_t position)
{
	const struct resolved_module *const *pair = user, *there = &pair[0][position], *wanted = pair[1];

	return there->kind == wanted->kind && there->file == wanted->file &&
	       there->process == wanted->process && !strcmp(there->path, wanted->path);
}

int resolved_intern_module(struct resolved *resolved, enum module_kind kind, const char *path,
			   struct mapped_file *file, uint32_t process, uint32_t *ret_module)
{
	struct resolved_module wanted = {
		.kind = kind, .path = (char *)path, .file = file, .process = process
	};
	const struct resolved_module *pair[2] = { resolved->modules, &wanted };
	uint32_t hash = hash_number_and_bytes((uint64_t)kind << 32 | process, path, strlen(path)), found;

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

int resolved_anonymous(struct resolved *resolved, uint32_t *ret_module)
{
	return resolved_intern_module(resolved, MODULE_ANONYMOUS, ANONYMOUS_PATH, NULL, 0, ret_module);
}

int resolved_add_frame(struct resolved *resolved, const struct resolved_frame *frame, uint32_t *ret_frame)
{
	if (array_make_room(resolved->frames, resolved->frames_count, resolved->frames_room, 1U))
		return -ENOMEM;
	resolved->frames[resolved->frames_count] = *frame;
	*ret_frame = resolved->frames_count++;
	return 0;
}

int resolved_intern_frame(struct resolved *resolved, uint32_t module, int64_t offset, uint32_t *ret_frame)
{
	const struct resolved_frame wanted = { .offset = offset, .module = module };
	int added = hash_index_intern(&resolved->frames_index, HASH_KEYS_BEFORE(resolved->frames, line),
				      resolved->frames, resolved->frames_count, resolved->frames_room,
				      &wanted, ret_frame);

	if (added > 0)
		resolved->frames[*ret_frame].function_offset = -1;
	return added < 0 ? added : 0;
}

void resolved_free(struct resolved *resolved)
{
	for (uint32_t i = 0; i < resolved->modules_count; i++)
		free(resolved->modules[i].path);
	for (uint32_t i = 0; i < resolved->frames_count; i++) {
		free(resolved->frames[i].function);
		free(resolved->frames[i].file);
	}
	free(resolved->modules);
	free(resolved->frames);
	free(resolved->of_stack_frame);
	free(resolved->depths);
	hash_index_free(&resolved->modules_index);
	hash_index_free(&resolved->frames_index);
	*resolved = (struct resolved){ 0 };
}

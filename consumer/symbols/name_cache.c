/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbols/name_cache.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/base/clock.h"

#include <errno.h>
#include <string.h>

/* Beyond, all is forgotten and asked again: about 2 MiB, and what the names take. */
#define NAMES_MAX 16384U
#define BYTES_MAX (4UL << 20)

/* A file may be written meanwhile, and a runtime may put other code at an address. */
#define FILE_NS (300 * CLOCK_SECOND_NS)
#define JIT_NS (10 * CLOCK_SECOND_NS)
#define UNNAMED_NS (60 * CLOCK_SECOND_NS) /* until it is looked for again */

/* Where a frame is: in a file, or in the memory of a process. */
struct place {
	uint64_t a, b; /* device and inode, or process id and its start */
	int64_t offset;
	uint64_t is_file;
};

struct remembered {
	struct place place;
	uint64_t until_ns;
	bool is_named;
	char *functions; /* one behind the other, each with its NUL, the outermost first */
	size_t bytes;
	uint32_t count;
};

struct name_cache {
	struct remembered *names;
	uint32_t count, room;
	size_t bytes; /* of all functions */
	struct hash_index index;
};

struct name_cache *name_cache_new(void)
{
	return calloc(1, sizeof(struct name_cache));
}

static void forget_all(struct name_cache *cache)
{
	for (uint32_t i = 0; i < cache->count; i++)
		free(cache->names[i].functions);
	free(cache->names);
	hash_index_free(&cache->index);
	*cache = (struct name_cache){ 0 };
}

void name_cache_free(struct name_cache *cache)
{
	if (!cache)
		return;
	forget_all(cache);
	free(cache);
}

void name_questions_free(struct name_questions *questions)
{
	free(questions->modules);
	*questions = (struct name_questions){ 0 };
}

/* Returns false for frames that nobody is asked about. */
static bool find_place(const struct capture *capture, const struct resolved_module *module, int64_t offset,
		       struct place *ret_place)
{
	const struct capture_process *process;

	if (module->kind == MODULE_FILE && module->file) {
		*ret_place = (struct place){ (uint64_t)module->file->device_major << 32 |
						     module->file->device_minor,
					     module->file->inode, offset, 1 };
		return true;
	}
	/* naming leaves no module of code without a single name */
	if (module->kind != MODULE_JIT && module->kind != MODULE_NONE)
		return false;
	process = &capture->processes[module->process];
	*ret_place = (struct place){ process->tgid, process->started_ns, offset, 0 };
	return true;
}

/* Stands for all of the file, or of the process's memory. */
#define EVERYWHERE INT64_MIN

static struct remembered *find(const struct name_cache *cache, const struct place *place)
{
	uint32_t found = hash_index_find_key(&cache->index, HASH_KEYS(cache->names, place), place);

	return found == HASH_INDEX_NONE ? NULL : &cache->names[found];
}

/* ---- recalling ---- */

/* Gives the frame its functions; those that are inlined become frames behind all others. */
static int put_names(struct resolved *resolved, uint32_t position, const struct remembered *names)
{
	const char *at = names->functions;
	uint32_t last = position, added;

	for (uint32_t i = 0; i < names->count; i++, at += strlen(at) + 1) {
		struct resolved_frame frame = { .module = resolved->frames[position].module,
						.offset = resolved->frames[position].offset,
						.function = strdup(at),
						.function_offset = -1,
						.inlined = i };

		if (!frame.function)
			return -ENOMEM;
		if (!i) {
			resolved->frames[position].function = frame.function;
			continue;
		}
		if (resolved_add_frame(resolved, &frame, &added)) {
			free(frame.function);
			return -ENOMEM;
		}
		resolved->frames[last].inner = added;
		last = added;
	}
	return 0;
}

/* JIT code without a name is ordinary anonymous memory, as it was when it was looked for. */
static int recall(struct resolved *resolved, uint32_t position, const struct remembered *names)
{
	if (!names->is_named && !names->place.is_file &&
	    resolved_anonymous(resolved, &resolved->frames[position].module))
		return -ENOMEM;
	return put_names(resolved, position, names);
}

/* A module that took too long takes its turn from others each time: all of it has to wait. */
static void put_off_modules(const struct name_cache *cache, const struct capture *capture,
			    struct resolved *resolved, uint64_t now_ns)
{
	for (uint32_t i = 0; i < resolved->modules_count; i++) {
		const struct remembered *names;
		struct place place;

		if (!find_place(capture, &resolved->modules[i], EVERYWHERE, &place))
			continue;
		names = find(cache, &place);
		resolved->modules[i].was_late = names && now_ns < names->until_ns;
	}
}

int name_cache_recall(struct name_cache *cache, const struct capture *capture, struct resolved *resolved,
		      uint64_t now_ns, struct name_questions *ret_questions)
{
	struct name_questions questions = { .count = resolved->frames_count };
	int result = 0;

	questions.modules = calloc(questions.count + 1UL, sizeof(*questions.modules));
	if (!questions.modules)
		return -ENOMEM;
	if (cache)
		put_off_modules(cache, capture, resolved, now_ns);
	for (uint32_t i = 0; i < questions.count && !result; i++) {
		const struct resolved_frame *frame = &resolved->frames[i];
		const struct remembered *names = NULL;
		struct place place;

		questions.modules[i] = NAME_CACHE_KNOWN;
		if (frame->function ||
		    !find_place(capture, &resolved->modules[frame->module], frame->offset, &place))
			continue;
		names = cache ? find(cache, &place) : NULL;
		if (names && now_ns < names->until_ns)
			result = recall(resolved, i, names);
		else
			questions.modules[i] = frame->module;
	}
	if (result < 0)
		name_questions_free(&questions);
	else
		*ret_questions = questions;
	return result;
}

/* ---- remembering ---- */

static int set_functions(struct name_cache *cache, struct remembered *names, const struct resolved *resolved,
			 const struct resolved_frame *outermost)
{
	char *functions = NULL;
	size_t bytes = 0;
	uint32_t count = 0;
	FILE *out = open_memstream(&functions, &bytes);

	if (!out)
		return -ENOMEM;
	for (const struct resolved_frame *frame = outermost;; frame = &resolved->frames[frame->inner]) {
		fwrite(frame->function, 1, strlen(frame->function) + 1, out);
		count++;
		if (!frame->inner)
			break;
	}
	if (fclose(out)) {
		free(functions);
		return -ENOMEM;
	}
	free(names->functions);
	cache->bytes = cache->bytes - names->bytes + bytes;
	names->functions = functions;
	names->bytes = bytes;
	names->count = count;
	return 0;
}

/* The place for new names; NULL without memory. */
static struct remembered *add(struct name_cache *cache, const struct place *place)
{
	if (cache->count == NAMES_MAX || cache->bytes > BYTES_MAX)
		forget_all(cache);
	if (array_make_room(cache->names, cache->count, cache->room, 1U))
		return NULL;
	cache->names[cache->count] = (struct remembered){ .place = *place };
	if (hash_index_add_key(&cache->index, HASH_KEYS(cache->names, place), cache->count))
		return NULL;
	return &cache->names[cache->count++];
}

static uint64_t duration_of(const struct remembered *names)
{
	return !names->is_named ? UNNAMED_NS : names->place.is_file ? FILE_NS : JIT_NS;
}

static void keep_lost_modules(struct name_cache *cache, const struct capture *capture,
			      const struct resolved *resolved, uint64_t now_ns)
{
	for (uint32_t i = 0; i < resolved->modules_count; i++) {
		const struct resolved_module *module = &resolved->modules[i];
		struct remembered *names;
		struct place place;

		if (!module->was_lost || !find_place(capture, module, EVERYWHERE, &place))
			continue;
		names = find(cache, &place);
		if (!names)
			names = add(cache, &place);
		if (names)
			names->until_ns = now_ns + UNNAMED_NS;
	}
}

void name_cache_keep(struct name_cache *cache, const struct capture *capture, const struct resolved *resolved,
		     uint64_t now_ns, const struct name_questions *questions)
{
	for (uint32_t i = 0; i < questions->count && cache; i++) {
		const struct resolved_frame *frame = &resolved->frames[i];
		const struct resolved_module *module;
		struct remembered *names;
		struct place place;

		if (questions->modules[i] == NAME_CACHE_KNOWN)
			continue;
		module = &resolved->modules[questions->modules[i]];
		if (module->was_late || !find_place(capture, module, frame->offset, &place))
			continue;
		names = find(cache, &place);
		if (!names)
			names = add(cache, &place);
		if (!names)
			break;
		/* what is not named has its module and offset for a function */
		names->is_named = frame->function_offset >= 0;
		names->until_ns =
			set_functions(cache, names, resolved, frame) < 0 ? 0 : now_ns + duration_of(names);
	}
	if (cache)
		keep_lost_modules(cache, capture, resolved, now_ns);
}

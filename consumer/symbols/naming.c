/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbols/naming.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/symbolizer/debug_files.h"
#include "common/symbolizer/symbolizer.h"
#include "common/system/files.h"
#include "common/system/log.h"
#include "common/text/escape_name.h"
#include "common/text/hexadecimal.h"
#include "consumer/symbols/jit_map.h"
#include "consumer/symbols/name_index.h"
#include "consumer/symbols/naming_plan.h"
#include "consumer/symbols/supervisor.h"

#include <inttypes.h>
#include <string.h>
#include <sys/sysmacros.h>

/*
 * Limits on the names of one capture, and of one module in it. A target chooses its names: one offset may
 * have 32 inlined functions with names of 767 bytes, which escaping quadruples in the database. Names of
 * ordinary programs have some 50 bytes.
 */
#define NAMES_BYTES_MAX (8UL << 20)
#define MODULE_NAMES_BYTES_MAX (2UL << 20)
/*
 * How long naming goes on for modules whose files have to wait for bourdon-grant, once all others have their
 * names. No other capture is named meanwhile.
 */
#define PUT_OFF_NS (3 * CLOCK_SECOND_NS)
#define PUT_OFF_ROUND_NS (CLOCK_SECOND_NS / 10) /* between two tries */

/* State of naming one capture. */
struct run {
	const struct naming *naming;
	const struct capture *capture;
	const struct mappings *mappings;
	struct resolved *resolved;
	struct naming_plan plan;
	struct supervisor symbolizers;
	struct symbolize_reply *reply;
	uint32_t *pending; /* offsets of the current module that still need a name */
	uint32_t pending_count, pending_room;
	struct stat file;         /* the module's file */
	struct name_index *index; /* of that file; NULL: none */
	bool index_is_fit;        /* to be kept for other captures */
	bool has_debug_file;
	uint64_t names_most;     /* limit of resolved->names_bytes for the current module */
	bool names_are_left_out; /* the module has names beyond that limit */
	bool is_put_off;         /* the module's file has to wait for bourdon-grant */
	const char *first_cut;   /* path of the first such module */
	uint32_t cut, late;      /* modules with names beyond the limit; modules behind the deadline */
};

static bool is_in_hurry(const struct naming *naming)
{
	return naming->hurry && atomic_load(naming->hurry);
}

static bool is_late(const struct run *run)
{
	return is_in_hurry(run->naming) || clock_monotonic_ns() >= run->symbolizers.deadline_ns;
}

/* ---- storing names ---- */

/* The functions at one offset, outermost first, as they arrive. */
struct chain {
	struct run *run;
	uint32_t place, last;
	uint32_t count;
	bool is_cut;     /* no room for the rest of the chain */
	bool wants_file; /* reject a known name without source file: the debug file may have it */
};

static int set_text(char **ret_text, const char *text, size_t bytes)
{
	if (!text || !bytes)
		return 0;
	*ret_text = strndup(text, bytes);
	return *ret_text ? 0 : -ENOMEM;
}

/* Upper limit of the text's size in the database. */
static uint64_t stored_bytes(const char *text)
{
	return !text ? 0 : escape_name_is_plain(text) ? strlen(text) : 4 * strlen(text);
}

static bool has_room(struct chain *chain, const struct resolved_frame *frame)
{
	struct run *run = chain->run;
	uint64_t bytes =
		run->resolved->names_bytes + stored_bytes(frame->function) + stored_bytes(frame->file);

	chain->is_cut |= bytes > run->names_most;
	run->names_are_left_out |= chain->is_cut;
	if (!chain->is_cut)
		run->resolved->names_bytes = bytes;
	return !chain->is_cut;
}

static int add_name(void *user, const struct frame_name *name)
{
	struct chain *chain = user;
	struct resolved *resolved = chain->run->resolved;
	struct resolved_frame *place = &resolved->frames[chain->place];
	struct resolved_frame frame = { .module = place->module,
					.offset = place->offset,
					.function_offset = name->function ? name->function_offset : -1,
					.line = name->line,
					.inlined = chain->count };
	bool is_kept;
	int result;

	if (chain->wants_file && !chain->count && !name->file)
		return -ENOENT;
	result = set_text(&frame.function, name->function, name->function_bytes);
	if (!result)
		result = set_text(&frame.file, name->file, name->file_bytes);
	is_kept = !result && has_room(chain, &frame);
	if (is_kept && chain->count) {
		uint32_t added;

		result = resolved_add_frame(resolved, &frame, &added);
		if (!result)
			resolved->frames[chain->last].inner = added;
		chain->last = added;
	}
	if (result < 0 || !is_kept) {
		free(frame.function);
		free(frame.file);
		return result;
	}
	if (!chain->count++) {
		free(place->file); /* of an earlier attempt that found no name */
		*place = frame;
	}
	return 0;
}

static struct chain chain_of(struct run *run, uint32_t place)
{
	return (struct chain){ .run = run, .place = place, .last = place };
}

static struct frame_name name_of(const struct symbolize_reply *reply, const struct symbolize_frame *frame)
{
	return (struct frame_name){ .function = frame->name_bytes ? reply->text + frame->name : NULL,
				    .function_bytes = frame->name_bytes,
				    .function_offset = (int64_t)frame->function_offset,
				    .file = frame->file_bytes ? reply->text + frame->file : NULL,
				    .file_bytes = frame->file_bytes,
				    .line = frame->line };
}

static int receive_names(struct run *run, const uint32_t *places)
{
	const struct symbolize_reply *reply = run->reply;
	uint32_t position = 0;
	int result = 0;

	for (uint32_t i = 0; i < reply->count && !result; i++) {
		struct chain chain = chain_of(run, places[i]);
		struct frame_name names[SYMBOLIZE_DEPTH];
		uint32_t depth = reply->depths[i];

		for (uint32_t j = 0; j < depth && !result; j++) {
			names[j] = name_of(reply, &reply->frames[position++]);
			result = add_name(&chain, &names[j]);
		}
		if (!result && run->index && reply->after[i] && !run->names_are_left_out)
			result = name_index_add(run->index, (uint64_t)run->resolved->frames[places[i]].offset,
						reply->before[i], reply->after[i], names, depth);
	}
	return result;
}

/*
 * Names what the index knows, from the pending offset number `at` on; the others remain. `names_only`: so do those that it knows
 * to have no name.
 */
static int use_index(struct run *run, uint32_t at, bool names_only)
{
	uint32_t left = at;
	int result = 0;

	for (uint32_t i = at; i < run->pending_count && run->index; i++) {
		uint32_t place = run->pending[i];
		struct chain chain = chain_of(run, place);

		result = name_index_find(run->index, (uint64_t)run->resolved->frames[place].offset, add_name,
					 &chain);
		if (result == -ENOMEM)
			return result;
		if (result == -ENOENT || (names_only && !run->resolved->frames[place].function))
			run->pending[left++] = place;
	}
	if (run->index)
		run->pending_count = left;
	return 0;
}

/* ---- asking ---- */

/* Looks up all pending offsets in batches, in the current module or the perf map. */
static int ask_pending(struct run *run, uint32_t kind, int perf_map)
{
	uint32_t at = 0;

	while (at < run->pending_count) {
		struct symbolize_request request = { .kind = kind };
		int result;

		for (uint32_t i = at; i < run->pending_count && request.count < SYMBOLIZE_BATCH; i++)
			request.offsets[request.count++] =
				(uint64_t)run->resolved->frames[run->pending[i]].offset;
		result = symbolizer_name(run->symbolizers.socket, perf_map, &request,
					 supervisor_patience(&run->symbolizers), run->reply);
		if (result < 0)
			return result;
		if (!run->reply->count)
			return 0;
		result = receive_names(run, run->pending + at);
		at += run->reply->count;
		if (!result)
			result = use_index(run, at, false);
		if (result < 0)
			return result;
	}
	return 0;
}

/* ---- offsets ---- */

/* Collects the module's offsets that have no name yet. */
static int find_pending(struct run *run, uint32_t module)
{
	run->pending_count = 0;
	for (uint32_t i = run->plan.first[module]; i < run->plan.first[module + 1]; i++) {
		uint32_t place = run->plan.frames[i];

		if (run->resolved->frames[place].function)
			continue;
		if (array_make_room(run->pending, run->pending_count, run->pending_room, 1U))
			return -ENOMEM;
		run->pending[run->pending_count++] = place;
	}
	return 0;
}

/*
 * Uses the names that earlier captures found. An offset is looked up again if it has no name, or no source
 * file while there is a debug file (which may be new), unless an earlier look-up was in vain. A name that an
 * earlier look-up found need not be there: live seconds and lost captures are not written.
 */
static int reuse(struct run *run, const struct resolved_module *module)
{
	const struct known_frames *known = &run->naming->known;
	uint32_t left = 0;

	for (uint32_t i = 0; i < run->pending_count && !is_late(run); i++) {
		uint32_t place = run->pending[i];
		int64_t offset = run->resolved->frames[place].offset;
		struct chain chain = chain_of(run, place);
		int result;

		chain.wants_file =
			run->has_debug_file &&
			!known_files_is_settled(run->naming->files, &run->file, true, offset, true);
		result = known->find ? known->find(known->user, module->path, module->build_id,
						   module->version, offset, add_name, &chain)
				     : 0;
		if (result == -ENOMEM)
			return result;
		if (!chain.count && !known_files_is_settled(run->naming->files, &run->file,
							    run->has_debug_file, offset, false))
			run->pending[left++] = place;
	}
	run->pending_count = left;
	return 0;
}

static void settle(struct run *run)
{
	for (uint32_t i = 0; i < run->pending_count; i++) {
		const struct resolved_frame *frame = &run->resolved->frames[run->pending[i]];

		if (!frame->function || !frame->file)
			known_files_settle(run->naming->files, &run->file, run->has_debug_file, frame->offset,
					   frame->function);
	}
}

/* ---- files ---- */

/* Takes ownership of the descriptor. On -errno the symbolizer is unusable. */
static int hand_over(struct run *run, int debug_file, struct symbolize_module *module)
{
	_cleanup_close_ int fd = debug_file;

	if (fd < 0)
		return 0;
	return symbolizer_add_file(run->symbolizers.socket, fd, supervisor_patience(&run->symbolizers),
				   module);
}

/*
 * A target chooses the path at which it maps a file, and so what is beside it: what such a debug file says is for this capture
 * alone.
 */
static void note_linked(struct run *run, int fd)
{
	struct stat at;

	if (fd < 0)
		return;
	run->index_is_fit = false;
	if (!fstat(fd, &at))
		files_read_note(&run->symbolizers.read, &at);
}

/*
 * Passes the debug files that the module lacks, if they exist. Takes ownership of `by_id`, the debug file
 * with its build id.
 */
static int add_debug_files(struct run *run, const char *path, int by_id, struct symbolize_module *module)
{
	const char *root = run->naming->debug_root;
	char alternate_id[HEXADECIMAL_BYTES(SYMBOLIZE_BUILD_ID_BYTES)];
	int result = 0, fd;

	if (module->lacks & SYMBOLIZE_LACKS_DEBUG)
		result = hand_over(run, by_id, module);
	else
		cleanup_close(&by_id);
	for (unsigned int i = 0; !result && module->lacks & SYMBOLIZE_LACKS_DEBUG; i++) {
		fd = debug_file_open_by_link(root, path, module->debuglink, i);
		if (fd == -ERANGE)
			break;
		note_linked(run, fd);
		result = hand_over(run, fd, module);
	}
	if (result < 0 || !(module->lacks & SYMBOLIZE_LACKS_ALTERNATE))
		return result;
	hexadecimal_write(module->alternate_id, module->alternate_id_bytes, alternate_id);
	result = hand_over(run, debug_file_open_by_id(root, alternate_id), module);
	if (!result && module->lacks & SYMBOLIZE_LACKS_ALTERNATE)
		result = hand_over(run, debug_file_open_alternate(root, module->alternate), module);
	return result;
}

static struct file_key key_of_descriptor(int fd)
{
	struct stat at;

	return fd >= 0 && !fstat(fd, &at) ? file_key_of(&at, at.st_dev) : (struct file_key){ 0 };
}

/* An index of names that debug files found, or were not there to find, holds for those debug files alone. */
static void begin_index(struct run *run, const struct resolved_module *module,
			const struct symbolize_module *answer, int debug_file)
{
	struct name_source source = { .has_bias = module->has_bias,
				      .bias = module->bias,
				      .debug_file = key_of_descriptor(debug_file) };

	strcpy(source.build_id, module->build_id);
	if (answer->lacks & SYMBOLIZE_LACKS_DEBUG)
		strcpy(source.debuglink, answer->debuglink);
	if (run->index && name_source_is(name_index_source(run->index), &source))
		return;
	name_index_free(run->index);
	run->index = run->naming->kept ? name_index_new(&source) : NULL; /* without memory: none */
}

/* Whether there is a debug file by the name that the program has for it, and that no index knows. */
static bool is_linked_there(const struct run *run, const struct resolved_module *module,
			    const struct name_source *source)
{
	const char *root = run->naming->debug_root;

	for (unsigned int i = 0; source->debuglink[0]; i++) {
		_cleanup_close_ int fd = debug_file_open_by_link(root, module->path, source->debuglink, i);

		if (fd >= 0)
			return true;
		if (fd == -ERANGE)
			break;
	}
	return false;
}

static int take_index(void *user, const char *content, size_t bytes)
{
	return name_index_read(content, bytes, user);
}

static void read_index(struct run *run, const struct file_key *key)
{
	int result;

	run->index = NULL;
	result = file_cache_load(run->naming->kept, FILE_CACHE_NAMES, key, take_index, &run->index);
	run->index_is_fit = result != -EBUSY; /* one that nobody can read now stays */
}

/* Live seconds keep nothing: each would write it all again. Nor is kept what the file of another user may have said. */
static void end_index(struct run *run, const struct file_key *key, int elf)
{
	struct kept_bytes content = { 0 };

	if (run->index && run->index_is_fit && name_index_has_changed(run->index) && !run->naming->cache &&
	    files_read_is_credible(&run->symbolizers.read, &run->file) &&
	    !name_index_write(run->index, &content))
		file_cache_keep(run->naming->kept, FILE_CACHE_NAMES, key, elf, &content);
	kept_bytes_free(&content);
	name_index_free(run->index);
	run->index = NULL;
}

/* On -errno the symbolizer is unusable, or memory is exhausted. */
static int ask_about_file(struct run *run, struct resolved_module *module, int elf)
{
	bool is_new = !module->build_id[0];
	struct symbolize_module answer;
	int result, debug_file;

	result = symbolizer_open_module(run->symbolizers.socket, elf, supervisor_patience(&run->symbolizers),
					&answer);
	if (result < 0 || !answer.readable)
		return result;
	hexadecimal_write(answer.build_id, answer.build_id_bytes, module->build_id);
	module->has_bias = answer.has_bias;
	module->bias = answer.bias;
	known_files_add(run->naming->files, &run->file, module->build_id);
	debug_file = debug_file_open_by_id(run->naming->debug_root, module->build_id);
	run->has_debug_file = debug_file >= 0;
	if (is_new && module->build_id[0])
		result = reuse(run, module);
	if (result < 0 || !run->pending_count) {
		cleanup_close(&debug_file);
		return result;
	}
	begin_index(run, module, &answer, debug_file);
	result = add_debug_files(run, module->path, debug_file, &answer);
	if (answer.lacks & SYMBOLIZE_LACKS_ALTERNATE) /* it may be installed later */
		run->index_is_fit = false;
	if (!result)
		result = ask_pending(run, SYMBOLIZE_NAMES, -1);
	if (result < 0)
		run->index_is_fit = false;
	if (!result && !run->names_are_left_out)
		settle(run);
	return result;
}

/* A file that only root can write and that all users see can be trusted to be what it claims. */
static bool is_the_system_s(const char *path, const struct stat *file)
{
	struct stat at;

	return file_is_roots_alone(file) && !stat(path, &at) && at.st_dev == file->st_dev &&
	       at.st_ino == file->st_ino;
}

/*
 * Any file may claim another file's build id, and have its path in a mount namespace of its own. Such a file
 * gets a version of owner, change time and size, so that only its owner's processes get names from it, and
 * only while it is unchanged: no user can set a change time. See resolved.h for files without a build id.
 */
static void tell_apart(struct resolved_module *module, const struct stat *file)
{
	if (is_the_system_s(module->path, file))
		module->version[0] = '\0';
	else
		snprintf(module->version, sizeof(module->version), "%u-%" PRIu64 ".%09ld-%" PRIu64,
			 file->st_uid, (uint64_t)file->st_ctim.tv_sec, file->st_ctim.tv_nsec,
			 (uint64_t)file->st_size);
}

/* Names what is known of the file, which was opened. */
static int name_known(struct run *run, struct resolved_module *module)
{
	const char *build_id = run->index ? name_index_source(run->index)->build_id
					  : known_files_build_id(run->naming->files, &run->file);
	_cleanup_close_ int debug_file = -EBADF;
	struct file_key debug_key;
	int result = 0;

	if (!build_id)
		return 0;
	strcpy(module->build_id, build_id);
	debug_file = debug_file_open_by_id(run->naming->debug_root, module->build_id);
	run->has_debug_file = debug_file >= 0;
	debug_key = key_of_descriptor(debug_file);
	if (run->index) {
		const struct name_source *source = name_index_source(run->index);

		module->has_bias = source->has_bias;
		module->bias = source->bias;
		if (memcmp(&source->debug_file, &debug_key, sizeof(debug_key)) != 0 ||
		    is_linked_there(run, module, source)) {
			name_index_free(run->index);
			run->index = NULL;
		}
	}
	/* where the index has no name, the database may have that of `bourdon symbolize` */
	result = use_index(run, 0, true);
	if (!result && module->build_id[0])
		result = reuse(run, module);
	return result < 0 ? result : use_index(run, 0, false);
}

static int name_file(struct run *run, uint32_t position)
{
	struct resolved_module *module = &run->resolved->modules[position];
	_cleanup_close_ int elf = mapped_files_open(run->naming->mapped_files, run->mappings, module->file,
						    run->symbolizers.deadline_ns, &run->file);
	struct file_key key;
	int result;

	run->is_put_off = elf == -EBUSY;
	if (elf < 0)
		return 0; /* unreadable, or not the mapped file: frames stay path+0xoffset */
	tell_apart(module, &run->file);
	key = file_key_of(&run->file, makedev(module->file->device_major, module->file->device_minor));
	read_index(run, &key);
	result = name_known(run, module);
	if (!result && run->pending_count && supervisor_need_for(&run->symbolizers, &run->file))
		result = ask_about_file(run, module, elf);
	end_index(run, &key, elf);
	if (!module->build_id[0] && !module->version[0])
		snprintf(module->version, sizeof(module->version), "%" PRIu64 ".%09ld-%" PRIu64,
			 (uint64_t)run->file.st_mtim.tv_sec, run->file.st_mtim.tv_nsec,
			 (uint64_t)run->file.st_size);
	return result;
}

/* The image is this process's own, so its symbolizer stays as credible as it was. */
static int name_vdso(struct run *run)
{
	struct symbolize_module answer;
	int result;

	if (run->naming->vdso <= 0 || !supervisor_need(&run->symbolizers))
		return 0;
	result = symbolizer_open_module(run->symbolizers.socket, run->naming->vdso,
					supervisor_patience(&run->symbolizers), &answer);
	return result < 0 || !answer.readable ? result : ask_pending(run, SYMBOLIZE_NAMES, -1);
}

/* ---- JIT code ---- */

/* Offsets without a name in the perf map count as ordinary anonymous memory. */
static int leave_anonymous(struct run *run, uint32_t position)
{
	struct resolved *resolved = run->resolved;
	uint32_t named = 0, anonymous;

	for (uint32_t i = run->plan.first[position]; i < run->plan.first[position + 1]; i++) {
		struct resolved_frame *frame = &resolved->frames[run->plan.frames[i]];

		if (frame->function) {
			named++;
			continue;
		}
		if (resolved_anonymous(resolved, &anonymous))
			return -ENOMEM;
		frame->module = anonymous;
	}
	if (!named)
		resolved->modules[position].kind = MODULE_NONE;
	return 0;
}

/*
 * Addresses are valid for one process only. A runtime may reuse them for other code and then appends to its
 * map, so the map's size is part of the version.
 */
static int name_jit(struct run *run, uint32_t position)
{
	struct resolved_module *module = &run->resolved->modules[position];
	const struct capture_process *process = &run->capture->processes[module->process];
	struct stat at = { 0 };
	_cleanup_close_ int map = jit_map_open(run->naming->jit_map_directory, run->naming->mapped_files,
					       process, run->symbolizers.deadline_ns, &at);

	run->is_put_off = map == -EBUSY;
	snprintf(module->version, sizeof(module->version), "%u-%" PRIu64 "-%" PRIu64, process->tgid,
		 process->started_ns, (uint64_t)at.st_size);
	if (map < 0 || !supervisor_need(&run->symbolizers))
		return 0;
	files_read_note(&run->symbolizers.read, &at);
	return ask_pending(run, SYMBOLIZE_PERF_MAP, map);
}

static int name_module(struct run *run, uint32_t position)
{
	const struct resolved_module *module = &run->resolved->modules[position];
	int result = find_pending(run, position);

	if (result < 0 || !run->pending_count)
		return result;
	run->names_most = run->resolved->names_bytes + MODULE_NAMES_BYTES_MAX;
	if (run->names_most > NAMES_BYTES_MAX)
		run->names_most = NAMES_BYTES_MAX;
	run->names_are_left_out = false;
	result = module->kind == MODULE_FILE   ? name_file(run, position)
		 : module->kind == MODULE_VDSO ? name_vdso(run)
					       : name_jit(run, position);
	if (run->names_are_left_out && !run->cut++)
		run->first_cut = run->resolved->modules[position].path;
	return result;
}

/* JIT code whose perf map has to wait stays as it is until then. */
static int name_one(struct run *run, uint32_t position)
{
	struct resolved_module *module = &run->resolved->modules[position];
	int result;

	run->is_put_off = false;
	if (module->kind != MODULE_FILE && module->kind != MODULE_VDSO && module->kind != MODULE_JIT)
		return 0;
	if (module->was_late || is_late(run)) {
		run->late++;
		module->was_late = true;
	} else {
		do
			result = name_module(run, position);
		while (result < 0 && result != -ENOMEM &&
		       supervisor_lose(&run->symbolizers, module->path, result));
		if (result == -ENOMEM)
			return result;
		module->was_lost = result < 0;
	}
	return module->kind == MODULE_JIT && !run->is_put_off && leave_anonymous(run, position) ? -ENOMEM : 0;
}

/* Names the first `count` modules of the plan. Moves those that have to wait to the front of it. */
static int name_each(struct run *run, uint32_t count, uint32_t *ret_put_off)
{
	uint32_t put_off = 0;

	for (uint32_t i = 0; i < count; i++) {
		int result;

		if (run->naming->meanwhile)
			run->naming->meanwhile(run->naming->user);
		result = name_one(run, run->plan.modules[i]);
		if (result < 0)
			return result;
		if (run->is_put_off)
			run->plan.modules[put_off++] = run->plan.modules[i];
	}
	*ret_put_off = put_off;
	return 0;
}

/* Each request that can be sent by then is that of the target whose turn it is (grant_shares.h). */
static int name_put_off(struct run *run, uint32_t put_off)
{
	const struct mapped_files *files = run->naming->mapped_files;
	const struct timespec pause = clock_timespec(PUT_OFF_ROUND_NS);
	uint64_t until_ns = clock_monotonic_ns() + PUT_OFF_NS;
	int result = 0;

	while (put_off && !result && !is_late(run) && clock_monotonic_ns() < until_ns) {
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
		if (!mapped_files_must_wait(files))
			result = name_each(run, put_off, &put_off);
	}
	for (uint32_t i = 0; i < put_off && !result; i++)
		if (run->resolved->modules[run->plan.modules[i]].kind == MODULE_JIT)
			result = leave_anonymous(run, run->plan.modules[i]);
	return result;
}

static int name_modules(struct run *run)
{
	int result = naming_plan_make(run->capture, run->resolved, &run->plan);
	uint32_t put_off = 0;

	if (!result)
		result = name_each(run, run->plan.modules_count, &put_off);
	return result < 0 ? result : name_put_off(run, put_off);
}

/* At most one line of each kind for a capture: a target has as many modules as it likes. */
static void log_limits(const struct run *run)
{
	if (run->cut)
		log_warning(
			"too many names in %s and %u more: the rest stay offsets (limit: 2 MiB a module, 8 MiB a capture)",
			run->first_cut, run->cut - 1);
	if (run->late)
		log_warning(
			"naming ended at its deadline: the frames of %u of %u modules of this capture get no names",
			run->late, run->plan.modules_count);
}

/* `hold`: mapping_hold_file() or mapping_drop_file(). */
static void hold_files(const struct resolved *resolved, void (*hold)(struct mapped_file *file))
{
	for (uint32_t i = 0; i < resolved->modules_count; i++)
		hold(resolved->modules[i].file);
}

int naming_run(const struct naming *naming, const struct capture *capture, const struct mappings *mappings,
	       uint64_t deadline_ns, struct resolved *resolved)
{
	_cleanup_free_ struct symbolize_reply *reply = malloc(sizeof(*reply));
	struct run run = { .naming = naming,
			   .capture = capture,
			   .mappings = mappings,
			   .resolved = resolved,
			   .symbolizers = supervisor_begin(naming->spawner_socket, naming->counters,
							   naming->budget, deadline_ns),
			   .reply = reply };
	int result;

	/* somebody looks at a live second: it is not for idle CPUs alone */
	run.symbolizers.late = naming->cache != NULL;
	hold_files(resolved, mapping_hold_file);
	result = reply ? name_modules(&run) : -ENOMEM;
	hold_files(resolved, mapping_drop_file);
	file_cache_flush(naming->kept);
	if (!naming->cache && !is_in_hurry(naming))
		log_limits(&run);
	resolved->failures = run.symbolizers.failures;
	supervisor_end(&run.symbolizers);
	naming_plan_free(&run.plan);
	free(run.pending);
	return result;
}

/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbols/naming_file.h"

#include "common/base/cleanup.h"
#include "common/symbolizer/debug_files.h"
#include "common/symbolizer/symbolizer.h"
#include "common/system/files.h"
#include "common/text/hexadecimal.h"

#include <inttypes.h>
#include <string.h>
#include <sys/sysmacros.h>

/* Takes ownership of the descriptor. On -errno the symbolizer is unusable. */
static int hand_over(struct naming_run *run, int debug_file, struct symbolize_module *module)
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
static void note_linked(struct naming_run *run, int fd)
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
static int add_debug_files(struct naming_run *run, const char *path, int by_id,
			   struct symbolize_module *module)
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
static void begin_index(struct naming_run *run, const struct resolved_module *module,
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
static bool is_linked_there(const struct naming_run *run, const struct resolved_module *module,
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

static void read_index(struct naming_run *run, const struct file_key *key)
{
	int result;

	run->index = NULL;
	result = file_cache_load(run->naming->kept, FILE_CACHE_NAMES, key, take_index, &run->index);
	run->index_is_fit = result != -EBUSY; /* one that nobody can read now stays */
}

/* Live seconds keep nothing: each would write it all again. Nor is kept what the file of another user may have said. */
static void end_index(struct naming_run *run, const struct file_key *key, int elf)
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
static int ask_about_file(struct naming_run *run, struct resolved_module *module, int elf)
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
		result = naming_reuse(run, module);
	if (result < 0 || !run->pending_count) {
		cleanup_close(&debug_file);
		return result;
	}
	begin_index(run, module, &answer, debug_file);
	result = add_debug_files(run, module->path, debug_file, &answer);
	if (answer.lacks & SYMBOLIZE_LACKS_ALTERNATE) /* it may be installed later */
		run->index_is_fit = false;
	if (!result)
		result = naming_ask(run, SYMBOLIZE_NAMES, -1);
	if (result < 0)
		run->index_is_fit = false;
	if (!result && !run->room.is_exceeded)
		naming_settle(run);
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
static int name_known(struct naming_run *run, struct resolved_module *module)
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
	result = naming_use_index(run, 0, true);
	if (!result && module->build_id[0])
		result = naming_reuse(run, module);
	return result < 0 ? result : naming_use_index(run, 0, false);
}

int naming_file_name(struct naming_run *run, struct resolved_module *module)
{
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

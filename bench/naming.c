/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * naming names one capture whose stacks lead into many modules, as a hostile program can have them, and prints how
 * long that took. An earlier capture found all names, so that no symbolizer is needed. `make bench PART=naming` runs
 * it in valgrind, which counts the instructions of measured().
 */
#include "consumer/symbols/naming.h"
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define MODULES_MOST 60000U /* below the links that a file may have in ext4 */
#define FRAMES_MOST 10000U  /* of a module */
#define NO_DEADLINE 3600000ULL

struct settings {
	unsigned long long modules, frames, deadline_ms;
	const char *directory;
};

/* The files of the modules, as a process has them mapped: links to one, which has been named before. */
struct files {
	struct mapped_file *files;
	uint32_t count;
};

static void free_files(struct files *files)
{
	for (uint32_t i = 0; i < files->count; i++) {
		unlink(files->files[i].path);
		free(files->files[i].path);
	}
	free(files->files);
}

static int make_files(const char *directory, uint32_t count, struct known_files *known, struct files *files)
{
	_cleanup_close_ int fd = -EBADF;
	struct stat at;

	files->files = calloc(count, sizeof(*files->files));
	if (!files->files)
		return -ENOMEM;
	while (files->count < count) {
		struct mapped_file *file = &files->files[files->count];

		if (asprintf(&file->path, "%s/%u", directory, files->count) < 0)
			return -ENOMEM;
		files->count++;
		if (fd < 0) {
			fd = open(file->path, O_CREAT | O_EXCL | O_RDONLY | O_CLOEXEC, 0600);
			if (fd < 0)
				return -errno;
		} else if (link(files->files[0].path, file->path)) {
			return -errno;
		}
	}
	if (fstat(fd, &at))
		return -errno;
	known_files_add(known, &at, "00ff");
	for (uint32_t i = 0; i < count; i++) {
		files->files[i].inode = at.st_ino;
		files->files[i].device_major = major(at.st_dev);
		files->files[i].device_minor = minor(at.st_dev);
	}
	return 0;
}

/* The name that an earlier capture found, the same for each offset. */
static int find(void *user, const char *path, const char *build_id, const char *version, int64_t offset,
		frame_name_add add, void *adder)
{
	static const struct frame_name name = {
		.function = "known", .function_bytes = 5, .file = "known.c", .file_bytes = 7, .line = 1
	};
	uint64_t *found = user;

	(void)path;
	(void)build_id;
	(void)version;
	(void)offset;
	++*found;
	return add(adder, &name);
}

/* A process and its stacks, of one frame each. */
static int make_capture(uint32_t stacks, struct capture *capture, struct resolved *resolved)
{
	capture->processes = calloc(1, sizeof(*capture->processes));
	capture->stacks.stacks = calloc(stacks, sizeof(*capture->stacks.stacks));
	resolved->of_stack_frame = calloc(stacks, sizeof(*resolved->of_stack_frame));
	resolved->depths = calloc(stacks, sizeof(*resolved->depths));
	if (!capture->processes || !capture->stacks.stacks || !resolved->of_stack_frame || !resolved->depths)
		return -ENOMEM;
	capture->processes_count = 1;
	capture->stacks.count = stacks;
	for (uint32_t i = 0; i < stacks; i++) {
		capture->stacks.stacks[i] = (struct stack){ .first = i, .user_depth = 1 };
		resolved->depths[i] = 1;
	}
	return 0;
}

/* What the worker thread does for each frame and each module. */
static __attribute__((noinline)) int measured(const struct naming *naming, const struct files *files,
					      const struct capture *capture, const struct mappings *mappings,
					      uint64_t deadline_ns, struct resolved *resolved)
{
	uint32_t module;
	int result = 0;

	for (uint32_t i = 0; i < capture->stacks.count && !result; i++) {
		struct mapped_file *file = &files->files[i % files->count];

		result = resolved_intern_module(resolved, MODULE_FILE, file->path, file, 0, &module);
		if (!result)
			result = resolved_intern_frame(resolved, module, 16 + i / files->count,
						       &resolved->of_stack_frame[i]);
	}
	return result < 0 ? result : naming_run(naming, capture, mappings, deadline_ns, resolved);
}

static int name_capture(const struct settings *settings, struct known_files *known, const struct files *files)
{
	struct mapped_files mapped_files = { .grant_socket = NULL };
	struct mappings *mappings = mappings_new();
	struct resolved resolved = { 0 };
	struct capture capture = { 0 };
	uint64_t found = 0, began_ns, ended_ns, deadline_ns;
	const struct naming naming = { .spawner_socket = -EBADF,
				       .known = { find, &found },
				       .mapped_files = &mapped_files,
				       .files = known,
				       .debug_root = "/nonexistent",
				       .jit_map_directory = "/nonexistent" };
	int result = mappings ? 0 : -ENOMEM;

	if (!result)
		result = make_capture((uint32_t)(settings->modules * settings->frames), &capture, &resolved);
	if (!result) {
		began_ns = clock_monotonic_ns();
		deadline_ns = began_ns + settings->deadline_ms * 1000000;
		result = measured(&naming, files, &capture, mappings, deadline_ns, &resolved);
		ended_ns = clock_monotonic_ns();
		printf("modules=%u frames=%u found=%" PRIu64 " wall_us=%" PRIu64 " late_us=%" PRIu64 "\n",
		       resolved.modules_count, resolved.frames_count, found, (ended_ns - began_ns) / 1000,
		       ended_ns > deadline_ns ? (ended_ns - deadline_ns) / 1000 : 0);
	}
	resolved_free(&resolved);
	free(capture.processes);
	free(capture.stacks.stacks);
	mappings_free(mappings);
	return result;
}

/* Returns OPTIONS_RUN or the exit status. */
static int read_settings(int count, char **arguments, struct settings *ret_settings)
{
	const char *modules = "60000", *frames = "1", *deadline = "3600000";
	const struct option_spec options[] = {
		{ "directory", "DIR", "an empty directory, for the modules' files",
		  &ret_settings->directory },
		{ "modules", "N", "modules (60000)", &modules },
		{ "frames", "N", "frames of each module (1)", &frames },
		{ "deadline-ms", "N", "when naming has to end, 0: before it begins (3600000)", &deadline },
	};
	const struct command_spec command = {
		"naming",
		"--directory DIR [OPTION...]",
		"Names a capture of many modules and prints how long that took.",
		"naming --directory /var/tmp/naming --modules 7500",
		options,
		ARRAY_SIZE(options)
	};
	int words, parsed;

	ret_settings->directory = NULL;
	parsed = options_parse(&command, count, arguments, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (words || !ret_settings->directory ||
	    options_number(modules, 1, MODULES_MOST, &ret_settings->modules) ||
	    options_number(frames, 1, FRAMES_MOST, &ret_settings->frames) ||
	    options_number(deadline, 0, NO_DEADLINE, &ret_settings->deadline_ms)) {
		log_error(
			"expected a directory, at most %u modules of at most %u frames, and at most an hour",
			MODULES_MOST, FRAMES_MOST);
		return EXIT_USAGE;
	}
	return OPTIONS_RUN;
}

int main(int argc, char **argv)
{
	struct settings settings;
	struct known_files *known;
	struct files files = { 0 };
	int parsed, error;

	log_init("naming");
	parsed = read_settings(argc, argv, &settings);
	if (parsed != OPTIONS_RUN)
		return parsed;
	known = known_files_new();
	error = known ? make_files(settings.directory, (uint32_t)settings.modules, known, &files) : -ENOMEM;
	if (!error)
		error = name_capture(&settings, known, &files);
	free_files(&files);
	known_files_free(known);
	if (error)
		log_error("cannot name the capture: %s", strerror(-error));
	return error ? EXIT_FAILED : EXIT_DONE;
}

/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbols/process_runtime.h"

#include "common/base/cleanup.h"
#include "common/symbolizer/runtime_sign.h"
#include "common/text/plural.h"

#include <stdio.h>
#include <string.h>

/* The length of file names in evidence: a path has at most 4,095 bytes. */
#define NAME_BYTES 128

#define NATIVE "native"

/* Names of executables, which a version may follow, as in python3.11. */
static const struct {
	const char *begins, *runtime;
} executable_names[] = {
	{ "python", "python" }, { "java", "jvm" },  { "nodejs", "node" }, { "node", "node" },
	{ "php", "php" },       { "ruby", "ruby" }, { "perl", "perl" },
};

static const char *base_name(const struct mapped_file *file)
{
	const char *slash = strrchr(file->path, '/');

	return slash ? slash + 1 : file->path;
}

/* Returns the runtime that an executable of this name would be, or NULL. */
static const char *runtime_named(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(executable_names); i++) {
		size_t bytes = strlen(executable_names[i].begins);

		if (!strncmp(name, executable_names[i].begins, bytes) &&
		    !name[bytes + strspn(name + bytes, "0123456789.")])
			return executable_names[i].runtime;
	}
	return NULL;
}

/* What a process maps, in the order of addresses. */
struct files {
	const struct mapped_file *exe; /* NULL: not known */
	const struct mapped_file *jvm; /* a library that has a whole Java virtual machine, or NULL */
	const struct mapped_file
		*of_exe_name; /* a library of the runtime that the executable's name promises, or NULL */
	uint32_t read;
};

static bool is_whole_jvm(const struct mapped_file *file)
{
	const struct runtime_mark *mark = runtime_mark_of(file->runtime);

	if (file->runtime == RUNTIME_NOT_READ)
		return !strcmp(base_name(file), "libjvm.so");
	return mark && !strcmp(mark->name, "JNI_CreateJavaVM");
}

static const struct mapped_file *executable_of(const struct mapped_process *process)
{
	for (uint32_t i = 0; i < process->count; i++)
		if (process->mappings[i].flags & MAPPING_IS_EXE && process->mappings[i].file)
			return process->mappings[i].file;
	return NULL;
}

static struct files files_of(const struct mapped_process *process)
{
	struct files files = { .exe = executable_of(process) };
	const char *promised = files.exe ? runtime_named(base_name(files.exe)) : NULL;
	const struct mapped_file *before = NULL;

	for (uint32_t i = 0; i < process->count; i++) {
		const struct mapping *mapping = &process->mappings[i];
		const struct mapped_file *file = mapping->file;
		const struct runtime_mark *mark = file ? runtime_mark_of(file->runtime) : NULL;

		if (!file || !mapping_exists(process, mapping))
			continue;
		files.read += file != before &&
			      file->runtime != RUNTIME_NOT_READ; /* a file's mappings adjoin */
		before = file;
		if (!files.jvm && is_whole_jvm(file))
			files.jvm = file;
		if (!files.of_exe_name && promised && mark && !strcmp(mark->runtime, promised))
			files.of_exe_name = file;
	}
	return files;
}

/* ---- evidence ---- */

static void by_content(const struct mapped_file *file, bool is_exe, struct process_runtime *ret_runtime)
{
	const struct runtime_mark *mark = runtime_mark_of(file->runtime);

	ret_runtime->name = mark->runtime;
	snprintf(ret_runtime->evidence, sizeof(ret_runtime->evidence), "%s%.*s%s%s %s", is_exe ? "" : "maps ",
		 NAME_BYTES, base_name(file), is_exe ? "" : ", which",
		 *mark->name == '.'                 ? " has section"
		 : file->runtime & RUNTIME_IMPORTED ? " imports"
						    : " defines",
		 mark->shown);
}

static void by_name(const char *runtime, const char *what, const struct mapped_file *file,
		    struct process_runtime *ret_runtime)
{
	ret_runtime->name = runtime;
	snprintf(ret_runtime->evidence, sizeof(ret_runtime->evidence), "%s %.*s, which was not read", what,
		 NAME_BYTES, base_name(file));
}

/*
 * The executable's content says most, a name least: anyone names a file python3. A library alone makes nobody a runtime
 * (gdb maps libpython), unless the executable's name agrees, or it is libjvm.so: that is loaded only to run Java.
 */
void process_runtime_find(const struct mapped_process *process, struct process_runtime *ret_runtime)
{
	struct files files;
	const char *promised;

	*ret_runtime = (struct process_runtime){ .name = NULL };
	if (!process)
		return;
	files = files_of(process);
	if (files.exe && runtime_mark_of(files.exe->runtime)) {
		by_content(files.exe, true, ret_runtime);
	} else if (files.jvm && files.jvm->runtime != RUNTIME_NOT_READ) {
		by_content(files.jvm, false, ret_runtime);
	} else if (files.of_exe_name) {
		by_content(files.of_exe_name, false, ret_runtime);
	} else if (files.jvm) {
		by_name("jvm", "maps", files.jvm, ret_runtime);
	} else if (files.exe && files.exe->runtime == RUNTIME_NO_SIGN) {
		ret_runtime->name = NATIVE;
		snprintf(ret_runtime->evidence, sizeof(ret_runtime->evidence),
			 "no sign of a runtime in %u %s that it maps", files.read,
			 plural(files.read, "file", "files"));
	} else if (files.exe && (promised = runtime_named(base_name(files.exe)))) {
		by_name(promised, "executes", files.exe, ret_runtime);
	}
}

/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/symbolizer/demangle.h"

#include "common/symbolizer/text.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

/* A name while it is written. */
struct output {
	char *into;
	size_t room, bytes;
	jmp_buf full;
};

/*
 * A mangled name of a few hundred bytes can expand to gigabytes, because each substitution may double the one
 * before. libiberty prints all of it, and its callback cannot stop it, so the callback does not return. The
 * printer keeps its state on the stack; only its allocation for a Punycode identifier leaks, a few hundred
 * bytes.
 */
static void append(const char *text, size_t bytes, void *user)
{
	struct output *output = user;
	size_t left = output->room - output->bytes;

	memcpy(output->into + output->bytes, text, bytes < left ? bytes : left);
	output->bytes += bytes < left ? bytes : left;
	if (bytes > left)
		longjmp(output->full, 1);
}

static bool print(const char *name, struct output *output)
{
	if (setjmp(output->full))
		return true;
	/* Rust first: its legacy mangling is also valid C++, with a hash at the end */
	if (rust_demangle_callback(name, DMGL_PARAMS, append, output))
		return true;
	output->bytes = 0;
	return cplus_demangle_v3_callback(name, DMGL_PARAMS | DMGL_ANSI, append, output);
}

size_t demangle(const char *name, char *into, size_t room)
{
	struct output output = { .into = into, .room = room };
	size_t bytes;

	if (print(name, &output) && output.bytes)
		return output.bytes < room ? output.bytes : text_cut(into, output.bytes);
	bytes = strnlen(name, room + 1);
	if (bytes <= room) {
		const char *version = memchr(name, '@', bytes);

		if (version && version > name)
			bytes = (size_t)(version - name);
		memcpy(into, name, bytes);
		return bytes;
	}
	memcpy(into, name, room);
	return text_cut(into, room);
}

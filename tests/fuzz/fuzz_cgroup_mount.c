/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads any text as a mountinfo file: a mount point that it finds is one of a line of type cgroup2, unescaped. A line
 * of another type before it, whatever its mount point is called, changes nothing.
 */
#include "common/kernel/cgroup.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>

/* As the kernel does (mangle() in fs/proc_namespace.c). */
static void put_escaped(const char *from, char *to)
{
	for (; *from; from++)
		to += strchr(" \t\n\\#", *from) ? sprintf(to, "\\%03o", (unsigned char)*from)
						: sprintf(to, "%c", *from);
	*to = '\0';
}

/* Mounts with this name as mount point: one of another type, then cgroup2 itself. */
static void check_named(const char *name)
{
	size_t room = 8 * strlen(name) + 256;
	char *escaped = malloc(4 * strlen(name) + 1), *text = malloc(room), *path = NULL;

	HOLDS(escaped && text);
	put_escaped(name, escaped);
	snprintf(
		text, room,
		"24 1 0:21 / /%s rw - tmpfs cgroup2 rw\n25 1 0:22 /sub /%s rw - cgroup2 x rw\n26 1 0:22 / /%s rw shared:4 - cgroup2 cgroup2 rw\n",
		"other", "sub", escaped);
	HOLDS(!cgroup_mount_parse(text, &path));
	HOLDS(path[0] == '/' && !strcmp(path + 1, name));
	free(path);
	free(text);
	free(escaped);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *text = copy_text(data, bytes), *path = NULL;
	int result = cgroup_mount_parse(text, &path);

	if (result) {
		HOLDS(result == -ENOENT && !path);
	} else {
		HOLDS(path && strlen(path) <= strlen(text) && strstr(text, " - cgroup2 "));
		free(path);
	}
	check_named(text);
	free(text);
	return 0;
}

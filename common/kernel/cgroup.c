/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/kernel/cgroup.h"

#include "common/base/cleanup.h"
#include "common/system/files.h"

#include <string.h>

/* mountinfo writes blank, tab, newline and backslash as \ooo (octal). */
static void unescape(char *path)
{
	char *to = path;

	for (const char *from = path; *from; to++) {
		if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] >= '0' && from[2] <= '7' &&
		    from[3] >= '0' && from[3] <= '7') {
			*to = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'));
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
}

int cgroup_mount_parse(const char *mountinfo, char **ret_path)
{
	/* id parent major:minor root mount-point options ... - type source super-options */
	for (const char *line = mountinfo; *line;) {
		const char *end = strchrnul(line, '\n');
		_cleanup_free_ char *copy = strndup(line, (size_t)(end - line));
		char *rest = copy, *root = NULL, *point = NULL;
		const char *type;

		if (!copy)
			return -ENOMEM;
		line = *end ? end + 1 : end;
		type = strstr(copy, " - ");
		if (!type || strncmp(type + 3, "cgroup2 ", 8))
			continue;
		/* a form feed, for example, is part of a field: the kernel does not escape it (fs/proc_namespace.c) */
		for (int skipped = 0; skipped < 3; skipped++)
			strsep(&rest, " ");
		root = strsep(&rest, " ");
		point = strsep(&rest, " ");
		if (!point || !*point || strcmp(root, "/"))
			continue; /* a mount of a subtree has another root */
		unescape(point);
		*ret_path = strdup(point);
		return *ret_path ? 0 : -ENOMEM;
	}
	return -ENOENT;
}

int cgroup_mount(char **ret_path)
{
	_cleanup_free_ char *text = NULL;
	size_t bytes;
	int result = file_read_text(AT_FDCWD, "/proc/self/mountinfo", 4 << 20, &text, &bytes);

	return result < 0 ? result : cgroup_mount_parse(text, ret_path);
}

/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/rules/cgroup_parts.h"

#include "common/cleanup.h"

#include <fnmatch.h>
#include <limits.h>
#include <string.h>

static bool ends_with(const char *text, size_t bytes, const char *end)
{
	size_t end_bytes = strlen(end);

	return bytes > end_bytes && !memcmp(text + bytes - end_bytes, end, end_bytes);
}

bool unit_pattern_is_valid(const char *unit, const char **ret_why)
{
	/* the types of units that have processes, or units with processes below them */
	static const char *const types[] = { ".service", ".scope", ".slice", ".socket", ".mount", ".swap" };

	if (strchr(unit, '/')) {
		*ret_why = "a unit has a name, not a path; for a path write cgroup";
		return false;
	}
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (ends_with(unit, strlen(unit), types[i]))
			return true;
	*ret_why = "expected the name of a unit with its type, such as nginx.service or worker@*.service";
	return false;
}

/* Returns the component at `path`, behind a '/', and its length; 0 at the end. */
static size_t component(const char *path)
{
	return strcspn(path, "/");
}

bool cgroup_is_of_unit(const char *cgroup, const char *unit)
{
	char name[NAME_MAX + 1];

	while (*cgroup == '/') {
		size_t bytes = component(++cgroup);
		size_t escape = bytes && *cgroup == '_';

		if (bytes - escape < sizeof(name)) {
			memcpy(name, cgroup + escape, bytes - escape);
			name[bytes - escape] = '\0';
			if (!fnmatch(unit, name, 0))
				return true;
		}
		cgroup += bytes;
	}
	return false;
}

static bool is_slice(const char *name, size_t bytes, bool in_kubepods)
{
	return ends_with(name, bytes, ".slice") || (in_kubepods && bytes > 3 && !memcmp(name, "pod", 3));
}

size_t cgroup_slice_length(const char *cgroup)
{
	const char *at = cgroup;
	size_t length = 0;
	bool in_kubepods = false;

	while (*at == '/') {
		size_t bytes = component(++at);
		size_t end = (size_t)(at - cgroup) + bytes;

		if (!length || is_slice(at, bytes, in_kubepods))
			length = end;
		in_kubepods |= bytes == 8 && !memcmp(at, "kubepods", 8);
		at += bytes;
	}
	return length;
}

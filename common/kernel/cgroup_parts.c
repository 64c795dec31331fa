/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/kernel/cgroup_parts.h"

#include "common/base/cleanup.h"

#include <fnmatch.h>
#include <limits.h>
#include <string.h>

bool cgroup_is_within(const char *path, const char *above)
{
	size_t bytes = strlen(above);

	if (!strcmp(above, "/"))
		return true;
	return !strncmp(path, above, bytes) && (path[bytes] == '\0' || path[bytes] == '/');
}

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

bool cgroup_unit(const char *cgroup, char *into)
{
	const char *slice = NULL, *unit = NULL;
	size_t slice_bytes = 0, unit_bytes = 0;

	/* systemd's own units: slices one in another, and in the innermost a service or a scope */
	while (*cgroup == '/' && !unit) {
		size_t bytes = component(++cgroup);
		size_t escape = bytes && *cgroup == '_';
		const char *name = cgroup + escape;

		if (ends_with(name, bytes - escape, ".slice")) {
			slice = name;
			slice_bytes = bytes - escape;
		} else if (ends_with(name, bytes - escape, ".service") ||
			   ends_with(name, bytes - escape, ".scope")) {
			unit = name;
			unit_bytes = bytes - escape;
		} else {
			break;
		}
		cgroup += bytes;
	}
	if (!unit) {
		unit = slice;
		unit_bytes = slice_bytes;
	}
	if (!unit || unit_bytes > NAME_MAX)
		return false;
	memcpy(into, unit, unit_bytes);
	into[unit_bytes] = '\0';
	return true;
}

#define CONTAINER_DIGITS_LEAST 12U

static bool put_container(const char *name, size_t bytes, bool any, char *into)
{
	if (!bytes || bytes > NAME_MAX ||
	    (!any && (bytes < CONTAINER_DIGITS_LEAST || strspn(name, "0123456789abcdef") < bytes)))
		return false;
	memcpy(into, name, bytes);
	into[bytes] = '\0';
	return true;
}

/* Whether this component names a container. */
static bool container_of(const char *name, size_t bytes, char *into)
{
	static const struct {
		const char *begin, *end;
		bool any; /* any name, not only an id */
	} forms[] = { { "docker-", ".scope", false },   { "cri-containerd-", ".scope", false },
		      { "crio-", ".scope", false },     { "libpod-", ".scope", false },
		      { "machine-", ".scope", true },   { "lxc.payload.", "", true },
		      { "libpod-payload-", "", false }, { "", "", false } };

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		size_t begin = strlen(forms[i].begin), end = strlen(forms[i].end);

		if (bytes > begin + end && !memcmp(name, forms[i].begin, begin) &&
		    !memcmp(name + bytes - end, forms[i].end, end) &&
		    put_container(name + begin, bytes - begin - end, forms[i].any, into))
			return true;
	}
	return false;
}

bool cgroup_container(const char *cgroup, char *into)
{
	while (*cgroup == '/') {
		size_t bytes = component(++cgroup);

		if (container_of(cgroup, bytes, into))
			return true;
		cgroup += bytes;
	}
	return false;
}

/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/kernel/cgroup_path.h"

#include <string.h>

bool cgroup_is_within(const char *path, const char *above)
{
	size_t bytes = strlen(above);

	if (!strcmp(above, "/"))
		return true;
	return !strncmp(path, above, bytes) && (path[bytes] == '\0' || path[bytes] == '/');
}

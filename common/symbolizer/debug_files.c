/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/symbolizer/debug_files.h"

#include "common/base/cleanup.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

static int open_regular(const char *path)
{
	/* opening anything but a regular file could block, or have side effects */
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat at;

	if (fd < 0 || fstat(fd, &at))
		return -errno;
	return S_ISREG(at.st_mode) ? TAKE_FD(fd) : -EINVAL;
}

int debug_file_open_by_id(const char *root, const char *build_id)
{
	char path[PATH_MAX];

	if (strlen(build_id) < 3 || snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s.debug", root, build_id,
					     build_id + 2) >= (int)sizeof(path))
		return -ENOENT;
	return open_regular(path);
}

int debug_file_open_by_link(const char *root, const char *module_path, const char *link,
			    unsigned int candidate)
{
	static const struct {
		bool below_root;
		const char *between;
	} places[] = { { false, "" }, { false, ".debug/" }, { true, "" } };
	const char *slash = strrchr(module_path, '/');
	char path[PATH_MAX];

	if (candidate >= ARRAY_SIZE(places))
		return -ERANGE;
	if (!slash || module_path[0] != '/' || !*link || strchr(link, '/') ||
	    snprintf(path, sizeof(path), "%s%.*s%s%s", places[candidate].below_root ? root : "",
		     (int)(slash + 1 - module_path), module_path, places[candidate].between,
		     link) >= (int)sizeof(path))
		return -ENOENT;
	return open_regular(path);
}

int debug_file_open_alternate(const char *root, const char *path)
{
	size_t bytes = strlen(root);

	if (strncmp(path, root, bytes) || path[bytes] != '/' || strstr(path, "/../"))
		return -ENOENT;
	return open_regular(path);
}

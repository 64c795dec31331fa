/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/policy_file.h"

#include "common/base/cleanup.h"
#include "common/system/files.h"

#include <libgen.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_BYTES_MAX (1UL << 20)

/* NULL, or what is wrong with the opened file. */
static const char *judge(const char *path, int fd)
{
	_cleanup_free_ char *copy = strdup(path);
	struct stat at;

	if (!copy)
		return strerror(ENOMEM);
	if (fstat(fd, &at))
		return strerror(errno);
	if (!S_ISREG(at.st_mode))
		return "it is not a regular file";
	if (!file_is_roots_alone(&at))
		return "it must belong to root, and nobody else may write to it: chown root, chmod go-w";
	if (stat(dirname(copy), &at))
		return strerror(errno);
	if (!file_is_roots_alone(&at))
		return "its directory must belong to root, and nobody else may write to it: chown root, chmod go-w";
	return NULL;
}

int policy_file_read(const char *path, bool must_be, struct policy *ret_policy, struct config_errors *errors)
{
	/* judge the directory that holds the file, not one that a link leads to */
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	const char *wrong = NULL;
	size_t bytes;
	int result;

	if (fd < 0 && errno == ENOENT && !must_be) {
		*ret_policy = policy_default;
		return 0;
	}
	if (fd < 0)
		wrong = errno == ELOOP ? "it is a symbolic link: name the file itself" : strerror(errno);
	else
		wrong = judge(path, fd);
	if (!wrong) {
		result = file_read_all(fd, FILE_BYTES_MAX, &text, &bytes);
		if (result < 0)
			wrong = result == -EFBIG ? "larger than 1 MiB" : strerror(-result);
	}
	if (wrong) {
		config_error(errors, path, 0, "%s", wrong);
		return -EINVAL;
	}
	return policy_parse(path, text, bytes, ret_policy, errors);
}

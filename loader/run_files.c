/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/run_files.h"

#include "common/base/cleanup.h"
#include "common/protocol/pins.h"
#include "common/system/file_replace.h"
#include "common/system/files.h"
#include "common/system/log.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* The manifest is renamed last: its presence says that the directory is bourdon's, and complete. */
static const char *const names[] = { KERNEL_SYMBOLS_FILE, MANIFEST_FILE };

static char *path_of(const char *directory, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", directory, name) < 0 ? NULL : path;
}

bool run_files_manifest(const char *directory, struct manifest *ret_manifest)
{
	_cleanup_(config_errors_free) struct config_errors errors = { 0 };
	_cleanup_free_ char *path = path_of(directory, MANIFEST_FILE);

	return path && !manifest_read(path, ret_manifest, &errors);
}

/* Readers of RUN_DIR/bpf/threads pass through; they can neither list the directory nor open the files in it. */
#define RUN_DIRECTORY_MODE 0751

/* Stores the group of the directory. */
static int make_directory(const struct run_files *files, gid_t *ret_gid)
{
	_cleanup_close_ int fd = -EBADF;
	struct stat at;
	bool made = !mkdir(files->directory, RUN_DIRECTORY_MODE);

	if (!made && errno != EEXIST)
		return -errno;
	fd = open(files->directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &at))
		return -errno;
	if (!file_is_roots_alone(&at))
		return -EPERM;
	if (made && fchown(fd, 0, files->gid))
		return -errno;
	if ((made || !faccessat(fd, MANIFEST_FILE, F_OK, 0)) && fchmod(fd, RUN_DIRECTORY_MODE))
		return -errno;
	*ret_gid = made || !at.st_gid ? files->gid : at.st_gid;
	return 0;
}

static int prepare(const struct run_files *files, gid_t gid, const char *name, const char *text, size_t bytes)
{
	_cleanup_free_ char *path = path_of(files->directory, name);

	return path ? file_prepare(path, text, bytes, 0640, 0, gid) : -ENOMEM;
}

int run_files_prepare(const struct run_files *files, const struct manifest *manifest)
{
	_cleanup_free_ char *text = NULL;
	gid_t gid = files->gid;
	int result = make_directory(files, &gid);

	if (!result)
		result = manifest_format(manifest, &text);
	if (result == -EINVAL)
		return log_failed(
			result,
			"cannot write a manifest of the pin directory '%s': choose one without control characters, comments, and blanks around it",
			manifest->pin_dir);
	if (!result)
		result = prepare(files, gid, MANIFEST_FILE, text, strlen(text));
	if (!result)
		result = prepare(files, gid, KERNEL_SYMBOLS_FILE, files->symbols, files->symbols_bytes);
	if (!result)
		return 0;
	log_error("cannot write to the run directory %s: %s", files->directory,
		  result == -EPERM ? "it must belong to root, and nobody else may write to it"
				   : strerror(-result));
	run_files_abandon(files);
	return result;
}

int run_files_commit(const struct run_files *files)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_free_ char *path = path_of(files->directory, names[i]);
		int result = path ? file_commit(path) : -ENOMEM;

		if (!result)
			continue;
		return log_failed(result, "cannot replace %s/%s: %s", files->directory, names[i],
				  strerror(-result));
	}
	return 0;
}

void run_files_abandon(const struct run_files *files)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_free_ char *path = path_of(files->directory, names[i]);

		if (path)
			file_abandon(path);
	}
}

int run_files_remove(const char *directory)
{
	bool ours = false;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_free_ char *path = path_of(directory, names[i]);

		if (!path)
			return -ENOMEM;
		file_abandon(path);
		ours = !unlink(path);
		if (!ours && errno != ENOENT && errno != ENOTDIR)
			return -errno;
	}
	/* other files, or a service manager, keep the directory */
	if (ours && rmdir(directory) && errno != ENOTEMPTY && errno != EBUSY)
		return -errno;
	return 0;
}

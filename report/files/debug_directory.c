/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/files/debug_directory.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/symbolizer/debug_files.h"

#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <string.h>

#define FILES_MAX 200000U

struct file_by_id {
	char build_id[BUILD_ID_TEXT_BYTES];
	char *path;
};

static bool is_elf(int fd)
{
	char magic[4];

	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	       !memcmp(magic, "\177ELF", sizeof(magic));
}

static void add_file(struct debug_directory *directory, const char *path, build_id_of ask, void *user)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct file_by_id file;

	if (fd < 0 || !is_elf(fd) || !ask(user, fd, file.build_id) || directory->count == FILES_MAX ||
	    array_make_room(directory->files, directory->count, directory->room, 1U))
		return;
	file.path = strdup(path);
	if (file.path)
		directory->files[directory->count++] = file;
}

static void scan(struct debug_directory *directory, build_id_of ask, void *user)
{
	char root[PATH_MAX], *roots[] = { root, NULL };
	FTSENT *entry;
	FTS *tree;

	directory->scanned = true;
	if (snprintf(root, sizeof(root), "%s", directory->root) >= (int)sizeof(root))
		return;
	tree = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
	while (tree && (entry = fts_read(tree)))
		if (entry->fts_info == FTS_F)
			add_file(directory, entry->fts_path, ask, user);
	if (tree)
		fts_close(tree);
}

uint32_t debug_directory_open(struct debug_directory *directory, const char *build_id, build_id_of ask,
			      void *user, int *ret_fds, uint32_t most)
{
	int fd = debug_file_open_by_id(directory->root, build_id);
	uint32_t count = 0;

	if (fd >= 0 && count < most)
		ret_fds[count++] = fd;
	if (!directory->scanned)
		scan(directory, ask, user);
	for (uint32_t i = 0; i < directory->count && count < most; i++) {
		if (strcmp(directory->files[i].build_id, build_id) != 0)
			continue;
		fd = open(directory->files[i].path,
			  O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
		if (fd >= 0)
			ret_fds[count++] = fd;
	}
	return count;
}

void debug_directory_free(struct debug_directory *directory)
{
	for (uint32_t i = 0; i < directory->count; i++)
		free(directory->files[i].path);
	free(directory->files);
}

/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/sql/sql_files.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

/* Has the flags and the arguments of SQLite's own. */
static int open_file(const char *path, int flags, int mode)
{
	int fd = open(path, flags | O_NONBLOCK | O_NOCTTY, mode);
	struct stat at;

	if (fd < 0 || fstat(fd, &at) || !S_ISFIFO(at.st_mode))
		return fd;
	close(fd);
	errno = SQL_FILES_IS_FIFO;
	return -1;
}

void sql_files_never_wait(void)
{
	sqlite3_vfs *files = sqlite3_vfs_find(NULL);

	if (files && files->iVersion >= 3)
		files->xSetSystemCall(files, "open", (sqlite3_syscall_ptr)open_file);
}

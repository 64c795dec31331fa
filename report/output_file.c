/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/output_file.h"

#include "common/log.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define BUFFER_BYTES (256UL << 10)

/* Logs why the file cannot be written. Returns -error. */
static int refuse(const char *path, int error)
{
	log_error("cannot write '%s': %s; %s", path, strerror(error),
		  error == EACCES || error == EPERM || error == EROFS
			  ? "name a file in a directory that you may write to, such as /var/tmp"
		  : error == ENOSPC || error == EDQUOT ? "make room, or name a file on another file system"
						       : "name another file");
	return -error;
}

int output_file_make(struct output_file *output, const char *path)
{
	_cleanup_close_ int fd = -EBADF;
	struct stat at;

	*output = (struct output_file){ .path = path };
	if (stat(path, &at) || S_ISREG(at.st_mode)) {
		if (asprintf(&output->unfinished, "%s.unfinished-%d", path, getpid()) < 0) {
			output->unfinished = NULL;
			return refuse(path, ENOMEM);
		}
		fd = open(output->unfinished, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	} else {
		fd = open(path, O_WRONLY | O_CLOEXEC);
	}
	if (fd < 0) {
		int error = errno;

		free(output->unfinished);
		output->unfinished = NULL; /* another process's */
		return refuse(path, error);
	}
	output->file = fdopen(fd, "w");
	if (!output->file)
		return refuse(path, errno);
	TAKE_FD(fd);
	setvbuf(output->file, NULL, _IOFBF, BUFFER_BYTES);
	return 0;
}

int output_file_finish(struct output_file *output)
{
	bool failed = fflush(output->file) || ferror(output->file);
	int error = errno;

	if (!failed && output->unfinished && fsync(fileno(output->file)) && errno != EINVAL) {
		failed = true;
		error = errno;
	}
	if (failed)
		return refuse(output->path, error);
	if (output->unfinished && rename(output->unfinished, output->path))
		return refuse(output->path, errno);
	free(output->unfinished);
	output->unfinished = NULL;
	return 0;
}

void output_file_end(struct output_file *output)
{
	if (output->file)
		fclose(output->file);
	if (output->unfinished)
		unlink(output->unfinished);
	free(output->unfinished);
	*output = (struct output_file){ 0 };
}

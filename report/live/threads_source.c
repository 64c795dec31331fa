/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/live/threads_source.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/protocol/manifest.h"
#include "common/protocol/pins.h"
#include "common/system/files.h"
#include "common/system/log.h"
#include "report/live/threads_ticks.h"
#include "report/model/owner.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define TEXT_BYTES_MAX (256UL << 20) /* some two million threads */

static const char *remedy(int error)
{
	return error == EACCES ? "become a member of the group " READERS_GROUP
			       : "'bourdon-load --status' shows what is loaded";
}

/* Opens the pin for reading, to see whether that is possible, and holds it. Returns the descriptor or -errno. */
static int hold(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat at;
	int held;

	if (fd < 0 || fstat(fd, &at))
		return -errno;
	if (!S_ISREG(at.st_mode)) /* a FIFO */
		return -EINVAL;
	held = open(path, O_PATH | O_CLOEXEC);
	return held < 0 ? -errno : held;
}

/* Holds the pin `stacks` beside that of `threads`. Returns the descriptor or -errno. */
static int hold_stacks(const char *path)
{
	_cleanup_free_ char *stacks = NULL;
	const char *slash = strrchr(path, '/');

	if (asprintf(&stacks, "%.*s/%s", (int)(slash - path), path, pin_iterators[PIN_STACKS]) < 0) {
		stacks = NULL;
		return -ENOMEM;
	}
	return hold(stacks);
}

/* The path of the pin beside all others; the caller frees it. NULL if the manifest cannot be read. */
static char *path_of_pins(const char *run_dir)
{
	_cleanup_(config_errors_free) struct config_errors errors = { 0 };
	_cleanup_free_ char *path = NULL;
	struct manifest manifest;
	char *pin;

	if (asprintf(&path, "%s/" MANIFEST_FILE, run_dir) < 0) {
		path = NULL;
		return NULL;
	}
	if (access(path, R_OK) || manifest_read(path, &manifest, &errors))
		return NULL;
	return asprintf(&pin, "%s/%s", manifest.pin_dir, pin_iterators[PIN_THREADS]) < 0 ? NULL : pin;
}

/* Root needs no right but to read this pin. */
static int drop_privileges(const struct threads_source *source)
{
	struct stat at;

	if (geteuid())
		return 0;
	if (fstat(source->held, &at))
		return -errno;
	return owner_become(OWNER_NOBODY, at.st_gid);
}

int threads_source_open(const char *run_dir, struct threads_source *ret_source)
{
	_cleanup_threads_source_ struct threads_source source = THREADS_SOURCE_NONE;
	_cleanup_free_ char *other = path_of_pins(run_dir);
	int result;

	if (asprintf(&source.path, "%s/" READERS_DIRECTORY "/%s", run_dir, pin_iterators[PIN_THREADS]) < 0) {
		source.path = NULL;
		return -ENOMEM;
	}
	source.held = hold(source.path);
	if (source.held == -ENOENT && other) {
		source.held = hold(other);
		if (source.held >= 0) {
			free(source.path);
			source.path = TAKE_PTR(other);
		}
	}
	if (source.held < 0)
		return log_failed(source.held, "cannot read %s: %s; %s", source.path, strerror(-source.held),
				  remedy(-source.held));
	source.stacks = hold_stacks(source.path);
	result = drop_privileges(&source);
	if (result < 0)
		return result;
	*ret_source = source;
	source = (struct threads_source)THREADS_SOURCE_NONE;
	return 0;
}

static int read_held(int held, char **ret_text, size_t *ret_bytes)
{
	_cleanup_close_ int fd = -EBADF;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", held);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : file_read_all(fd, TEXT_BYTES_MAX, ret_text, ret_bytes);
}

/* An iterator without any line belongs to a load that another one has replaced. */
static int read_newest(struct threads_source *source, char **ret_text, size_t *ret_bytes)
{
	int result = read_held(source->held, ret_text, ret_bytes), held;

	if (result < 0 || *ret_bytes)
		return result;
	free(TAKE_PTR(*ret_text));
	held = hold(source->path);
	if (held < 0)
		return -ENODATA; /* there is none, or it is where only root could look */
	close(source->held);
	source->held = held;
	if (source->stacks >= 0)
		close(source->stacks);
	source->stacks = hold_stacks(source->path);
	return read_held(source->held, ret_text, ret_bytes);
}

/* This process looks, so at each look it runs: that says nothing about the machine. */
static void leave_out_self(struct thread_lines *lines)
{
	char self[16];
	uint32_t kept = 0;

	snprintf(self, sizeof(self), "%d", getpid());
	for (uint32_t i = 0; i < lines->count; i++)
		if (strcmp(lines->lines[i].values[THREAD_TGID], self) != 0 ||
		    strcmp(lines->lines[i].values[THREAD_PROCESS], program_invocation_short_name) != 0)
			lines->lines[kept++] = lines->lines[i];
	lines->count = kept;
}

static int look(struct threads_source *source, struct thread_lines *ret_lines)
{
	char *text = NULL;
	size_t bytes = 0;
	int result = read_newest(source, &text, &bytes);

	if (!result)
		result = threads_text_read(text, bytes, ret_lines);
	if (!result)
		leave_out_self(ret_lines);
	return result;
}

static int take_look(void *user, struct thread_lines *ret_lines)
{
	struct threads_source *source = user;
	int result = threads_ticks_take(source->ticks);

	if (result <= 0)
		return result;
	result = look(source, ret_lines);
	if (result < 0)
		return result;
	ret_lines->at_ns = clock_wall_ns();
	source->looks = source->looks + 1 == source->hz ? 0 : source->looks + 1;
	ret_lines->ends_second = !source->looks;
	return 1;
}

static void explain_failure(void *user, int error)
{
	const struct threads_source *source = user;

	if (error == -ENODATA)
		log_error(
			"%s has no lines: what was loaded is not any more; start again, or load with 'bourdon-load'",
			source->path);
	else if (error == -EPROTO)
		log_error("%s has other columns: it was loaded by another version", source->path);
	else
		log_error("cannot read %s: %s; %s", source->path, strerror(-error), remedy(-error));
}

static char *find_stack(void *user, const char *tid)
{
	const struct threads_source *source = user;
	_cleanup_free_ char *text = NULL;
	size_t bytes, tid_bytes = strlen(tid);
	char *at;

	if (source->stacks < 0 || read_held(source->stacks, &text, &bytes))
		return NULL;
	at = text;
	for (char *line; (line = strsep(&at, "\n"));)
		if (!strncmp(line, tid, tid_bytes) && line[tid_bytes] == '\t')
			return strdup(line + tid_bytes + 1);
	return NULL;
}

int threads_source_begin(struct threads_source *source, unsigned int hz, struct look_source *ret_looks)
{
	source->hz = hz;
	source->ticks = threads_ticks_begin(hz);
	if (source->ticks < 0)
		return source->ticks;
	*ret_looks = (struct look_source){ source->ticks, take_look, find_stack, explain_failure, source };
	return 0;
}

void threads_source_close(struct threads_source *source)
{
	free(source->path);
	if (source->held >= 0)
		close(source->held);
	if (source->stacks >= 0)
		close(source->stacks);
	if (source->ticks >= 0)
		close(source->ticks);
	*source = (struct threads_source)THREADS_SOURCE_NONE;
}

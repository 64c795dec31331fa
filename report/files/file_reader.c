/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/files/file_reader.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/symbolizer/spawner.h"
#include "common/symbolizer/symbolizer.h"
#include "common/system/log.h"
#include "common/system/pass_fd.h"
#include "report/model/owner.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_NS (60 * CLOCK_SECOND_NS)

void file_reader_end(struct file_reader *reader)
{
	if (reader->symbolizer >= 0)
		close(TAKE_FD(reader->symbolizer));
}

void file_reader_close(struct file_reader *reader)
{
	file_reader_end(reader);
	cleanup_close(&reader->spawner);
}

static uint64_t deadline(void)
{
	return clock_monotonic_ns() + ANSWER_NS;
}

/* Root remains root for a database that only root could have written. The symbolizer never runs as root. */
static int start_spawner_as_nobody(int *ret_spawner)
{
	int pair[2], result;
	char byte;
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return log_failed(-errno, "cannot make a socket: %s", strerror(errno));
	child = fork();
	if (!child)
		_exit(owner_become(OWNER_NOBODY, OWNER_NOBODY) || spawner_start(ret_spawner) ||
				      pass_fd_send(pair[1], "s", 1, *ret_spawner)
			      ? EXIT_FAILED
			      : EXIT_DONE);
	close(pair[1]);
	result = child < 0 ? -errno : 0;
	if (result < 0)
		log_error("cannot fork: %s", strerror(-result));
	else if (pass_fd_receive(pair[0], &byte, 1, ret_spawner) != 1 || *ret_spawner < 0)
		result = -ECHILD; /* the child has logged why */
	close(pair[0]);
	if (child > 0)
		waitpid(child, NULL, 0);
	return result;
}

int file_reader_start(struct file_reader *reader)
{
	return geteuid() ? spawner_start(&reader->spawner) : start_spawner_as_nobody(&reader->spawner);
}

/* Starts a symbolizer. Returns 0; or -errno, and the reason was logged. */
static int need_symbolizer(struct file_reader *reader)
{
	if (reader->symbolizer < 0)
		reader->symbolizer = spawner_request(reader->spawner, SYMBOLIZER_SOON, deadline());
	if (reader->symbolizer >= 0)
		return 0;
	return log_failed(reader->symbolizer, "cannot start the symbolizer: %s",
			  strerror(-reader->symbolizer));
}

/* Returns false if the file cannot be read, or the symbolizer died reading it. */
static bool open_module(struct file_reader *reader, int fd, struct symbolize_module *ret_module)
{
	if (need_symbolizer(reader) < 0)
		return false;
	if (symbolizer_open_module(reader->symbolizer, fd, deadline(), ret_module) < 0) {
		file_reader_end(reader);
		return false;
	}
	return ret_module->readable;
}

bool file_reader_build_id(void *user, int fd, char build_id[BUILD_ID_TEXT_BYTES])
{
	struct file_reader *reader = user;
	bool is_fresh = reader->symbolizer < 0;
	struct symbolize_module module = { 0 };
	bool opened = open_module(reader, fd, &module);

	if (!opened && reader->symbolizer < 0 && !is_fresh)
		opened = open_module(reader, fd, &module);
	if (!opened || !module.build_id_bytes)
		return false;
	hexadecimal_write(module.build_id, module.build_id_bytes, build_id);
	return true;
}

bool file_reader_choose(struct file_reader *reader, const char *wanted, const int *fds, uint32_t count,
			bool *ret_by_address)
{
	char build_id[BUILD_ID_TEXT_BYTES];
	struct symbolize_module answer;
	uint32_t best = count;

	/* The program itself, if it is there: only its program headers say which address an offset has. */
	for (uint32_t i = 0; i < count; i++) {
		if (!open_module(reader, fds[i], &answer))
			continue;
		hexadecimal_write(answer.build_id, answer.build_id_bytes, build_id);
		if (strcmp(build_id, wanted) != 0)
			continue;
		if (best == count || answer.has_bias)
			best = i;
		if (answer.has_bias)
			break;
	}
	if (best == count || !open_module(reader, fds[best], &answer))
		return false;
	*ret_by_address = !answer.has_bias;
	for (uint32_t i = 0; i < count && answer.lacks & SYMBOLIZE_LACKS_DEBUG; i++)
		if (i != best && symbolizer_add_file(reader->symbolizer, fds[i], deadline(), &answer) < 0) {
			file_reader_end(reader);
			return false;
		}
	return true;
}

int file_reader_name(struct file_reader *reader, const struct symbolize_request *request,
		     struct symbolize_reply *ret_reply)
{
	int result = symbolizer_name(reader->symbolizer, -1, request, deadline(), ret_reply);

	if (!result && !ret_reply->count)
		result = -EBADMSG;
	if (result < 0)
		file_reader_end(reader);
	return result;
}

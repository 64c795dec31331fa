/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/symbolizer/symbolizer.h"

#include "common/base/cleanup.h"
#include "common/confine/seccomp.h"
#include "common/symbolizer/elf_module.h"
#include "common/symbolizer/perf_map.h"
#include "common/symbolizer/table_stream.h"
#include "common/symbolizer/text.h"
#include "common/system/log.h"
#include "common/system/pass_fd.h"
#include "policy/symbolizer.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>

#define ADDRESS_SPACE_MAX (2UL << 30) /* files are mapped whole */
/* Compressed sections may expand a thousandfold. Two symbolizers fit into bourdond's MemoryMax=. */
#define MEMORY_BYTES_MAX (192UL << 20)
#define CPU_SECONDS_MAX 10UL

#define SYMBOLIZER_FD 3 /* its socket: symbolizer.seccomp has the number */

/* ---- the symbolizer's side ---- */

static bool is_request(const struct symbolize_request *request, size_t bytes, bool has_fd)
{
	if (bytes < SYMBOLIZE_REQUEST_BYTES(0) || request->count > SYMBOLIZE_BATCH ||
	    bytes != SYMBOLIZE_REQUEST_BYTES(request->count))
		return false;
	switch (request->kind) {
	case SYMBOLIZE_NAMES:
	case SYMBOLIZE_ADDRESSES:
		return request->count && !has_fd;
	case SYMBOLIZE_PERF_MAP:
		return request->count && has_fd;
	case SYMBOLIZE_TABLE:
	case SYMBOLIZE_MODULE:
	case SYMBOLIZE_DEBUG_FILE:
		return !request->count && has_fd;
	default:
		return false;
	}
}

static size_t answer_names(struct elf_module *module, const struct symbolize_request *request,
			   struct symbolize_reply *ret_reply)
{
	if (module)
		return elf_module_name(module, request, ret_reply);
	memset(ret_reply, 0, offsetof(struct symbolize_reply, frames));
	return offsetof(struct symbolize_reply, text);
}

ssize_t symbolizer_answer(struct symbolizer *symbolizer, const struct symbolize_request *request,
			  size_t bytes, int fd, union symbolizer_answer *ret_answer)
{
	_cleanup_close_ int file = fd;

	if (!is_request(request, bytes, fd >= 0) || request->kind == SYMBOLIZE_TABLE)
		return -EBADMSG;
	switch (request->kind) {
	case SYMBOLIZE_NAMES:
	case SYMBOLIZE_ADDRESSES:
		return (ssize_t)answer_names(symbolizer->module, request, &ret_answer->names);
	case SYMBOLIZE_PERF_MAP:
		return (ssize_t)perf_map_name(file, request, &ret_answer->names);
	case SYMBOLIZE_MODULE:
		elf_module_close(symbolizer->module);
		symbolizer->module = elf_module_open(TAKE_FD(file));
		break;
	default:
		if (symbolizer->module)
			elf_module_add_file(symbolizer->module, TAKE_FD(file));
		break;
	}
	elf_module_describe(symbolizer->module, &ret_answer->module);
	return sizeof(ret_answer->module);
}

void symbolizer_free(struct symbolizer *symbolizer)
{
	elf_module_close(TAKE_PTR(symbolizer->module));
}

/* Keeps no descriptor but its socket: the standard ones are the daemon's log. */
static int confine(int socket)
{
	const struct rlimit address_space = { ADDRESS_SPACE_MAX, ADDRESS_SPACE_MAX };
	const struct rlimit memory = { MEMORY_BYTES_MAX, MEMORY_BYTES_MAX };
	const struct rlimit cpu = { CPU_SECONDS_MAX, CPU_SECONDS_MAX };
	const struct rlimit nothing = { 0, 0 };
	int result;

	if (setrlimit(RLIMIT_AS, &address_space) || setrlimit(RLIMIT_DATA, &memory) ||
	    setrlimit(RLIMIT_CPU, &cpu) || setrlimit(RLIMIT_CORE, &nothing))
		return -errno;
	if (socket != SYMBOLIZER_FD && (dup3(socket, SYMBOLIZER_FD, O_CLOEXEC) < 0 || close(socket)))
		return -errno;
	result = seccomp_install(&symbolizer_policy, false);
	for (int fd = STDIN_FILENO; !result && fd <= STDERR_FILENO; fd++)
		close(fd);
	return result;
}

void symbolizer_run(int socket)
{
	static union symbolizer_answer
		answer; /* static, because it is too large for the stack; one request is served at a time */
	struct symbolizer symbolizer = { .module = NULL };
	struct symbolize_request request;
	int result = confine(socket);

	if (result < 0) {
		log_error("cannot confine the symbolizer: %s", strerror(-result));
		_exit(EXIT_FAILED);
	}
	for (;;) {
		int fd = -EBADF;
		ssize_t got = pass_fd_receive(SYMBOLIZER_FD, &request, sizeof(request), &fd), bytes;

		if (got <= 0)
			_exit(got == 0 ? EXIT_DONE : EXIT_FAILED);
		if (is_request(&request, (size_t)got, fd >= 0) && request.kind == SYMBOLIZE_TABLE) {
			_cleanup_close_ int file = fd;

			if (table_send(SYMBOLIZER_FD, file))
				_exit(EXIT_FAILED);
			continue;
		}
		bytes = symbolizer_answer(&symbolizer, &request, (size_t)got, fd, &answer);
		if (bytes < 0 || pass_fd_send(SYMBOLIZER_FD, &answer, (size_t)bytes, -1))
			_exit(EXIT_FAILED);
	}
}

/* ---- the consumer's side ---- */

/* True if these bytes lie within the text and contain no control character. */
static bool is_text(const struct symbolize_reply *reply, size_t text_bytes, uint32_t at, uint32_t bytes)
{
	if (bytes > SYMBOLIZE_NAME_BYTES || at > text_bytes || bytes > text_bytes - at)
		return false;
	for (uint32_t i = 0; i < bytes; i++)
		if (text_is_control(reply->text[at + i]))
			return false;
	return true;
}

static bool is_frame(const struct symbolize_reply *reply, size_t text_bytes, uint32_t position,
		     uint32_t before, bool is_alone)
{
	const struct symbolize_frame *frame = &reply->frames[position];

	return is_text(reply, text_bytes, frame->name, frame->name_bytes) &&
	       is_text(reply, text_bytes, frame->file, frame->file_bytes) &&
	       (frame->name_bytes ? frame->function_offset >= before : is_alone) &&
	       frame->line <= INT32_MAX && frame->function_offset <= INT64_MAX;
}

static bool is_span(const struct symbolize_reply *reply, uint32_t position, uint64_t offset)
{
	uint32_t before = reply->before[position], after = reply->after[position];

	return before <= SYMBOLIZE_SPAN_MAX && after <= SYMBOLIZE_SPAN_MAX && before <= offset &&
	       (after || !before);
}

bool symbolizer_reply_is_valid(const struct symbolize_reply *reply, size_t bytes,
			       const struct symbolize_request *request)
{
	uint32_t position = 0;

	if (bytes < offsetof(struct symbolize_reply, text) || bytes > sizeof(*reply) ||
	    reply->count > request->count || reply->frames_count > SYMBOLIZE_FRAMES_MAX)
		return false;
	for (uint32_t i = 0; i < reply->count; i++) {
		uint32_t depth = reply->depths[i];

		if (!depth || depth > SYMBOLIZE_DEPTH || depth > reply->frames_count - position ||
		    !is_span(reply, i, request->offsets[i]))
			return false;
		for (uint32_t j = 0; j < depth; j++, position++)
			if (!is_frame(reply, bytes - offsetof(struct symbolize_reply, text), position,
				      reply->before[i], depth == 1))
				return false;
	}
	return position == reply->frames_count;
}

bool symbolizer_module_is_valid(const struct symbolize_module *module, size_t bytes)
{
	return bytes == sizeof(*module) && module->build_id_bytes <= sizeof(module->build_id) &&
	       module->alternate_id_bytes <= sizeof(module->alternate_id) && module->has_bias <= 1 &&
	       memchr(module->debuglink, '\0', sizeof(module->debuglink)) &&
	       memchr(module->alternate, '\0', sizeof(module->alternate));
}

/* Returns the size of the answer in bytes, or -errno. */
static ssize_t ask(int socket, const struct symbolize_request *request, int fd, uint64_t deadline_ns,
		   void *ret_answer, size_t room)
{
	_cleanup_close_ int unexpected = -EBADF;
	ssize_t got;
	/* does not block if a broken symbolizer answers without reading */
	int result = pass_fd_send_now(socket, request, SYMBOLIZE_REQUEST_BYTES(request->count), fd);

	if (!result)
		result = pass_fd_wait(socket, deadline_ns);
	if (result < 0)
		return result;
	got = pass_fd_receive(socket, ret_answer, room, &unexpected);
	return got ? got : -EPIPE;
}

static int ask_module(int socket, uint32_t kind, int fd, uint64_t deadline_ns,
		      struct symbolize_module *ret_module)
{
	const struct symbolize_request request = { .kind = kind };
	ssize_t got = ask(socket, &request, fd, deadline_ns, ret_module, sizeof(*ret_module));

	if (got < 0)
		return (int)got;
	return symbolizer_module_is_valid(ret_module, (size_t)got) ? 0 : -EBADMSG;
}

int symbolizer_open_module(int socket, int elf_fd, uint64_t deadline_ns, struct symbolize_module *ret_module)
{
	return ask_module(socket, SYMBOLIZE_MODULE, elf_fd, deadline_ns, ret_module);
}

int symbolizer_add_file(int socket, int debug_fd, uint64_t deadline_ns, struct symbolize_module *ret_module)
{
	return ask_module(socket, SYMBOLIZE_DEBUG_FILE, debug_fd, deadline_ns, ret_module);
}

int symbolizer_name(int socket, int perf_map_fd, const struct symbolize_request *request,
		    uint64_t deadline_ns, struct symbolize_reply *ret_reply)
{
	ssize_t got = ask(socket, request, perf_map_fd, deadline_ns, ret_reply, sizeof(*ret_reply));

	if (got < 0)
		return (int)got;
	return symbolizer_reply_is_valid(ret_reply, (size_t)got, request) ? 0 : -EBADMSG;
}

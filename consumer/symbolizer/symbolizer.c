/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbolizer/symbolizer.h"

#include "common/cleanup.h"
#include "common/log.h"
#include "common/pass_fd.h"
#include "common/seccomp.h"
#include "consumer/symbolizer/elf_symbols.h"
#include "consumer/symbolizer/table_stream.h"
#include "policy/symbolizer.h"

#include <string.h>
#include <sys/resource.h>

#define MEMORY_BYTES_MAX (2UL << 30) /* address space: files are mapped whole */
#define CPU_SECONDS_MAX 10UL

static bool is_request(const struct symbolize_request *request, size_t bytes)
{
	if (bytes < SYMBOLIZE_REQUEST_BYTES(0) || request->count > SYMBOLIZE_BATCH ||
	    bytes != SYMBOLIZE_REQUEST_BYTES(request->count))
		return false;
	return request->kind == SYMBOLIZE_TABLE ? !request->count
						: request->kind == SYMBOLIZE_NAMES && request->count;
}

/* SYMBOLIZER */
static int confine(void)
{
	const struct rlimit memory = { MEMORY_BYTES_MAX, MEMORY_BYTES_MAX };
	const struct rlimit cpu = { CPU_SECONDS_MAX, CPU_SECONDS_MAX };
	const struct rlimit nothing = { 0, 0 };

	if (setrlimit(RLIMIT_AS, &memory) || setrlimit(RLIMIT_CPU, &cpu) || setrlimit(RLIMIT_CORE, &nothing))
		return -errno;
	return seccomp_install(symbolizer_filter, SYMBOLIZER_FILTER_LENGTH, false);
}

void symbolizer_run(int socket)
{
	static struct symbolize_reply reply; /* too large for the stack; one process, one request at a time */
	struct symbolize_request request;
	int result = confine();

	if (result < 0) {
		log_error("cannot confine the symbolizer: %s", strerror(-result));
		_exit(EXIT_FAILED);
	}
	for (;;) {
		_cleanup_close_ int elf = -EBADF;
		ssize_t got = pass_fd_receive(socket, &request, sizeof(request), &elf);

		if (got <= 0 || elf < 0 || !is_request(&request, (size_t)got))
			_exit(got == 0 ? EXIT_DONE : EXIT_FAILED);
		if (request.kind == SYMBOLIZE_TABLE
			    ? table_send(socket, elf)
			    : pass_fd_send(socket, &reply, elf_symbols_answer(elf, &request, &reply), -1))
			_exit(EXIT_FAILED);
	}
}

bool symbolizer_reply_is_valid(const struct symbolize_reply *reply, size_t bytes,
			       const struct symbolize_request *request)
{
	size_t names;

	if (bytes < offsetof(struct symbolize_reply, names) || bytes > sizeof(*reply))
		return false;
	names = bytes - offsetof(struct symbolize_reply, names);
	if ((reply->count && reply->count != request->count) ||
	    reply->build_id_bytes > SYMBOLIZE_BUILD_ID_BYTES)
		return false;
	for (uint32_t i = 0; i < reply->count; i++) {
		const struct symbolize_name *symbol = &reply->symbols[i];

		if (symbol->bytes > SYMBOLIZE_NAME_BYTES || symbol->at > names ||
		    symbol->bytes > names - symbol->at || symbol->function_offset > INT64_MAX ||
		    memchr(reply->names + symbol->at, 0, symbol->bytes))
			return false;
	}
	return true;
}

int symbolizer_ask(int socket, int elf_fd, const struct symbolize_request *request, uint64_t deadline_ns,
		   struct symbolize_reply *ret_reply)
{
	_cleanup_close_ int unexpected = -EBADF;
	ssize_t got;
	int result = pass_fd_send(socket, request, SYMBOLIZE_REQUEST_BYTES(request->count), elf_fd);

	if (result < 0)
		return result;
	result = pass_fd_wait(socket, deadline_ns);
	if (result < 0)
		return result;
	got = pass_fd_receive(socket, ret_reply, sizeof(*ret_reply), &unexpected);
	if (got <= 0)
		return got ? (int)got : -EPIPE;
	return symbolizer_reply_is_valid(ret_reply, (size_t)got, request) ? 0 : -EBADMSG;
}

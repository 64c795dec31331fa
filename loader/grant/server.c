/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/grant/server.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/protocol/grant_counters.h"
#include "common/protocol/grant_request.h"
#include "common/system/log.h"
#include "common/system/pass_fd.h"
#include "loader/grant/pressure_files.h"
#include "loader/grant/target_files.h"

#include <cap-ng.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>

/* ---- the peer and its request ---- */

static int check_peer(int socket, uid_t uid, struct ucred *ret_peer)
{
	socklen_t bytes = sizeof(*ret_peer);

	if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, ret_peer, &bytes))
		return -errno;
	return ret_peer->uid == uid || !ret_peer->uid ? 0 : -EACCES;
}

static int receive_request(int socket, uint64_t patience_ns, struct grant_request *ret_request)
{
	uint64_t deadline_ns = clock_monotonic_ns() + patience_ns;
	char text[GRANT_REQUEST_BYTES_MAX + 1];
	size_t used = 0;

	for (;;) {
		int passed = -EBADF, result = pass_fd_wait(socket, deadline_ns);
		ssize_t got;

		if (result < 0)
			return result;
		got = pass_fd_receive(socket, text + used, sizeof(text) - used, &passed);
		if (passed >= 0) {
			close(passed);
			return -EINVAL; /* the consumer passes no descriptors */
		}
		if (got < 0)
			return (int)got;
		if (!got)
			return -EINVAL;
		used += (size_t)got;
		result = grant_request_parse(text, used, ret_request);
		if (result != -EAGAIN)
			return result;
	}
}

/* ---- opening the file ---- */

#define CAPABILITY(name) (1ULL << (name))

static uint64_t capabilities_for(const struct grant_request *request)
{
	switch (request->kind) {
	case GRANT_PRESSURE:
		return CAPABILITY(CAP_DAC_READ_SEARCH) | CAPABILITY(CAP_DAC_OVERRIDE) |
		       (pressure_files_is_privileged(request) ? CAPABILITY(CAP_SYS_RESOURCE) : 0);
	case GRANT_ELF:
		return CAPABILITY(CAP_DAC_READ_SEARCH) | CAPABILITY(CAP_SYS_PTRACE) |
		       CAPABILITY(CAP_CHECKPOINT_RESTORE);
	case GRANT_PERF_MAP:
		return CAPABILITY(CAP_DAC_READ_SEARCH) | CAPABILITY(CAP_SYS_PTRACE);
	case GRANT_KINDS:
		break;
	}
	return 0;
}

/* Gives up all other capabilities for good. A capability that was never there shows when it is needed. */
static int keep_capabilities(uint64_t kept)
{
	if (capng_get_caps_process())
		return -EPERM;
	for (unsigned int i = 0; i <= CAP_LAST_CAP; i++)
		if (!(kept & CAPABILITY(i)) && capng_have_capability(CAPNG_PERMITTED, i) &&
		    capng_update(CAPNG_DROP, CAPNG_EFFECTIVE | CAPNG_PERMITTED | CAPNG_INHERITABLE, i))
			return -EPERM;
	return capng_apply(CAPNG_SELECT_CAPS) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -EPERM : 0;
}

static const char *check_policy(enum grant_kind kind, enum grant_files files)
{
	if (kind == GRANT_PRESSURE || files == GRANT_FILES_ALL)
		return NULL;
	if (files == GRANT_FILES_NONE)
		return GRANT_NO_FILES;
	return kind == GRANT_ELF ? NULL : "root's policy hands out no perf maps";
}

static const char *open_file(const struct grant_request *request, const struct grant_settings *settings,
			     int *ret_fd)
{
	const char *refusal = check_policy(request->kind, settings->files);

	if (refusal)
		return refusal;
	if (keep_capabilities(capabilities_for(request)))
		return "cannot drop capabilities";
	return request->kind == GRANT_PRESSURE ? pressure_files_open(request, ret_fd)
					       : target_files_open(settings->pin_dir, request, ret_fd);
}

/* ---- the connection ---- */

static const char *explain(int error)
{
	switch (error) {
	case -EACCES:
		return "only the consumer's user and root may ask";
	case -EINVAL:
		return "not a request";
	case -E2BIG:
		return "the request is too long";
	case -ETIMEDOUT:
		return "the request did not arrive in time";
	default:
		return strerror(-error);
	}
}

/*
 * A request over the limit is answered late, so that the number of connections that systemd serves at once
 * limits how many processes a flood of them can start. Logs ever more rarely: each process serves one request.
 */
static int put_off(int socket, const struct ucred *peer, uint64_t over)
{
	static const char answer[] = GRANT_REFUSED GRANT_LATER "\n";
	const struct timespec hold = clock_timespec(GRANT_LATER_NS);

	if (!(over & (over - 1)))
		log_warning("refused process %d of uid %u: " GRANT_LATER " (%" PRIu64 " so far)", peer->pid,
			    peer->uid, over);
	ppoll(NULL, 0, &hold, NULL);
	pass_fd_send(socket, answer, strlen(answer), -EBADF); /* the peer may be gone */
	return EXIT_FAILED;
}

static int refuse(int socket, const struct ucred *peer, const char *refusal, const char *asked)
{
	char answer[GRANT_ANSWER_BYTES_MAX];
	int length = snprintf(answer, sizeof(answer), GRANT_REFUSED "%s\n", refusal);

	log_warning("refused process %d of uid %u: %s (%s)", peer->pid, peer->uid, refusal, asked);
	pass_fd_send(socket, answer, (size_t)length, -EBADF); /* the peer may be gone */
	grant_counters_add(GRANT_COUNTER_REFUSED);
	return EXIT_FAILED;
}

/*
 * A user has at most RLIMIT_NOFILE descriptors in flight (ETOOMANYREFS, unix(7)): those of other answers that the
 * consumer has not received yet.
 */
static int send_file(int socket, int fd)
{
	const struct timespec pause = clock_timespec(CLOCK_SECOND_NS / 100);
	uint64_t deadline_ns = clock_monotonic_ns() + GRANT_LATER_NS;
	int result;

	while ((result = pass_fd_send(socket, GRANT_OK, strlen(GRANT_OK), fd)) == -ETOOMANYREFS &&
	       clock_monotonic_ns() < deadline_ns)
		ppoll(NULL, 0, &pause, NULL);
	return result;
}

int grant_serve(int socket, const struct grant_settings *settings)
{
	_cleanup_close_ int fd = -EBADF;
	struct grant_request request = { 0 };
	struct ucred peer = { 0 };
	char asked[GRANT_REQUEST_BYTES_MAX] = "no valid request"; /* the request, without its newline */
	const char *refusal;
	uint64_t over = 0;
	int result = check_peer(socket, settings->uid, &peer);

	if (!result) {
		result = receive_request(socket, settings->patience_ns, &request);
		over = grant_counters_take(result < 0 ? GRANT_BUDGET_FILES : grant_budget_of(request.kind),
					   clock_monotonic_ns);
	}
	if (over)
		return put_off(socket, &peer, over);
	refusal = result < 0 ? explain(result) : open_file(&request, settings, &fd);
	if (!result)
		asked[grant_request_format(&request, asked) - 1] = '\0';
	if (refusal)
		return refuse(socket, &peer, refusal, asked);
	result = send_file(socket, fd);
	/* after the answer: the peer need not wait for the lock of the counters */
	grant_counters_add(GRANT_COUNTER_GRANTED);
	if (result < 0)
		log_warning("process %d did not receive its answer: %s (%s)", peer.pid, strerror(-result),
			    asked);
	else if (request.kind == GRANT_PRESSURE) /* targets choose how many files are granted: only counted */
		log_info("granted process %d of uid %u (%s)", peer.pid, peer.uid, asked);
	return result < 0 ? EXIT_FAILED : EXIT_DONE;
}

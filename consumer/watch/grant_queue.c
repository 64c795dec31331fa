/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/watch/grant_queue.h"

#include "common/base/cleanup.h"
#include "common/protocol/grant_limits.h"
#include "common/system/log.h"
#include "common/system/pass_fd.h"
#include "consumer/process/event_source.h"
#include "consumer/watch/grant_client.h"

#include <string.h>
#include <sys/epoll.h>

#define CALLS_MAX GRANT_QUEUE_CALLS_MAX
#define CALL_PATIENCE_NS (10 * CLOCK_SECOND_NS) /* longer than bourdon-grant may live */
/* When to try again after nobody listened at the socket, and after a call failed. */
#define ABSENCE_PATIENCE_NS (30 * CLOCK_SECOND_NS)
#define FAILURE_PATIENCE_NS (5 * CLOCK_SECOND_NS)

struct grant_call {
	struct event_source source;
	int socket;  /* negative: free */
	void *asker; /* NULL: cancelled */
	uint64_t deadline_ns;
};

struct grant_queue {
	const char *socket_path;
	int epoll;
	grant_answered answered;
	void *user;
	struct grant_call calls[CALLS_MAX];
	unsigned int under_way;
	uint64_t full_ns; /* of GRANT_ASKED */
	uint64_t pause_until_ns;
	uint64_t busy_pause_ns; /* the last pause because of too many requests; 0: it answers */
	bool absent;
	struct log_limit failure_limit;
};

int grant_queue_open(struct grant_queue **ret_grants, const char *socket_path, int epoll,
		     grant_answered answered, void *user)
{
	struct grant_queue *grants = calloc(1, sizeof(*grants));

	if (!grants)
		return -ENOMEM;
	*grants = (struct grant_queue){
		.socket_path = socket_path, .epoll = epoll, .answered = answered, .user = user
	};
	for (size_t i = 0; i < CALLS_MAX; i++)
		grants->calls[i] = (struct grant_call){ .source = { SOURCE_GRANT }, .socket = -EBADF };
	*ret_grants = grants;
	return 0;
}

void grant_queue_free(struct grant_queue *grants)
{
	if (!grants)
		return;
	for (size_t i = 0; i < CALLS_MAX; i++)
		cleanup_close(&grants->calls[i].socket);
	free(grants);
}

bool grant_queue_has_room(const struct grant_queue *grants, uint64_t now_ns)
{
	return grants->under_way < CALLS_MAX && now_ns >= grants->pause_until_ns &&
	       rate_left(GRANT_ASKED, grants->full_ns, now_ns);
}

const char *grant_queue_socket(const struct grant_queue *grants)
{
	return grants->socket_path;
}

bool grant_queue_is_served(const struct grant_queue *grants)
{
	return !grants->absent;
}

static void note_absence(struct grant_queue *grants, int error, uint64_t now_ns)
{
	if (error == -EAGAIN)
		return; /* the backlog is full: the next tick asks again */
	grants->pause_until_ns = now_ns + ABSENCE_PATIENCE_NS;
	if (!grants->absent)
		log_info(
			"cannot connect to bourdon-grant at %s: %s; the pressure of cgroups is read once a second",
			grants->socket_path, strerror(-error));
	grants->absent = true;
}

struct grant_call *grant_queue_ask(struct grant_queue *grants, const struct grant_request *request,
				   void *asker, uint64_t now_ns)
{
	struct grant_call *call = grants->calls;
	struct epoll_event event = { .events = EPOLLIN };
	char text[GRANT_REQUEST_BYTES_MAX];
	int fd;

	if (!grant_queue_has_room(grants, now_ns))
		return NULL;
	while (call->socket >= 0)
		call++;
	fd = grant_client_connect(grants->socket_path);
	if (fd < 0) {
		note_absence(grants, fd, now_ns);
		return NULL;
	}
	rate_take(GRANT_ASKED, &grants->full_ns,
		  now_ns); /* systemd has started a process for the connection */
	event.data.ptr = &call->source;
	if (pass_fd_send(fd, text, grant_request_format(request, text), -EBADF) ||
	    epoll_ctl(grants->epoll, EPOLL_CTL_ADD, fd, &event)) {
		close(fd);
		return NULL;
	}
	call->socket = fd;
	call->asker = asker;
	call->deadline_ns = now_ns + CALL_PATIENCE_NS;
	grants->absent = false;
	grants->under_way++;
	return call;
}

void grant_queue_cancel(struct grant_call *call)
{
	call->asker = NULL;
}

/* Another daemon, or root, has used up the requests that bourdon-grant answers. */
static void note_busy(struct grant_queue *grants, uint64_t now_ns)
{
	grants->busy_pause_ns = grant_client_pause_ns(grants->busy_pause_ns);
	grants->pause_until_ns = now_ns + grants->busy_pause_ns;
}

/*
 * Pauses: a helper that crashes or sends an invalid answer would otherwise be asked again at once, in a loop.
 */
static void note_failure(struct grant_queue *grants, int error, uint64_t now_ns)
{
	grants->pause_until_ns = now_ns + FAILURE_PATIENCE_NS;
	if (log_allowed(&grants->failure_limit, 1))
		log_warning("bourdon-grant at %s failed: %s; see its log", grants->socket_path,
			    strerror(-error));
}

static void end_call(struct grant_queue *grants, struct grant_call *call, int fd, const char *refusal,
		     uint64_t now_ns)
{
	void *asker = call->asker;

	close(call->socket);
	call->socket = -EBADF;
	call->asker = NULL;
	grants->under_way--;
	if (fd == -EBUSY)
		note_busy(grants, now_ns);
	else if (fd < 0 && fd != -EACCES)
		note_failure(grants, fd, now_ns);
	else
		grants->busy_pause_ns = 0;
	if (asker)
		grants->answered(grants->user, asker, fd, refusal);
	else if (fd >= 0)
		close(fd);
}

void grant_queue_event(struct grant_queue *grants, struct grant_call *call, uint64_t now_ns)
{
	char refusal[GRANT_ANSWER_BYTES_MAX] = "";
	int fd = call->socket < 0 ? -EAGAIN : grant_client_receive(call->socket, refusal);

	if (fd != -EAGAIN)
		end_call(grants, call, fd, refusal, now_ns);
}

void grant_queue_tick(struct grant_queue *grants, uint64_t now_ns)
{
	for (size_t i = 0; i < CALLS_MAX; i++)
		if (grants->calls[i].socket >= 0 && now_ns >= grants->calls[i].deadline_ns)
			end_call(grants, &grants->calls[i], -ETIMEDOUT, "", now_ns);
}

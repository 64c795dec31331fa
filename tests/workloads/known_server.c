/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * known_server answers requests in known times, so that what is measured of it has known answers. A request is MESSAGE bytes, and so
 * is an answer. It prints "ready" and its port, and serves all connections with one thread: sleep and burn take the time without a CPU, or
 * with one; twice sends half of the answer, and the rest the time later; hand has another thread sleep and answer.
 */
#include "tests/workloads/known_message.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTIONS 1024U

static struct timespec pause_time;
static uint64_t pause_ns;
static int handed[2];

static void answer(int connection, size_t bytes)
{
	static const char zeros[MESSAGE];

	/* a client that has gone wants no answer */
	if (send(connection, zeros, bytes, MSG_NOSIGNAL) < 0)
		return;
}

static void serve_sleep(int connection)
{
	nanosleep(&pause_time, NULL);
	answer(connection, MESSAGE);
}

__attribute__((noinline)) static void serve_burn(int connection)
{
	uint64_t until = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) + pause_ns;

	while (clock_read_ns(CLOCK_THREAD_CPUTIME_ID) < until)
		;
	answer(connection, MESSAGE);
}

static void serve_twice(int connection)
{
	answer(connection, MESSAGE / 2);
	nanosleep(&pause_time, NULL);
	answer(connection, MESSAGE / 2);
}

static void *serve_handed(void *unused)
{
	int connection;

	while (read(handed[0], &connection, sizeof(connection)) == sizeof(connection))
		serve_sleep(connection);
	return unused;
}

static void serve_hand(int connection)
{
	if (write(handed[1], &connection, sizeof(connection)) != sizeof(connection))
		exit(EXIT_FAILED);
}

/* Reads one request, as many as there are wait. False: the connection is over. */
static bool serve(int connection, void (*one)(int))
{
	char message[MESSAGE];

	if (recv(connection, message, sizeof(message), MSG_WAITALL) != sizeof(message))
		return false;
	one(connection);
	return true;
}

/* The first is the listening socket. */
static int serve_all(int listening, void (*one)(int))
{
	static struct pollfd sockets[1 + CONNECTIONS];
	nfds_t count = 1;

	sockets[0] = (struct pollfd){ .fd = listening, .events = POLLIN };
	for (;;) {
		sockets[0].events = count < ARRAY_SIZE(sockets) ? POLLIN : 0;
		if (poll(sockets, count, -1) < 0)
			return EXIT_FAILED;
		for (nfds_t i = count - 1; i > 0; i--) {
			if (!sockets[i].revents || serve(sockets[i].fd, one))
				continue;
			close(sockets[i].fd);
			sockets[i] = sockets[--count];
		}
		if (sockets[0].revents)
			sockets[count++] =
				(struct pollfd){ .fd = accept(listening, NULL, NULL), .events = POLLIN };
	}
}

static int listen_on(uint16_t port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons(port),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
	socklen_t bytes = sizeof(address);

	setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	setsockopt(listening, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (bind(listening, (struct sockaddr *)&address, sizeof(address)) || listen(listening, SOMAXCONN) ||
	    getsockname(listening, (struct sockaddr *)&address, &bytes))
		return -1;
	printf("ready %u\n", ntohs(address.sin_port));
	fflush(stdout);
	return listening;
}

int main(int argc, char **argv)
{
	const char *how = "sleep", *milliseconds = "5", *port = "0";
	const struct option_spec options[] = {
		{ "how", "WORD", "sleep, burn, twice or hand (sleep)", &how },
		{ "time", "MS", "of each answer (5)", &milliseconds },
		{ "port", "N", "of 127.0.0.1; 0: any (0)", &port },
	};
	const struct command_spec command = { "known_server",
					      "[--how WORD] [--time MS] [--port N]",
					      "Answers requests in known times, and prints its port.",
					      "known_server --how burn --time 3",
					      options,
					      ARRAY_SIZE(options) };
	static void (*const ways[])(int) = { serve_sleep, serve_burn, serve_twice, serve_hand };
	static const char *const names[] = { "sleep", "burn", "twice", "hand" };
	unsigned long long ms, number;
	int words, parsed, listening;
	pthread_t thread;
	size_t way = 0;

	log_init(command.program);
	parsed = options_parse(&command, argc, argv, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	while (way < ARRAY_SIZE(ways) && strcmp(names[way], how) != 0)
		way++;
	if (words || way == ARRAY_SIZE(ways) || options_number(milliseconds, 0, 10000, &ms) ||
	    options_number(port, 0, UINT16_MAX, &number)) {
		log_error("takes sleep, burn, twice or hand, and numbers: see --help");
		return EXIT_USAGE;
	}
	pause_ns = ms * 1000000;
	pause_time = clock_timespec(pause_ns);
	listening = listen_on((uint16_t)number);
	if (listening < 0 || pipe(handed) || pthread_create(&thread, NULL, serve_handed, NULL)) {
		perror("known_server");
		return EXIT_FAILED;
	}
	return serve_all(listening, ways[way]);
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * known_client asks known_server in a known way. It prints how long the exchanges took by its own clock: count, median and the 99th
 * percentile, in ns; or of requests that overlap, their number.
 */
#include "tests/workloads/known_message.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static uint16_t server;
static uint64_t apart_ns, batch;
static bool in_pieces;
static const char zeros[MESSAGE] = { 0 };

static int open_connection(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons(server),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (connect(connection, (struct sockaddr *)&address, sizeof(address))) {
		perror("known_client");
		exit(EXIT_FAILED);
	}
	return connection;
}

static void say(int connection, const char *what, size_t bytes)
{
	if (send(connection, what, bytes, 0) != (ssize_t)bytes)
		exit(EXIT_FAILED);
}

static void hear(int connection)
{
	char message[MESSAGE];

	if (recv(connection, message, sizeof(message), MSG_WAITALL) != sizeof(message))
		exit(EXIT_FAILED);
}

static void rest(uint64_t ns)
{
	struct timespec time = clock_timespec(ns);

	nanosleep(&time, NULL);
}

static int compare(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

static void ask_once(int connection)
{
	char requests[MESSAGE * 64] = { 0 };

	if (in_pieces) {
		say(connection, zeros, MESSAGE / 2);
		say(connection, zeros, MESSAGE / 2);
	} else {
		say(connection, requests, MESSAGE * batch);
	}
	for (uint64_t i = 0; i < batch; i++)
		hear(connection);
}

/* `anew`: each on a connection of its own. */
static void ask_in_turn(int connection, uint64_t times, bool anew)
{
	_cleanup_free_ uint64_t *took = calloc(times, sizeof(*took));

	for (uint64_t i = 0; i < times && took; i++) {
		if (anew && i) {
			close(connection);
			connection = open_connection();
		}
		took[i] = clock_monotonic_ns();
		ask_once(connection);
		took[i] = clock_monotonic_ns() - took[i];
	}
	if (!took)
		exit(EXIT_FAILED);
	qsort(took, times, sizeof(*took), compare);
	printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", times, took[times / 2], took[times * 99 / 100]);
}

/* Asks without waiting for answers, of which it hears those that are there. */
static void ask_apart(int connection, uint64_t times)
{
	char message[MESSAGE];
	uint64_t heard = 0;

	for (uint64_t i = 0; i < times; i++) {
		say(connection, zeros, MESSAGE);
		rest(apart_ns);
		while (recv(connection, message, sizeof(message), MSG_DONTWAIT) > 0)
			heard++;
	}
	for (; heard < times; heard++)
		hear(connection);
	printf("%" PRIu64 "\n", times);
}

int main(int argc, char **argv)
{
	const char *port = NULL, *often = "100", *apart = "0", *at_once = "1";
	const char *anew = NULL, *pieces = NULL, *stays = NULL;
	const struct option_spec options[] = {
		{ "port", "N", "of the server on 127.0.0.1", &port },
		{ "times", "N", "requests (100)", &often },
		{ "anew", NULL, "each on a connection of its own", &anew },
		{ "batch", "N", "so many at once, up to 64 (1)", &at_once },
		{ "pieces", NULL, "send each in two pieces", &pieces },
		{ "apart", "US", "do not wait for answers: ask each so much later than the one before",
		  &apart },
		{ "stays", NULL, "keep the last connection open until it is ended", &stays },
	};
	const struct command_spec command = { "known_client",
					      "--port N [OPTION...]",
					      "Asks known_server, and prints how long that took.",
					      "known_client --port 4711 --times 1000",
					      options,
					      ARRAY_SIZE(options) };
	unsigned long long number, times, apart_us, count;
	int words, parsed, connection;

	log_init(command.program);
	parsed = options_parse(&command, argc, argv, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (words || !port || options_number(port, 1, UINT16_MAX, &number) ||
	    options_number(often, 1, 10000000, &times) || options_number(apart, 0, 1000000, &apart_us) ||
	    options_number(at_once, 1, 64, &count)) {
		log_error("takes a port and numbers: see --help");
		return EXIT_USAGE;
	}
	server = (uint16_t)number;
	apart_ns = apart_us * 1000;
	in_pieces = pieces;
	batch = count;
	connection = open_connection();
	if (apart_ns)
		ask_apart(connection, times);
	else
		ask_in_turn(connection, times, anew);
	fflush(stdout);
	if (stays)
		pause();
	return EXIT_SUCCESS;
}

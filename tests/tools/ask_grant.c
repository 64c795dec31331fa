/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ask_grant calls bourdon-grant as any program can: it sends texts that may be no requests, and prints the
 * answers. With --silent it sends nothing; with --idle it holds connections open until it is ended. With --flood it
 * sends one request on many connections at once, and counts the answers.
 */
#include "common/base/cleanup.h"
#include "common/protocol/grant_request.h"
#include "common/system/log.h"
#include "common/system/options.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

static int connect_to(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (fd >= 0 && !connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return fd;
	log_error("cannot connect to %s: %s", path, strerror(errno));
	exit(EXIT_FAILED);
}

static void say_file(int fd)
{
	static const char *const modes[] = { [O_RDONLY] = "read-only",
					     [O_WRONLY] = "write-only",
					     [O_RDWR] = "read-write",
					     [O_ACCMODE] = "neither" };
	char link[64], path[PATH_MAX];
	ssize_t bytes;
	int flags = fcntl(fd, F_GETFL);

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	bytes = readlink(link, path, sizeof(path) - 1);
	printf("%.*s %s\n", (int)(bytes < 0 ? 0 : bytes), path,
	       flags & O_PATH ? "a place only" : modes[flags & O_ACCMODE]);
}

/* Prints the answer, or the file whose descriptor came with it. */
static void say_answer(int connection)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr aligned;
	} control;
	char text[256];
	struct iovec part = { text, sizeof(text) - 1 };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control.bytes,
				  .msg_controllen = sizeof(control.bytes) };
	ssize_t bytes = recvmsg(connection, &message, MSG_CMSG_CLOEXEC);
	struct cmsghdr *header = bytes > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	int fd;

	if (bytes <= 0) {
		printf("nothing: %s\n", bytes ? strerror(errno) : "the end");
		return;
	}
	text[bytes] = '\0';
	if (!header) {
		fputs(text, stdout);
		return;
	}
	memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	say_file(fd);
	close(fd);
}

/* ---- a flood ---- */

struct answers {
	unsigned int files, later, refused, nothing;
};

static void count_answer(int connection, struct answers *answers)
{
	char text[256];
	ssize_t bytes = recv(connection, text, sizeof(text) - 1, 0); /* without room for a descriptor */

	text[bytes > 0 ? bytes : 0] = '\0';
	if (!strcmp(text, GRANT_OK))
		answers->files++;
	else if (!strcmp(text, GRANT_REFUSED GRANT_LATER "\n"))
		answers->later++;
	else if (bytes > 0)
		answers->refused++;
	else
		answers->nothing++;
}

/*
 * Receives each answer as soon as it is there: bourdon-grant cannot send a descriptor while its user has more than
 * RLIMIT_NOFILE of them in flight (ETOOMANYREFS, unix(7)).
 */
static void count_answers(struct pollfd *connections, unsigned int count, struct answers *answers)
{
	unsigned int left = count;

	while (left && poll(connections, count, -1) > 0)
		for (unsigned int i = 0; i < count; i++) {
			if (!connections[i].revents)
				continue;
			count_answer(connections[i].fd, answers);
			connections[i].fd = -connections[i].fd; /* poll(2) passes over it */
			left--;
		}
}

static int flood(const char *path, const char *request, unsigned int count)
{
	struct rlimit descriptors;
	struct answers answers = { 0 };
	_cleanup_free_ char *line = NULL;
	_cleanup_free_ struct pollfd *connections = calloc(count, sizeof(*connections));
	int length = asprintf(&line, "%s\n", request);

	if (!connections || length < 0 || getrlimit(RLIMIT_NOFILE, &descriptors))
		return EXIT_FAILED;
	descriptors.rlim_cur = descriptors.rlim_max;
	setrlimit(RLIMIT_NOFILE, &descriptors);
	for (unsigned int i = 0; i < count; i++) {
		connections[i] = (struct pollfd){ .fd = connect_to(path), .events = POLLIN };
		send(connections[i].fd, line, (size_t)length, MSG_NOSIGNAL); /* it may be closed already */
	}
	count_answers(connections, count, &answers);
	printf("files %u later %u refused %u nothing %u\n", answers.files, answers.later, answers.refused,
	       answers.nothing);
	return EXIT_DONE;
}

/* ---- one request ---- */

static void ask(const char *path, const char *request)
{
	_cleanup_close_ int connection = connect_to(path);

	_cleanup_free_ char *line = NULL;
	int length = request ? asprintf(&line, "%s\n", request) : 0;

	/* bourdon-grant may have refused before it read the request */
	if (length > 0 && send(connection, line, (size_t)length, MSG_NOSIGNAL) < 0 && errno != EPIPE)
		printf("not sent: %s\n", strerror(errno));
	say_answer(connection);
}

int main(int argc, char **argv)
{
	const char *silent = NULL, *idle = NULL, *flooded = NULL;
	const struct option_spec options[] = {
		{ "silent", NULL, "send nothing, and say what comes", &silent },
		{ "idle", "N", "hold so many connections open, until a signal", &idle },
		{ "flood", "N", "ask so many times at once, and count the answers", &flooded },
	};
	const struct command_spec command = { "ask_grant",
					      "SOCKET [REQUEST...]",
					      "Asks bourdon-grant, a connection for each request.",
					      "ask_grant /run/bourdon-grant.sock 'pressure 1 cpu 2000000'",
					      options,
					      ARRAY_SIZE(options) };
	unsigned long long connections = 0;
	int words, parsed;

	log_init(command.program);
	parsed = options_parse(&command, argc, argv, &words);
	if (parsed != OPTIONS_RUN)
		return parsed;
	if (words < 1 || (idle && options_number(idle, 1, 1000, &connections)) ||
	    (flooded && (words != 2 || options_number(flooded, 1, 100000, &connections)))) {
		log_error("takes a socket, and a number of connections: see --help");
		return EXIT_USAGE;
	}
	if (flooded)
		return flood(argv[1], argv[2], (unsigned int)connections);
	while (connections--)
		connect_to(argv[1]);
	if (idle)
		pause();
	if (silent)
		ask(argv[1], NULL);
	for (int i = 2; i <= words; i++)
		ask(argv[1], argv[i]);
	return EXIT_DONE;
}

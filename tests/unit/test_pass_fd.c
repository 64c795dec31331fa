/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that a message and its descriptor arrive together, that a message that is cut or has more than one
 * descriptor is refused, and that no descriptor leaks.
 */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/system/pass_fd.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

struct sockets {
	int pair[2];
};

static void sockets_make(struct sockets *sockets)
{
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets->pair), 0);
}

static void sockets_free(struct sockets *sockets)
{
	close(sockets->pair[0]);
	close(sockets->pair[1]);
}

START_TEST(a_message_without_a_descriptor)
{
	struct sockets sockets;
	char bytes[16] = "";
	int fd = 4711;

	sockets_make(&sockets);
	ck_assert_int_eq(pass_fd_send(sockets.pair[0], "hello", 6, -1), 0);
	ck_assert_int_eq(pass_fd_receive(sockets.pair[1], bytes, sizeof(bytes), &fd), 6);
	ck_assert_str_eq(bytes, "hello");
	ck_assert_int_lt(fd, 0);
	sockets_free(&sockets);
}
END_TEST

START_TEST(a_descriptor_arrives)
{
	_cleanup_free_ char *directory = directory_make(), *path = path_join(directory, "file");
	struct stat sent, got;
	struct sockets sockets;
	char bytes[6] = "";
	int file, fd = -1;

	file_put(path, "text", 4);
	file = open(path, O_RDONLY | O_CLOEXEC);
	sockets_make(&sockets);
	ck_assert_int_eq(pass_fd_send(sockets.pair[0], "hello", 6, file), 0);
	ck_assert_int_eq(pass_fd_receive(sockets.pair[1], bytes, sizeof(bytes), &fd), 6);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_ne(fd, file);
	ck_assert_int_eq(fstat(file, &sent) || fstat(fd, &got), 0);
	ck_assert(sent.st_ino == got.st_ino && sent.st_dev == got.st_dev);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
	close(file);
	sockets_free(&sockets);
	directory_remove(directory);
}
END_TEST

START_TEST(a_closed_connection_is_no_message)
{
	struct sockets sockets;
	char bytes[4];
	int fd = 4711;

	sockets_make(&sockets);
	close(sockets.pair[0]);
	ck_assert_int_eq(pass_fd_receive(sockets.pair[1], bytes, sizeof(bytes), &fd), 0);
	ck_assert_int_lt(fd, 0);
	close(sockets.pair[1]);
}
END_TEST

START_TEST(a_closed_peer)
{
	struct sockets sockets;

	sockets_make(&sockets);
	signal(SIGPIPE, SIG_DFL); /* SIGPIPE would kill this process */
	close(sockets.pair[1]);
	ck_assert_int_eq(pass_fd_send(sockets.pair[0], "x", 1, -1), -EPIPE);
	close(sockets.pair[0]);
	ck_assert_int_eq(pass_fd_send(sockets.pair[0], "x", 1, -1), -EBADF);
}
END_TEST

/* A descriptor beside it must be closed. */
START_TEST(a_message_that_is_cut)
{
	struct sockets sockets;
	char bytes[3];
	size_t open;
	int fd = 4711;

	sockets_make(&sockets);
	open = descriptors_open();
	ck_assert_int_eq(pass_fd_send(sockets.pair[0], "hello", 6, _i ? sockets.pair[0] : -1), 0);
	ck_assert_int_eq(pass_fd_receive(sockets.pair[1], bytes, sizeof(bytes), &fd), -EBADMSG);
	ck_assert_int_eq(fd, 4711);
	ck_assert_uint_eq(descriptors_open(), open);
	sockets_free(&sockets);
}
END_TEST

static void send_many(int socket, const int *fds, size_t count)
{
	union {
		char bytes[CMSG_SPACE(8 * sizeof(int))];
		struct cmsghdr aligned;
	} control = { 0 };
	struct iovec part = { (void *)"x", 1 };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control.bytes,
				  .msg_controllen = CMSG_SPACE(count * sizeof(int)) };

	control.aligned.cmsg_level = SOL_SOCKET;
	control.aligned.cmsg_type = SCM_RIGHTS;
	control.aligned.cmsg_len = CMSG_LEN(count * sizeof(int));
	memcpy(CMSG_DATA(&control.aligned), fds, count * sizeof(int));
	ck_assert_int_eq(sendmsg(socket, &message, 0), 1);
}

/* Two to eight descriptors in one message. */
START_TEST(more_than_one_descriptor_is_refused)
{
	struct sockets sockets;
	size_t open;
	int fds[8], fd = 4711;
	char byte;

	sockets_make(&sockets);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		fds[i] = sockets.pair[0];
	open = descriptors_open();
	send_many(sockets.pair[0], fds, (size_t)_i);
	ck_assert_int_eq(pass_fd_receive(sockets.pair[1], &byte, 1, &fd), -EBADMSG);
	ck_assert_int_eq(fd, 4711);
	ck_assert_uint_eq(descriptors_open(), open);
	/* the next message is received */
	send_many(sockets.pair[0], fds, 1);
	ck_assert_int_eq(pass_fd_receive(sockets.pair[1], &byte, 1, &fd), 1);
	ck_assert_int_ge(fd, 0);
	close(fd);
	sockets_free(&sockets);
}
END_TEST

START_TEST(no_free_descriptor)
{
	struct rlimit limit;
	struct sockets sockets;
	size_t open;
	int fd = 4711;
	char byte;

	sockets_make(&sockets);
	open = descriptors_open();
	ck_assert_int_eq(pass_fd_send(sockets.pair[0], "x", 1, sockets.pair[0]), 0);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = 0;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_int_eq(pass_fd_receive(sockets.pair[1], &byte, 1, &fd), -EBADMSG);
	limit.rlim_cur = limit.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_uint_eq(descriptors_open(), open);
	sockets_free(&sockets);
}
END_TEST

START_TEST(a_message_that_no_socket_takes)
{
	_cleanup_free_ char *large = calloc(1, 64 << 20);
	struct sockets sockets;

	sockets_make(&sockets);
	ck_assert_int_eq(pass_fd_send(sockets.pair[0], large, 64 << 20, -1), -EMSGSIZE);
	sockets_free(&sockets);
}
END_TEST

START_TEST(a_peer_that_does_not_read_blocks_nothing)
{
	char message[512] = { 0 };
	struct sockets sockets;
	int result, sent = 0, fd;

	sockets_make(&sockets);
	while (!(result = pass_fd_send_now(sockets.pair[0], message, sizeof(message), -1)))
		sent++;
	ck_assert_int_eq(result, -EBADMSG);
	ck_assert_int_gt(sent, 1);
	/* when it reads, there is room again */
	while (sent--)
		ck_assert_int_eq(pass_fd_receive(sockets.pair[1], message, sizeof(message), &fd),
				 sizeof(message));
	ck_assert_int_eq(pass_fd_send_now(sockets.pair[0], message, 1, sockets.pair[0]), 0);
	ck_assert_int_eq(pass_fd_receive(sockets.pair[1], message, 1, &fd), 1);
	close(fd);
	sockets_free(&sockets);
}
END_TEST

START_TEST(a_message_is_waited_for)
{
	const uint64_t patience_ns = 200000000;
	struct sockets sockets;
	uint64_t began_ns;

	sockets_make(&sockets);
	began_ns = clock_monotonic_ns();
	ck_assert_int_eq(pass_fd_wait(sockets.pair[1], began_ns + patience_ns), -ETIMEDOUT);
	ck_assert_uint_ge(clock_monotonic_ns(), began_ns + patience_ns);
	ck_assert_int_eq(pass_fd_wait(sockets.pair[1], 0), -ETIMEDOUT); /* in the past */
	ck_assert_int_eq(pass_fd_send(sockets.pair[0], "x", 1, -1), 0);
	ck_assert_int_eq(pass_fd_wait(sockets.pair[1], 0), 0);
	ck_assert_int_eq(pass_fd_wait(sockets.pair[1], UINT64_MAX), 0);
	close(sockets.pair[0]); /* the end of the connection wakes the reader, too */
	ck_assert_int_eq(pass_fd_wait(sockets.pair[1], UINT64_MAX), 0);
	close(sockets.pair[1]);
}
END_TEST

SUITE(pass_fd)
{
	Suite *suite = suite_create("pass_fd");
	TCase *pass = tcase_create("pass_fd");

	tcase_add_test(pass, a_message_without_a_descriptor);
	tcase_add_test(pass, a_descriptor_arrives);
	tcase_add_test(pass, a_closed_connection_is_no_message);
	tcase_add_test(pass, a_closed_peer);
	tcase_add_loop_test(pass, a_message_that_is_cut, 0, 2);
	tcase_add_loop_test(pass, more_than_one_descriptor_is_refused, 2, 9);
	tcase_add_test(pass, no_free_descriptor);
	tcase_add_test(pass, a_message_that_no_socket_takes);
	tcase_add_test(pass, a_peer_that_does_not_read_blocks_nothing);
	tcase_add_test(pass, a_message_is_waited_for);
	suite_add_tcase(suite, pass);
	return suite;
}

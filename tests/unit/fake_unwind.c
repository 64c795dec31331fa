/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/unit/fake_unwind.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/symbolizer/symbolizer.h"
#include "common/system/log.h"
#include "common/system/pass_fd.h"
#include "tests/unit/helpers.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

struct fake_maps *fake_maps_new(void)
{
	struct fake_maps *maps = calloc(1, sizeof(*maps));

	ck_assert_ptr_nonnull(maps);
	return maps;
}

static int write_elements(void *user, enum pin_map map, const uint32_t *keys, const void *elements,
			  uint32_t count)
{
	struct fake_maps *maps = user;
	const struct {
		void *elements;
		size_t bytes;
		uint32_t room;
	} arrays[PIN_MAPS] = {
		[PIN_UNWIND_ROWS] = { maps->rows, sizeof(maps->rows[0]), FAKE_CHUNKS },
		[PIN_UNWIND_PAGES] = { maps->pages, sizeof(maps->pages[0]), FAKE_PAGES },
		[PIN_UNWIND_RULES] = { maps->rules, sizeof(maps->rules[0]), FAKE_RULES },
		[PIN_UNWIND_HOTSPOT] = { maps->hotspots, sizeof(maps->hotspots[0]), UNWIND_HOTSPOTS },
		[PIN_UNWIND_MAPS] = { maps->mappings, sizeof(maps->mappings[0]), FAKE_MAPPINGS },
	};

	if (maps->refuses)
		return -ENOMEM;
	maps->writes++;
	for (uint32_t i = 0; i < count; i++) {
		HOLDS(keys[i] < arrays[map].room);
		memcpy((char *)arrays[map].elements + keys[i] * arrays[map].bytes,
		       (const char *)elements + i * arrays[map].bytes, arrays[map].bytes);
	}
	return 0;
}

static int read_elements(void *user, enum pin_map map, uint32_t first, void *ret_elements, uint32_t count)
{
	const struct fake_maps *maps = user;

	HOLDS(map == PIN_UNWIND_PAGES && first + count <= FAKE_PAGES && count <= UNWIND_MAPS_A_CALL);
	memcpy(ret_elements, maps->pages + first, count * sizeof(maps->pages[0]));
	return 0;
}

struct unwind_maps fake_maps_of(struct fake_maps *maps)
{
	return (struct unwind_maps){ write_elements, read_elements, maps };
}

pid_t fake_symbolizer_start(int *ret_socket)
{
	int pair[2];
	pid_t child;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	child = fork();
	if (!child) {
		close(pair[0]);
		/* a sanitizer's runtime makes calls of its own */
		if (!SANITIZED) {
			/* as the daemon did: without it only root may install a filter */
			prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
			symbolizer_run(pair[1]);
		}
		for (;;) {
			struct symbolize_request request;
			int fd;

			if (pass_fd_receive(pair[1], &request, sizeof(request), &fd) <= 0 ||
			    table_send(pair[1], fd))
				_exit(EXIT_DONE);
			close(fd);
		}
	}
	close(pair[1]);
	*ret_socket = pair[0];
	return child;
}

void fake_symbolizer_end(pid_t child, int socket)
{
	int status;

	close(socket);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_DONE);
}

void fake_symbolizer_abandon(pid_t child, int socket)
{
	if (socket >= 0)
		close(socket);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

int fake_table_receive(int socket, int elf,
		       int (*take)(void *user, struct table_message *message, size_t bytes), void *user)
{
	_cleanup_free_ struct table_message *message = malloc(sizeof(*message));
	int result = table_ask(socket, elf) ? -EPIPE : 1;

	ck_assert_ptr_nonnull(message);
	while (result == 1) {
		int unexpected = -EBADF;
		ssize_t got;

		ck_assert_int_eq(
			pass_fd_wait(socket, clock_monotonic_ns() + 20 * patience() * CLOCK_SECOND_NS), 0);
		got = pass_fd_receive(socket, message, sizeof(*message), &unexpected);
		ck_assert_int_lt(unexpected, 0);
		result = got > 0 ? take(user, message, (size_t)got) : -EPIPE;
	}
	return result;
}

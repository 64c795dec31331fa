/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * symbolizer.h owns both ends of the protocol with the process that parses files of possibly hostile
 * programs: the symbolizer's loop, and the consumer's requests and checks.
 *
 * Room: ELF, DWARF and perf maps. All but spawner.h and the types runs in a child process without rights,
 * which reads from descriptors that it is given; the daemon's worker thread and bourdon talk to it.
 */
#ifndef BOURDON_COMMON_SYMBOLIZER_SYMBOLIZER_H
#define BOURDON_COMMON_SYMBOLIZER_SYMBOLIZER_H

#include "common/symbolizer/protocol.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * SYMBOLIZER: confines itself to the descriptors it receives, and answers requests until the socket closes.
 * Limits of memory and CPU time may end it earlier.
 */
void symbolizer_run(int socket) __attribute__((noreturn));

/* State kept between requests. Starts as zeros. */
struct symbolizer {
	struct elf_module *module; /* NULL: none, or unreadable */
};

union symbolizer_answer {
	struct symbolize_module module;
	struct symbolize_reply names;
};

/*
 * SYMBOLIZER: answers one request of `bytes` bytes. Takes ownership of `fd`, which is negative if there is
 * none. Returns the size of the answer in bytes, or -EBADMSG for an invalid request. symbolizer_free() frees
 * the state.
 */
ssize_t symbolizer_answer(struct symbolizer *symbolizer, const struct symbolize_request *request,
			  size_t bytes, int fd, union symbolizer_answer *ret_answer);
void symbolizer_free(struct symbolizer *symbolizer);

/*
 * CONSUMER: send a request. Return 0, or -errno: the symbolizer is gone, did not answer by `deadline_ns`
 * (CLOCK_MONOTONIC), or sent an invalid answer. The descriptors stay the caller's. symbolizer_name() uses the
 * perf map, or the current module if `perf_map_fd` is negative.
 */
int symbolizer_open_module(int socket, int elf_fd, uint64_t deadline_ns, struct symbolize_module *ret_module);
int symbolizer_add_file(int socket, int debug_fd, uint64_t deadline_ns, struct symbolize_module *ret_module);
int symbolizer_name(int socket, int perf_map_fd, const struct symbolize_request *request,
		    uint64_t deadline_ns, struct symbolize_reply *ret_reply);

/* True if a reply of this size is valid for `request`. */
bool symbolizer_reply_is_valid(const struct symbolize_reply *reply, size_t bytes,
			       const struct symbolize_request *request);
bool symbolizer_module_is_valid(const struct symbolize_module *module, size_t bytes);

#endif

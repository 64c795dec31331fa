/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * symbolizer.h owns both ends of the conversation with the process that parses what hostile programs are made
 * of: its loop, and what the consumer asks and believes.
 */
#ifndef BOURDON_SYMBOLIZER_SYMBOLIZER_H
#define BOURDON_SYMBOLIZER_SYMBOLIZER_H

#include "consumer/symbolizer/protocol.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * SYMBOLIZER: confines itself to reading descriptors that it is handed, and answers requests until the
 * socket ends. Limits of memory and CPU time end it earlier.
 */
void symbolizer_run(int socket) __attribute__((noreturn));

/* What it keeps from one request to the next. Begins as zeros. */
struct symbolizer {
	struct elf_module *module; /* NULL: none, or one that cannot be read */
};

union symbolizer_answer {
	struct symbolize_module module;
	struct symbolize_reply names;
};

/*
 * SYMBOLIZER: one request of `bytes` bytes, with a descriptor (taken over) or a negative one. Returns the
 * answer's bytes, or -EBADMSG for what is no request. What is kept ends with symbolizer_free().
 */
ssize_t symbolizer_answer(struct symbolizer *symbolizer, const struct symbolize_request *request,
			  size_t bytes, int fd, union symbolizer_answer *ret_answer);
void symbolizer_free(struct symbolizer *symbolizer);

/*
 * CONSUMER: asks. 0, or -errno: the symbolizer is gone, has not answered by `deadline_ns` (CLOCK_MONOTONIC),
 * or what it said cannot be believed. The descriptors remain the caller's. symbolizer_name() is for the
 * module at hand with a negative one, or for a perf map.
 */
int symbolizer_open_module(int socket, int elf_fd, uint64_t deadline_ns, struct symbolize_module *ret_module);
int symbolizer_add_file(int socket, int debug_fd, uint64_t deadline_ns, struct symbolize_module *ret_module);
int symbolizer_name(int socket, int perf_map_fd, const struct symbolize_request *request,
		    uint64_t deadline_ns, struct symbolize_reply *ret_reply);

/* Whether a reply of this length is one that `request` can have. */
bool symbolizer_reply_is_valid(const struct symbolize_reply *reply, size_t bytes,
			       const struct symbolize_request *request);
bool symbolizer_module_is_valid(const struct symbolize_module *module, size_t bytes);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf_map.h owns what a runtime wrote about the code that it makes: /tmp/perf-PID.map, a line a function,
 * START SIZE NAME, both numbers in hexadecimal.
 */
#ifndef BOURDON_SYMBOLIZER_PERF_MAP_H
#define BOURDON_SYMBOLIZER_PERF_MAP_H

#include "common/grant_request.h" /* PERF_MAP_BYTES_MAX: what is behind that is not read */
#include "consumer/symbolizer/protocol.h"

/*
 * SYMBOLIZER: answers the addresses of `request`, as many as there is room for. Of several functions at one
 * address it is the last that was written: a runtime uses memory again. Lines that are none are passed over,
 * and so is a last one without an end, which is being written. Returns the reply's bytes.
 */
size_t perf_map_name(int fd, const struct symbolize_request *request, struct symbolize_reply *ret_reply);

#endif

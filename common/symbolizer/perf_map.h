/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf_map.h reads a runtime's perf map, /tmp/perf-PID.map: one line a function, START SIZE NAME, with both
 * numbers in hexadecimal.
 */
#ifndef BOURDON_COMMON_SYMBOLIZER_PERF_MAP_H
#define BOURDON_COMMON_SYMBOLIZER_PERF_MAP_H

#include "common/protocol/grant_request.h" /* PERF_MAP_BYTES_MAX: only this much is read */
#include "common/symbolizer/protocol.h"

/*
 * SYMBOLIZER: answers as many addresses of `request` as fit into the reply. If several functions cover an
 * address, the last line wins, because runtimes reuse memory. Skips invalid lines, and a last line without
 * newline, which is still being written. Returns the reply's size in bytes.
 */
size_t perf_map_name(int fd, const struct symbolize_request *request, struct symbolize_reply *ret_reply);

#endif

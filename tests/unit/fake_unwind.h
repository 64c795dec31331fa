/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fake_unwind.h owns what stands in for the other sides of the unwind tables: arrays for the kernel's maps,
 * and a child process for the symbolizer.
 */
#ifndef BOURDON_UNIT_FAKE_UNWIND_H
#define BOURDON_UNIT_FAKE_UNWIND_H

#include "common/abi/abi.h"
#include "common/symbolizer/table_stream.h"
#include "consumer/unwind/unwind_maps.h"

#include <stdbool.h>
#include <sys/types.h>

#define FAKE_CHUNKS 512U
#define FAKE_PAGES 8192U
#define FAKE_RULES 4096U
#define FAKE_MAPPINGS 64U

struct fake_maps {
	struct unwind_chunk rows[FAKE_CHUNKS];
	struct unwind_page pages[FAKE_PAGES];
	struct unwind_rule rules[FAKE_RULES];
	struct unwind_mapping mappings[FAKE_MAPPINGS];
	struct unwind_hotspot hotspots[UNWIND_HOTSPOTS];
	unsigned int writes;
	bool refuses; /* each write fails with -ENOMEM */
};

/* The caller frees. */
struct fake_maps *fake_maps_new(void);
struct unwind_maps fake_maps_of(struct fake_maps *maps);

/* A child that compiles tables, confined like the symbolizer where no sanitizer runs. */
pid_t fake_symbolizer_start(int *ret_socket);

/* Asks for a table, and passes its messages on while `take` returns 1. Returns its last result, or -EPIPE. */
int fake_table_receive(int socket, int elf,
		       int (*take)(void *user, struct table_message *message, size_t bytes), void *user);

/* Closes the socket, and waits for the end of the child, which must be one without an error. */
void fake_symbolizer_end(pid_t child, int socket);

/* The same for a child whose message nobody has read: it may end with an error. */
void fake_symbolizer_abandon(pid_t child, int socket);

#endif

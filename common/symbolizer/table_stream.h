/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * table_stream.h transfers an unwind table from the symbolizer, which compiles it, to the consumer, which
 * writes it into the maps: a head, then rules, chunks of rows, and pages, each message with one kind. The
 * consumer checks every element and never holds more than one message.
 */
#ifndef BOURDON_COMMON_SYMBOLIZER_TABLE_STREAM_H
#define BOURDON_COMMON_SYMBOLIZER_TABLE_STREAM_H

#include "common/symbolizer/unwind_table.h"

#include <stdbool.h>
#include <stddef.h>

#define TABLE_HEAD 1U
#define TABLE_RULES 2U
#define TABLE_CHUNKS 3U
#define TABLE_PAGES 4U

#define TABLE_PART_BYTES 32768U

struct table_head {
	int32_t result; /* of unwind_table_compile(); negative: no table follows */
	uint32_t rules, chunks, pages;
	uint32_t rows;    /* informational */
	uint32_t runtime; /* the file's sign (runtime_sign.h), with or without a table */
	uint64_t first_page;
	struct unwind_hotspot hotspot; /* zeros: none */
	uint64_t cpu_ns;               /* CPU time that it took to make; informational */
	uint32_t text_page;            /* unwind_table.text_page; any number */
	uint32_t reserved;
};

struct table_message {
	uint32_t part;  /* TABLE_* */
	uint32_t count; /* number of elements; only those are sent */
	union {
		struct table_head head;
		struct unwind_rule rules[TABLE_PART_BYTES / sizeof(struct unwind_rule)];
		struct unwind_chunk chunks[TABLE_PART_BYTES / sizeof(struct unwind_chunk)];
		struct unwind_page pages[TABLE_PART_BYTES / sizeof(struct unwind_page)];
	};
};

/* SYMBOLIZER: compiles the file's table and sends it. Returns 0, or -errno if the consumer is gone. */
int table_send(int socket, int elf_fd);

/*
 * CONSUMER: receives a table. `from` is the position of the first element in its part of the table. Every
 * element has been checked. A callback returns 0, or -errno to stop the transfer.
 */
struct table_receiver {
	int (*head)(void *user, const struct table_head *head);
	int (*rules)(void *user, uint32_t from, struct unwind_rule *rules, uint32_t count);
	int (*chunks)(void *user, uint32_t from, struct unwind_chunk *chunks, uint32_t count);
	int (*pages)(void *user, uint32_t from, struct unwind_page *pages, uint32_t count);
	/* NULL, or called before the others, and where there is no table */
	void (*runtime)(void *user, uint32_t sign);
	void *user;
};

/* CONSUMER: requests the table of a file, and its sign of a runtime. Returns 0 or -errno. */
int table_ask(int socket, int elf_fd);

/* How far a table has arrived. Zeros: not at all. */
struct table_stream {
	struct table_head head;
	uint32_t part, done; /* what the next message is of */
};

/*
 * CONSUMER: takes the next message, of any origin, and passes it on to the receiver. Returns 1 if more has to follow, 0 at the
 * end of the table; the error of unwind_table_compile(), after calling the runtime callback alone; the error of a callback; or
 * -EBADMSG.
 */
int table_take(struct table_stream *stream, struct table_message *message, size_t bytes,
	       const struct table_receiver *receiver);

/* Whether `result`, of table_take(), is what the symbolizer says of the file, and not a failure of the transfer. */
bool table_is_answer(const struct table_stream *stream, int result);

/* True if a message of this size may follow `done` elements of the head's part `part`. For tests. */
bool table_message_is_valid(const struct table_message *message, size_t bytes, const struct table_head *head,
			    uint32_t part, uint32_t done);

#endif

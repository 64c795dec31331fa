/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/symbolizer/perf_map.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/base/numbers.h"
#include "common/symbolizer/reply.h"

#include <ctype.h>
#include <string.h>

#define CHUNK_BYTES 65536U
/* Two numbers, and a name longer than the part that is kept. */
#define LINE_BYTES (2 * 17 + SYMBOLIZE_NAME_BYTES + 4)

struct line {
	char text[LINE_BYTES + 1];
	size_t bytes; /* at most LINE_BYTES; the rest of a line is dropped */
};

/* Result for one address. */
struct answer {
	uint64_t address, begins;
	uint32_t position; /* index in the request */
	/* longer than what is sent, so that truncation falls between characters */
	char name[SYMBOLIZE_NAME_BYTES + 2];
};

struct search {
	struct answer answers[SYMBOLIZE_BATCH]; /* sorted by address */
	uint32_t count;
	struct line line;
	char chunk[CHUNK_BYTES];
};

static int compare_addresses(const void *a, const void *b)
{
	const struct answer *left = a, *right = b;

	return COMPARE(left->address, right->address);
}

static int compare_positions(const void *a, const void *b)
{
	const struct answer *left = a, *right = b;

	return COMPARE(left->position, right->position);
}

/* Parses 1 to 16 hexadecimal digits, with or without 0x, and the blanks after them. */
static bool parse_number(const char **text, uint64_t *ret_number)
{
	char *end;

	if (!isxdigit((unsigned char)**text))
		return false;
	*ret_number = strtoull(*text, &end, 16);
	if (end - *text > 18 || (*end != ' ' && *end != '\t'))
		return false;
	*text = end + strspn(end, " \t");
	return true;
}

static void parse_line(struct search *search)
{
	const char *text = search->line.text;
	uint64_t begins, bytes;
	uint32_t i;

	search->line.text[search->line.bytes] = '\0';
	if (!parse_number(&text, &begins) || !parse_number(&text, &bytes) || !*text || bytes > INT64_MAX)
		return;
	i = array_partition_point(search->count, at, search->answers[at].address < begins);
	for (; i < search->count && search->answers[i].address - begins < bytes; i++) {
		struct answer *answer = &search->answers[i];

		answer->begins = begins;
		answer->name[0] = '\0';
		strncat(answer->name, text, sizeof(answer->name) - 1);
	}
}

static void parse_chunk(struct search *search, size_t bytes)
{
	struct line *line = &search->line;

	for (size_t i = 0; i < bytes; i++) {
		char byte = search->chunk[i];

		if (byte == '\n') {
			parse_line(search);
			line->bytes = 0;
		} else if (line->bytes < LINE_BYTES) {
			line->text[line->bytes++] = byte;
		}
	}
}

/* Reads the map instead of mapping it: its owner may truncate it at any time. */
static void read_map(struct search *search, int fd)
{
	off_t at = 0;
	ssize_t got;

	while (at < (off_t)PERF_MAP_BYTES_MAX &&
	       (got = pread(fd, search->chunk, sizeof(search->chunk), at)) > 0) {
		parse_chunk(search, (size_t)got);
		at += got;
	}
}

size_t perf_map_name(int fd, const struct symbolize_request *request, struct symbolize_reply *ret_reply)
{
	_cleanup_free_ struct search *search = calloc(1, sizeof(*search));
	struct reply reply = reply_begin(ret_reply);

	if (!search)
		return reply_bytes(&reply);
	search->count = request->count;
	for (uint32_t i = 0; i < request->count; i++) {
		search->answers[i].address = request->offsets[i];
		search->answers[i].position = i;
	}
	qsort(search->answers, search->count, sizeof(search->answers[0]), compare_addresses);
	read_map(search, fd);
	qsort(search->answers, search->count, sizeof(search->answers[0]), compare_positions);
	for (uint32_t i = 0; i < search->count; i++) {
		const struct answer *answer = &search->answers[i];
		struct found_frame frame = { .is_written = true };

		if (answer->name[0]) {
			frame.name = answer->name;
			frame.function_offset = answer->address - answer->begins;
		}
		if (!reply_add(&reply, &frame, 1, (struct reply_span){ 0, 0 }))
			break;
	}
	return reply_bytes(&reply);
}

/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/live/threads_text.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/base/hash_index.h"

#include <string.h>

#define FIELDS_MAX 64U /* of a line; this version has 14 */

#define NOW (1U << THREADS_NOW)
#define SAMPLED (1U << THREADS_SAMPLED)
#define STORED (1U << THREADS_STORED)
#define ANY (NOW | SAMPLED | STORED)

const struct thread_column_facts thread_columns[THREAD_COLUMNS] = {
	[THREAD_STATE] = { "state", false, NOW | STORED, 7, true },
	[THREAD_SYSCALL] = { "syscall", false, NOW | STORED, 15, false },
	[THREAD_COMM] = { "comm", false, ANY, 15, false },
	[THREAD_PROCESS] = { "process", true, NOW | SAMPLED, 15, false },
	[THREAD_UNIT] = { "unit", true, ANY, 24, false },
	[THREAD_CGROUP] = { "cgroup", false, ANY, 0, false },
	[THREAD_CONTAINER] = { "container", true, STORED, 12, false },
	[THREAD_FUNCTION] = { "function", false, ANY, 0, false },
	[THREAD_MODULE] = { "module", true, SAMPLED, 20, false },
	[THREAD_KERNEL] = { "kernel", true, STORED, 6, true },
	[THREAD_UID] = { "uid", false, ANY, 6, true },
	[THREAD_FD] = { "fd", false, NOW, 5, true },
	[THREAD_FUTEX] = { "futex", false, NOW, 16, false },
	[THREAD_TGID] = { "tgid", false, NOW | SAMPLED, 8, true },
	[THREAD_TID] = { "tid", false, NOW | SAMPLED, 8, true },
	[THREAD_CPU] = { "cpu", false, ANY, 0, false },
	[THREAD_STATE_NS] = { "state_ns", false, ANY, 0, false },
	[THREAD_RUN_DELAY_NS] = { "run_delay_ns", false, ANY, 0, false },
	[THREAD_IO_DELAY_NS] = { "io_delay_ns", false, ANY, 0, false },
};

static bool is_octal(const char *digits)
{
	return digits[0] >= '0' && digits[0] <= '3' && digits[1] >= '0' && digits[1] <= '7' &&
	       digits[2] >= '0' && digits[2] <= '7';
}

/* Undoes \040 in place. A zero byte ends the text: it stands for an empty name. */
static void unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from; to++) {
		if (*from == '\\' && is_octal(from + 1)) {
			*to = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + from[3] - '0');
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
}

/* Splits a line at its tabs. Returns the number of fields, or 0 if they are too many. */
static uint32_t split(char *line, char *fields[FIELDS_MAX])
{
	uint32_t count = 0;

	for (char *at = line; at;) {
		if (count == FIELDS_MAX)
			return 0;
		fields[count++] = strsep(&at, "\t");
	}
	return count;
}

/* Which field has which column. Returns the number of fields, 0 if a column is missing. */
static uint32_t read_header(char *line, uint32_t places[THREAD_COLUMNS])
{
	char *fields[FIELDS_MAX];
	uint32_t count = split(line, fields);

	for (uint32_t column = 0; column < THREAD_COLUMNS; column++) {
		uint32_t place = 0;

		if (thread_columns[column].is_derived)
			continue;
		while (place < count && strcmp(fields[place], thread_columns[column].name) != 0)
			place++;
		if (place == count)
			return 0;
		places[column] = place;
	}
	return count;
}

static bool read_line(char *text, uint32_t fields_count, const uint32_t places[THREAD_COLUMNS],
		      struct thread_line *line)
{
	char *fields[FIELDS_MAX];

	if (split(text, fields) != fields_count)
		return false;
	for (uint32_t i = 0; i < fields_count; i++) {
		if (!*fields[i])
			return false;
		unescape(fields[i]);
	}
	for (uint32_t column = 0; column < THREAD_COLUMNS; column++)
		line->values[column] = thread_columns[column].is_derived ? THREAD_NONE
									 : fields[places[column]];
	line->stack = NULL;
	line->times = 1;
	return true;
}

struct wanted {
	const struct thread_lines *lines;
	const char *tgid;
};

/* Implements hash_equal. */
static bool is_leader(const void *user, uint32_t position)
{
	const struct wanted *wanted = user;

	return !strcmp(wanted->lines->lines[position].values[THREAD_TID], wanted->tgid);
}

/* A thread whose process's first thread is not listed has no name of the process. */
static int name_processes(struct thread_lines *lines)
{
	struct hash_index leaders = { 0 };
	int result = 0;

	for (uint32_t i = 0; i < lines->count && !result; i++) {
		const char *tid = lines->lines[i].values[THREAD_TID];

		if (!strcmp(tid, lines->lines[i].values[THREAD_TGID]))
			result = hash_index_add(&leaders, hash_bytes(tid, strlen(tid)), i);
	}
	for (uint32_t i = 0; i < lines->count && !result; i++) {
		struct wanted wanted = { lines, lines->lines[i].values[THREAD_TGID] };
		uint32_t at = hash_index_find(&leaders, hash_bytes(wanted.tgid, strlen(wanted.tgid)),
					      is_leader, &wanted);

		if (at != HASH_INDEX_NONE)
			lines->lines[i].values[THREAD_PROCESS] = lines->lines[at].values[THREAD_COMM];
	}
	hash_index_free(&leaders);
	return result;
}

int threads_text_read(char *text, size_t bytes, struct thread_lines *ret_lines)
{
	_cleanup_thread_lines_ struct thread_lines lines = { .text = text, .text_bytes = bytes, .looks = 1 };
	uint32_t places[THREAD_COLUMNS] = { 0 }, fields_count;
	char *at = text;
	int result;

	if (!bytes)
		return -ENODATA;
	fields_count = read_header(strsep(&at, "\n"), places);
	if (!fields_count)
		return -EPROTO;
	for (char *line; (line = strsep(&at, "\n")) && (at || *line);) {
		if (array_make_room(lines.lines, lines.count, lines.room, 1U))
			return -ENOMEM;
		/* the last line of a text that was cut off has no end */
		if (at && read_line(line, fields_count, places, &lines.lines[lines.count]))
			lines.count++;
		else
			lines.malformed++;
	}
	result = name_processes(&lines);
	if (result < 0)
		return result;
	*ret_lines = lines;
	lines = (struct thread_lines){ 0 };
	return 0;
}

void thread_lines_free(struct thread_lines *lines)
{
	free(lines->lines);
	free(lines->text);
	*lines = (struct thread_lines){ 0 };
}

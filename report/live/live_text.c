/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/live/live_text.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/protocol/live_line.h"
#include "common/system/options.h"
#include "common/text/escape_name.h"

#include <errno.h>
#include <string.h>

/* Years beyond this one are none of a clock's. */
#define AT_NS_MAX 9000000000000000000ULL
/* So that sums of lines stay within their types. */
#define COUNT_MAX UINT32_MAX
#define CPUS_MAX 65536U

/* Undoes the escapes in place; `line` points into a text that is ours. */
static const char *text_of(const struct status_line *line, const char *key)
{
	char *text = (char *)status_line_get(line, key);

	if (!*text)
		return THREAD_NONE;
	escape_name_undo(text);
	return text;
}

static bool read_number(const struct status_line *line, const char *key, uint64_t least, uint64_t most,
			uint64_t *ret_number)
{
	unsigned long long number;

	if (options_number(status_line_get(line, key), least, most, &number) < 0)
		return false;
	*ret_number = number;
	return true;
}

/* A number that is shown as it was written; "-" if there is none. */
static bool read_shown(const struct status_line *line, const char *key, uint64_t least, uint64_t most,
		       const char **ret_text)
{
	uint64_t number;

	*ret_text = text_of(line, key);
	return !strcmp(*ret_text, THREAD_NONE) || read_number(line, key, least, most, &number);
}

/* The file's name: paths are too long for a column. */
static const char *name_of(const char *module)
{
	const char *slash = strrchr(module, '/');

	return slash && slash[1] ? slash + 1 : module;
}

static bool read_sample(const struct status_line *line, struct thread_line *into)
{
	const char **values = into->values;
	uint64_t count, tid;

	for (uint32_t column = 0; column < THREAD_COLUMNS; column++)
		values[column] = THREAD_NONE;
	if (!read_number(line, "count", 1, COUNT_MAX, &count) ||
	    !read_number(line, "tid", 0, INT32_MAX, &tid) ||
	    !read_shown(line, "tid", 0, INT32_MAX, &values[THREAD_TID]) ||
	    !read_shown(line, "tgid", 0, INT32_MAX, &values[THREAD_TGID]) ||
	    !read_shown(line, "uid", 0, UINT32_MAX, &values[THREAD_UID]) ||
	    !read_shown(line, "cpu", 0, UINT16_MAX, &values[THREAD_CPU]))
		return false;
	values[THREAD_PROCESS] = text_of(line, "process");
	values[THREAD_COMM] = text_of(line, "comm");
	values[THREAD_CGROUP] = text_of(line, "cgroup");
	values[THREAD_FUNCTION] = text_of(line, "function");
	values[THREAD_MODULE] = name_of(text_of(line, "module"));
	into->stack = text_of(line, "stack");
	into->times = (uint32_t)count;
	return true;
}

static bool read_second(const struct status_line *line, struct thread_lines *lines)
{
	uint64_t at_ns, ticks, cpus;

	if (!read_number(line, "at_ns", 0, AT_NS_MAX, &at_ns) ||
	    !read_number(line, "ticks", 1, COUNT_MAX, &ticks) ||
	    !read_number(line, "cpus", 1, CPUS_MAX, &cpus) ||
	    !read_number(line, "left_out", 0, UINT64_MAX, &lines->left_out))
		return false;
	lines->at_ns = (int64_t)at_ns;
	lines->looks = (uint32_t)ticks;
	lines->cpus = (uint32_t)cpus;
	lines->ends_second = true;
	return true;
}

/* Returns 1 at the end of the second, 0, or -errno. */
static int read_line(char *text, struct thread_lines *lines)
{
	struct status_line line;
	uint64_t seconds;

	if (status_line_parse(text, &line) < 0) {
		lines->malformed++;
		return 0;
	}
	if (!strcmp(line.kind, LIVE_SECOND))
		return read_second(&line, lines) ? 1 : -EPROTO;
	if (!strcmp(line.kind, LIVE_MISSED) && read_number(&line, "seconds", 0, COUNT_MAX, &seconds)) {
		lines->missed = (uint32_t)seconds;
		return 0;
	}
	if (array_make_room(lines->lines, lines->count, lines->room, 1U))
		return -ENOMEM;
	if (!strcmp(line.kind, LIVE_SAMPLE) && read_sample(&line, &lines->lines[lines->count]))
		lines->count++;
	else
		lines->malformed++;
	return 0;
}

int live_text_read(char *text, struct thread_lines *ret_lines)
{
	_cleanup_thread_lines_ struct thread_lines lines = { .text = text, .text_bytes = strlen(text) };
	int result = 0;

	for (char *at = text, *line; !result && (line = strsep(&at, "\n"));)
		result = read_line(line, &lines);
	if (result != 1)
		return result < 0 ? result : -EPROTO;
	*ret_lines = lines;
	lines = (struct thread_lines){ 0 };
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/store/stored_json.h"

#include "common/base/array.h"

#include <string.h>

/* Stores the text of a column. Returns 0; -EUCLEAN if it is no text, or has a NUL in it; or -ENOMEM. */
static int text_of(sqlite3_stmt *statement, int column, const char **ret_text)
{
	const char *text;

	if (sqlite3_column_type(statement, column) != SQLITE_TEXT)
		return -EUCLEAN;
	text = (const char *)sqlite3_column_text(statement, column);
	if (!text)
		return -ENOMEM;
	if (strlen(text) != (size_t)sqlite3_column_bytes(statement, column))
		return -EUCLEAN;
	*ret_text = text;
	return 0;
}

/* Reads a number that sprintf() could have written: no plus sign, no leading zeros. */
static bool read_number(const char **at, int64_t *ret_number)
{
	bool negative = **at == '-';
	const char *first = *at + negative, *digit;
	int64_t number = 0;

	for (digit = first; *digit >= '0' && *digit <= '9'; digit++)
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_sub_overflow(number, *digit - '0', &number))
			return false;
	if (digit == first || (*first == '0' && (digit > first + 1 || negative)))
		return false;
	if (!negative && __builtin_sub_overflow(0, number, &number))
		return false;
	*at = digit;
	*ret_number = number;
	return true;
}

static bool read_character(const char **at, char character)
{
	if (**at != character)
		return false;
	++*at;
	return true;
}

int stored_frames_read(sqlite3_stmt *statement, int column, uint32_t most, struct frame_list *list)
{
	uint32_t first = list->count;
	const char *at, *end;
	int result = text_of(statement, column, &at);

	if (result < 0)
		return result;
	end = read_character(&at, '[') ? "]" : "";
	if (!strcmp(at, end))
		return 0;
	do {
		int64_t frame;

		if (!read_number(&at, &frame))
			return -EUCLEAN;
		if (list->count - first == most)
			return -EFBIG;
		if (array_make_room(list->frames, list->count, list->room, 1U))
			return -ENOMEM;
		list->frames[list->count++] = frame;
	} while (read_character(&at, ','));
	return strcmp(at, end) ? -EUCLEAN : 0;
}

/* Reads "[12,0]" or "[-4,12,0]"; the last number may be null. */
static bool read_event(const char **at, bool interval, struct stored_time *ret_time)
{
	int64_t number;

	*ret_time = (struct stored_time){ .cpu = -1 };
	if (!read_character(at, '[') || !read_number(at, &ret_time->begin_ms) || !read_character(at, ','))
		return false;
	ret_time->end_ms = ret_time->begin_ms;
	if (interval && (!read_number(at, &ret_time->end_ms) || !read_character(at, ',')))
		return false;
	if (!strncmp(*at, "null", 4))
		*at += 4;
	else if (!read_number(at, &number))
		return false;
	else
		ret_time->cpu = number;
	return read_character(at, ']');
}

bool stored_times_are_valid(sqlite3_stmt *statement, int column, bool intervals, int64_t samples)
{
	struct stored_time time;
	int64_t count = 0;
	const char *at;

	if (sqlite3_column_type(statement, column) == SQLITE_NULL)
		return true;
	if (text_of(statement, column, &at) < 0 || !read_character(&at, '['))
		return false;
	do {
		if (!read_event(&at, intervals, &time))
			return false;
		count++;
	} while (read_character(&at, ','));
	return !strcmp(at, "]") && count <= samples;
}

int stored_times_read(sqlite3_stmt *statement, int column, bool intervals, uint32_t most,
		      struct time_list *list)
{
	uint32_t first = list->count;
	const char *at;
	int result;

	if (sqlite3_column_type(statement, column) == SQLITE_NULL)
		return 0;
	result = text_of(statement, column, &at);
	if (result < 0)
		return result;
	if (!read_character(&at, '['))
		return -EUCLEAN;
	do {
		struct stored_time time;

		if (!read_event(&at, intervals, &time))
			return -EUCLEAN;
		if (list->count - first == most)
			return -EFBIG;
		if (array_make_room(list->times, list->count, list->room, 1U))
			return -ENOMEM;
		list->times[list->count++] = time;
	} while (read_character(&at, ','));
	return strcmp(at, "]") ? -EUCLEAN : 0;
}

/* Reads "[7,2]". The step, which is stored, comes behind the one that was, and below `steps`. */
static bool read_step(const char **at, int64_t steps, int64_t *step, int64_t *ret_number)
{
	int64_t before = *step;

	return read_character(at, '[') && read_number(at, step) && read_character(at, ',') &&
	       read_number(at, ret_number) && read_character(at, ']') && *step > before && *step < steps &&
	       *ret_number >= 0;
}

bool stored_steps_are_valid(sqlite3_stmt *statement, int column, int64_t steps)
{
	int64_t step = -1, number;
	const char *at;

	if (sqlite3_column_type(statement, column) == SQLITE_NULL)
		return true;
	if (text_of(statement, column, &at) < 0 || !read_character(&at, '['))
		return false;
	do
		if (!read_step(&at, steps, &step, &number))
			return false;
	while (read_character(&at, ','));
	return !strcmp(at, "]");
}

int stored_steps_read(sqlite3_stmt *statement, int column, uint32_t steps, struct step_list *list)
{
	int64_t step = -1, number;
	const char *at;
	int result = text_of(statement, column, &at);

	list->count = 0;
	if (result < 0)
		return result;
	if (!read_character(&at, '['))
		return -EUCLEAN;
	do {
		if (!read_step(&at, steps, &step, &number) || number > UINT32_MAX)
			return -EUCLEAN;
		if (array_make_room(list->steps, list->count, list->room, 1U))
			return -ENOMEM;
		list->steps[list->count++] = (struct stored_step){ (uint32_t)step, (uint32_t)number };
	} while (read_character(&at, ','));
	return strcmp(at, "]") ? -EUCLEAN : 0;
}

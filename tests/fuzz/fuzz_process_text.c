/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads any text as /proc/PID/stat, /proc/PID/status and a line of /proc/PID/maps: it is refused, and no result is
 * written, or its numbers are in the text. What a process chooses (its comm) changes nothing else.
 */
#include "loader/grant/process_text.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <inttypes.h>

static bool contains_number(const char *text, uint64_t number, bool hexadecimal)
{
	char digits[32];
	const char *at = text;
	size_t bytes = (size_t)(hexadecimal ? snprintf(digits, sizeof(digits), "%" PRIx64, number)
					    : snprintf(digits, sizeof(digits), "%" PRIu64, number));

	/* leading zeros are digits, too */
	while ((at = strstr(at, digits))) {
		if (!strchr("0123456789abcdef", at[bytes]) || !at[bytes])
			return true;
		at++;
	}
	return false;
}

static void check_stat(const char *text)
{
	struct process_stat stat = { 'x', 1, 2 };
	int result = process_text_stat(text, &stat);

	if (result) {
		HOLDS(result == -EBADMSG && stat.state == 'x' && stat.flags == 1 && stat.start_ticks == 2);
		return;
	}
	HOLDS(strchr(text, stat.state) && contains_number(text, stat.flags, false) &&
	      contains_number(text, stat.start_ticks, false));
}

/* The same process under another name: the kernel writes the name in brackets, whatever it is. */
static void check_name(struct input input)
{
	static const char behind[] = ") S 1 2 3 4 5 4194560 7 8 9 10 11 12 13 14 20 0 1 0 4711 22 23\n";
	char text[16 + sizeof(behind) + 8] = "7 (", name[16] = "";
	struct process_stat stat = { 0 };

	input_read(&input, name, sizeof(name) - 1);
	strcat(strcat(text, name), behind);
	HOLDS(!process_text_stat(text, &stat));
	HOLDS(stat.state == 'S' && stat.flags == 4194560 && stat.start_ticks == 4711);
}

static void check_status(const char *text)
{
	struct process_status status = { .innermost_id = 0 };
	int result = process_text_status(text, &status);

	if (result) {
		HOLDS(result == -EBADMSG && !status.innermost_id);
		return;
	}
	HOLDS(status.innermost_id && contains_number(text, status.innermost_id, false));
	for (size_t i = 0; i < PROCESS_UIDS; i++)
		HOLDS(contains_number(text, status.uids[i], false));
}

static void check_mapping(const char *text)
{
	struct process_mapping mapping = { 1, 0, false };
	int result = process_text_mapping(text, &mapping);

	if (result) {
		HOLDS(result == -EBADMSG && mapping.begins == 1 && !mapping.ends && !mapping.executable);
		return;
	}
	HOLDS(mapping.begins < mapping.ends && contains_number(text, mapping.begins, true) &&
	      contains_number(text, mapping.ends, true));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct input input = { data, bytes };
	char *text = copy_text(data, bytes);

	check_stat(text);
	check_name(input);
	check_status(text);
	check_mapping(text);
	free(text);
	return 0;
}

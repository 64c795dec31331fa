/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads any text as that of the iterator `threads`, and groups what it has: every value is a text, and nobody is counted twice. */
#include "report/live/thread_history.h"
#include "report/live/threads_text.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>

static void group(const struct thread_lines *lines)
{
	const struct thread_view view = {
		.columns = { THREAD_STATE, THREAD_COMM, THREAD_UNIT },
		.columns_count = 3,
		.all_states = true,
		.window = 1,
		.sort = 3,
	};
	struct thread_history *history = calloc(1, sizeof(*history));
	struct thread_groups groups;
	double threads = 0;

	HOLDS(history && !thread_history_add(history, lines) && !thread_history_end_second(history));
	HOLDS(history->seconds_count == 1 && !thread_history_group(history, &view, 0, &groups));
	for (uint32_t i = 0; i < groups.count; i++)
		threads += groups.groups[i].average;
	HOLDS(threads > lines->count - 0.5 && threads < lines->count + 0.5);
	thread_groups_free(&groups);
	thread_history_free(history);
	free(history);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct thread_lines lines;
	int result = threads_text_read(copy_text(data, bytes), bytes, &lines);

	if (result) {
		HOLDS(result == -ENODATA || result == -EPROTO);
		HOLDS((result == -ENODATA) == !bytes);
		return 0;
	}
	for (uint32_t i = 0; i < lines.count; i++)
		for (int column = 0; column < THREAD_COLUMNS; column++)
			HOLDS(lines.lines[i].values[column]);
	group(&lines);
	thread_lines_free(&lines);
	return 0;
}

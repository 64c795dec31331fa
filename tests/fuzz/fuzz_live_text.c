/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads any text as a second of bourdond's lines, and groups what it has: every value is a text, and no sample counts twice. */
#include "report/live/live_text.h"
#include "report/live/thread_history.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>

static void group(const struct thread_lines *lines, uint64_t samples)
{
	const struct thread_view view = {
		.columns = { THREAD_FUNCTION, THREAD_MODULE, THREAD_COMM },
		.columns_count = 3,
		.origin = THREADS_SAMPLED,
		.all_states = true,
		.window = 1,
		.sort = 3,
	};
	struct thread_history *history = calloc(1, sizeof(*history));
	struct thread_groups groups;
	double cpus = 0, expected = (double)samples / lines->looks;

	HOLDS(history && !thread_history_add(history, lines) && !thread_history_end_second(history));
	HOLDS(history->seconds_count == 1 && !thread_history_group(history, &view, 0, &groups));
	for (uint32_t i = 0; i < groups.count; i++)
		cpus += groups.groups[i].average;
	HOLDS(cpus > expected * 0.999 - 0.001 && cpus < expected * 1.001 + 0.001);
	thread_groups_free(&groups);
	thread_history_free(history);
	free(history);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct thread_lines lines;
	uint64_t samples = 0;
	int result = live_text_read(copy_text(data, bytes), &lines);

	if (result) {
		HOLDS(result == -EPROTO);
		return 0;
	}
	HOLDS(lines.ends_second && lines.looks && lines.cpus && lines.at_ns >= 0);
	for (uint32_t i = 0; i < lines.count; i++) {
		HOLDS(lines.lines[i].times && lines.lines[i].stack);
		samples += lines.lines[i].times;
		for (int column = 0; column < THREAD_COLUMNS; column++)
			HOLDS(lines.lines[i].values[column]);
	}
	/* a second of more samples than a count holds is no machine's */
	if (samples <= UINT32_MAX)
		group(&lines, samples);
	thread_lines_free(&lines);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads any bytes as looks at the activity of all threads: as a stream of the iterator `looks` that is cut somewhere, and as
 * slots of the map `activity`. Looks that are not refused go into a minute, whose rows have all of their threads.
 */
#include "consumer/store/activity_rows.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>

#define SLOTS_A_LOOK 16U

static struct activity_slot slots[ACTIVITY_SLOTS];

/* Returns false for a damaged stream. The last byte says where it is cut. */
static bool read_stream(struct cgroups *cgroups, const uint8_t *data, size_t bytes)
{
	struct activity_stream stream = { .cgroups = cgroups };
	size_t cut = bytes ? data[bytes - 1] % bytes : 0;
	char *records = malloc(bytes + 1);
	long first, rest;

	HOLDS(records);
	memcpy(records, data, bytes);
	first = activity_counts_read(&stream, records, cut);
	HOLDS(first == -EBADMSG || (first >= 0 && (size_t)first <= cut));
	rest = first < 0 ? first : activity_counts_read(&stream, records + first, bytes - (size_t)first);
	HOLDS(rest == -EBADMSG || (rest >= 0 && (size_t)rest <= bytes - (size_t)first));
	free(records);
	return rest >= 0 && stream.is_whole;
}

/* Adds a look of these slots, unless it is refused. Returns its threads. */
static uint64_t add_look(struct activity_minute *minute, uint32_t step, const uint8_t *data, size_t bytes,
			 struct cgroups *cgroups)
{
	struct activity_look look = { .number = step + 2 };
	struct activity_counts counts = { .count = 0 };
	uint64_t threads = 0;

	memset(slots, 0, sizeof(slots));
	memcpy(slots, data, bytes);
	for (uint32_t i = 0; i < SLOTS_A_LOOK; i++) {
		slots[i].look = slots[i].reserved & 1 ? look.number : 1;
		slots[i].threads &= 0xffff;
		slots[i].key.uid = i; /* the kernel has each key of a look in one slot */
		threads += slots[i].look == look.number ? slots[i].threads : 0;
	}
	look.others[step % THREAD_STATES] = step;
	look.threads = (uint32_t)threads + step;
	if (activity_counts_copy(&counts, &look, slots))
		look.threads = 0;
	else
		activity_minute_add(minute, step, &counts, cgroups);
	activity_counts_free(&counts);
	return look.threads;
}

static uint64_t count_stored(const struct activity_rows *rows)
{
	struct activity_sums sums;
	uint64_t threads = 0;

	for (uint32_t i = 0; i < rows->count; i++) {
		const struct activity_stored *row = &rows->rows[i];

		HOLDS(row->sums.least <= row->sums.most && row->sums.threads >= row->sums.most);
		threads += row->is_folded ? 0 : row->sums.threads;
	}
	for (uint32_t state = 0; state < THREAD_STATES; state++)
		threads += activity_rows_rest(rows, state, &sums) ? sums.threads : 0;
	return threads;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static const char text[] = "0 _text\n4096 waits\n8192 moves disk\n";
	const struct kernel_symbols symbols = { .text = text, .bytes = sizeof(text) - 1 };
	struct activity_minute *minute = activity_minute_new(0, 1000000000);
	struct activity_rows rows;
	static struct cgroups *cgroups;
	uint64_t threads = 0;
	uint32_t step = 0;

	HOLDS(minute && (cgroups || !cgroups_open(&cgroups, "/sys/fs/cgroup", -1, 0)));
	read_stream(cgroups, data, bytes);
	for (size_t used = 0; used < bytes && step < ACTIVITY_STEPS_MAX; step++) {
		size_t part = bytes - used < SLOTS_A_LOOK * sizeof(slots[0])
				      ? bytes - used
				      : SLOTS_A_LOOK * sizeof(slots[0]);

		threads += add_look(minute, step, data + used, part, cgroups);
		used += part;
	}
	activity_minute_end(minute, step, cgroups);
	HOLDS(!activity_rows_make(&rows, minute, &symbols));
	HOLDS(count_stored(&rows) == threads);
	HOLDS(activity_rows_bound(&rows, 500) <= 500);
	HOLDS(count_stored(&rows) == threads);
	activity_rows_free(&rows);
	activity_minute_free(minute);
	return 0;
}

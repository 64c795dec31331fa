/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/host/kills.h"

#include "common/base/array.h"
#include "common/base/numbers.h"
#include "common/kernel/cgroup_parts.h"

#include <limits.h>
#include <string.h>

void kills_free(struct kills *kills)
{
	free(kills->each);
	*kills = (struct kills){ 0 };
}

static uint64_t account_of(const struct kill_record *record)
{
	return (uint64_t)record->how << 32 | record->account;
}

/* The oldest of the account that has most. Sorted, because a user with many uids sees to it that this is called often. */
static uint32_t find_one_too_many(const struct kills *kills)
{
	uint64_t accounts[KILLS_MAX] = { 0 }, largest = 0;
	uint32_t most = 0, same = 0;

	for (uint32_t i = 0; i < kills->count; i++)
		accounts[i] = account_of(&kills->each[i]);
	qsort(accounts, kills->count, sizeof(*accounts), compare_falling);
	for (uint32_t i = 0; i < kills->count; i++) {
		same = i && accounts[i] == accounts[i - 1] ? same + 1 : 1;
		if (same > most) {
			most = same;
			largest = accounts[i];
		}
	}
	for (uint32_t i = 0; i < kills->count; i++)
		if (account_of(&kills->each[i]) == largest)
			return i;
	return 0;
}

static void forget(struct kills *kills, uint32_t position)
{
	kills->count--;
	memmove(&kills->each[position], &kills->each[position + 1],
		(kills->count - position) * sizeof(*kills->each));
}

bool kills_add(struct kills *kills, const struct kill_record *record, uint32_t most,
	       struct kill_record *ret_left_out)
{
	bool is_full = kills->count >= most;

	if (is_full) {
		uint32_t position = find_one_too_many(kills);

		*ret_left_out = kills->each[position];
		forget(kills, position);
	}
	if (array_make_room(kills->each, kills->count, kills->room, 1U)) {
		*ret_left_out = *record;
		return true;
	}
	kills->each[kills->count++] = *record;
	return is_full;
}

bool kill_is_by_oomd(const struct kill_record *record, const char *by_cgroup)
{
	char unit[NAME_MAX + 1];

	return record->how == KILL_SIGNAL && by_cgroup && !strcmp(record->by_comm, "systemd-oomd") &&
	       cgroup_unit(by_cgroup, unit) && !strcmp(unit, "systemd-oomd.service");
}

bool kill_is_for_memory(const struct kill_record *record, const char *by_cgroup)
{
	return record->how == KILL_OOM || kill_is_by_oomd(record, by_cgroup);
}

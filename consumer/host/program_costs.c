/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/host/program_costs.h"

#include "common/base/cleanup.h"
#include "consumer/host/iterator_stream.h"

#include <string.h>

long program_costs_add(struct program_costs *costs, const char *records, size_t bytes)
{
	size_t used = 0;

	for (; bytes - used >= sizeof(struct program_cost); used += sizeof(struct program_cost)) {
		struct program_cost cost;

		memcpy(&cost, records + used, sizeof(cost));
		if (cost.header.type != RECORD_PROGRAM || cost.header.bytes != sizeof(cost) ||
		    costs->count == OWN_PROGRAMS_MAX)
			return -EBADMSG;
		cost.name.text[sizeof(cost.name.text) - 1] = '\0';
		costs->each[costs->count++] = cost;
	}
	return (long)used;
}

static long add_records(void *user, const char *records, size_t bytes)
{
	return program_costs_add(user, records, bytes);
}

static int read_once(struct program_costs *costs, const struct kernel_objects *kernel)
{
	_cleanup_close_ int fd = kernel_objects_open_iterator(kernel, PIN_PROGRAMS);
	int result = fd;

	*costs = (struct program_costs){ 0 };
	if (fd >= 0)
		result = iterator_stream_read(fd, add_records, costs);
	if (result < 0)
		costs->count = 0;
	return result;
}

static uint64_t all_runs(const struct program_costs *costs)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < costs->count; i++)
		sum += costs->each[i].runs;
	return sum;
}

/* The kernel does not say whether it counts. If it does, reading has run a program. */
int program_costs_read(struct program_costs *ret_costs, const struct kernel_objects *kernel)
{
	int result = read_once(ret_costs, kernel);
	uint64_t runs = all_runs(ret_costs);

	if (result < 0 || !runs)
		return result;
	result = read_once(ret_costs, kernel);
	ret_costs->are_counted = all_runs(ret_costs) != runs;
	return result;
}

uint64_t program_costs_missed(const struct program_costs *costs)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < costs->count; i++)
		sum += costs->each[i].missed;
	return sum;
}

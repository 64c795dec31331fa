/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/live/machine_load.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/kernel/psi.h"
#include "common/system/files.h"

#include <inttypes.h>
#include <string.h>

#define MEMINFO_BYTES_MAX (64U << 10)

static bool read_kib(const char *meminfo, const char *name, uint64_t *ret_kib)
{
	const char *line = strstr(meminfo, name);

	return line && sscanf(line + strlen(name), " %" SCNu64, ret_kib) == 1;
}

float machine_load_memory(const char *meminfo)
{
	uint64_t total, available;

	if (!read_kib(meminfo, "MemTotal:", &total) || !read_kib(meminfo, "MemAvailable:", &available) ||
	    available > total || !total)
		return -1;
	return (float)((double)(total - available) / (double)total);
}

static float memory_in_use(void)
{
	_cleanup_free_ char *text = NULL;
	size_t bytes;

	return file_read_text(AT_FDCWD, "/proc/meminfo", MEMINFO_BYTES_MAX, &text, &bytes) < 0
		       ? -1
		       : machine_load_memory(text);
}

static struct load_reading read_load(void)
{
	struct load_reading reading = { .now_ns = clock_monotonic_ns(), .disk = disk_bytes_read() };

	cpu_times_read(&reading.cpu);
	for (int i = 0; i < LOAD_RESOURCES; i++)
		reading.has_psi[i] = !psi_read_machine((enum psi_resource)i, &reading.psi_us[i]);
	return reading;
}

static float part_of(uint64_t part, double whole)
{
	return (double)part < whole ? (float)((double)part / whole) : 1;
}

struct machine_load machine_load_between(const struct load_reading *before, const struct load_reading *after)
{
	struct machine_load load = { .cpu = -1, .memory = -1, .disk_bytes = -1 };
	double ns = (double)(after->now_ns - before->now_ns);
	uint64_t disk = after->disk.read + after->disk.written,
		 disk_before = before->disk.read + before->disk.written;

	for (int i = 0; i < LOAD_RESOURCES; i++)
		load.psi[i] = before->has_psi[i] && after->has_psi[i] && after->psi_us[i] >= before->psi_us[i]
				      ? part_of(1000 * (after->psi_us[i] - before->psi_us[i]), ns)
				      : -1;
	if (after->cpu.cpus && after->cpu.cpus == before->cpu.cpus &&
	    after->cpu.idle_ns >= before->cpu.idle_ns)
		load.cpu = 1 - part_of(after->cpu.idle_ns - before->cpu.idle_ns, ns * after->cpu.cpus);
	if (after->disk.known && before->disk.known && disk >= disk_before)
		load.disk_bytes = (double)(disk - disk_before) * CLOCK_SECOND_NS / ns;
	return load;
}

void machine_load_note(struct machine_loads *loads, int64_t at_ns)
{
	struct load_reading reading = read_load();
	struct machine_load *load = &loads->loads[loads->noted % HISTORY_SECONDS];

	if (loads->before.now_ns && reading.now_ns > loads->before.now_ns) {
		*load = machine_load_between(&loads->before, &reading);
		load->memory = memory_in_use();
		load->at_ns = at_ns;
		loads->noted++;
	}
	loads->before = reading;
}

const struct machine_load *machine_load_find(const struct machine_loads *loads, int64_t at_ns)
{
	for (uint32_t i = 0; i < loads->noted && i < HISTORY_SECONDS; i++) {
		const struct machine_load *load = &loads->loads[(loads->noted - 1 - i) % HISTORY_SECONDS];

		if (load->at_ns == at_ns)
			return load;
	}
	return NULL;
}

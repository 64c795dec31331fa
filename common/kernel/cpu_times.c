/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/kernel/cpu_times.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/system/files.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STAT_BYTES_MAX (4U << 20) /* a line for each CPU, and all interrupts in one line */

int cpu_times_parse(const char *text, struct cpu_times *ret_times)
{
	struct cpu_times times = { 0 };
	uint64_t idle, iowait, irq, softirq, steal, guest, guest_nice, tick_ns;

	if (sscanf(text,
		   "cpu %*u %*u %*u %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64,
		   &idle, &iowait, &irq, &softirq, &steal, &guest, &guest_nice) != 7)
		return -EBADMSG;
	for (const char *line = text; (line = strstr(line, "\ncpu")); line++)
		times.cpus += isdigit((unsigned char)line[4]) != 0;
	if (!times.cpus)
		return -EBADMSG;
	tick_ns = CLOCK_SECOND_NS / (uint64_t)sysconf(_SC_CLK_TCK);
	times.idle_ns = (idle + iowait) * tick_ns;
	times.irq_ns = irq * tick_ns;
	times.softirq_ns = softirq * tick_ns;
	times.steal_ns = steal * tick_ns;
	times.guest_ns = (guest + guest_nice) * tick_ns;
	*ret_times = times;
	return 0;
}

int cpu_times_read(struct cpu_times *ret_times)
{
	_cleanup_free_ char *text = NULL;
	size_t bytes;
	int result = file_read_text(AT_FDCWD, "/proc/stat", STAT_BYTES_MAX, &text, &bytes);

	*ret_times = (struct cpu_times){ 0 };
	return result < 0 ? result : cpu_times_parse(text, ret_times);
}

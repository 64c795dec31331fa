/* SPDX-License-Identifier: GPL-2.0-only */
#include "bench/program_stats.h"

#include "common/system/log.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

int program_stats_enable(void)
{
	int fd = bpf_enable_stats(BPF_STATS_RUN_TIME);

	if (fd < 0)
		log_error("cannot enable the kernel's statistics of BPF programs: %s; run as root",
			  strerror(-fd));
	return fd;
}

int program_stats_add(int program_fd, struct program_stats *stats)
{
	struct bpf_prog_info info = { 0 };
	__u32 info_bytes = sizeof(info);

	if (bpf_obj_get_info_by_fd(program_fd, &info, &info_bytes))
		return -errno;
	stats->runs += info.run_cnt;
	stats->run_ns += info.run_time_ns;
	return 0;
}

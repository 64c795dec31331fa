/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/host/patterns.h"

#include <bpf/bpf.h>
#include <errno.h>

static int clear(int map_fd)
{
	struct pattern_key key;

	while (!bpf_map_get_next_key(map_fd, NULL, &key))
		if (bpf_map_delete_elem(map_fd, &key) && errno != ENOENT)
			return -errno;
	return errno == ENOENT ? 0 : -errno;
}

int patterns_publish(const struct kernel_objects *kernel, const struct rule_set *rules)
{
	static const enum pin_map tries[2] = { PIN_PATTERNS_A, PIN_PATTERNS_B };
	__u32 standby = !(kernel->control->live_patterns & 1);
	int map_fd = kernel->map_fds[tries[standby]];
	int result = clear(map_fd);

	for (size_t i = 0; i < rules->count && !result; i++) {
		struct pattern_key key = comm_pattern_key(&rules->rules[i].comm);

		if (bpf_map_update_elem(map_fd, &key, &rules->rules[i].pattern_id, BPF_ANY))
			result = -errno;
	}
	if (!result)
		__atomic_store_n(&kernel->control->live_patterns, standby, __ATOMIC_RELEASE);
	return result;
}

/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/host/wanted.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

struct want want_process(uint32_t tgid, uint64_t started_ns, uint64_t until_ns)
{
	return (struct want){ .key = { .kind = WANTED_PROCESS, .what = { tgid } },
			      .value = { until_ns, started_ns } };
}

struct want want_cgroup(uint64_t id, uint64_t until_ns)
{
	return (struct want){ .key = { .kind = WANTED_CGROUP, .what = { id } }, .value = { until_ns, 0 } };
}

struct want want_comm(const struct comm_pattern *pattern, uint64_t until_ns)
{
	struct want want = { .key = { .kind = WANTED_COMM }, .value = { until_ns, 0 } };

	want.key.bytes = pattern->prefix ? (uint32_t)strnlen(pattern->text, ABI_COMM_BYTES) : ABI_COMM_BYTES;
	memcpy(want.key.what, pattern->text, sizeof(want.key.what));
	return want;
}

static struct want *find(struct wants *wants, const struct wanted_key *key)
{
	for (uint32_t i = 0; i < wants->count; i++)
		if (!memcmp(&wants->wants[i].key, key, sizeof(*key)))
			return &wants->wants[i];
	return NULL;
}

void wants_add(struct wants *wants, const struct want *want)
{
	struct want *there = find(wants, &want->key);

	if (there) {
		/* of a process that has another start, its id was given to another one: the later request knows */
		there->value.started_ns = want->value.started_ns;
		if (want->value.until_ns > there->value.until_ns)
			there->value.until_ns = want->value.until_ns;
	} else if (wants->count < WANTED_MAX) {
		wants->wants[wants->count++] = *want;
	} else {
		wants->left_out++;
	}
}

static uint32_t kinds_of(const struct wants *wants)
{
	uint32_t kinds = 0;

	for (uint32_t i = 0; i < wants->count; i++) {
		const struct wanted_key *key = &wants->wants[i].key;

		kinds |= key->kind == WANTED_PROCESS  ? WANTED_IN_PROCESSES
			 : key->kind == WANTED_CGROUP ? WANTED_IN_CGROUPS
						      : 1U << key->bytes;
	}
	return kinds;
}

int wanted_publish(int map_fd, struct control *control, struct wants *before, const struct wants *now)
{
	struct wants wanted = *now;
	int result = 0;

	for (uint32_t i = 0; i < before->count; i++)
		if (!find(&wanted, &before->wants[i].key) &&
		    bpf_map_delete_elem(map_fd, &before->wants[i].key) && errno != ENOENT && !result)
			result = -errno;
	for (uint32_t i = 0; i < wanted.count; i++) {
		const struct want *want = &wanted.wants[i], *there = find(before, &want->key);

		if (there && !memcmp(&there->value, &want->value, sizeof(want->value)))
			continue;
		if (bpf_map_update_elem(map_fd, &want->key, &want->value, BPF_ANY) && !result)
			result = -errno;
	}
	__atomic_store_n(&control->wanted, kinds_of(&wanted), __ATOMIC_RELEASE);
	*before = wanted;
	return result;
}

int wanted_clear(int map_fd, struct control *control)
{
	struct wanted_key key;

	__atomic_store_n(&control->wanted, 0, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < WANTED_MAX && !bpf_map_get_next_key(map_fd, NULL, &key); i++)
		if (bpf_map_delete_elem(map_fd, &key) && errno != ENOENT)
			return -errno;
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/contention.h"

#include "common/cleanup.h"

/* Fewer of the targets may miss a CPU of theirs; fewer of a group say little of its time. */
#define TARGETS_LEAST 20U
#define GROUP_LEAST 10U

void contention_free(struct contention *contention)
{
	free(contention->of_processes);
	*contention = (struct contention){ 0 };
}

static enum usage_role role_of(const struct capture *capture, const struct capture_row *row)
{
	return capture->processes[row->process].role;
}

/* Whether a target ran on the event's CPU, or waited for it. */
static bool is_of_target(const struct capture *capture, const struct capture_event *event)
{
	const struct capture_row *row = &capture->rows[event->row];

	return role_of(capture, row) == USAGE_TARGET && event->cpu != CAPTURE_NO_CPU &&
	       (row->kind == SAMPLE_ON_CPU || row->stall & STALL_CPU);
}

struct contention contention_find(const struct capture *capture)
{
	struct contention contention = { .capture = capture };
	_cleanup_free_ bool *are_theirs = calloc(CAPTURE_NO_CPU, sizeof(*are_theirs));
	uint32_t events = 0;

	for (uint32_t i = 0; are_theirs && i < capture->events_count; i++)
		if (is_of_target(capture, &capture->events[i])) {
			are_theirs[capture->events[i].cpu] = true;
			events++;
		}
	if (events < TARGETS_LEAST)
		return contention;
	contention.of_processes = calloc(capture->processes_count, sizeof(*contention.of_processes));
	for (uint32_t i = 0; contention.of_processes && i < capture->events_count; i++) {
		const struct capture_event *event = &capture->events[i];
		const struct capture_row *row = &capture->rows[event->row];
		struct contention_samples *samples = &contention.of_processes[row->process];

		if (row->kind != SAMPLE_ON_CPU || event->cpu == CAPTURE_NO_CPU)
			continue;
		samples->all++;
		samples->there += are_theirs[event->cpu];
	}
	return contention;
}

double contention_share(const struct contention *contention, const struct usage_group *group)
{
	struct contention_samples sums = { 0 };

	for (uint32_t i = 0; contention->of_processes && i < contention->capture->processes_count; i++) {
		const struct capture_process *process = &contention->capture->processes[i];

		if (!usage_group_has(group, process->role, process->comm, process->cgroup))
			continue;
		sums.all += contention->of_processes[i].all;
		sums.there += contention->of_processes[i].there;
	}
	return sums.all < GROUP_LEAST ? 1 : (double)sums.there / (double)sums.all;
}

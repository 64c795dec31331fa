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

static void count_samples(struct contention *contention)
{
	const struct capture *capture = contention->capture;

	for (uint32_t i = 0; i < capture->rows_count; i++)
		if (capture->rows[i].kind == SAMPLE_ON_CPU)
			contention->of_processes[capture->rows[i].process].all += capture->rows[i].samples;
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
	if (contention.of_processes)
		count_samples(&contention);
	for (uint32_t i = 0; contention.of_processes && i < capture->events_count; i++) {
		const struct capture_event *event = &capture->events[i];
		const struct capture_row *row = &capture->rows[event->row];
		struct contention_samples *samples = &contention.of_processes[row->process];

		if (row->kind != SAMPLE_ON_CPU || event->cpu == CAPTURE_NO_CPU)
			continue;
		samples->placed++;
		samples->there += are_theirs[event->cpu];
	}
	return contention;
}

/* Root's policy may not allow samples of all; and a capture that is full lacks some. */
static bool has_samples_of(const struct contention *contention, enum usage_role role)
{
	const struct capture *capture = contention->capture;

	if (capture->losses[LOSS_CAPTURE_FULL] || capture->losses[LOSS_OTHERS_FULL])
		return false;
	for (uint32_t i = 0; i < capture->processes_count; i++)
		if (capture->processes[i].role == role && contention->of_processes[i].all)
			return true;
	return false;
}

/* Few samples do not say where the group ran, but that it ran for less than so many ticks while the capture was recorded. */
static double share_of_few(const struct contention *contention, const struct usage_group *group)
{
	uint32_t hz = contention->capture->trigger.hz;
	double most_ns = hz ? GROUP_LEAST * 1e9 / hz : 0, took_ns = (double)group->sums.task.cpu_ns;

	return hz && took_ns > most_ns && has_samples_of(contention, group->role) ? most_ns / took_ns : 1;
}

double contention_share(const struct contention *contention, const struct usage_group *group)
{
	struct contention_samples sums = { 0 };

	for (uint32_t i = 0; contention->of_processes && i < contention->capture->processes_count; i++) {
		const struct capture_process *process = &contention->capture->processes[i];

		if (!usage_group_has(group, process->role, process->comm, process->cgroup))
			continue;
		sums.all += contention->of_processes[i].all;
		sums.placed += contention->of_processes[i].placed;
		sums.there += contention->of_processes[i].there;
	}
	if (!contention->of_processes)
		return 1;
	if (sums.all < GROUP_LEAST)
		return share_of_few(contention, group);
	return sums.placed < GROUP_LEAST ? 1 : (double)sums.there / (double)sums.placed;
}

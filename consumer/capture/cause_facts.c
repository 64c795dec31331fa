/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/cause_facts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct cause facts_no_verdict = { 0 };

struct cause facts_verdict(const char *words, const char *format, ...)
{
	struct cause cause = { .verdict = words };
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(cause.because, sizeof(cause.because), format, arguments);
	va_end(arguments);
	return cause;
}

struct cause facts_blame(struct cause cause, const struct usage_group *culprit)
{
	if (culprit)
		usage_group_text(culprit, cause.culprit, sizeof(cause.culprit));
	return cause;
}

/* ---- sums ---- */

uint64_t facts_moved_bytes(const struct usage_sums *sums)
{
	return sums->task.read_bytes + sums->task.write_bytes;
}

uint64_t facts_consumed(const struct usage_sums *sums, enum psi_resource resource)
{
	return resource == PSI_IO       ? facts_moved_bytes(sums)
	       : resource == PSI_MEMORY ? sums->rss_bytes
					: sums->task.cpu_ns;
}

uint64_t facts_waited(const struct usage_sums *sums, enum psi_resource resource)
{
	return resource == PSI_IO       ? sums->stalled_io_ns
	       : resource == PSI_MEMORY ? sums->stalled_memory_ns
					: sums->stalled_cpu_ns;
}

double facts_waited_percent(uint64_t queued_ns, uint64_t ran_ns)
{
	return queued_ns ? 100 * (double)queued_ns / (double)(queued_ns + ran_ns) : 0;
}

/* The growth of a PSI total between the first and the last reading. */
static uint64_t stalled_ns(const struct capture *capture)
{
	const struct pressure *pressure = &capture->pressure;
	enum pressure_scope scope = capture->trigger.cgroup ? PRESSURE_CGROUP : PRESSURE_SYSTEM;
	uint64_t first_us = UINT64_MAX, last_us = 0;

	for (uint32_t i = 0; i < pressure->count; i++) {
		const struct pressure_reading *reading = &pressure->readings[i];
		uint64_t us = reading->totals.us[capture->trigger.psi.kind];

		if (reading->scope != scope || reading->resource != capture->trigger.psi.resource)
			continue;
		first_us = us < first_us ? us : first_us;
		last_us = us > last_us ? us : last_us;
	}
	return last_us > first_us ? (last_us - first_us) * 1000 : 0;
}

static const struct usage_group *longer(const struct usage_group *one, const struct usage_group *other,
					enum psi_resource resource)
{
	uint64_t waits = facts_waited(&other->sums, resource);

	return waits && (!one || waits > facts_waited(&one->sums, resource)) ? other : one;
}

static const struct usage_group *larger(const struct usage_group *one, const struct usage_group *other,
					enum psi_resource resource)
{
	uint64_t takes = facts_consumed(&other->sums, resource);

	return takes && (!one || takes > facts_consumed(&one->sums, resource)) ? other : one;
}

/* What a group of others took of the resource. Of CPU time, only that on the targets' CPUs. */
static uint64_t taken(const struct facts *facts, const struct usage_group *group)
{
	enum psi_resource resource = facts->capture->trigger.psi.resource;

	return resource == PSI_CPU ? (uint64_t)(contention_share(&facts->contention, group) *
						(double)group->sums.task.cpu_ns)
				   : facts_consumed(&group->sums, resource);
}

static void gather_groups(struct facts *facts)
{
	enum psi_resource resource = facts->capture->trigger.psi.resource;
	uint64_t most = 0;

	if (usage_groups_make(&facts->capture->usage, &facts->groups) < 0)
		return; /* without memory, nobody is named */
	for (uint32_t i = 0; i < facts->groups.count; i++) {
		const struct usage_group *group = &facts->groups.groups[i];

		usage_sums_add(group->role == USAGE_TARGET ? &facts->own : &facts->others, &group->sums);
		if (!facts->first_grown || group->sums.grown_bytes > facts->first_grown->sums.grown_bytes)
			facts->first_grown = group;
		if (group->role == USAGE_TARGET) {
			facts->target_groups++;
			facts->first_target = larger(facts->first_target, group, resource);
			facts->first_victim = longer(facts->first_victim, group, resource);
		} else {
			uint64_t takes = taken(facts, group);

			if (resource == PSI_CPU)
				facts->competing_ns += takes;
			if (takes > most) {
				most = takes;
				facts->first_other = group;
			}
		}
	}
}

struct facts facts_gather(const struct capture *capture, cause_hottest hottest, void *user)
{
	struct facts facts = {
		.capture = capture, .stalled_ns = stalled_ns(capture), .hottest = hottest, .user = user
	};
	const struct capture_usage *usage = &capture->usage;

	if (capture->trigger.psi.resource == PSI_CPU)
		facts.contention = contention_find(capture);
	gather_groups(&facts);
	usage_sums_add(&facts.own, &usage->rest_targets);
	usage_sums_add(&facts.others, &usage->rest_others);
	usage_sums_add(&facts.others, &usage->rest_kernel);
	/* nobody's name is known of these */
	for (uint32_t i = 0; i < usage->ended_count; i++)
		if (usage->ended[i].role == USAGE_REST) {
			facts.others.task.cpu_ns += usage->ended[i].sums.cpu_ns;
			facts.others.task.read_bytes += usage->ended[i].sums.read_bytes;
			facts.others.task.write_bytes += usage->ended[i].sums.write_bytes;
			facts.competing_ns += usage->ended[i].sums.cpu_ns;
		}
	facts.competing_ns += usage->rest_others.task.cpu_ns + usage->rest_kernel.task.cpu_ns;
	facts.usage_ns = usage->to_ns - usage->before.walked_ns;
	return facts;
}

void facts_free(struct facts *facts)
{
	contention_free(&facts->contention);
	usage_groups_free(&facts->groups);
}

/* ---- statistics of the kernel ---- */

uint64_t facts_growth(const struct kernel_stat *stat)
{
	return stat->before >= 0 && stat->after > stat->before ? (uint64_t)(stat->after - stat->before) : 0;
}

static bool begins_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

uint64_t facts_grown(const struct facts *facts, int scope, const char *source, const char *name)
{
	const struct kernel_stats *stats = &facts->capture->kernel_stats;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < stats->count; i++)
		if (stats->stats[i].scope == scope && !strcmp(stats->stats[i].source, source) &&
		    begins_with(stats->stats[i].name, name))
			sum += facts_growth(&stats->stats[i]);
	return sum;
}

const struct kernel_stat *facts_most_grown(const struct facts *facts, const char *source, const char *name)
{
	const struct kernel_stats *stats = &facts->capture->kernel_stats;
	const struct kernel_stat *most = NULL;

	for (uint32_t i = 0; i < stats->count; i++) {
		const struct kernel_stat *stat = &stats->stats[i];

		if (!strcmp(stat->source, source) && !strcmp(stat->name, name) && facts_growth(stat) &&
		    (!most || facts_growth(stat) > facts_growth(most)))
			most = stat;
	}
	return most;
}

uint64_t facts_limit(const struct facts *facts, int scope, const char *source, const char *name)
{
	const struct kernel_stats *stats = &facts->capture->kernel_stats;

	for (uint32_t i = 0; i < stats->count; i++) {
		const struct kernel_stat *stat = &stats->stats[i];
		int64_t value = stat->after >= 0 ? stat->after : stat->before;

		if (stat->scope == scope && !strcmp(stat->source, source) && !strcmp(stat->name, name))
			return value > 0 ? (uint64_t)value : 0;
	}
	return 0;
}

bool facts_has_stat(const struct facts *facts, const char *source)
{
	const struct kernel_stats *stats = &facts->capture->kernel_stats;

	for (uint32_t i = 0; i < stats->count; i++)
		if (!strcmp(stats->stats[i].source, source))
			return true;
	return false;
}

uint64_t facts_span_ns(const struct facts *facts)
{
	return facts->capture->kernel_stats.to_ns - facts->capture->kernel_stats.from_ns;
}

/* ---- words ---- */

const char *facts_hottest_text(const struct facts *facts, const struct usage_group *group, char *into,
			       size_t into_bytes)
{
	char function[FACTS_HOTTEST_BYTES - sizeof(", mostly in ")];

	*into = '\0';
	if (group && facts->hottest && facts->hottest(facts->user, group, function, sizeof(function)))
		snprintf(into, into_bytes, ", mostly in %s", function);
	return into;
}

const char *facts_victims_text(const struct facts *facts, char *into, size_t into_bytes)
{
	char group[FACTS_GROUP_BYTES];

	if (!facts->first_victim)
		return "the targets";
	usage_group_text(facts->first_victim, group, sizeof(group));
	snprintf(into, into_bytes, facts->target_groups > 1 ? "the targets, most of all %s," : "%s", group);
	return into;
}

const char *facts_whose_time(const struct facts *facts)
{
	return facts->first_victim && facts->first_victim->processes == 1 && facts->target_groups == 1
		       ? "its"
		       : "their";
}

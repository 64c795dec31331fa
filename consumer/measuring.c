/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/measuring.h"

#include "common/base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void measuring_open(struct measuring *latencies, const struct kernel_objects *kernel,
		    struct own_counters *own_counters)
{
	*latencies = (struct measuring){ .kernel = kernel, .own_counters = own_counters };
}

void measuring_free(struct measuring *latencies)
{
	latency_past_free(&latencies->past);
}

const char *measuring_names(uint32_t groups, char into[LATENCY_GROUPS_TEXT_BYTES])
{
	size_t used = 0;

	snprintf(into, LATENCY_GROUPS_TEXT_BYTES, "none");
	for (uint32_t i = 0; i < LATENCY_GROUPS; i++)
		if (groups >> i & 1)
			used += (size_t)snprintf(into + used, LATENCY_GROUPS_TEXT_BYTES - used, "%s%s",
						 used ? ", " : "", latency_group_names[i]);
	return into;
}

/* ---- on and off ---- */

static uint64_t epoch_of(uint64_t ns)
{
	return ns / HISTOGRAM_EPOCH_NS;
}

static uint32_t switch_to(struct measuring *latencies, uint32_t groups, uint64_t now_ns)
{
	uint32_t before = latencies->on.groups,
		 missing = histograms_switch(&latencies->on, latencies->kernel, groups, now_ns);

	for (uint32_t i = 0; i < LATENCY_GROUPS; i++) {
		if (!(latencies->on.groups & ~before & ~latencies->unread & 1U << i))
			continue;
		latencies->read_to[i] = epoch_of(now_ns);
		latencies->unread |= 1U << i;
	}
	for (uint32_t metric = 0; metric < METRICS; metric++)
		if (latencies->on.groups >> latency_metric_group(metric) & 1)
			atomic_store_explicit(&latencies->own_counters->latencies[metric].was_on, true,
					      memory_order_relaxed);
	return missing;
}

void measuring_note(struct measuring *latencies, const struct recorder *recorder, uint64_t now_ns)
{
	uint32_t groups = latencies->of_rules | latencies->of_clients;

	/* a capture may be of a rule that was replaced */
	for (size_t i = 0; i < recorder->active_count; i++)
		groups |= rule_latency_groups(recorder->active[i].rule);
	groups &= latencies->kernel->control->latency_loaded;
	if (groups != latencies->on.groups)
		switch_to(latencies, groups, now_ns);
}

void measuring_watch(struct measuring *latencies, uint32_t groups)
{
	latencies->of_clients = groups;
}

/* Of all that there are, those that this kernel has, and that the administrator lets be measured. */
static uint32_t named_groups(const struct rule *rule)
{
	bool names_them = rule->has_probes && rule->probes != LATENCY_ALL;

	return (names_them ? rule->probes : 0) | rule_trigger_groups(rule);
}

uint32_t measuring_want(struct measuring *latencies, const struct rule *rule, uint64_t now_ns)
{
	uint32_t groups = latencies->on.groups | rule_latency_groups(rule);

	return switch_to(latencies, groups, now_ns) & named_groups(rule);
}

void measuring_end(struct measuring *latencies, uint64_t now_ns)
{
	switch_to(latencies, 0, now_ns);
}

static void warn_of(const struct rule *rule, uint32_t missing)
{
	char names[LATENCY_GROUPS_TEXT_BYTES];

	missing &= named_groups(rule);
	if (missing)
		log_warning(
			"%s: rule %s wants latencies of groups that the kernel programs do not measure: %s; give them to bourdon-load --probes, if this kernel has them",
			rule->source, rule->name, measuring_names(missing, names));
	for (size_t i = 0; i < rule->latencies_count; i++) {
		const struct latency_trigger *latency = &rule->latencies[i];

		if (latency->window_ns != latency->asked_ns)
			log_warning(
				"%s: rule %s: the window of %s.%s is %llu s: latencies are counted in spans of 5 s",
				rule->source, rule->name, latency_metric_names[latency->metric],
				latency_quantile_names[latency->quantile],
				(unsigned long long)(latency->window_ns / CLOCK_SECOND_NS));
	}
}

void measuring_follow(struct measuring *latencies, const struct configuration *configuration,
		      const struct recorder *recorder, uint64_t now_ns)
{
	const struct rule_set *rules = &configuration->rules;
	uint32_t offered = latencies->kernel->control->latency_loaded;

	latencies->of_rules = latencies->of_triggers = 0;
	latencies->window_epochs = 0;
	latencies->feeds_metrics = configuration->settings.metrics_file[0];
	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->rules[i];

		latencies->of_rules |= rule_latency_groups(rule);
		latencies->of_triggers |= rule_trigger_groups(rule);
		for (size_t j = 0; j < rule->latencies_count; j++)
			if (epoch_of(rule->latencies[j].window_ns) > latencies->window_epochs)
				latencies->window_epochs = epoch_of(rule->latencies[j].window_ns);
		warn_of(rule, ~offered);
	}
	measuring_note(latencies, recorder, now_ns);
}

/* ---- reading ---- */

static bool is_in(const struct measuring *latencies, uint32_t groups, uint32_t metric, uint64_t epoch,
		  uint64_t until)
{
	uint32_t group = latency_metric_group(metric);

	return groups >> group & 1 && epoch >= latencies->read_to[group] && epoch < until;
}

static void add(atomic_uint_fast64_t *to, uint64_t more)
{
	atomic_fetch_add_explicit(to, more, memory_order_relaxed);
}

static void add_count(struct measuring *latencies, const struct histogram_count *count)
{
	const struct latency_entry entry = { .owner = count->key.owner,
					     .count = count->count,
					     .epoch = (uint32_t)count->epoch,
					     .bucket = count->key.bucket,
					     .metric = count->key.metric };
	struct own_latency *own = &latencies->own_counters->latencies[count->key.metric];

	add(&own->octaves[count->key.bucket / BUCKETS_AN_OCTAVE], count->count);
	add(&own->sum_ns, count->sum);
	if (!(latencies->of_triggers >> latency_metric_group(count->key.metric) & 1))
		return;
	if (latency_past_add(&latencies->past, &entry) && log_allowed(&latencies->failed, 1))
		log_warning("out of memory: a rule may miss a latency");
}

/* What became of the events of which `found` are in the reading. */
static void add_tallies(const struct measuring *latencies, const struct histogram_reading *reading,
			uint32_t groups, const uint64_t found[METRICS], uint64_t until)
{
	for (uint32_t metric = 0; metric < METRICS; metric++) {
		struct own_latency *own = &latencies->own_counters->latencies[metric];
		uint64_t events = 0;

		for (uint32_t i = 0; i < TALLY_EPOCHS; i++) {
			const struct histogram_events *tally = &reading->tallies[metric][i];

			if (!is_in(latencies, groups, metric, tally->epoch, until))
				continue;
			events += tally->events;
			add(&own->unpaired, tally->unpaired);
			add(&own->absurd, tally->absurd);
		}
		if (events > found[metric])
			add(&own->lost, events - found[metric]);
	}
}

/* Takes what these groups have of the epochs that ended. */
static int read_groups(struct measuring *latencies, struct histogram_reading *reading, uint32_t groups,
		       uint64_t until)
{
	uint64_t found[METRICS] = { 0 }, from = until;
	int result;

	for (uint32_t i = 0; i < LATENCY_GROUPS; i++)
		if (groups >> i & 1 && latencies->read_to[i] < from)
			from = latencies->read_to[i];
	result = histograms_read(reading, latencies->kernel, from, groups);
	for (uint32_t i = 0; i < reading->count; i++) {
		const struct histogram_count *count = &reading->counts[i];

		if (!is_in(latencies, groups, count->key.metric, count->epoch, until))
			continue;
		found[count->key.metric] += count->count;
		add_count(latencies, count);
	}
	add_tallies(latencies, reading, groups, found, until);
	return result;
}

static void note_read(struct measuring *latencies, uint32_t groups, uint64_t until)
{
	for (uint32_t i = 0; i < LATENCY_GROUPS; i++)
		if (groups >> i & 1)
			latencies->read_to[i] = until;
	latencies->unread &= ~groups | latencies->on.groups;
}

/* What nobody reads is not lost: a trigger that comes into force has of it what the table keeps for certain. */
static void forget_unread(struct measuring *latencies, uint32_t groups, uint64_t epoch)
{
	for (uint32_t i = 0; i < LATENCY_GROUPS; i++)
		if (groups >> i & 1 && latencies->read_to[i] + MEASURING_METRICS_EPOCHS < epoch)
			latencies->read_to[i] = epoch - MEASURING_METRICS_EPOCHS;
}

/* The groups that are to be read now. */
static uint32_t due_groups(struct measuring *latencies, uint64_t epoch)
{
	uint32_t due = latencies->of_triggers & latencies->unread;

	if (!latencies->feeds_metrics)
		forget_unread(latencies, latencies->unread & ~due, epoch);
	if (!latencies->feeds_metrics || epoch < latencies->metrics_epoch + MEASURING_METRICS_EPOCHS)
		return due;
	latencies->metrics_epoch = epoch;
	return latencies->unread;
}

bool measuring_tick(struct measuring *latencies, uint64_t now_ns)
{
	uint64_t epoch = epoch_of(now_ns);
	uint32_t due = epoch > latencies->epoch ? due_groups(latencies, epoch) : 0;
	struct histogram_reading *reading;
	int result = -ENOMEM;

	latencies->epoch = epoch;
	if (!due)
		return false;
	reading = calloc(1, sizeof(*reading));
	if (reading) {
		result = read_groups(latencies, reading, due, epoch);
		histograms_free(reading);
		free(reading);
	}
	if (result < 0 && log_allowed(&latencies->failed, 1))
		log_warning("cannot read the histograms of latencies: %s; a rule may miss a latency",
			    strerror(-result));
	note_read(latencies, due, epoch);
	latency_past_settle(&latencies->past,
			    epoch > latencies->window_epochs ? epoch - latencies->window_epochs : 0);
	return due & latencies->of_triggers;
}

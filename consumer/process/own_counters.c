/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/process/own_counters.h"

const char *const own_counter_names[OWN_COUNTERS] = {
	[OWN_STALE_EVENTS] = "stale-events",
	[OWN_UNKNOWN_RECORDS] = "unknown-records",
	[OWN_ERROR_RECORDS] = "error-records",
	[OWN_CAPTURES] = "captures",
	[OWN_SUPPRESSED] = "triggers-suppressed",
	[OWN_SPURIOUS] = "triggers-spurious",
	[OWN_LATE] = "triggers-late",
	[OWN_GRANTS] = "grants",
	[OWN_GRANTS_REFUSED] = "grants-refused",
	[OWN_FILES_GRANTED] = "files-granted",
	[OWN_FILES_REFUSED] = "files-refused",
	[OWN_FILES_DEFERRED] = "files-deferred",
	[OWN_CGROUPS_UNWATCHED] = "cgroups-unwatched",
	[OWN_WITHOUT_TARGET] = "triggers-without-target",
	[OWN_ASKED] = "captures-asked-for",
	[OWN_ASKED_REFUSED] = "requests-refused",
	[OWN_LINES_UNREAD] = "client-lines-unread",
	[OWN_RELOADS] = "reloads",
	[OWN_RELOADS_REFUSED] = "reloads-refused",
	[OWN_SYMBOLIZERS] = "symbolizers",
	[OWN_SYMBOLIZER_REQUESTS] = "symbolizer-requests",
	[OWN_MAPPINGS_DROPPED] = "mappings-dropped",
	[OWN_WALKS_STUCK] = "mapping-walks-stuck",
	[OWN_WALKS_PAUSED] = "mapping-walks-paused",
	[OWN_ACTIVITY_LOOKS] = "activity-looks",
	[OWN_ACTIVITY_MISSED] = "activity-looks-missed",
	[OWN_ACTIVITY_LOST] = "activity-minutes-lost",
	[OWN_BASELINES] = "baselines",
	[OWN_BASELINES_LOST] = "baselines-lost",
	[OWN_JOURNAL_ENTRIES] = "journal-entries",
	[OWN_JOURNAL_LOST] = "journal-entries-lost",
	[OWN_HOOK_LOST] = "hook-files-lost",
	[OWN_METRICS_LOST] = "metrics-not-written",
	[OWN_ASKED_TOO_OFTEN] = "requests-too-often",
};

const char *const own_queue_names[OWN_QUEUES] = {
	[OWN_QUEUE_ONCPU] = "oncpu",
	[OWN_QUEUE_OFFCPU] = "offcpu",
	[OWN_QUEUE_EVENTS] = "events",
	[OWN_QUEUE_JOBS] = "jobs",
};

static void raise_to(atomic_uint_fast64_t *most, uint64_t value)
{
	uint_fast64_t is = atomic_load(most);

	while (value > is && !atomic_compare_exchange_weak(most, &is, value))
		;
}

static void note(struct own_gauge *gauge, uint64_t value)
{
	atomic_store(&gauge->now, value);
	raise_to(&gauge->most, value);
	raise_to(&gauge->recent, value);
}

void own_queue_note(struct own_counters *counters, enum own_queue queue, struct own_level level)
{
	note(&counters->queues[queue].depth, level.depth);
	note(&counters->queues[queue].lag_ns, level.lag_ns);
}

struct own_level own_queue_take(struct own_counters *counters, enum own_queue queue)
{
	return (struct own_level){ .depth = atomic_exchange(&counters->queues[queue].depth.recent, 0),
				   .lag_ns = atomic_exchange(&counters->queues[queue].lag_ns.recent, 0) };
}

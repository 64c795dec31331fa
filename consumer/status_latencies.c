/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/status_latencies.h"

#include "common/protocol/status_line.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A few ends without a begin are of waits that were under way when the group was switched on. */
#define EVENTS_JUDGED 100U
#define LOST_PERCENT 1.0
#define UNPAIRED_PERCENT 5.0

void latency_states_sum(const struct histogram_reading *reading, uint64_t now_epoch,
			struct latency_state ret_states[METRICS])
{
	memset(ret_states, 0, METRICS * sizeof(*ret_states));
	for (uint32_t metric = 0; metric < METRICS; metric++)
		for (uint32_t i = 0; i < TALLY_EPOCHS; i++) {
			const struct histogram_events *tally = &reading->tallies[metric][i];
			struct latency_state *state = &ret_states[metric];

			if (tally->epoch + TALLY_EPOCHS <= now_epoch)
				continue;
			state->events += tally->events;
			state->lost += tally->overflow;
			state->unpaired += tally->unpaired;
			state->absurd += tally->absurd;
		}
}

int latency_states_read(const struct measuring *latencies, struct latency_state ret_states[METRICS])
{
	struct histogram_reading *reading = calloc(1, sizeof(*reading));
	int result = reading ? histograms_read(reading, latencies->kernel, 0, 0) : -ENOMEM;

	memset(ret_states, 0, METRICS * sizeof(*ret_states));
	if (!result)
		latency_states_sum(reading, latencies->epoch, ret_states);
	if (reading)
		histograms_free(reading);
	free(reading);
	return result;
}

void status_write_latencies(const struct measuring *latencies, const struct latency_state states[METRICS],
			    FILE *out)
{
	char names[LATENCY_GROUPS_TEXT_BYTES];

	status_line_begin(out, "latencies");
	status_line_field(out, "on", "%s", measuring_names(latencies->on.groups, names));
	status_line_field(out, "offered", "%s",
			  measuring_names(latencies->kernel->control->latency_loaded, names));
	status_line_field(out, "span_ns", "%" PRIu64, TALLY_EPOCHS * (uint64_t)HISTOGRAM_EPOCH_NS);
	status_line_end(out);
	for (uint32_t metric = 0; metric < METRICS; metric++) {
		const struct latency_state *state = &states[metric];

		if (!state->events && !state->unpaired && !state->absurd)
			continue;
		status_line_begin(out, "latency");
		status_line_field(out, "metric", "%s", latency_metric_names[metric]);
		status_line_field(out, "events", "%" PRIu64, state->events);
		status_line_field(out, "lost", "%" PRIu64, state->lost);
		status_line_field(out, "unpaired", "%" PRIu64, state->unpaired);
		status_line_field(out, "absurd", "%" PRIu64, state->absurd);
		status_line_end(out);
	}
}

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100 * (double)part / (double)all : 0;
}

bool latency_state_is_bad(const struct latency_state *state, double *ret_percent, const char **ret_problem,
			  const char **ret_remedy)
{
	double lost = percent(state->lost, state->events),
	       unpaired = percent(state->unpaired, state->events + state->unpaired);

	if (state->events + state->unpaired < EVENTS_JUDGED)
		return false;
	*ret_percent = lost >= LOST_PERCENT ? lost : unpaired;
	*ret_problem = lost >= LOST_PERCENT ? "found no room in the kernel's table"
					    : "have an end without a begin, or a begin without an end";
	*ret_remedy = lost >= LOST_PERCENT ? "name fewer groups in the rules' probes ="
					   : "none: what is told of them lacks these";
	return lost >= LOST_PERCENT || unpaired >= UNPAIRED_PERCENT;
}

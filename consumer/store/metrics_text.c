/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/store/metrics_text.h"

#include "common/base/cleanup.h"
#include "common/base/version.h"
#include "common/text/escape_name.h"

#include <inttypes.h>

/* Metrics of one name: their head is written with the first of them. */
static void begin(FILE *out, const char *name, const char *type, const char *help)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void single(FILE *out, const char *name, const char *type, const char *help, double value)
{
	begin(out, name, type, help);
	fprintf(out, "%s %.15g\n", name, value);
}

static void write_label(FILE *out, const char *name, const char *value)
{
	_cleanup_free_ char *safe = escape_name(value);

	fprintf(out, "%s=\"", name);
	for (const char *at = safe ? safe : ""; *at; at++)
		fprintf(out, "%s%c", *at == '"' || *at == '\\' ? "\\" : "", *at);
	fputc('"', out);
}

static void write_series(FILE *out, const char *name, const struct metrics_series *series)
{
	fprintf(out, "%s{", name);
	write_label(out, "rule", series->rule);
	fprintf(out, ",resource=\"%s\",cause=\"%s\"} ", series->resource, series->cause);
}

static void write_captures(const struct metrics_facts *facts, FILE *out)
{
	static const char captures[] = "bourdon_captures_total",
			  last[] = "bourdon_capture_last_trigger_timestamp_seconds";

	if (!facts->series_count)
		return;
	begin(out, captures, "counter",
	      "Captures that were written, by the rule, the resource that fired and the verdict.");
	for (size_t i = 0; i < facts->series_count; i++) {
		write_series(out, captures, &facts->series[i]);
		fprintf(out, "%" PRIu64 "\n", facts->series[i].captures);
	}
	begin(out, last, "gauge", "When the newest of these captures was triggered.");
	for (size_t i = 0; i < facts->series_count; i++) {
		write_series(out, last, &facts->series[i]);
		fprintf(out, "%.3f\n", (double)facts->series[i].last_at / 1e9);
	}
}

static void write_losses(const struct metrics_facts *facts, FILE *out)
{
	static const char name[] = "bourdon_capture_losses_total";

	begin(out, name, "counter",
	      "What the ledgers of captures say is missing, in the unit of the reason.");
	for (size_t i = 0; i < LOSS_REASONS; i++)
		fprintf(out, "%s{reason=\"%s\",unit=\"%s\"} %" PRIu64 "\n", name, loss_reasons[i].name,
			loss_reasons[i].unit, facts->losses[i]);
}

static void write_results(const struct metrics_facts *facts, FILE *out)
{
	static const struct {
		const char *name, *help;
		struct {
			const char *word;
			enum own_counter counter;
		} results[2];
	} metrics[] = {
		{ "bourdon_requests_total",
		  "Requests for captures and live seconds on the control socket.",
		  { { "begun", OWN_ASKED }, { "refused", OWN_ASKED_REFUSED } } },
		{ "bourdon_reloads_total",
		  "Times that a changed configuration was read.",
		  { { "done", OWN_RELOADS }, { "refused", OWN_RELOADS_REFUSED } } },
		{ "bourdon_journal_entries_total",
		  "Captures that the journal took an entry of, and those that it did not.",
		  { { "taken", OWN_JOURNAL_ENTRIES }, { "lost", OWN_JOURNAL_LOST } } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(metrics); i++) {
		begin(out, metrics[i].name, "counter", metrics[i].help);
		for (size_t j = 0; j < 2; j++)
			fprintf(out, "%s{result=\"%s\"} %" PRIu64 "\n", metrics[i].name,
				metrics[i].results[j].word, facts->counters[metrics[i].results[j].counter]);
	}
	begin(out, "bourdon_triggers_suppressed_total", "counter",
	      "Triggers that began no capture: within a cooldown, or with too many captures under way.");
	fprintf(out, "bourdon_triggers_suppressed_total %" PRIu64 "\n", facts->counters[OWN_SUPPRESSED]);
}

/* Bounds are powers of two, of nanoseconds: the first and the last that are told. */
#define LATENCY_LE_FIRST 10U /* a microsecond */
#define LATENCY_LE_LAST 36U  /* a minute */

static uint64_t latency_of(const struct own_counters *own, uint32_t metric, uint64_t *ret_octaves)
{
	uint64_t all = 0;

	for (uint32_t i = 0; i < OWN_LATENCY_OCTAVES; i++)
		all += ret_octaves[i] = atomic_load(&own->latencies[metric].octaves[i]);
	return all;
}

static void write_histogram(const struct own_counters *own, const char *name, uint32_t metric, FILE *out)
{
	uint64_t octaves[OWN_LATENCY_OCTAVES], all = latency_of(own, metric, octaves), upto = 0;
	uint32_t octave = 0;

	for (uint32_t power = LATENCY_LE_FIRST; power <= LATENCY_LE_LAST; power++) {
		/* the first octave has the values below BUCKETS_AN_OCTAVE, and each doubles that */
		for (; octave + BUCKET_BITS <= power; octave++)
			upto += octaves[octave];
		fprintf(out, "%s_bucket{metric=\"%s\",le=\"%.15g\"} %" PRIu64 "\n", name,
			latency_metric_names[metric], (double)(1ULL << power) / 1e9, upto);
	}
	fprintf(out,
		"%s_bucket{metric=\"%s\",le=\"+Inf\"} %" PRIu64
		"\n%s_sum{metric=\"%s\"} %.9f\n%s_count{metric=\"%s\"} %" PRIu64 "\n",
		name, latency_metric_names[metric], all, name, latency_metric_names[metric],
		(double)atomic_load(&own->latencies[metric].sum_ns) / 1e9, name, latency_metric_names[metric],
		all);
}

/* Of groups that were never on there is nothing. The size of requests has no unit of time. */
static bool has_latency(const struct own_counters *own, uint32_t metric)
{
	return metric != METRIC_BLOCK_SIZE && atomic_load(&own->latencies[metric].was_on);
}

static void write_latencies(const struct own_counters *own, FILE *out)
{
	static const struct {
		const char *name, *help;
		size_t at;
	} metrics[] = {
		{ "bourdon_latency_lost_total",
		  "Events that are in no histogram: the kernel's table was full.",
		  offsetof(struct own_latency, lost) },
		{ "bourdon_latency_unpaired_total", "Ends without a begin, and begins without an end.",
		  offsetof(struct own_latency, unpaired) },
		{ "bourdon_latency_absurd_total", "Events that took less than nothing, or more than an hour.",
		  offsetof(struct own_latency, absurd) },
	};
	static const char name[] = "bourdon_latency_seconds";
	bool any = false;

	for (uint32_t i = 0; i < METRICS; i++) {
		if (!has_latency(own, i))
			continue;
		if (!any)
			begin(out, name, "histogram",
			      "What the kernel programs measured while a rule or a capture wanted it.");
		any = true;
		write_histogram(own, name, i, out);
	}
	for (size_t i = 0; i < ARRAY_SIZE(metrics) && any; i++) {
		begin(out, metrics[i].name, "counter", metrics[i].help);
		for (uint32_t j = 0; j < METRICS; j++)
			if (has_latency(own, j))
				fprintf(out, "%s{metric=\"%s\"} %" PRIuFAST64 "\n", metrics[i].name,
					latency_metric_names[j],
					atomic_load((const atomic_uint_fast64_t *)((const char *)&own
											   ->latencies[j] +
										   metrics[i].at)));
	}
}

static void write_pressure(const struct metrics_facts *facts, FILE *out)
{
	static const char stall[] = "bourdon_pressure_stall_seconds_total",
			  ratio[] = "bourdon_pressure_ratio";
	static const char *const windows[METRICS_AVERAGES] = { "10s", "60s", "300s" };

	begin(out, stall, "counter", "Time that threads of the whole system stalled, by PSI.");
	for (size_t i = 0; i < PSI_RESOURCES; i++)
		for (size_t kind = 0; kind < PSI_KINDS; kind++)
			if (facts->has_psi[i] && facts->psi[i].has[kind])
				fprintf(out, "%s{resource=\"%s\",kind=\"%s\"} %.6f\n", stall,
					psi_resource_names[i], psi_kind_names[kind],
					(double)facts->psi[i].us[kind] / 1e6);
	begin(out, ratio, "gauge", "Share of the time that threads of the whole system stalled, by PSI.");
	for (size_t i = 0; i < PSI_RESOURCES; i++)
		for (size_t kind = 0; kind < PSI_KINDS; kind++)
			for (size_t j = 0; j < METRICS_AVERAGES; j++)
				if (facts->has_psi[i] && facts->psi[i].has[kind])
					fprintf(out, "%s{resource=\"%s\",kind=\"%s\",window=\"%s\"} %.4f\n",
						ratio, psi_resource_names[i], psi_kind_names[kind],
						windows[j], facts->averages[i][kind][j] / 100);
}

static void write_own(const struct metrics_facts *facts, FILE *out)
{
	const struct own_used *used = &facts->used;

	single(out, "bourdon_cpu_seconds_total", "counter",
	       "CPU time of bourdond; its children, which find names, are in that of the unit.",
	       (double)used->cpu_ns / 1e9);
	if (used->resident_bytes >= 0)
		single(out, "bourdon_resident_memory_bytes", "gauge", "Memory of bourdond.",
		       (double)used->resident_bytes);
	if (used->unit_cpu_ns >= 0)
		single(out, "bourdon_unit_cpu_seconds_total", "counter",
		       "CPU time of bourdond's unit, children included.", (double)used->unit_cpu_ns / 1e9);
	if (used->unit_bytes >= 0)
		single(out, "bourdon_unit_memory_bytes", "gauge",
		       "Memory of bourdond's unit, with its page cache.", (double)used->unit_bytes);
	if (facts->database_bytes >= 0)
		single(out, "bourdon_database_bytes", "gauge", "Size of the database and its log.",
		       (double)facts->database_bytes);
	single(out, "bourdon_database_limit_bytes", "gauge",
	       "Size at which the oldest captures are removed: max_size.", (double)facts->database_bytes_max);
}

static void write_queues(const struct own_counters *own, FILE *out)
{
	static const struct {
		const char *name, *help;
		bool is_lag, is_most;
	} metrics[] = {
		{ "bourdon_queue_depth", "What waits for bourdond in each of its queues.", false, false },
		{ "bourdon_queue_depth_most", "The most that has waited in it since the start.", false,
		  true },
		{ "bourdon_queue_lag_seconds",
		  "How late the rings were drained, or how long the oldest job of the worker thread waited.",
		  true, false },
		{ "bourdon_queue_lag_most_seconds", "The longest since the start.", true, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(metrics); i++) {
		begin(out, metrics[i].name, "gauge", metrics[i].help);
		for (size_t queue = 0; queue < OWN_QUEUES; queue++) {
			const struct own_gauge *gauge = metrics[i].is_lag ? &own->queues[queue].lag_ns
									  : &own->queues[queue].depth;
			uint64_t value = atomic_load(metrics[i].is_most ? &gauge->most : &gauge->now);

			if (!metrics[i].is_lag || own_queue_has_lag((enum own_queue)queue))
				fprintf(out, "%s{queue=\"%s\"} %.15g\n", metrics[i].name,
					own_queue_names[queue],
					(double)value / (metrics[i].is_lag ? 1e9 : 1));
		}
	}
}

/* Without the kernel's statistics of BPF programs there are no runs and no times, instead of zeros. */
static void write_programs(const struct program_costs *costs, FILE *out)
{
	static const char runs[] = "bourdon_program_runs_total", seconds[] = "bourdon_program_seconds_total",
			  missed[] = "bourdon_program_missed_runs_total";

	if (!costs || !costs->count)
		return;
	begin(out, missed, "counter", "Runs of in-kernel programs that the kernel left out.");
	for (uint32_t i = 0; i < costs->count; i++)
		fprintf(out, "%s{program=\"%s\"} %" PRIu64 "\n", missed, costs->each[i].name.text,
			(uint64_t)costs->each[i].missed);
	if (!costs->are_counted)
		return;
	begin(out, runs, "counter", "Runs of in-kernel programs while kernel.bpf_stats_enabled is 1.");
	for (uint32_t i = 0; i < costs->count; i++)
		fprintf(out, "%s{program=\"%s\"} %" PRIu64 "\n", runs, costs->each[i].name.text,
			(uint64_t)costs->each[i].runs);
	begin(out, seconds, "counter", "What these runs took.");
	for (uint32_t i = 0; i < costs->count; i++)
		fprintf(out, "%s{program=\"%s\"} %.9f\n", seconds, costs->each[i].name.text,
			(double)costs->each[i].run_ns / 1e9);
}

void metrics_text(const struct metrics_facts *facts, FILE *out)
{
	begin(out, "bourdon_build_info", "gauge", "The version of bourdond; always 1.");
	fprintf(out, "bourdon_build_info{version=\"%s\",abi=\"%u\"} 1\n", BOURDON_VERSION, BOURDON_ABI);
	begin(out, "bourdon_start_time_seconds", "gauge", "When bourdond began to run.");
	fprintf(out, "bourdon_start_time_seconds %.3f\n", (double)facts->started_at / 1e9);
	write_captures(facts, out);
	write_losses(facts, out);
	write_results(facts, out);
	write_pressure(facts, out);
	write_own(facts, out);
	write_queues(facts->own, out);
	write_latencies(facts->own, out);
	write_programs(facts->costs, out);
}

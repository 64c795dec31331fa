/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/store/metrics.h"

#include "common/base/cleanup.h"
#include "common/store/schema.h"
#include "consumer/store/publish.h"
#include "consumer/store/store.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

void metrics_open(struct metrics *ret_metrics, const char *state_dir, const struct kernel_objects *kernel,
		  const struct own_usage *own_usage, struct own_counters *own_counters, int64_t started_at)
{
	*ret_metrics = (struct metrics){ .state_dir = state_dir,
					 .kernel = kernel,
					 .own_usage = own_usage,
					 .own_counters = own_counters,
					 .started_at = started_at };
}

void metrics_close(struct metrics *metrics)
{
	if (metrics->file[0])
		unlink(metrics->file);
	metrics->file[0] = '\0';
	free(metrics->series);
	metrics->series = NULL;
	metrics->series_count = 0;
}

void metrics_follow(struct metrics *metrics, const struct settings *settings, uint64_t now_ns)
{
	if (metrics->file[0] && strcmp(metrics->file, settings->metrics_file) != 0)
		unlink(metrics->file);
	snprintf(metrics->file, sizeof(metrics->file), "%s", settings->metrics_file);
	metrics->every_ns = settings->metrics_ns;
	metrics->due_ns = metrics->file[0] ? now_ns : 0;
	metrics->database_bytes_max = settings->database_bytes_max;
}

/* ---- sums ---- */

static struct metrics_series *find_series(struct metrics *metrics, const char *rule, const char *resource,
					  const char *cause)
{
	struct metrics_series *series;

	for (size_t i = 0; i < metrics->series_count; i++) {
		series = &metrics->series[i];
		if (!strcmp(series->resource, resource) && !strcmp(series->cause, cause) &&
		    !strcmp(series->rule, rule))
			return series;
	}
	return NULL;
}

static struct metrics_series *add_series(struct metrics *metrics, const char *rule, const char *resource,
					 const char *cause)
{
	struct metrics_series *series, *grown;

	if (metrics->series_count >= METRICS_SERIES_MAX) {
		rule = "(more)";
		series = find_series(metrics, rule, resource, cause);
		if (series || metrics->series_count == METRICS_SERIES_ALL)
			return series;
	}
	grown = reallocarray(metrics->series, metrics->series_count + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	metrics->series = grown;
	series = &grown[metrics->series_count++];
	*series = (struct metrics_series){ .resource = resource, .cause = cause };
	snprintf(series->rule, sizeof(series->rule), "%s", rule);
	return series;
}

void metrics_add(struct metrics *metrics, const struct capture *capture, const struct resolved *resolved,
		 enum verdict_kind verdict)
{
	const struct capture_trigger *trigger = &capture->trigger;
	struct metrics_series *series;
	const char *resource;

	for (size_t i = 0; i < LOSS_REASONS; i++)
		metrics->losses[i] += i == LOSS_UNRESOLVED_FRAMES ? resolved->unresolved
				      : i == LOSS_SYMBOLIZER      ? resolved->failures
				      : i == LOSS_MAPPINGS_CUT    ? resolved->cut
								  : capture->losses[i];
	if (trigger->asking)
		return; /* counted as a request */
	resource = capture_is_of_pressure(trigger)    ? psi_resource_names[trigger->psi.resource]
		   : trigger->mode == TRIGGER_LATENCY ? "latency"
						      : "";
	series = find_series(metrics, trigger->rule, resource, verdict_kind_names[verdict]);
	if (!series)
		series = add_series(metrics, trigger->rule, resource, verdict_kind_names[verdict]);
	if (!series)
		return;
	series->captures++;
	if (trigger->triggered_at > series->last_at)
		series->last_at = trigger->triggered_at;
}

/* ---- reading ---- */

int metrics_parse_averages(const char *text, double ret_averages[PSI_KINDS][METRICS_AVERAGES])
{
	for (size_t kind = 0; kind < PSI_KINDS; kind++) {
		const char *line = strstr(text, psi_kind_names[kind]);
		double *averages = ret_averages[kind];

		if (line && sscanf(line + strlen(psi_kind_names[kind]), " avg10=%lf avg60=%lf avg300=%lf",
				   &averages[0], &averages[1], &averages[2]) != METRICS_AVERAGES)
			return -EBADMSG;
	}
	return 0;
}

/* A kernel without PSI, or without that of a resource, has no such metrics. */
static void read_pressure(struct metrics_facts *facts, const char *mount, enum psi_resource resource)
{
	_cleanup_close_ int fd = psi_open(mount ? mount : "", NULL, resource, O_RDONLY);
	char text[512];
	ssize_t bytes = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);

	if (bytes < 0)
		return;
	text[bytes] = '\0';
	facts->has_psi[resource] = !psi_parse(text, &facts->psi[resource]) &&
				   !metrics_parse_averages(text, facts->averages[resource]);
}

static int64_t database_bytes(const struct metrics *metrics)
{
	static const char *const suffixes[] = { "", "-wal" };
	char path[PATH_MAX];
	struct stat at;
	int64_t sum = -1;

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++)
		if (snprintf(path, sizeof(path), "%s/" DATABASE_FILE "%s", metrics->state_dir, suffixes[i]) <
			    PATH_MAX &&
		    !stat(path, &at))
			sum = (sum < 0 ? 0 : sum) + at.st_size;
	return sum;
}

static int make_text(const struct metrics *metrics, char **ret_text, size_t *ret_length)
{
	_cleanup_free_ struct program_costs *costs = calloc(1, sizeof(*costs));
	uint64_t counters[OWN_COUNTERS];
	struct metrics_facts facts = { .series = metrics->series,
				       .series_count = metrics->series_count,
				       .losses = metrics->losses,
				       .counters = counters,
				       .own = metrics->own_counters,
				       .costs = costs,
				       .database_bytes = database_bytes(metrics),
				       .database_bytes_max = metrics->database_bytes_max,
				       .started_at = metrics->started_at };
	FILE *out = open_memstream(ret_text, ret_length);

	if (!out)
		return -ENOMEM;
	if (costs)
		program_costs_read(costs, metrics->kernel);
	for (unsigned int i = 0; i < OWN_COUNTERS; i++)
		counters[i] = own_counted(metrics->own_counters, (enum own_counter)i);
	for (int i = 0; i < PSI_RESOURCES; i++)
		read_pressure(&facts, metrics->own_usage->cgroup_mount, (enum psi_resource)i);
	own_usage_read(metrics->own_usage, &facts.used);
	metrics_text(&facts, out);
	return fclose(out) ? -ENOMEM : 0;
}

void metrics_write(struct metrics *metrics, uint64_t now_ns)
{
	_cleanup_free_ char *text = NULL;
	size_t length = 0;
	int result = make_text(metrics, &text, &length);

	/* for everybody: the collector runs as another user */
	if (!result)
		result = publish_file(metrics->file, text, length, 0644);
	metrics->due_ns = now_ns + metrics->every_ns;
	if (!result)
		return;
	own_count(metrics->own_counters, OWN_METRICS_LOST);
	if (log_allowed(&metrics->not_written, 1))
		log_warning(
			"cannot write metrics to %s: %s; when bourdond starts, the directory has to be there, and bourdond's user has to be able to write to it",
			metrics->file, strerror(-result));
}

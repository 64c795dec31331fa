/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/rules/latency_key.h"

#include "common/base/cleanup.h"
#include "common/text/units.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define BLANKS " \t"

static int __attribute__((format(printf, 2, 3)))
explain(char why[LATENCY_KEY_WHY_BYTES], const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(why, LATENCY_KEY_WHY_BYTES, format, arguments);
	va_end(arguments);
	return -EINVAL;
}

/* Without the blanks around it. */
static char *trim(char *text)
{
	size_t bytes;

	text += strspn(text, BLANKS);
	bytes = strlen(text);
	while (bytes && strchr(BLANKS, text[bytes - 1]))
		bytes--;
	text[bytes] = '\0';
	return text;
}

static uint32_t find(const char *const names[], uint32_t count, const char *word)
{
	uint32_t i = 0;

	while (i < count && strcmp(names[i], word))
		i++;
	return i;
}

/* "runqueue.p99". A metric's name may have a dot itself. */
static int parse_metric(char *text, struct latency_trigger *latency, char why[LATENCY_KEY_WHY_BYTES])
{
	char *dot = strrchr(text, '.');

	if (!dot)
		return explain(
			why,
			"'%.60s': expected METRIC.pNN > TIME / WINDOW, such as runqueue.p99 > 20ms / 10s",
			text);
	*dot = '\0';
	latency->metric = find(latency_metric_names, METRICS, text);
	latency->quantile = (enum latency_quantile)find(latency_quantile_names, LATENCY_QUANTILES, dot + 1);
	if (latency->metric == METRICS)
		return explain(
			why,
			"'%.60s' is no metric; give runqueue, offcpu, block, block.queue, block.service, lock, memory, softirq, exec, fork, request, or a part of request, such as request.unread",
			text);
	if (latency->metric == METRIC_BLOCK_SIZE)
		return explain(why, "block.size is measured in bytes, and has no time to compare");
	if (latency->quantile == LATENCY_QUANTILES)
		return explain(why, "'%.60s' is no quantile; give p50, p90, p99 or p999", dot + 1);
	return 0;
}

static int parse_limit(const char *text, struct latency_trigger *latency, char why[LATENCY_KEY_WHY_BYTES])
{
	int result = units_duration(text, &latency->limit_ns);

	if (result == -EINVAL)
		return explain(why, "'%.60s': expected a time with its unit, such as 20ms", text);
	if (result < 0 || !latency->limit_ns || latency->limit_ns >= HISTOGRAM_VALUE_MAX)
		return explain(why, "'%.60s': expected more than 0 and less than an hour", text);
	return 0;
}

static int parse_window(const char *text, struct latency_trigger *latency, char why[LATENCY_KEY_WHY_BYTES])
{
	int result = units_duration(text, &latency->asked_ns);

	if (result == -EINVAL)
		return explain(why, "'%.60s': expected a window with its unit, such as 10s", text);
	if (result < 0 || latency->asked_ns < HISTOGRAM_EPOCH_NS || latency->asked_ns > LATENCY_WINDOW_MAX_NS)
		return explain(why, "'%.60s': windows from 5s to 10min are possible", text);
	latency->window_ns =
		(latency->asked_ns + HISTOGRAM_EPOCH_NS - 1) / HISTOGRAM_EPOCH_NS * HISTOGRAM_EPOCH_NS;
	return 0;
}

static int parse_one(char *text, struct latency_trigger *ret_latency, char why[LATENCY_KEY_WHY_BYTES])
{
	char *over = strchr(text, '>'), *slash = over ? strchr(over, '/') : NULL;
	int result;

	if (!slash)
		return explain(
			why,
			"'%.60s': expected METRIC.pNN > TIME / WINDOW, such as runqueue.p99 > 20ms / 10s",
			text);
	*over = *slash = '\0';
	result = parse_metric(trim(text), ret_latency, why);
	if (!result)
		result = parse_limit(trim(over + 1), ret_latency, why);
	return result ? result : parse_window(trim(slash + 1), ret_latency, why);
}

int latency_key_parse(const char *value, struct latency_trigger latencies[RULE_LATENCIES_MAX], size_t *count,
		      char ret_why[LATENCY_KEY_WHY_BYTES])
{
	_cleanup_free_ char *text = strdup(value);
	char *rest = text, *one;

	if (!text)
		return explain(ret_why, "out of memory");
	while ((one = strsep(&rest, ","))) {
		struct latency_trigger latency = { 0 };
		int result = parse_one(trim(one), &latency, ret_why);

		if (result < 0)
			return result;
		for (size_t i = 0; i < *count; i++)
			if (latencies[i].metric == latency.metric &&
			    latencies[i].quantile == latency.quantile)
				return explain(ret_why, "%s.%s is set twice",
					       latency_metric_names[latency.metric],
					       latency_quantile_names[latency.quantile]);
		if (*count == RULE_LATENCIES_MAX)
			return explain(ret_why, "more than %d conditions", RULE_LATENCIES_MAX);
		latencies[(*count)++] = latency;
	}
	return 0;
}

bool latency_trigger_is_same(const struct latency_trigger *a, const struct latency_trigger *b)
{
	return a->metric == b->metric && a->quantile == b->quantile && a->limit_ns == b->limit_ns &&
	       a->window_ns == b->window_ns;
}

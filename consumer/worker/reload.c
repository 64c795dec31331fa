/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * reload.c reads the configuration again, on the worker thread, and knows which one is in force. The draining thread asks for that,
 * takes the result and confirms it (consumer/reload.h).
 */
#include "common/base/cleanup.h"
#include "consumer/worker/state.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/*
 * Gives ids and rows to all new rules; if that fails, the configuration is refused. Reads `in_force` without
 * the lock: it does not change during a reload.
 */
static int number_rules(struct worker *worker, struct configuration *configuration)
{
	struct rule_ids ids = worker->reloads.ids;
	int result = rules_assign_ids(&configuration->rules, &worker->reloads.in_force->rules, &ids);

	if (!result && ids.rule > worker->reloads.ids.rule)
		result = store_add_rules(worker->store, &configuration->rules, worker->reloads.ids.rule);
	if (!result)
		worker->reloads.ids = ids;
	return result;
}

void reload_read(struct worker *worker)
{
	struct configuration *configuration = NULL;
	struct config_errors errors = { 0 };
	uint64_t one = 1;

	if (!configuration_read(worker->reloads.where, &configuration, &errors) &&
	    number_rules(worker, configuration) < 0) {
		config_error(&errors, worker->reloads.where->state_dir, 0,
			     "cannot write the new rules to the database: %s", store_error(worker->store));
		configuration_free(configuration);
		configuration = NULL;
	}
	pthread_mutex_lock(&worker->lock);
	worker->reloads.configuration = configuration;
	worker->reloads.errors = errors;
	pthread_mutex_unlock(&worker->lock);
	if (write(worker->reloads.fd, &one, sizeof(one)) < 0)
		log_warning("cannot signal the end of a reload (eventfd): %s", strerror(errno));
}

void reload_follow_settings(struct worker *worker)
{
	struct settings settings;

	pthread_mutex_lock(&worker->lock);
	settings = worker->reloads.in_force->settings;
	pthread_mutex_unlock(&worker->lock);
	metrics_follow(&worker->metrics, &settings, clock_now_ns(worker->clock));
	worker->budget.ppm = settings.budget_ppm;
}

void worker_reload(struct worker *worker)
{
	HOLD_LOCK(&worker->lock);

	worker_add_job(worker, (struct job){ .kind = JOB_RELOAD });
}

int worker_reload_fd(const struct worker *worker)
{
	return worker->reloads.fd;
}

struct configuration *worker_reload_result(struct worker *worker, struct config_errors *ret_errors)
{
	uint64_t times;

	if (read(worker->reloads.fd, &times, sizeof(times)) < 0)
		return NULL;
	HOLD_LOCK(&worker->lock);
	*ret_errors = worker->reloads.errors;
	worker->reloads.errors = (struct config_errors){ 0 };
	return TAKE_PTR(worker->reloads.configuration);
}

void worker_confirm(struct worker *worker, const struct configuration *configuration)
{
	const struct settings *before = &worker->reloads.in_force->settings, *now = &configuration->settings;
	bool changed = now->database_bytes_max != before->database_bytes_max ||
		       now->database_age_ns_max != before->database_age_ns_max ||
		       now->activity_age_ns_max != before->activity_age_ns_max ||
		       now->baseline_age_ns_max != before->baseline_age_ns_max ||
		       now->metrics_ns != before->metrics_ns || now->budget_ppm != before->budget_ppm ||
		       strcmp(now->metrics_file, before->metrics_file) != 0;
	HOLD_LOCK(&worker->lock);

	worker->reloads.in_force = configuration;
	if (changed)
		worker_add_job(
			worker,
			(struct job){ .kind = JOB_LIMIT,
				      .limits = { now->database_bytes_max, now->database_age_ns_max,
						  now->activity_age_ns_max, now->baseline_age_ns_max } });
}

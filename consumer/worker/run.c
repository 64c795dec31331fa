/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * run.c writes this run of the daemon into the database: its beginning, its counters and its end. It begins at once, before the
 * thread starts, or once the worker thread has migrated a database of an older bourdond.
 */
#include "common/protocol/counters.h"
#include "common/store/schema.h"
#include "consumer/worker/state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int begin_run(struct worker *worker)
{
	return store_begin_run(worker->store, &worker->kernel->manifest, &worker->kernel->policy,
			       &worker->reloads.in_force->rules);
}

int worker_begin_run(struct worker *worker, struct configuration *configuration)
{
	int result = store_next_ids(worker->store, &worker->reloads.ids);

	worker->reloads.in_force = configuration;
	if (!result)
		result = rules_assign_ids(&configuration->rules, NULL, &worker->reloads.ids);
	if (!result && !store_is_outdated(worker->store))
		result = begin_run(worker);
	if (result < 0)
		log_error("cannot begin a run in the database: %s",
			  result == -ENOMEM ? "out of memory" : store_error(worker->store));
	atomic_store(&worker->give_up_ns, 0);
	worker_add_job(worker, (struct job){ .kind = JOB_RUN });
	return result;
}

static bool take_reload(struct worker *worker)
{
	HOLD_LOCK(&worker->lock);

	return job_queue_take_reload(&worker->queue);
}

static int try_to_migrate(struct worker *worker)
{
	int result = store_migrate(worker->store, scans_meanwhile, worker);

	return result < 0 ? result : begin_run(worker);
}

void run_migrate(struct worker *worker)
{
	uint64_t began_ns = clock_now_ns(worker->clock);
	char said[256] = "";

	log_info("an older bourdond wrote the database; migrating it to schema version %d, captures wait",
		 SCHEMA_VERSION);
	while (try_to_migrate(worker) < 0) {
		if (atomic_load(&worker->give_up_ns))
			return;
		if (strcmp(said, store_error(worker->store)))
			log_error(
				"cannot migrate the database: %s; it is unchanged, captures wait, trying again every 5 s",
				store_error(worker->store));
		snprintf(said, sizeof(said), "%s", store_error(worker->store));
		if (take_reload(worker))
			reload_read(worker);
		scans_meanwhile(worker);
		if (worker_pause(worker))
			return;
	}
	log_info("migrated the database in %.1f s",
		 (double)(clock_now_ns(worker->clock) - began_ns) / CLOCK_SECOND_NS);
}

void run_write_counters(struct worker *worker)
{
	uint64_t counters[COUNTERS], own[OWN_COUNTERS];

	for (unsigned int i = 0; i < OWN_COUNTERS; i++)
		own[i] = own_counted(worker->own_counters, (enum own_counter)i);
	if (store_add_counters(worker->store, own_counter_names, own, OWN_COUNTERS) ||
	    (!counters_read(worker->kernel->map_fds[PIN_COUNTERS], counters) &&
	     store_add_counters(worker->store, counter_names, counters, COUNTERS)))
		log_warning("cannot write the counters to the database: %s", store_error(worker->store));
}

void worker_end_run(struct worker *worker)
{
	if (store_is_outdated(worker->store)) {
		log_warning("the database is not migrated yet; bourdond goes on with it at its next start");
		return;
	}
	announce_retry(&worker->announcer, clock_now_ns(worker->clock));
	run_write_counters(worker);
	if (store_end_run(worker->store))
		log_warning("cannot write the end of this run to the database: %s",
			    store_error(worker->store));
}

/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/activity_looker.h"

#include "common/base/cleanup.h"

#include <string.h>

/* Looks take a hundredth of a CPU on average. What they have not used in ten seconds they may use later. */
#define BUDGET_PPM 10000U
#define BUDGET_SAVED_S 10U

#define MINUTE_NS ((int64_t)(60 * CLOCK_SECOND_NS))
_Static_assert(60 * CLOCK_SECOND_NS / ACTIVITY_NS_MIN <= ACTIVITY_STEPS_MAX,
	       "a minute has room for its steps");

/* The wall clock was set, or the machine slept, if the times of steps would be wrong by more. */
#define CLOCK_DRIFT_NS_MAX ((int64_t)CLOCK_SECOND_NS)

#define MESSAGES_A_MINUTE 1U

void activity_looker_open(struct activity_looker *looker, const struct kernel_objects *kernel,
			  struct cgroups *cgroups, struct own_counters *own_counters,
			  const struct clock *clock)
{
	*looker = (struct activity_looker){
		.kernel = kernel, .cgroups = cgroups, .own_counters = own_counters, .clock = clock
	};
}

void activity_looker_close(struct activity_looker *looker)
{
	activity_counts_free(&looker->counts);
	activity_minute_free(looker->minute);
}

void activity_looker_start(struct activity_looker *looker, struct worker *worker)
{
	looker->worker = worker;
}

/* ---- minutes ---- */

/* How many steps lie in the wall clock's minute of the first one. */
static uint32_t steps_of_minute(int64_t at, uint64_t interval_ns)
{
	int64_t left_ns = MINUTE_NS - at % MINUTE_NS, interval = (int64_t)interval_ns;
	int64_t steps = interval > MINUTE_NS ? 1 : (left_ns + interval - 1) / interval;

	return steps < ACTIVITY_STEPS_MAX ? (uint32_t)steps : ACTIVITY_STEPS_MAX;
}

/* `at` is the wall clock of the step that is due. */
static void begin_minute(struct activity_looker *looker, int64_t at)
{
	looker->minute = activity_minute_new(at, looker->interval_ns);
	looker->step = 0;
	looker->steps_max = steps_of_minute(at, looker->interval_ns);
}

static void end_minute(struct activity_looker *looker)
{
	struct activity_minute *minute = TAKE_PTR(looker->minute);

	if (!minute)
		return;
	if (!minute->looks) {
		activity_minute_free(minute);
		return;
	}
	activity_minute_end(minute, looker->step, looker->cgroups);
	if (worker_add_activity(looker->worker, minute))
		return;
	own_count(looker->own_counters, OWN_ACTIVITY_LOST);
	if (log_allowed(&looker->lost_limit, MESSAGES_A_MINUTE))
		log_warning("a minute of activity is lost: too many wait to be written to the database");
}

/* Goes to the next step. */
static void pass_step(struct activity_looker *looker)
{
	looker->due_ns += looker->interval_ns;
	if (looker->minute && ++looker->step >= looker->steps_max)
		end_minute(looker);
}

/* Passes the steps that another one has followed already: the daemon was held up. */
static void pass_late_steps(struct activity_looker *looker, uint64_t now_ns)
{
	while (now_ns - looker->due_ns >= looker->interval_ns) {
		if (!looker->minute) {
			uint64_t late = (now_ns - looker->due_ns) / looker->interval_ns;

			own_count_many(looker->own_counters, OWN_ACTIVITY_MISSED, late);
			looker->due_ns += late * looker->interval_ns;
			return;
		}
		own_count(looker->own_counters, OWN_ACTIVITY_MISSED);
		pass_step(looker);
	}
}

static void follow_wall_clock(struct activity_looker *looker, int64_t at)
{
	int64_t drift_ns;

	if (looker->minute) {
		drift_ns = at - looker->minute->at - (int64_t)(looker->step * looker->interval_ns);
		if (drift_ns > CLOCK_DRIFT_NS_MAX || drift_ns < -CLOCK_DRIFT_NS_MAX)
			end_minute(looker);
	}
	if (!looker->minute)
		begin_minute(looker, at);
}

/* ---- looks ---- */

static bool may_look(struct activity_looker *looker, uint64_t now_ns)
{
	if (cpu_budget_has_time(&looker->budget, now_ns))
		return true;
	if (!looker->has_warned)
		log_warning(
			"looks at the activity of %u threads take more than 1 %% of a CPU, so some are skipped; raise [activity] interval",
			looker->counts.look.threads);
	looker->has_warned = true;
	return false;
}

static void look(struct activity_looker *looker)
{
	uint64_t from_ns = clock_spent_ns(looker->clock);
	int result = looker->minute ? activity_counts_take(&looker->counts, looker->kernel, looker->cgroups)
				    : -ENOMEM;

	if (!result) {
		activity_minute_add(looker->minute, looker->step, &looker->counts, looker->cgroups);
		own_count(looker->own_counters, OWN_ACTIVITY_LOOKS);
	} else {
		own_count(looker->own_counters, OWN_ACTIVITY_MISSED);
		if (log_allowed(&looker->failed_limit, MESSAGES_A_MINUTE))
			log_warning("cannot look at the activity of threads: %s", strerror(-result));
	}
	cpu_budget_take(&looker->budget, clock_spent_ns(looker->clock) - from_ns);
}

void activity_looker_look(struct activity_looker *looker)
{
	uint64_t now_ns = clock_now_ns(looker->clock);

	if (!clock_is_due(looker->due_ns, now_ns))
		return;
	pass_late_steps(looker, now_ns);
	follow_wall_clock(looker, clock_wall_now_ns(looker->clock) - (int64_t)(now_ns - looker->due_ns));
	if (may_look(looker, now_ns))
		look(looker);
	else
		own_count(looker->own_counters, OWN_ACTIVITY_MISSED);
	pass_step(looker);
}

/* ---- switching ---- */

void activity_looker_set_interval(struct activity_looker *looker, uint64_t interval_ns)
{
	if (interval_ns == looker->interval_ns)
		return;
	end_minute(looker);
	looker->interval_ns = interval_ns;
	looker->due_ns = interval_ns ? clock_now_ns(looker->clock) : 0;
	looker->budget = (struct cpu_budget){ .ppm = BUDGET_PPM, .cpus = 1, .saved_s = BUDGET_SAVED_S };
	looker->has_warned = false;
}

void activity_looker_interrupt(struct activity_looker *looker)
{
	end_minute(looker);
}

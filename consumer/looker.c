/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/looker.h"

#include <string.h>

/* Looks take a fiftieth of a CPU at most. */
#define SHARE 50U
#define FAILURES_A_MINUTE 1U

void looker_open(struct looker *looker, const struct kernel_objects *kernel, const struct clock *clock)
{
	*looker = (struct looker){ .kernel = kernel, .clock = clock };
	/* a daemon that ran before may have taken looks, of which this one knows nothing */
	looks_forget(&looker->looks, kernel->control);
}

void looker_close(struct looker *looker)
{
	looks_free(&looker->looks);
}

static void follow(struct looker *looker)
{
	bool looks = looker->is_wanted && looker->hz;

	if (looks == (looker->due_ns != 0))
		return;
	looker->due_ns = looks ? clock_now_ns(looker->clock) : 0;
	if (!looks)
		looks_forget(&looker->looks, looker->kernel->control);
}

void looker_set_rate(struct looker *looker, uint32_t hz)
{
	looker->hz = hz;
	follow(looker);
}

void looker_want(struct looker *looker, bool is_wanted)
{
	looker->is_wanted = is_wanted;
	follow(looker);
}

bool looker_take(struct looker *looker)
{
	int result;

	if (!clock_is_due(looker->due_ns, clock_now_ns(looker->clock)))
		return false;
	looker->from_ns = clock_spent_ns(looker->clock);
	result = looks_take(&looker->looks, looker->kernel);
	if (result < 0 && log_allowed(&looker->failed_limit, FAILURES_A_MINUTE))
		log_warning("cannot look at the states of threads: %s", strerror(-result));
	if (result < 0)
		looker_rest(looker);
	return !result;
}

void looker_rest(struct looker *looker)
{
	uint64_t taken_ns = clock_spent_ns(looker->clock) - looker->from_ns,
		 now_ns = clock_now_ns(looker->clock), due_ns = looker->due_ns + CLOCK_SECOND_NS / looker->hz;

	/* a look that comes late moves those behind it */
	if (due_ns < now_ns)
		due_ns = now_ns;
	if (due_ns < now_ns + taken_ns * (SHARE - 1))
		due_ns = now_ns + taken_ns * (SHARE - 1);
	looker->due_ns = due_ns;
}

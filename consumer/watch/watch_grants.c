/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/watch/watch_grants.h"

#include "common/base/cleanup.h"

#include <stdio.h>
#include <string.h>

/* The watch has a privileged trigger, or one was asked for. */
static bool counts_as_privileged(const struct watch *watch)
{
	return (watch->mode == TRIGGER_KERNEL || watch->wish == WISH_ASKED) && watch_is_privileged(watch);
}

static bool wants_grant(const struct watch_grants *grants, const struct watch *watch)
{
	return watch->wish == WISH_GRANT && watch->fd >= 0 && !watch->gone &&
	       (!watch_is_privileged(watch) || grants->privileged < grants->limits->privileged);
}

bool watch_grants_ask(struct watch_grants *grants, struct watch *watch, uint64_t now_ns)
{
	struct grant_request request;

	if (!wants_grant(grants, watch))
		return true; /* do not look at the trigger: the watch may be gone, and its rules freed */
	request = (struct grant_request){ .kind = GRANT_PRESSURE,
					  .cgroup_id = watch->cgroup ? watch->cgroup_id : grants->root_id,
					  .resource = watch->trigger->resource,
					  .window_us = watch->trigger->window_us };
	watch->call = grant_queue_ask(grants->queue, &request, watch, now_ns);
	if (!watch->call)
		return false;
	watch->wish = WISH_ASKED;
	free(TAKE_PTR(watch->refusal));                   /* of an earlier answer */
	grants->privileged += watch_is_privileged(watch); /* until the answer comes */
	return true;
}

/* A negative `fd`: bourdon-grant gave no descriptor. Else the kernel armed no trigger on it. */
static void explain_refusal(struct watch_grants *grants, struct watch *watch, int fd, int result,
			    const char *refusal)
{
	if (fd >= 0 && watch_is_privileged(watch))
		watch_note_refusal(
			watch,
			"the kernel refused the trigger: %s; its window is not a multiple of 2 s, so bourdon-grant needs CAP_SYS_RESOURCE",
			strerror(-result));
	else if (fd >= 0)
		watch_note_refusal(watch,
				   "the kernel refused the trigger on the file that bourdon-grant opened: %s",
				   strerror(-result));
	else if (result == -EACCES)
		watch_note_refusal(watch, "bourdon-grant refused: %s", refusal);
	else if (result == -EBUSY)
		watch_note_refusal(watch, "bourdon-grant is asked too often; it will be asked again");
	else
		watch_note_refusal(watch, "bourdon-grant failed: %s; it will be asked again",
				   strerror(-result));
	if (log_allowed(&grants->refusal_limit, 1))
		log_warning("rule %s reads %s.%s of %s once a second: %s", watch->rule->name,
			    psi_resource_names[watch->trigger->resource],
			    psi_kind_names[watch->trigger->kind],
			    watch->cgroup ? watch->cgroup : "the system",
			    watch->refusal ? watch->refusal : strerror(-result));
}

static void on_answer(void *user, void *asker, int fd, const char *refusal)
{
	struct watch_grants *grants = user;
	struct watch *watch = asker;
	int result = fd < 0 ? fd : watch_upgrade(watch, fd, grants->epoll, grants->closer);

	grants->privileged -= counts_as_privileged(watch) && result < 0;
	watch->call = NULL;
	/* a refusal, by bourdon-grant or by the kernel, is final; after any other failure ask again */
	watch->wish = !result || result == -EACCES || fd >= 0 ? WISH_NONE : WISH_GRANT;
	if (!result) {
		grants->granted++;
		free(TAKE_PTR(watch->refusal));
	} else {
		grants->refused++;
		explain_refusal(grants, watch, fd, result, refusal);
	}
}

void watch_grants_explain(const struct watch_grants *grants, const struct watch *watch, char *into,
			  size_t bytes)
{
	bool may_wish = watch->wish == WISH_GRANT && watch->mode == TRIGGER_SAMPLED;

	if (watch->refusal)
		snprintf(into, bytes, "%s", watch->refusal);
	else if (watch->wish == WISH_ASKED)
		snprintf(into, bytes, "waiting for the answer of bourdon-grant");
	else if (may_wish && watch_is_privileged(watch) && grants->privileged >= grants->limits->privileged)
		snprintf(into, bytes, "the limit [triggers] short_windows = %u is reached",
			 grants->limits->privileged);
	else if (may_wish && !grant_queue_is_served(grants->queue))
		snprintf(into, bytes, "bourdon-grant cannot be reached at %s",
			 grant_queue_socket(grants->queue));
	else
		snprintf(into, bytes, "%s", may_wish ? "bourdon-grant will be asked soon" : "");
}

int watch_grants_open(struct watch_grants *grants, const char *socket_path)
{
	return grant_queue_open(&grants->queue, socket_path, grants->epoll, on_answer, grants);
}

void watch_grants_forget(struct watch_grants *grants, struct watch *watch)
{
	grants->privileged -= counts_as_privileged(watch);
	if (watch->call)
		grant_queue_cancel(watch->call);
	watch->call = NULL;
	watch->wish = WISH_NONE;
}

/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/watch/watches.h"

#include "common/array.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/log.h"

#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>

/*
 * A watch with a kernel trigger needs its total now and then only: to compute `observed_us`, and to recognise
 * a spurious event.
 */
#define KERNEL_READ_SECONDS 4

static void on_answer(void *user, void *asker, int fd, const char *refusal);

int watches_open(struct watches *watches, int epoll, const char *mount, const char *grant_socket,
		 uint32_t privileged_max)
{
	struct stat at;

	*watches = (struct watches){ .epoll = epoll, .mount = mount, .privileged_max = privileged_max };
	if (stat(mount, &at))
		return -errno;
	watches->root_id = at.st_ino;
	return grant_queue_open(&watches->grants, grant_socket, epoll, on_answer, watches);
}

void watches_start(struct watches *watches, struct closer *closer)
{
	watches->closer = closer;
}

void watches_limit(struct watches *watches, uint32_t privileged_max)
{
	watches->privileged_max = privileged_max;
}

void watches_answer(struct watches *watches, struct grant_call *call)
{
	grant_queue_event(watches->grants, call);
}

/* ---- the table ---- */

struct wanted {
	const struct watches *watches;
	uint64_t cgroup_id;
	const struct trigger *trigger;
};

static uint32_t hash_of(uint64_t cgroup_id, const struct trigger *trigger)
{
	uint64_t key[2] = { cgroup_id, (uintptr_t)trigger };

	return hash_bytes(key, sizeof(key));
}

static bool is_wanted(const void *user, uint32_t position)
{
	const struct wanted *wanted = user;
	const struct watch *watch = wanted->watches->watches[position];

	return watch->trigger == wanted->trigger && watch->cgroup_id == wanted->cgroup_id && !watch->gone;
}

static struct watch *find(const struct watches *watches, uint64_t cgroup_id, const struct trigger *trigger)
{
	struct wanted wanted = { watches, cgroup_id, trigger };
	uint32_t found = hash_index_find(&watches->index, hash_of(cgroup_id, trigger), is_wanted, &wanted);

	return found == HASH_INDEX_NONE ? NULL : watches->watches[found];
}

static int rebuild_index(struct watches *watches)
{
	int result = 0;

	hash_index_free(&watches->index);
	for (uint32_t i = 0; i < watches->count && !result; i++)
		result = hash_index_add(&watches->index,
					hash_of(watches->watches[i]->cgroup_id, watches->watches[i]->trigger),
					i);
	return result;
}

static void free_watch(struct watch *watch)
{
	free(watch->cgroup);
	free(watch->refusal);
	free(watch);
}

/* The watch has a privileged trigger, or one was asked for. */
static bool counts_as_privileged(const struct watch *watch)
{
	return (watch->mode == TRIGGER_KERNEL || watch->wish == WISH_ASKED) && watch_is_privileged(watch);
}

static void let_go(struct watches *watches, struct watch *watch)
{
	if (watch->gone)
		return;
	watches->privileged -= counts_as_privileged(watch);
	if (watch->call)
		grant_queue_cancel(watch->call);
	watch->call = NULL;
	watch->wish = WISH_NONE;
	watch_close(watch, watches->epoll, watches->closer);
	watch->gone = watches->any_gone = true;
}

void watches_sweep(struct watches *watches)
{
	uint32_t kept = 0;

	if (!watches->any_gone)
		return;
	for (uint32_t i = 0; i < watches->count; i++) {
		if (watches->watches[i]->gone)
			free_watch(watches->watches[i]);
		else
			watches->watches[kept++] = watches->watches[i];
	}
	watches->count = kept;
	watches->any_gone = false;
	watches->asked = 0;
	if (rebuild_index(watches) < 0)
		log_warning("out of memory: some cgroups will be watched twice");
}

uint32_t watches_live(const struct watches *watches)
{
	uint32_t live = 0;

	for (uint32_t i = 0; i < watches->count; i++)
		live += !watches->watches[i]->gone;
	return live;
}

void watches_close(struct watches *watches)
{
	for (uint32_t i = 0; i < watches->count; i++)
		let_go(watches, watches->watches[i]);
	for (uint32_t i = 0; i < watches->count; i++)
		free_watch(watches->watches[i]);
	free(watches->watches);
	hash_index_free(&watches->index);
	grant_queue_free(watches->grants);
	*watches = (struct watches){ 0 };
}

/* ---- grants ---- */

static bool wants_grant(const struct watches *watches, const struct watch *watch)
{
	return watch->wish == WISH_GRANT && watch->fd >= 0 && !watch->gone &&
	       (!watch_is_privileged(watch) || watches->privileged < watches->privileged_max);
}

/* Returns false if no more calls can begin now. */
static bool ask_for(struct watches *watches, struct watch *watch, uint64_t now_ns)
{
	struct grant_request request;

	if (!wants_grant(watches, watch))
		return true; /* do not look at the trigger: the watch may be gone, and its rules freed */
	request = (struct grant_request){ .kind = GRANT_PRESSURE,
					  .cgroup_id = watch->cgroup ? watch->cgroup_id : watches->root_id,
					  .resource = watch->trigger->resource,
					  .window_us = watch->trigger->window_us };
	watch->call = grant_queue_ask(watches->grants, &request, watch, now_ns);
	if (!watch->call)
		return false;
	watch->wish = WISH_ASKED;
	free(TAKE_PTR(watch->refusal));                    /* of an earlier answer */
	watches->privileged += watch_is_privileged(watch); /* until the answer comes */
	return true;
}

/* Begins as many calls as may be under way; each answer begins the next. */
static void ask(struct watches *watches, uint64_t now_ns)
{
	for (uint32_t i = 0; i < watches->count && grant_queue_has_room(watches->grants, now_ns); i++)
		if (!ask_for(watches, watches->watches[watches->asked++ % watches->count], now_ns))
			return;
}

/* Without memory the reason is not shown; the watch works. */
static void __attribute__((format(printf, 2, 3))) note_refusal(struct watch *watch, const char *format, ...)
{
	va_list arguments;

	free(watch->refusal);
	va_start(arguments, format);
	if (vasprintf(&watch->refusal, format, arguments) < 0)
		watch->refusal = NULL;
	va_end(arguments);
}

/* A negative `fd`: bourdon-grant gave no descriptor. Else the kernel armed no trigger on it. */
static void explain_refusal(struct watches *watches, struct watch *watch, int fd, int result,
			    const char *refusal)
{
	if (fd >= 0 && watch_is_privileged(watch))
		note_refusal(
			watch,
			"the kernel refused the trigger: %s; its window is not a multiple of 2 s, so bourdon-grant needs CAP_SYS_RESOURCE",
			strerror(-result));
	else if (fd >= 0)
		note_refusal(watch,
			     "the kernel refused the trigger on the file that bourdon-grant opened: %s",
			     strerror(-result));
	else if (result == -EACCES)
		note_refusal(watch, "bourdon-grant refused: %s", refusal);
	else if (result == -EBUSY)
		note_refusal(watch, "bourdon-grant is asked too often; it will be asked again");
	else
		note_refusal(watch, "bourdon-grant failed: %s; it will be asked again", strerror(-result));
	if (log_allowed(&watches->refusal_limit, 1))
		log_warning("rule %s reads %s.%s of %s once a second: %s", watch->rule->name,
			    psi_resource_names[watch->trigger->resource],
			    psi_kind_names[watch->trigger->kind],
			    watch->cgroup ? watch->cgroup : "the system",
			    watch->refusal ? watch->refusal : strerror(-result));
}

static void on_answer(void *user, void *asker, int fd, const char *refusal)
{
	struct watches *watches = user;
	struct watch *watch = asker;
	int result = fd < 0 ? fd : watch_upgrade(watch, fd, watches->epoll, watches->closer);

	watches->privileged -= counts_as_privileged(watch) && result < 0;
	watch->call = NULL;
	/* a refusal, by bourdon-grant or by the kernel, is final; after any other failure ask again */
	watch->wish = !result || result == -EACCES || fd >= 0 ? WISH_NONE : WISH_GRANT;
	if (!result) {
		watches->granted++;
		free(TAKE_PTR(watch->refusal));
	} else {
		watches->refused++;
		explain_refusal(watches, watch, fd, result, refusal);
	}
	ask(watches, clock_monotonic_ns());
}

void watches_explain(const struct watches *watches, const struct watch *watch, char *into, size_t bytes)
{
	bool may_wish = watch->wish == WISH_GRANT && watch->mode == TRIGGER_SAMPLED;

	if (watch->refusal)
		snprintf(into, bytes, "%s", watch->refusal);
	else if (watch->wish == WISH_ASKED)
		snprintf(into, bytes, "waiting for the answer of bourdon-grant");
	else if (may_wish && watch_is_privileged(watch) && watches->privileged >= watches->privileged_max)
		snprintf(into, bytes, "the limit [triggers] short_windows = %u is reached",
			 watches->privileged_max);
	else if (may_wish && !grant_queue_is_served(watches->grants))
		snprintf(into, bytes, "bourdon-grant cannot be reached at %s",
			 grant_queue_socket(watches->grants));
	else
		snprintf(into, bytes, "%s", may_wish ? "bourdon-grant will be asked soon" : "");
}

/* ---- adding ---- */

static bool cgroup_exists(const struct watches *watches, const char *cgroup)
{
	char path[PATH_MAX];
	struct stat at;

	snprintf(path, sizeof(path), "%s%s", watches->mount, cgroup);
	return !stat(path, &at);
}

static void say_what_fails(struct watch *watch, int error)
{
	note_refusal(watch, "%s", error == -EOPNOTSUPP ? "PSI is off; boot with psi=1" : strerror(-error));
	log_warning("rule %s cannot watch %s.%s of %s: %s", watch->rule->name,
		    psi_resource_names[watch->trigger->resource], psi_kind_names[watch->trigger->kind],
		    watch->cgroup ? watch->cgroup : "the system",
		    error == -EOPNOTSUPP ? "PSI is off; boot with psi=1" : strerror(-error));
}

static int add_watch(struct watches *watches, const struct watch *described)
{
	struct watch *watch;
	int result;

	if (array_make_room(watches->watches, watches->count, watches->room, 1U))
		return -ENOMEM;
	watch = malloc(sizeof(*watch));
	if (!watch)
		return -ENOMEM;
	*watch = *described;
	watch->cgroup = described->cgroup ? strdup(described->cgroup) : NULL;
	if (described->cgroup && !watch->cgroup) {
		free_watch(watch);
		return -ENOMEM;
	}
	result = watch_open(watch, watches->mount, watches->epoll);
	if (result < 0 && watch->cgroup && !cgroup_exists(watches, watch->cgroup)) {
		watch_close(watch, watches->epoll, watches->closer);
		free_watch(watch); /* the cgroup was removed meanwhile */
		return 0;
	}
	if (result < 0) {
		/* keep the closed watch, so that new processes do not open and log it again */
		say_what_fails(watch, result);
		watch_close(watch, watches->epoll, watches->closer);
	}
	watches->watches[watches->count] = watch;
	result = hash_index_add(&watches->index, hash_of(watch->cgroup_id, watch->trigger), watches->count);
	if (result < 0) {
		watch_close(watch, watches->epoll, watches->closer);
		free_watch(watch);
		return result;
	}
	watches->count++;
	ask_for(watches, watch, clock_monotonic_ns());
	return 0;
}

/*
 * Once a walk, tries to open a file that could not be opened, for lack of descriptors perhaps. Does not log
 * again.
 */
static void meet_again(struct watches *watches, struct watch *watch, uint32_t walk)
{
	watch->walk = walk;
	if (watch->fd >= 0)
		return;
	if (watch_open(watch, watches->mount, watches->epoll) < 0)
		watch_close(watch, watches->epoll, watches->closer);
	else
		free(TAKE_PTR(watch->refusal));
}

int watches_add(struct watches *watches, const struct rule *rule, uint64_t cgroup_id, const char *cgroup,
		uint32_t walk)
{
	int result = 0;

	for (size_t i = 0; i < rule->triggers_count && !result; i++) {
		struct watch described = { .source = { SOURCE_WATCH },
					   .rule = rule,
					   .trigger = &rule->triggers[i],
					   .cgroup_id = cgroup_id,
					   .cgroup = (char *)cgroup,
					   .fd = -EBADF,
					   .walk = walk };
		struct watch *known = find(watches, cgroup_id, described.trigger);

		if (!known)
			result = add_watch(watches, &described);
		else if (known->walk != walk)
			meet_again(watches, known, walk);
	}
	return result;
}

void watches_prune(struct watches *watches, uint32_t walk, uint64_t now_ns)
{
	for (uint32_t i = 0; i < watches->count; i++) {
		struct watch *watch = watches->watches[i];
		bool cools_down = watch->fd >= 0 && watch_is_quiet(watch, now_ns);

		if (watch->cgroup && (int32_t)(watch->walk - walk) < 0 && !cools_down)
			let_go(watches, watch);
	}
}

/* ---- a reload ---- */

/* The same trigger in the new rules, or NULL. */
static const struct trigger *successor(const struct watch *watch, const struct rule_set *rules,
				       const struct rule **ret_rule)
{
	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->rules[i];

		if (strcmp(rule->name, watch->rule->name) || rule->watch != watch->rule->watch ||
		    (watch->cgroup && !rule_covers(rule, watch->cgroup)))
			continue;
		for (size_t t = 0; t < rule->triggers_count; t++)
			if (!memcmp(&rule->triggers[t], watch->trigger, sizeof(*watch->trigger))) {
				*ret_rule = rule;
				return &rule->triggers[t];
			}
	}
	return NULL;
}

int watches_follow(struct watches *watches, const struct rule_set *rules)
{
	int result;

	for (uint32_t i = 0; i < watches->count; i++) {
		struct watch *watch = watches->watches[i];
		const struct trigger *trigger = watch->gone ? NULL : successor(watch, rules, &watch->rule);

		if (trigger)
			watch->trigger = trigger;
		else
			let_go(watches, watch);
	}
	result = rebuild_index(watches);
	for (uint32_t i = 0; i < watches->count && result < 0; i++)
		let_go(watches, watches->watches[i]);
	return result;
}

/* ---- events ---- */

/* Returns false, and closes the watch, if its total cannot be read any more. */
static bool read_total(struct watches *watches, struct watch *watch, uint64_t *ret_total_us)
{
	if (watch_read(watch, ret_total_us) >= 0)
		return true;
	let_go(watches, watch);
	return false;
}

/* At most once a window, as the kernel does. */
static bool may_fire(const struct watch *watch, uint64_t now_ns)
{
	return !watch->fired_ns || now_ns - watch->fired_ns >= watch->window.window_ns;
}

void watches_tick(struct watches *watches, uint64_t now_ns, watch_fired fired, void *user)
{
	watches->ticks++;
	for (uint32_t i = 0; i < watches->count; i++) {
		struct watch *watch = watches->watches[i];
		uint64_t total_us, grown_us;

		if (watch->fd < 0 || watch->gone ||
		    (watch->mode == TRIGGER_KERNEL && (i + watches->ticks) % KERNEL_READ_SECONDS) ||
		    !read_total(watches, watch, &total_us))
			continue;
		grown_us = psi_window_growth(&watch->window, 1, now_ns, total_us);
		psi_window_add(&watch->window, now_ns, total_us);
		if (watch->mode == TRIGGER_KERNEL || grown_us < watch->trigger->stall_us ||
		    !may_fire(watch, now_ns))
			continue;
		watch->fired_ns = now_ns;
		watch->fired++;
		fired(user, watch, grown_us);
	}
	grant_queue_tick(watches->grants, now_ns);
	ask(watches, now_ns);
}

void watches_event(struct watches *watches, struct watch *watch, uint32_t events, uint64_t now_ns,
		   watch_fired fired, void *user)
{
	uint64_t total_us, grown_us;

	if (events & EPOLLERR)
		let_go(watches, watch);
	if (watch->gone || !read_total(watches, watch, &total_us))
		return;
	/*
	 * The kernel checks an unprivileged trigger every 2 s only, so the window that crossed the threshold
	 * may have ended before this event: compare the most that two windows can have grown. The kernel may
	 * also fire once when a trigger is armed, without any stall: that event is spurious.
	 */
	if (psi_window_growth_most(&watch->window, 2, now_ns, total_us) < watch->trigger->stall_us) {
		watches->spurious++;
		return;
	}
	grown_us = psi_window_growth(&watch->window, 1, now_ns, total_us);
	psi_window_add(&watch->window, now_ns, total_us);
	watch->fired++;
	fired(user, watch, grown_us > watch->trigger->stall_us ? grown_us : watch->trigger->stall_us);
}

/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/ondemand.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/kernel/cgroup_parts.h"
#include "common/policy/policy_denial.h"
#include "common/system/log.h"
#include "common/system/options.h"
#include "common/text/escape_name.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#define USERS_FILE "/etc/passwd"

#define NOT_A_MEMBER "only root and members of bourdond's group may ask for captures"
#define FULL                                                                                                 \
	"as many captures as may be asked for at once are under way or wait to be written; 'bourdon capture --who' lists yours, --end ends one"

/* What is wanted ends by itself so long after the capture's time: its last drain and walk come a moment after that. */
#define WANTED_LONGER_NS (2 * CLOCK_SECOND_NS)
_Static_assert(CAPTURE_FOR_NS_MAX + WANTED_LONGER_NS <= WANTED_NS_MAX, "the programs ignore a longer time");

#define PATH_ROOM (CGROUP_PATH_BYTES + 256U)

void ondemand_open(struct ondemand *ondemand, const struct ondemand_settings *settings)
{
	*ondemand = (struct ondemand){ .kernel = settings->kernel,
				       .tracking = settings->tracking,
				       .recorder = settings->recorder,
				       .cgroups = settings->cgroups,
				       .latencies = settings->latencies,
				       .own_counters = settings->own_counters,
				       .limit = ASK_LIMIT };
	if (user_names_read(&ondemand->names, USERS_FILE) < 0)
		log_info("cannot read " USERS_FILE
			 ": captures on demand have the uid of who asked, and no name");
}

static void forget(struct asked *asked)
{
	free(asked->unit);
	free(asked->cgroup);
	*asked = (struct asked){ 0 };
}

void ondemand_close(struct ondemand *ondemand)
{
	for (size_t i = 0; i < ARRAY_SIZE(ondemand->asked); i++)
		forget(&ondemand->asked[i]);
	user_names_free(&ondemand->names);
}

void ondemand_start(struct ondemand *ondemand, struct control_socket *control, struct worker *worker)
{
	int result = wanted_clear(ondemand->kernel->map_fds[PIN_WANTED], ondemand->kernel->control);

	ondemand->control = control;
	ondemand->worker = worker;
	if (result < 0)
		log_warning("cannot empty the map 'wanted': %s", strerror(-result));
}

static struct asked *find_client(struct ondemand *ondemand, uint64_t client)
{
	for (size_t i = 0; i < ARRAY_SIZE(ondemand->asked); i++)
		if (ondemand->asked[i].serial && ondemand->asked[i].client == client)
			return &ondemand->asked[i];
	return NULL;
}

static struct asked *find_serial(struct ondemand *ondemand, uint64_t serial)
{
	for (size_t i = 0; i < ARRAY_SIZE(ondemand->asked); i++)
		if (ondemand->asked[i].serial == serial)
			return &ondemand->asked[i];
	return NULL;
}

/* ---- what the kernel programs are told ---- */

static uint64_t id_of_cgroup(const struct ondemand *ondemand, const char *cgroup)
{
	char path[PATH_ROOM];
	struct stat at;

	if ((size_t)snprintf(path, sizeof(path), "%s%s", cgroups_mount(ondemand->cgroups), cgroup) >=
		    sizeof(path) ||
	    stat(path, &at) || !S_ISDIR(at.st_mode))
		return 0;
	return at.st_ino;
}

/* The cgroups in which processes of the unit are, after the last walk; a service that starts again has a new one. */
static void add_unit(struct ondemand *ondemand, const struct asked *asked, struct wants *wants)
{
	const struct usage *usage = &ondemand->tracking->usage;
	uint64_t last = 0;

	for (uint32_t i = 0; i < usage->count; i++) {
		const struct usage_process *process = &usage->processes[i];
		const char *cgroup;

		/* neighbours often are of one cgroup */
		if (process->is_kernel || process->cgroup_id == last)
			continue;
		last = process->cgroup_id;
		cgroup = cgroups_path(ondemand->cgroups, last);
		if (cgroup && cgroup_is_of_unit(cgroup, asked->unit)) {
			const struct want want = want_cgroup(last, asked->until_ns);

			wants_add(wants, &want);
		}
	}
}

static void add_wants(struct ondemand *ondemand, const struct asked *asked, struct wants *wants)
{
	uint64_t id = asked->cgroup ? id_of_cgroup(ondemand, asked->cgroup) : 0;

	for (uint32_t i = 0; i < asked->processes_count; i++)
		wants_add(wants, &asked->of_processes[i]);
	if (asked->wants_comm)
		wants_add(wants, &asked->of_comm);
	if (id) {
		const struct want want = want_cgroup(id, asked->until_ns);

		wants_add(wants, &want);
	}
	if (asked->unit)
		add_unit(ondemand, asked, wants);
}

/* Tells them what all captures together want that are recorded. */
static void publish(struct ondemand *ondemand)
{
	struct wants wants = { 0 };
	int result;

	for (size_t i = 0; i < ARRAY_SIZE(ondemand->asked); i++)
		if (ondemand->asked[i].serial && !ondemand->asked[i].is_over)
			add_wants(ondemand, &ondemand->asked[i], &wants);
	result = wanted_publish(ondemand->kernel->map_fds[PIN_WANTED], ondemand->kernel->control,
				&ondemand->published, &wants);
	if ((result < 0 || wants.left_out) && log_allowed(&ondemand->wanted_limit, 1))
		log_warning("the map 'wanted' lacks what a capture on demand is of: %s",
			    result < 0 ? strerror(-result) : "more than 256 processes and cgroups");
}

/* ---- answers ---- */

struct answer {
	char *text;
	size_t bytes;
	FILE *out; /* NULL without memory */
};

static void answer_begin(struct answer *answer, const char *kind)
{
	*answer = (struct answer){ 0 };
	answer->out = open_memstream(&answer->text, &answer->bytes);
	if (answer->out)
		status_line_begin(answer->out, kind);
}

static void answer_number(struct answer *answer, const char *key, uint64_t value)
{
	if (answer->out)
		status_line_field(answer->out, key, "%" PRIu64, value);
}

/* Returns the line, "" without memory. The caller frees answer->text. */
static const char *answer_end(struct answer *answer)
{
	if (answer->out) {
		status_line_end(answer->out);
		fclose(answer->out);
	}
	return answer->text ? answer->text : "";
}

static void refuse(const struct ondemand *ondemand, uint64_t client, const char *why, uint64_t now_ns)
{
	control_refuse(ondemand->control, client, 0, why, now_ns);
}

static void say_progress(struct ondemand *ondemand, struct asked *asked, const struct capture *capture,
			 const char *kind, uint64_t now_ns)
{
	struct answer answer;
	char missing[LATENCY_GROUPS_TEXT_BYTES];

	answer_begin(&answer, kind);
	answer_number(&answer, "elapsed_ns", now_ns - asked->began_ns);
	answer_number(&answer, "for_ns", asked->for_ns);
	if (capture) {
		answer_number(&answer, "samples", capture->taken);
		answer_number(&answer, "stacks", capture->stacks.count);
		answer_number(&answer, "history_ns", capture_available_history_ns(capture));
	}
	if (asked->probes_missing && answer.out)
		status_line_field(answer.out, "probes_missing", "%s",
				  measuring_names(asked->probes_missing, missing));
	asked->said_ns = now_ns;
	control_say(ondemand->control, asked->client, answer_end(&answer));
	free(answer.text);
}

/* ---- which processes ---- */

/* A process with this id that the last walk met. Those that root's policy denies are not told. */
static const struct usage_process *find_process(const struct ondemand *ondemand, uint32_t tgid)
{
	const struct usage *usage = &ondemand->tracking->usage;

	for (uint32_t i = 0; i < usage->count; i++)
		if (usage->processes[i].tgid == tgid && usage->processes[i].walk == usage->walk &&
		    !usage->processes[i].is_final)
			return &usage->processes[i];
	return NULL;
}

/* Stores who the processes are. Returns 0, or the id of one that is none, or is not told: *ret_why says it. */
static uint32_t name_processes(const struct ondemand *ondemand, const struct capture_request *request,
			       struct asking *asking, const char **ret_why)
{
	for (uint32_t i = 0; i < request->pids_count; i++) {
		const struct usage_process *process = find_process(ondemand, request->pids[i]);

		*ret_why = process ? "it is a kernel thread"
				   : "it does not exist, or root's policy denies it";
		if (!process || process->is_kernel)
			return request->pids[i];
		asking->processes[asking->processes_count++] =
			(struct asking_process){ process->tgid, process->started_ns };
	}
	return 0;
}

/* The part of the cgroup's path that is the unit's own cgroup; "" without one. */
static void cut_to_unit(const char *cgroup, const char *unit, char into[PATH_ROOM])
{
	snprintf(into, PATH_ROOM, "%s", cgroup);
	for (char *end = into; *end; end++) {
		char next;

		end = end + 1 + strcspn(end + 1, "/");
		next = *end;
		*end = '\0';
		if (cgroup_is_of_unit(into, unit))
			return;
		*end = next;
		end--;
	}
	*into = '\0';
}

/*
 * Finds the cgroup whose pressure and statistics belong to the capture, into `into`; "" for the whole system. A unit may
 * have no process at the moment, or several cgroups, of several users' service managers.
 */
static void find_cgroup(struct ondemand *ondemand, const struct capture_request *request,
			char into[PATH_ROOM])
{
	const struct usage *usage = &ondemand->tracking->usage;
	char found[PATH_ROOM];

	snprintf(into, PATH_ROOM, "%s", strcmp(request->cgroup, "/") ? request->cgroup : "");
	for (uint32_t i = 0; i < usage->count && request->unit[0]; i++) {
		const char *cgroup = usage->processes[i].is_kernel
					     ? NULL
					     : cgroups_path(ondemand->cgroups, usage->processes[i].cgroup_id);

		if (!cgroup || !cgroup_is_of_unit(cgroup, request->unit))
			continue;
		cut_to_unit(cgroup, request->unit, found);
		if (*into && strcmp(into, found) != 0) {
			*into = '\0';
			return;
		}
		strcpy(into, found);
	}
}

/* Returns NULL, or what is wrong with a request that could be read. */
static const char *find_mistake(const struct ondemand *ondemand, const struct capture_request *request)
{
	const char *why = NULL;

	if (request->unit[0] && !unit_pattern_is_valid(request->unit, &why))
		return why;
	if (request->has_comm && !request->comm.prefix &&
	    policy_denies_comm(&ondemand->kernel->policy, request->comm.text))
		return "root's policy denies processes of that name";
	if (request->cgroup[0] && !id_of_cgroup(ondemand, request->cgroup))
		return "there is no such cgroup";
	return NULL;
}

/* ---- a request ---- */

/* Notes what the capture is of, for the kernel programs. Returns 0 or -ENOMEM. */
static int note_wants(struct asked *asked, const struct capture_request *request, const struct asking *asking)
{
	for (uint32_t i = 0; i < asking->processes_count; i++)
		asked->of_processes[asked->processes_count++] = want_process(
			asking->processes[i].tgid, asking->processes[i].started_ns, asked->until_ns);
	if (request->unit[0])
		asked->unit = strdup(request->unit);
	if (request->cgroup[0])
		asked->cgroup = strdup(request->cgroup);
	if ((request->unit[0] && !asked->unit) || (request->cgroup[0] && !asked->cgroup))
		return -ENOMEM;
	/* of two conditions one is enough here, the narrower one: the capture itself keeps to both */
	asked->wants_comm = !asked->processes_count && !asked->unit && !asked->cgroup;
	asked->of_comm = want_comm(&asking->rule.comm, asked->until_ns);
	return 0;
}

static void log_asked(const struct asking *asking)
{
	_cleanup_free_ char *text = escape_name(asking->text);
	char by[CAPTURE_WHOSE_BYTES];

	log_info("%s asked for a capture: %s", user_name_write(asking->user, asking->uid, by, sizeof(by)),
		 text ? text : "");
}

/* Takes ownership of `asking`. */
static void begin(struct ondemand *ondemand, struct asked *asked, uint64_t client,
		  const struct capture_request *request, struct asking *asking, uint64_t now_ns)
{
	const char *why = NULL;
	uint32_t pid = name_processes(ondemand, request, asking, &why);
	char cgroup[PATH_ROOM];
	int result;

	if (pid) {
		control_refuse(ondemand->control, client, pid, why, now_ns);
		asking_free(asking);
		return;
	}
	*asked = (struct asked){ .serial = ++ondemand->serials,
				 .client = client,
				 .began_ns = now_ns,
				 .for_ns = request->for_ns,
				 .until_ns = now_ns + request->for_ns + WANTED_LONGER_NS };
	asking->serial = asked->serial;
	result = note_wants(asked, request, asking);
	if (result < 0) {
		asking_free(asking);
	} else {
		find_cgroup(ondemand, request, cgroup);
		publish(ondemand); /* before the walk that makes targets of them */
		log_asked(asking);
		asked->probes_missing = measuring_want(ondemand->latencies, &asking->rule, now_ns);
		result = recorder_ask(ondemand->recorder, asking, *cgroup ? cgroup : NULL, now_ns);
	}
	if (result < 0) {
		forget(asked);
		publish(ondemand);
		refuse(ondemand, client, result == -EBUSY ? FULL : strerror(-result), now_ns);
		return;
	}
	own_count(ondemand->own_counters, OWN_ASKED);
	say_progress(ondemand, asked, recorder_asked(ondemand->recorder, asked->serial), "begun", now_ns);
}

void ondemand_ask(struct ondemand *ondemand, uint64_t client, const struct peer *peer,
		  const struct status_line *line, uint64_t now_ns)
{
	struct asked *asked = find_serial(ondemand, 0);
	struct capture_request request;
	struct asking *asking;
	const char *why;

	if (!peer_may_ask(peer)) {
		refuse(ondemand, client, NOT_A_MEMBER, now_ns);
		return;
	}
	why = capture_request_read(line, &request);
	if (!why)
		why = find_mistake(ondemand, &request);
	if (!why && !asked)
		why = FULL;
	if (!why && !ask_allowed(&ondemand->limit, peer->uid, now_ns))
		why = "captures were asked for too often; try again in a few seconds";
	if (why) {
		refuse(ondemand, client, why, now_ns);
		return;
	}
	asking = asking_new(&request);
	if (!asking) {
		refuse(ondemand, client, strerror(ENOMEM), now_ns);
		return;
	}
	asking->uid = peer->uid;
	asking->owner = peer_owner(peer);
	snprintf(asking->user, sizeof(asking->user), "%s", user_names_find(&ondemand->names, peer->uid));
	/* the last walk may be 30 s old: it tells who the processes are */
	tracking_consume(ondemand->tracking);
	tracking_walk(ondemand->tracking);
	/* the walk took time */
	begin(ondemand, asked, client, &request, asking, clock_now_ns(ondemand->tracking->clock));
}

void ondemand_leave(struct ondemand *ondemand, uint64_t client, uint64_t now_ns)
{
	struct asked *asked = find_client(ondemand, client);
	struct capture *capture = asked ? recorder_asked(ondemand->recorder, asked->serial) : NULL;

	if (asked)
		asked->has_left = true;
	if (capture)
		recorder_shorten(ondemand->recorder, capture, now_ns);
}

/* ---- who, and end ---- */

/* Whether the client may see and end it. */
static bool may_end(const struct peer *peer, const struct capture *capture)
{
	const struct share_owner owner = peer_owner(peer);

	return owner.kind == SHARE_OF_ROOT || share_is_of(&owner, &capture->trigger.asking->owner);
}

/* 0 until the worker thread has written its row. */
static uint64_t id_of(const struct capture *capture)
{
	return (uint64_t)__atomic_load_n(&capture->capture_id, __ATOMIC_RELAXED);
}

static void say_who(const struct ondemand *ondemand, uint64_t client, const struct capture *capture)
{
	const struct capture_trigger *trigger = &capture->trigger;
	struct answer answer;
	char by[CAPTURE_WHOSE_BYTES];

	answer_begin(&answer, "asked");
	if (id_of(capture))
		answer_number(&answer, "capture_id", id_of(capture));
	answer_number(&answer, "uid", trigger->asking->uid);
	answer_number(&answer, "began_at", (uint64_t)trigger->triggered_at);
	answer_number(&answer, "until_at", (uint64_t)trigger->triggered_at + trigger->capture_ns);
	answer_number(&answer, "samples", capture->taken);
	if (answer.out) {
		status_line_field(answer.out, "asked_by", "%s", capture_whose(trigger, by, sizeof(by)));
		status_line_field(answer.out, "asked_for", "%s", trigger->asking->text);
		status_line_field(answer.out, "note", "%s",
				  trigger->asking->note ? trigger->asking->note : "");
	}
	control_say_much(ondemand->control, client, answer_end(&answer));
	free(answer.text);
}

void ondemand_who(struct ondemand *ondemand, uint64_t client, const struct peer *peer, uint64_t now_ns)
{
	if (!peer_may_ask(peer)) {
		refuse(ondemand, client, NOT_A_MEMBER, now_ns);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(ondemand->asked); i++) {
		const struct capture *capture = recorder_asked(ondemand->recorder, ondemand->asked[i].serial);

		if (capture && may_end(peer, capture))
			say_who(ondemand, client, capture);
	}
	control_dismiss(ondemand->control, client, CAPTURE_WHO "\n", now_ns);
}

/* The capture under way with this id, and its request; or NULL. */
static struct capture *find_capture(struct ondemand *ondemand, uint64_t id, struct asked **ret_asked)
{
	for (size_t i = 0; i < ARRAY_SIZE(ondemand->asked); i++) {
		struct asked *asked = &ondemand->asked[i];
		struct capture *capture = recorder_asked(ondemand->recorder, asked->serial);

		if (capture && id_of(capture) == id) {
			*ret_asked = asked;
			return capture;
		}
	}
	return NULL;
}

void ondemand_end(struct ondemand *ondemand, uint64_t client, const struct peer *peer,
		  const struct status_line *line, uint64_t now_ns)
{
	struct asked *asked = NULL;
	struct capture *capture = NULL;
	char of[CAPTURE_WHOSE_BYTES];
	unsigned long long id;

	if (!peer_may_ask(peer)) {
		refuse(ondemand, client, NOT_A_MEMBER, now_ns);
		return;
	}
	if (!options_number(status_line_get(line, "id"), 1, INT64_MAX, &id))
		capture = find_capture(ondemand, id, &asked);
	if (!capture || !may_end(peer, capture)) {
		refuse(ondemand, client, "no capture on demand of this user has that ID and is under way",
		       now_ns);
		return;
	}
	user_name_write(user_names_find(&ondemand->names, peer->uid), peer->uid, asked->ended_by,
			sizeof(asked->ended_by));
	log_info("%s ends capture %llu of %s", asked->ended_by, id,
		 capture_whose(&capture->trigger, of, sizeof(of)));
	recorder_shorten(ondemand->recorder, capture, now_ns);
	control_dismiss(ondemand->control, client, "ended\n", now_ns);
}

/* Says why a capture is over before its time, to a client that has not ended it itself. */
static void say_ended(const struct ondemand *ondemand, const struct asked *asked)
{
	struct answer answer;

	answer_begin(&answer, "ended");
	if (answer.out)
		status_line_field(answer.out, "why", "%s%s",
				  asked->ended_by[0] ? "ended by " : "it made way for another one",
				  asked->ended_by);
	control_say(ondemand->control, asked->client, answer_end(&answer));
	free(answer.text);
}

void ondemand_pace(struct ondemand *ondemand, uint64_t now_ns)
{
	bool ended = false, any = false;

	for (size_t i = 0; i < ARRAY_SIZE(ondemand->asked); i++) {
		struct asked *asked = &ondemand->asked[i];
		const struct capture *capture;

		if (!asked->serial || asked->is_over)
			continue;
		capture = recorder_asked(ondemand->recorder, asked->serial);
		any = true;
		asked->is_over = !capture;
		ended |= !capture;
		if (!capture && !asked->has_left && now_ns < asked->began_ns + asked->for_ns)
			say_ended(ondemand, asked);
		if (!capture || now_ns - asked->said_ns >= CLOCK_SECOND_NS)
			say_progress(ondemand, asked, capture, capture ? "progress" : "recorded", now_ns);
	}
	if (any)
		publish(ondemand);
	/* whoever is wanted no more is no target any more */
	if (ended)
		tracking_walk(ondemand->tracking);
}

static void say_result(struct ondemand *ondemand, const struct asked *asked,
		       const struct worker_result *result, uint64_t now_ns)
{
	struct answer answer;

	answer_begin(&answer, result->capture_id ? "stored" : "lost");
	if (result->capture_id)
		answer_number(&answer, "capture_id", (uint64_t)result->capture_id);
	answer_number(&answer, "samples", result->samples);
	answer_number(&answer, "interrupted", result->interrupted);
	control_dismiss(ondemand->control, asked->client, answer_end(&answer), now_ns);
	free(answer.text);
}

void ondemand_results(struct ondemand *ondemand, uint64_t now_ns)
{
	struct worker_result result;

	while (worker_next_result(ondemand->worker, &result)) {
		struct asked *asked = find_serial(ondemand, result.serial);

		if (!asked)
			continue;
		say_result(ondemand, asked, &result, now_ns);
		forget(asked);
	}
}

void ondemand_interrupt(struct ondemand *ondemand, uint64_t now_ns)
{
	for (size_t i = 0; i < ARRAY_SIZE(ondemand->asked); i++) {
		struct answer answer;

		if (!ondemand->asked[i].serial)
			continue;
		answer_begin(&answer, "interrupted");
		control_dismiss(ondemand->control, ondemand->asked[i].client, answer_end(&answer), now_ns);
		free(answer.text);
	}
	wanted_clear(ondemand->kernel->map_fds[PIN_WANTED], ondemand->kernel->control);
}

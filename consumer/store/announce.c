/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/store/announce.h"

#include "common/base/cleanup.h"
#include "common/kernel/cgroup_parts.h"
#include "common/text/escape.h"
#include "common/text/escape_name.h"
#include "common/text/plural.h"
#include "consumer/store/publish.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>

/* syslog(3). Those of the daemon's own troubles are above: journalctl -p warning shows only these. */
#define PRIORITY_NOTICE "5"
#define PRIORITY_INFO "6"

/* A path of a cgroup may be longer, and then is cut. */
#define VALUE_BYTES 2048

/* ---- the fields ---- */

/* Names in the text get the form that they have in the database. What finds no room is cut. */
static void __attribute__((format(printf, 3, 4)))
add(struct announcement *to, const char *name, const char *format, ...)
{
	_cleanup_free_ char *safe = NULL;
	char raw[VALUE_BYTES], *into = to->text + to->used;
	size_t room = sizeof(to->text) - to->used;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(raw, sizeof(raw), format, arguments);
	va_end(arguments);
	safe = escape_name(raw);
	if (!safe || !room || to->count == ANNOUNCE_FIELDS)
		return;
	escape_terminal(safe, into, room < VALUE_BYTES ? room : VALUE_BYTES);
	to->used += strlen(into) + 1;
	to->fields[to->count++] = (struct journal_field){ name, into };
}

/* The same of what may be missing. */
static void add_text(struct announcement *to, const char *name, const char *text)
{
	if (text && *text)
		add(to, name, "%s", text);
}

static double stalled_percent(const struct capture_trigger *trigger)
{
	return trigger->psi.window_us ? 100 * (double)trigger->observed_us / (double)trigger->psi.window_us
				      : 0;
}

/* As sample_count of the capture's row: an interval off CPU may count twice, as a wait and in the queue of a CPU. */
static uint64_t samples_of_targets(const struct capture *capture)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < capture->rows_count; i++)
		if (capture->processes[capture->rows[i].process].role == USAGE_TARGET)
			sum += capture->rows[i].samples;
	return sum;
}

static const char *latency_of(const struct capture_trigger *trigger, char into[LATENCY_TEXT_BYTES])
{
	const struct latency_trigger *latency = &trigger->latency;

	return latency_text(latency_metric_names[latency->metric], latency_quantile_names[latency->quantile],
			    trigger->latency_observed_ns, latency->limit_ns, latency->window_ns, into);
}

static void add_message(struct announcement *to, const struct announced *announced)
{
	const struct capture *capture = announced->capture;
	const struct capture_trigger *trigger = &capture->trigger;
	const struct stored_verdict *verdict = announced->verdict;
	const char *interrupted = capture->interrupted ? ", interrupted" : "";
	uint64_t samples = samples_of_targets(capture);
	char whose[CAPTURE_WHOSE_BYTES], seen[LATENCY_TEXT_BYTES];

	capture_whose(trigger, whose, sizeof(whose));
	if (trigger->mode == TRIGGER_KILL)
		add(to, "MESSAGE", "capture %" PRId64 ", %s%s; %s", announced->capture_id, whose, interrupted,
		    verdict->headline);
	else if (trigger->mode == TRIGGER_LATENCY)
		add(to, "MESSAGE", "capture %" PRId64 ", %s: %s, on %s%s; %s", announced->capture_id, whose,
		    latency_of(trigger, seen), trigger->cgroup ? trigger->cgroup : "the whole system",
		    interrupted, verdict->headline);
	else if (trigger->asking)
		add(to, "MESSAGE", "capture %" PRId64 ", asked for by %s: %" PRIu64 " %s%s; %s",
		    announced->capture_id, whose, samples, plural(samples, "sample", "samples"), interrupted,
		    verdict->headline);
	else
		add(to, "MESSAGE", "capture %" PRId64 ", %s: %s %s stalled %.0f %% of %.1f s, on %s%s; %s",
		    announced->capture_id, whose, psi_resource_names[trigger->psi.resource],
		    psi_kind_names[trigger->psi.kind], stalled_percent(trigger),
		    (double)trigger->psi.window_us / 1e6,
		    trigger->cgroup ? trigger->cgroup : "the whole system", interrupted, verdict->headline);
}

static void add_pressure(struct announcement *to, const struct capture_trigger *trigger)
{
	add(to, "BOURDON_RESOURCE", "%s", psi_resource_names[trigger->psi.resource]);
	add(to, "BOURDON_KIND", "%s", psi_kind_names[trigger->psi.kind]);
	add(to, "BOURDON_STALLED_USEC", "%" PRIu64, trigger->observed_us);
	add(to, "BOURDON_STALLED_PERCENT", "%.1f", stalled_percent(trigger));
	add(to, "BOURDON_WINDOW_USEC", "%" PRIu64, trigger->psi.window_us);
	add(to, "BOURDON_THRESHOLD_USEC", "%" PRIu64, trigger->psi.stall_us);
}

static void add_latency(struct announcement *to, const struct capture_trigger *trigger)
{
	const struct latency_trigger *latency = &trigger->latency;

	add(to, "BOURDON_LATENCY_METRIC", "%s", latency_metric_names[latency->metric]);
	add(to, "BOURDON_LATENCY_QUANTILE", "%s", latency_quantile_names[latency->quantile]);
	add(to, "BOURDON_LATENCY_NSEC", "%" PRIu64, trigger->latency_observed_ns);
	add(to, "BOURDON_LATENCY_LIMIT_NSEC", "%" PRIu64, latency->limit_ns);
	add(to, "BOURDON_WINDOW_USEC", "%" PRIu64, latency->window_ns / 1000);
}

static void add_kill(struct announcement *to, const struct kill_record *kill)
{
	add(to, "BOURDON_KILLED_COMM", "%s", kill->comm);
	add(to, "BOURDON_KILLED_PID", "%" PRIu32, kill->tgid);
	add(to, "BOURDON_KILLED_HOW", "%s", kill->how == KILL_OOM ? "oom" : "oomd");
}

static void add_verdict(struct announcement *to, const struct stored_verdict *verdict)
{
	add(to, "BOURDON_CAUSE", "%s", verdict_kind_names[verdict->kind]);
	add_text(to, "BOURDON_CULPRIT", verdict->culprit);
	if (verdict->blamed_percent > 0)
		add(to, "BOURDON_BLAMED_PERCENT", "%.1f", verdict->blamed_percent);
}

static void add_fired(struct announcement *to, const struct announced *announced)
{
	const struct capture_trigger *trigger = &announced->capture->trigger;
	char unit[NAME_MAX + 1];

	add(to, "BOURDON_RULE", "%s", trigger->rule);
	if (trigger->mode == TRIGGER_KILL)
		add_kill(to, &trigger->kill);
	else if (trigger->mode == TRIGGER_LATENCY)
		add_latency(to, trigger);
	else
		add_pressure(to, trigger);
	add(to, "BOURDON_SCOPE", "%s", trigger->cgroup ? "cgroup" : "system");
	if (trigger->cgroup && cgroup_unit(trigger->cgroup, unit))
		add_text(to, "BOURDON_UNIT", unit);
	add_text(to, "BOURDON_CGROUP", trigger->cgroup);
}

static void add_asked(struct announcement *to, const struct asking *asking)
{
	add(to, "BOURDON_ASKED_BY_UID", "%" PRIu32, asking->uid);
	add_text(to, "BOURDON_ASKED_BY", asking->user);
	add_text(to, "BOURDON_ASKED_FOR", asking->text);
	add_text(to, "BOURDON_NOTE", asking->note);
}

static bool is_urgent(const struct announced *announced)
{
	return !announced->capture->trigger.asking && announced->verdict->kind != VERDICT_NEGLIGIBLE;
}

void announce_make(const struct announced *announced, struct announcement *ret_announcement)
{
	const struct capture *capture = announced->capture;
	const struct capture_trigger *trigger = &capture->trigger;

	ret_announcement->count = ret_announcement->used = 0;
	add_message(ret_announcement, announced);
	add(ret_announcement, "MESSAGE_ID", "%s",
	    trigger->asking                    ? ANNOUNCE_ASKED
	    : trigger->mode == TRIGGER_KILL    ? ANNOUNCE_KILLED
	    : trigger->mode == TRIGGER_LATENCY ? ANNOUNCE_LATENCY
					       : ANNOUNCE_CAPTURED);
	add(ret_announcement, "PRIORITY", "%s", is_urgent(announced) ? PRIORITY_NOTICE : PRIORITY_INFO);
	add(ret_announcement, "SYSLOG_IDENTIFIER", "bourdond");
	add(ret_announcement, "BOURDON_CAPTURE", "%" PRId64, announced->capture_id);
	add(ret_announcement, "BOURDON_STATE", "%s", capture->interrupted ? "interrupted" : "complete");
	add(ret_announcement, "BOURDON_TRIGGERED_USEC", "%" PRId64, trigger->triggered_at / 1000);
	add(ret_announcement, "BOURDON_SAMPLES", "%" PRIu64, samples_of_targets(capture));
	add_verdict(ret_announcement, announced->verdict);
	if (trigger->asking)
		add_asked(ret_announcement, trigger->asking);
	else
		add_fired(ret_announcement, announced);
}

/* ---- the hook ---- */

static int hook_path(const struct announcer *announcer, int64_t capture_id, char into[PATH_MAX])
{
	return snprintf(into, PATH_MAX, "%s/" HOOK_DIRECTORY "/capture-%" PRId64, announcer->state_dir,
			capture_id) < PATH_MAX
		       ? 0
		       : -ENAMETOOLONG;
}

/* One line a field: no value has a newline. */
static int hook_text(const struct announcement *announcement, char **ret_text, size_t *ret_length)
{
	FILE *out = open_memstream(ret_text, ret_length);

	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < announcement->count; i++) {
		const struct journal_field *field = &announcement->fields[i];

		if (!strcmp(field->name, "MESSAGE"))
			fprintf(out, "BOURDON_MESSAGE=%s\n", field->value);
		else if (!strncmp(field->name, "BOURDON_", strlen("BOURDON_")))
			fprintf(out, "%s=%s\n", field->name, field->value);
	}
	return fclose(out) ? -ENOMEM : 0;
}

/* Without the directory there is no hook. Members of the daemon's group read the file. */
static int tell_hook(const struct announcer *announcer, const struct announcement *announcement,
		     int64_t capture_id)
{
	_cleanup_free_ char *text = NULL;
	char path[PATH_MAX];
	size_t length = 0;
	int result = hook_text(announcement, &text, &length);

	if (!result)
		result = hook_path(announcer, capture_id, path);
	if (!result)
		result = publish_file(path, text, length, 0640);
	if (!result && !hook_path(announcer, capture_id - HOOK_FILES, path))
		unlink(path);
	return result == -ENOENT ? 0 : result;
}

/* ---- the journal ---- */

void announce_open(struct announcer *ret_announcer, const char *journal_socket, const char *state_dir,
		   struct own_counters *own_counters)
{
	int result;

	*ret_announcer = (struct announcer){ .state_dir = state_dir, .own_counters = own_counters };
	result = journal_open(&ret_announcer->journal, journal_socket, own_counters);
	if (result < 0)
		log_warning("cannot open a socket for the journal %s: %s; it gets no entries of captures",
			    journal_socket, strerror(-result));
}

void announce_close(struct announcer *announcer)
{
	journal_close(&announcer->journal);
}

/* A host without a journal loses nothing by it: that is said once. */
static void log_lost(struct announcer *announcer, int result)
{
	const char *path = announcer->journal.address.sun_path;

	if (result == -ENOENT && announcer->without_journal)
		return;
	announcer->without_journal = result == -ENOENT;
	if (result == -ENOENT)
		log_info("there is no journal at %s: captures have no entries there", path);
	else if (log_allowed(&announcer->journal_lost, 1))
		log_warning(
			"the journal did not take the entry of a capture, which is in the database: %s: %s",
			path, strerror(-result));
}

bool announce(struct announcer *announcer, const struct announced *announced, uint64_t now_ns)
{
	struct announcement announcement;
	bool taken;
	int result;

	announce_make(announced, &announcement);
	result = journal_send(&announcer->journal, announcement.fields, announcement.count, now_ns);
	taken = !result || result == -EAGAIN;
	if (!taken)
		log_lost(announcer, result);
	else
		announcer->without_journal = false;
	result = tell_hook(announcer, &announcement, announced->capture_id);
	if (result < 0) {
		own_count(announcer->own_counters, OWN_HOOK_LOST);
		if (log_allowed(&announcer->hook_lost, 1))
			log_warning("cannot tell the hook of capture %" PRId64 ": %s/" HOOK_DIRECTORY ": %s",
				    announced->capture_id, announcer->state_dir, strerror(-result));
	}
	return taken;
}

uint64_t announce_retry_ns(const struct announcer *announcer)
{
	return announcer->journal.retry_ns;
}

void announce_retry(struct announcer *announcer, uint64_t now_ns)
{
	int result = journal_retry(&announcer->journal, now_ns);

	if (result < 0)
		log_lost(announcer, result);
}

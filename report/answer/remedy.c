/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/answer/remedy.h"

#include "common/base/cleanup.h"
#include "common/kernel/cgroup_parts.h"
#include "report/answer/place.h"
#include "report/model/database.h"
#include "report/model/host.h"
#include "report/model/query.h"
#include "report/text/format.h"
#include "report/text/shell_quote.h"

#include <inttypes.h>
#include <string.h>

/*
 * The weights of siblings share out what they all want, so that one with a fifth of its weight still gets all that nobody else
 * wants. A limit of a disk's bandwidth is a fifth of what was used, too: it gives nothing back.
 */
#define LOW_PART 5
#define DEFAULT_WEIGHT 100

#define MIB ((int64_t)1 << 20)

/* Percent of a CPU: a kernel has 8,192 CPUs at most. */
#define QUOTA_MOST 819200

#define say answer_say
#define say_name answer_say_name

struct search {
	struct answer *answer;
	const struct verdict *verdict;
	const struct verdict_facts *facts;
	const struct host *host;
	const char *victim_cgroup; /* NULL: not known */
};

/* ---- commands that look ---- */

/* The command that shows these sections of this capture, of this database. */
static struct remedy look_at(const struct search *search, const char *text, const char *sections)
{
	struct answer *answer = search->answer;
	const char *path = answer->report->database->path;
	int64_t id = answer->report->capture_id;

	return (struct remedy){ .text = text,
				.command = strcmp(path, DATABASE_DEFAULT)
						   ? answer_say_word(answer, path,
								     "bourdon --db " ANSWER_NAME
								     " why %" PRId64 " --section %s",
								     id, sections)
						   : say(answer, "bourdon why %" PRId64 " --section %s", id,
							 sections) };
}

/* ---- commands that change ---- */

/* The change of a place; where it has no command, `otherwise`. */
static struct remedy change_place(const struct search *search, const struct place *place,
				  const struct place_change *change, const char *text,
				  struct remedy otherwise)
{
	const char *command;

	if (place_is_gone(place, search->host))
		return look_at(search,
			       say_name(search->answer, place_name(place),
					ANSWER_NAME " has ended: nothing is to be changed now"),
			       "groups,others");
	command = place_command(search->answer, place, search->host, change);
	if (command && !*command)
		return otherwise;
	return (struct remedy){ .text = text, .command = command, .changes = true };
}

/* The period is set, too: the quota is of that of the capture, which may be another one by now. */
static struct place_change quota_change(struct answer *answer, int64_t percent, int64_t period_us)
{
	return (struct place_change){
		"CPUQuota", say(answer, "%" PRId64 "%%", percent), "cpu.max",
		say(answer, "'%" PRId64 " %" PRId64 "'", percent * period_us / 100, period_us),
		say(answer, "--cpus=%" PRId64 ".%02" PRId64, percent / 100, percent % 100)
	};
}

/* docker has no memory.high. */
static struct place_change memory_change(struct answer *answer, const char *file, int64_t bytes)
{
	bool is_max = !strcmp(file, "memory.max");

	return (struct place_change){ is_max ? "MemoryMax" : "MemoryHigh",
				      say(answer, "%" PRId64 "M", bytes / MIB), file,
				      say(answer, "%" PRId64, bytes),
				      is_max ? say(answer, "--memory=%" PRId64 "m", bytes / MIB) : NULL };
}

static const char *of_pod(const struct place *place)
{
	return place->is_kubernetes ? " (lasting: in the pod)" : "";
}

/* What is in force of a cgroup on the capture's host; negative: not known. */
static int64_t in_force(const struct search *search, const struct place *place, const char *file)
{
	return search->host->is_here ? host_cgroup_number(search->host, place->path, file) : -1;
}

static int64_t round_up(int64_t bytes)
{
	int64_t step = bytes >= 1024 * MIB ? 64 * MIB : MIB;

	return bytes > INT64_MAX - step ? bytes : (bytes + step - 1) / step * step;
}

/* ---- quotas and limits: more of it ---- */

/* What the victims within a cgroup ran and would have run, in percent of a CPU; not more than there is. */
static int64_t wanted_percent(const struct search *search, const char *cgroup)
{
	const struct verdict_facts *facts = search->facts;
	double wanted = 0, most = 100.0 * (double)facts->cpus;

	for (uint32_t i = 0; i < facts->victims_count; i++) {
		const struct verdict_victim *victim = &facts->victims[i];

		if (victim->who.cgroup && cgroup_is_within(victim->who.cgroup, cgroup))
			wanted += (double)victim->ns[ACCOUNT_RAN] + (double)victim->ns[ACCOUNT_THROTTLED] +
				  (double)victim->ns[ACCOUNT_QUEUED];
	}
	wanted = facts->span_ns ? 100 * wanted / (double)facts->span_ns : 0;
	wanted = wanted < most ? wanted : most;
	return wanted < QUOTA_MOST ? (int64_t)wanted : QUOTA_MOST;
}

static struct remedy raised_already(const struct search *search, const struct place *place, const char *file)
{
	return look_at(search,
		       say_name(search->answer, place_name(place),
				"%s of " ANSWER_NAME " was raised since: see whether it comes back", file),
		       "capture,pressure");
}

static struct remedy raise_quota(const struct search *search)
{
	const struct verdict_limit *limit = search->verdict->limit;
	struct remedy look = look_at(search,
				     "raise the CPU quota of its cgroup, or of the one above that has it",
				     "capture,machine,groups");
	int64_t before, quota, wanted, now = -1;
	struct place_change change;
	struct place place;

	if (!limit || !limit->cgroup || *limit->cgroup != '/' || limit->value <= 0 ||
	    limit->value > INT32_MAX * (int64_t)1000 || limit->period_us <= 0 || limit->period_us > INT32_MAX)
		return look;
	place = place_of(limit->cgroup);
	before = 100 * limit->value / limit->period_us;
	if (search->host->is_here)
		now = host_quota_percent(search->host, place.path);
	quota = now > 0 && now <= QUOTA_MOST ? now : before;
	if (quota <= 0 || quota > QUOTA_MOST)
		return look;
	/* threads that were stopped counted as waiting, so the sum is what they would have used; a quarter more at least */
	wanted = wanted_percent(search, place.path);
	if (now == INT64_MAX || (now > before && quota >= wanted))
		return raised_already(search, &place, "the quota");
	if (wanted < quota + quota / 4 + 1)
		wanted = quota + quota / 4 + 1;
	wanted = (wanted + 9) / 10 * 10;
	change = quota_change(search->answer, wanted, limit->period_us);
	return change_place(search, &place, &change,
			    say_name(search->answer, place_name(&place),
				     "raise the quota of " ANSWER_NAME " from %.2f to %.2f CPUs%s",
				     (double)quota / 100, (double)wanted / 100, of_pod(&place)),
			    look);
}

/* A limit of cgroup v1 has a name alone, and one that is concluded has no value. */
static struct remedy find_limit(const struct search *search)
{
	const struct verdict_victim *victim = search->verdict->victim;
	const char *known = search->verdict->limit_cgroup ? answer_unit_of(search->verdict->limit_cgroup)
			    : victim                      ? victim->who.unit
							  : NULL;

	if (!known || !shell_is_unit(known) || (search->host->is_here && !search->host->has_systemd))
		return look_at(search, "raise its memory limit: find which cgroup above it has one",
			       "capture,killed,cgroups,growth");
	return (struct remedy){
		.text = say_name(search->answer, known,
				 "raise the limit of " ANSWER_NAME ", or of a slice above: see which"),
		.command = answer_say_word(
			search->answer, known,
			"systemctl show -p MemoryMax,MemoryHigh,MemoryCurrent,Slice " ANSWER_NAME),
	};
}

static struct remedy raise_memory(const struct search *search)
{
	const struct verdict *verdict = search->verdict;
	const char *cgroup = verdict->limit_cgroup, *name = verdict->limit_name;
	int64_t limit = verdict->limit_value, more, now;
	struct place_change change;
	struct place place;
	char from[32], to[32];

	if (!cgroup || *cgroup != '/' || !name || limit <= 0 || limit > INT64_MAX / 4)
		return find_limit(search);
	place = place_of(cgroup);
	now = in_force(search, &place, name);
	if (now > limit)
		return raised_already(search, &place, name);
	limit = now > 0 ? now : limit;
	/* how much is missing is not known: what was read again may be less, because the disk is slow, or the same again and again */
	more = round_up(2 * limit);
	change = memory_change(search->answer, name, more);
	return change_place(search, &place, &change,
			    say_name(search->answer, place_name(&place),
				     "raise %s of " ANSWER_NAME " from %s to %s%s", name,
				     format_size((double)limit, from, sizeof(from)),
				     format_size((double)more, to, sizeof(to)), of_pod(&place)),
			    find_limit(search));
}

/* ---- memory of the host: less for who grew ---- */

/* Who grew is held where it was before, and has at least half of what it has now. */
static struct remedy limit_growth(const struct search *search)
{
	const struct verdict_growth *grown = search->verdict->grown;
	struct remedy look = look_at(search, "free memory or add some: see who holds it, and who grew",
				     "growth,groups,cgroups,reclaim");
	struct place_change change;
	struct place place;
	int64_t bytes, now;
	char high[32];

	if (!grown || !grown->who.cgroup || !search->victim_cgroup ||
	    !place_own(grown->who.cgroup, search->victim_cgroup, &place) || grown->rss_bytes > INT64_MAX / 4)
		return look;
	bytes = grown->grown_bytes < grown->rss_bytes ? (int64_t)(grown->rss_bytes - grown->grown_bytes) : 0;
	bytes = round_up(bytes < (int64_t)grown->rss_bytes / 2 ? (int64_t)grown->rss_bytes / 2 : bytes);
	now = in_force(search, &place, "memory.high");
	if (now > 0 && now <= bytes)
		return look;
	change = memory_change(search->answer, "memory.high", bytes);
	return change_place(search, &place, &change,
			    say_name(search->answer, place_name(&place),
				     "limit the memory of " ANSWER_NAME " to %s, about as before",
				     format_size((double)bytes, high, sizeof(high))),
			    look);
}

/* ---- a neighbour: less for it ---- */

/* What all processes of a program in this place used, those that ended with it. */
static const char used_sql[] =
	"SELECT CAST(total(cpu_ns) AS INTEGER) AS cpu_ns, CAST(total(read_bytes) AS INTEGER) AS read_bytes, "
	"CAST(total(write_bytes) AS INTEGER) AS write_bytes, (SELECT max(to_at - from_at) FROM usage WHERE capture_id = ?1) AS span_ns FROM ("
	"SELECT u.cpu_ns, u.read_bytes, u.write_bytes FROM usage u JOIN process p USING(process_id) WHERE u.capture_id = ?1 AND "
	"p.comm = ?2 AND ifnull(p.unit, p.cgroup) IS ?3 UNION ALL SELECT cpu_ns, read_bytes, write_bytes FROM ended "
	"WHERE capture_id = ?1 AND comm = ?2 AND ifnull(unit, cgroup) IS ?3)";

struct used {
	double cpu, read, written; /* CPUs; bytes a second */
};

static struct used used_by(const struct search *search, const struct verdict_party *culprit)
{
	struct report *report = search->answer->report;
	_cleanup_query_ struct query query = query_begin(report->database, used_sql, report->capture_id, 0);
	double span_s;

	query_bind_text(&query, 2, culprit->who.program);
	query_bind_text(&query, 3, verdict_place(&culprit->who));
	if (!query_next(&query) || !query_number(&query, "span_ns"))
		return (struct used){ 0 };
	span_s = query_real(&query, "span_ns") / 1e9;
	return (struct used){ query_real(&query, "cpu_ns") / span_s / 1e9,
			      query_real(&query, "read_bytes") / span_s,
			      query_real(&query, "write_bytes") / span_s };
}

/* A process of the victim that lived at the end; 0: none is known. */
static int64_t victim_tgid(const struct search *search)
{
	struct report *report = search->answer->report;
	const struct verdict_victim *victim = search->verdict->victim;
	_cleanup_query_ struct query query = query_begin(
		report->database,
		"SELECT p.tgid FROM usage u JOIN process p USING(process_id) WHERE u.capture_id = ?1 AND u.role = 'target' "
		"AND p.comm = ?2 ORDER BY u.cpu_ns DESC LIMIT 1",
		report->capture_id, 0);

	query_bind_text(&query, 2, victim->who.program);
	return query_next(&query) ? query_number(&query, "tgid") : 0;
}

/*
 * A process that no cgroup keeps apart: by priority. Where the kernel schedules sessions as one (sched(7), autogroup), that
 * of its session counts, unless the victim is in the same.
 */
static struct remedy lower_priority(const struct search *search, const struct verdict_party *culprit)
{
	struct answer *answer = search->answer;
	const struct host *host = search->host;
	int64_t tgid = culprit->who.tgid, group = -1;
	const char *who = say(answer, "%s[%" PRId64 "]", culprit->who.program, tgid);

	if (tgid <= 1)
		return look_at(search,
			       say_name(answer, culprit->who.program,
					"start " ANSWER_NAME
					" in a unit or cgroup of its own, with a low weight"),
			       "groups,others");
	if (!who)
		return (struct remedy){ 0 };
	if (host->is_here && !host_has_process(host, tgid, culprit->who.program))
		return look_at(search, say(answer, "%s has ended: nothing is to be changed now", who),
			       "groups,others");
	if (host->is_here && !host_cpu_controlled(host, culprit->who.cgroup))
		group = host_autogroup(host, tgid);
	if (group >= 0 && group != host_autogroup(host, victim_tgid(search)))
		return (struct remedy){ say(answer, "lower the priority of the session of %s", who),
					say(answer, "echo 10 > /proc/%" PRId64 "/autogroup", tgid), true };
	return (struct remedy){ say(answer, "lower the priority of %s: no cgroup parts them", who),
				say(answer, "renice -n 10 -p %" PRId64, tgid), true };
}

/* The culprit's own unit gets half of the CPU time that it used: where no weight can be lowered without others. */
static struct remedy set_quota(const struct search *search, const struct verdict_party *culprit)
{
	struct remedy otherwise = lower_priority(search, culprit);
	int64_t percent = (int64_t)(50 * used_by(search, culprit).cpu), now;
	struct place_change change;
	struct place place;

	if (!place_own(culprit->who.cgroup, search->victim_cgroup, &place) || percent < 1 ||
	    percent > QUOTA_MOST)
		return otherwise;
	now = search->host->is_here ? host_quota_percent(search->host, place.path) : -1;
	if (now > 0 && now <= percent)
		return otherwise;
	change = quota_change(search->answer, percent, 100000);
	return change_place(search, &place, &change,
			    say_name(search->answer, place_name(&place),
				     "limit " ANSWER_NAME " to %.2f CPUs, half of what it used",
				     (double)percent / 100),
			    otherwise);
}

/* Gives the culprit's part of the tree less than the victim's. `disk_file` has the weights of the disk; NULL: of the CPU. */
static struct remedy lower_weight(const struct search *search, const struct verdict_party *culprit,
				  const struct place *place, const char *disk_file, struct remedy otherwise)
{
	const char *file = disk_file ? disk_file : "cpu.weight", *of = disk_file ? "disk" : "CPU";
	/* systemd sets this one, too, and bfq's to another number */
	int64_t weight = disk_file && place->is_unit ? in_force(search, place, "io.weight") : -1;
	const char *value;
	char now[32] = "";
	bool is_itself =
		!strcmp(culprit->who.cgroup, place->path) ||
		(place->is_unit && culprit->who.unit && !strcmp(place_name(place), culprit->who.unit));

	if (weight < 0)
		weight = in_force(search, place, file);
	if (weight == 0 || weight == 1)
		return look_at(
			search,
			say_name(search->answer, place_name(place),
				 ANSWER_NAME " has the least %s weight already: give the victim's more", of),
			"groups,others");
	if (weight > 0 && weight <= 10000)
		snprintf(now, sizeof(now), ", not %d", (int)weight);
	else
		weight = DEFAULT_WEIGHT;
	weight = weight < LOW_PART ? 1 : weight / LOW_PART;
	value = say(search->answer, "%" PRId64, weight);
	/* docker counts from 1024 */
	return change_place(search, place,
			    &(struct place_change){ disk_file ? "IOWeight" : "CPUWeight", value, file, value,
						    disk_file ? NULL
							      : say(search->answer, "--cpu-shares=%" PRId64,
								    1024 * weight / DEFAULT_WEIGHT) },
			    say_name(search->answer, place_name(place),
				     "give " ANSWER_NAME "%s%s%s %s weight %d%s%s",
				     is_itself ? "" : ", where ", is_itself ? "" : culprit->who.program,
				     is_itself ? "" : " is,", of, (int)weight, now, of_pod(place)),
			    otherwise);
}

static struct remedy less_cpu(const struct search *search, const struct verdict_party *culprit)
{
	struct place place;

	if (!place_sibling(culprit->who.cgroup, search->victim_cgroup, &place))
		return lower_priority(search, culprit);
	return place_is_shared(&place)
		       ? set_quota(search, culprit)
		       : lower_weight(search, culprit, &place, NULL, lower_priority(search, culprit));
}

/* A limit of the bandwidth acts whatever schedules the disk. */
static struct remedy limit_bandwidth(const struct search *search, const struct verdict_party *culprit)
{
	const char *disk = search->facts->disk.name;
	struct remedy look = look_at(search,
				     say_name(search->answer, culprit->who.program,
					      "have " ANSWER_NAME " read and write less: see what it does"),
				     "bytes,groups,cgroup_bytes,others");
	struct used used = used_by(search, culprit);
	bool is_read = used.read > used.written;
	int64_t mib = (int64_t)((is_read ? used.read : used.written) / LOW_PART / (double)MIB);
	struct place_change change = { is_read ? "IOReadBandwidthMax" : "IOWriteBandwidthMax", NULL, "io.max",
				       NULL, NULL };
	struct place place;
	char device[96], number[32];

	if (!place_own(culprit->who.cgroup, search->victim_cgroup, &place) || !disk ||
	    used.read + used.written < MIB)
		return look;
	mib = mib < 1 ? 1 : mib;
	snprintf(device, sizeof(device), "/dev/%s %" PRId64 "M", disk, mib);
	change.value = answer_say_word(search->answer, device, ANSWER_NAME);
	if (search->host->is_here && host_disk_number(search->host, disk, number))
		change.file_value = say(search->answer, "'%s %s=%" PRId64 "'", number,
					is_read ? "rbps" : "wbps", mib * MIB);
	return change_place(search, &place, &change,
			    say_name(search->answer, place_name(&place),
				     "limit " ANSWER_NAME " to %s %" PRId64 " MiB a second on %.24s",
				     is_read ? "read" : "write", mib, disk),
			    look);
}

static struct remedy less_io(const struct search *search, const struct verdict_party *culprit)
{
	struct remedy limit = limit_bandwidth(search, culprit);
	const char *disk = search->facts->disk.name,
		   *file = search->host->is_here && disk ? host_disk_weight_file(search->host, disk) : NULL;
	struct place place;

	return file && place_sibling(culprit->who.cgroup, search->victim_cgroup, &place) &&
			       !place_is_shared(&place)
		       ? lower_weight(search, culprit, &place, file, limit)
		       : limit;
}

/* The largest of those who are named. */
static struct remedy less_for_neighbour(const struct search *search)
{
	const struct verdict *verdict = search->verdict;
	const struct verdict_party *culprit = verdict->blamed_count ? verdict->blamed[0].party : NULL;

	if (!culprit || !culprit->who.program)
		return look_at(search, "find out who they are: root's policy or their short lives hide them",
			       "machine,groups,others");
	if (culprit->role == ROLE_RECORDER)
		return look_at(search, "bourdon itself: have it record less, by policy.conf or the rules",
			       "machine,groups,others");
	if (culprit->who.tgid == 1)
		return look_at(search, "see what the first process of the host works for", "others,groups");
	if (culprit->role == ROLE_KERNEL)
		return look_at(search,
			       say_name(search->answer, culprit->who.program,
					"find out what the kernel thread " ANSWER_NAME
					" works for: see its stacks"),
			       "others,groups,interrupts");
	if (!culprit->who.cgroup || !strcmp(culprit->who.cgroup, "/") || !search->victim_cgroup)
		return verdict->wait == ACCOUNT_QUEUED
			       ? lower_priority(search, culprit)
			       : look_at(search, "find the cgroup of the culprit: it is not known",
					 "groups,others");
	switch (verdict->wait) {
	case ACCOUNT_QUEUED:
	case ACCOUNT_THROTTLED:
		return less_cpu(search, culprit);
	case ACCOUNT_IO:
		return less_io(search, culprit);
	case ACCOUNT_MEMORY:
		return limit_growth(search);
	default:
		return look_at(search, "see what they do meanwhile", "others,groups,states");
	}
}

/* ---- the kinds ---- */

static struct remedy raise_threshold(const struct search *search)
{
	struct answer *answer = search->answer;
	char allowed[32];

	if (!answer->stall_us || !answer->resource)
		return look_at(search, "nothing", "pressure,waiting,capture");
	return look_at(
		search,
		say_name(answer, answer->rule ? answer->rule : "-",
			 "nothing; or raise %.8s.%.8s of rule " ANSWER_NAME ", which is %s", answer->resource,
			 answer->kind ? answer->kind : "some",
			 format_duration((double)answer->stall_us * 1e3, " ", allowed, sizeof(allowed))),
		"pressure,waiting,capture");
}

static struct remedy less_interrupts(const struct search *search)
{
	const char *interrupt = search->facts->interrupt;

	return look_at(search,
		       interrupt && !strncmp(interrupt, "NET_", 4)
			       ? "spread the network's queues over more CPUs (RPS, ethtool -L)"
			       : "spread the device's queues over more CPUs, or give it less to do",
		       "interrupts,machine,others");
}

static struct remedy end_kills(const struct search *search)
{
	return search->verdict->limit_value > 0 ? raise_memory(search) : limit_growth(search);
}

/* What is to be found; or what no number of one cgroup changes, and the sections that tell more. */
static const struct situation {
	struct remedy (*find)(const struct search *search);
	const char *text, *sections;
} situations[VERDICT_KINDS] = {
	[VERDICT_NEGLIGIBLE] = { .find = raise_threshold },
	[VERDICT_KILL] = { .find = end_kills },
	[VERDICT_QUOTA] = { .find = raise_quota },
	[VERDICT_LIMIT] = { .find = raise_memory },
	[VERDICT_OWN_THREADS] = { NULL, "run fewer threads, make this code cheaper, or give it more CPUs",
				  "stacks,functions,states,locks" },
	[VERDICT_STORM] = { NULL, "wake one thread for each task, not all: see who wakes them",
			    "wakers,states,stacks,latency" },
	[VERDICT_CONVOY] = { NULL, "take the lock more rarely, or let it be taken by who runs: see where",
			     "locks,latency,stalls,states" },
	[VERDICT_LOCK] = { NULL, "hold the lock shorter or more rarely: see who holds it, and where",
			   "locks,wakers,stalls,states" },
	[VERDICT_NEIGHBOUR] = { .find = less_for_neighbour },
	[VERDICT_NEIGHBOURS] = { .find = less_for_neighbour },
	[VERDICT_CROWD] = { NULL, "run fewer programs at once, or more CPUs: see who they are",
			    "groups,machine,others" },
	[VERDICT_DEVICE] = { NULL, "give the disk less to do, or take a faster one: see who used it",
			     "bytes,groups,cgroup_bytes,stalls" },
	[VERDICT_OWN_IO] = { NULL, "read and write less, have more in the page cache, or a faster disk",
			     "stalls,bytes,cgroup_bytes,states" },
	[VERDICT_MEMORY_SHORTAGE] = { .find = limit_growth },
	[VERDICT_INTERRUPTS] = { .find = less_interrupts },
	[VERDICT_STEAL] = { NULL, "ask whoever runs the host: move this machine, or give it CPUs",
			    "machine,pressure,seconds" },
	[VERDICT_POOL] = { NULL, "have more workers, or tasks that wait less: see what the workers do",
			   "states,wakers,stalls,stacks" },
	[VERDICT_PEER] = { NULL, "see what the other process did while the victim waited for it",
			   "wakers,states,stalls,others" },
	[VERDICT_NETWORK] = { NULL, "look at the other host: its answers are what was waited for",
			      "stalls,states,wakers" },
	[VERDICT_UNDETERMINED] = { NULL, "not known: see what waited, and where",
				   "waiting,pressure,stalls,states,groups" },
};

static struct remedy find_remedy(const struct search *search)
{
	const struct situation *is = &situations[search->verdict->kind];

	if (!search->answer->has_verdict)
		return look_at(search, "none: see what was recorded",
			       "capture,stacks,functions,stalls,others");
	return is->find ? is->find(search) : look_at(search, is->text, is->sections);
}

int remedy_find(struct answer *answer, struct remedy *ret_remedy)
{
	const struct verdict *verdict = &answer->judged.verdict;
	struct search search = { .answer = answer,
				 .verdict = verdict,
				 .facts = &answer->judged.facts,
				 .host = answer->report->host };
	_cleanup_host_ struct host host = { 0 };
	struct remedy remedy;

	if (!search.host) {
		if (host_of(answer->report->database, answer->report->capture_id, &host) < 0)
			return -ENOMEM;
		search.host = &host;
	}
	search.victim_cgroup = verdict->kill && verdict->kill->who.cgroup       ? verdict->kill->who.cgroup
			       : verdict->victim && verdict->victim->who.cgroup ? verdict->victim->who.cgroup
										: answer->cgroup;
	remedy = find_remedy(&search);
	if (answer->report->database->failed)
		return -EIO;
	if (!remedy.text || !remedy.command)
		return -ENOMEM;
	*ret_remedy = remedy;
	return 0;
}

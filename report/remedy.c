/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/remedy.h"

#include "common/cleanup.h"
#include "report/blame.h"
#include "report/database.h"
#include "report/format.h"
#include "report/rows.h"
#include "report/shell_quote.h"
#include "report/weight.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>

/*
 * The weights of siblings share out what they all want, so that one with a fifth of its weight still gets all that nobody else
 * wants.
 */
#define LOW_PART 5
#define DEFAULT_WEIGHT 100

#define CGROUP2_MOUNT "/sys/fs/cgroup"
#define DOCKER_PARENT "/docker/" /* with its driver cgroupfs; with systemd its containers are scopes */
#define MIB ((int64_t)1 << 20)

/* Percent of a CPU: a kernel has 8,192 CPUs at most. */
#define QUOTA_MOST 819200

/* systemd keeps the change until the next boot; without --runtime for good. */
#define SET_PROPERTY "systemctl set-property --runtime "

#define say answer_say
#define say_name answer_say_name

/* ---- cgroups ---- */

/*
 * The length of a cgroup's path down to the systemd unit at or above that place which is the child of what two cgroups have in
 * common: weights are shared out between such siblings. 0: one is within the other, or they are the same.
 */
static size_t sibling_length(const char *of, const char *other)
{
	size_t common = 0, i = 0;

	for (; of[i] && of[i] == other[i]; i++)
		if (of[i] == '/')
			common = i;
	/* equal so far, and one goes on */
	if ((!of[i] && (!other[i] || other[i] == '/')) || (!other[i] && of[i] == '/'))
		return 0;
	return of[common] == '/' && of[common + 1] ? common + 1 + strcspn(of + common + 1, "/") : 0;
}

/* The cgroups above a service or scope are those of systemd; those below are its own, and no unit's. */
static bool is_of_systemd(const char *cgroup, size_t length)
{
	for (size_t at = 0; at < length;) {
		char name[NAME_MAX + 1];
		size_t bytes = strcspn(cgroup + at + 1, "/");

		if (cgroup[at] != '/' || bytes >= sizeof(name))
			return false;
		memcpy(name, cgroup + at + 1, bytes);
		name[bytes] = '\0';
		if (!shell_is_unit(name))
			return false;
		at += 1 + bytes;
		/* what is below a service or a scope is not systemd's */
		if (at < length && strcmp(name + bytes - strlen(".slice"), ".slice") != 0)
			return false;
	}
	return length > 0;
}

/* A cgroup whose share or limit is to be changed, by its path. */
struct place {
	char *path;       /* the caller frees */
	const char *unit; /* within path; NULL: systemd does not know it */
	bool is_kubernetes, is_docker;
};

static void place_free(struct place *place)
{
	free(place->path);
}

#define _cleanup_place_ _cleanup_(place_free)

/* Returns 0 or -ENOMEM. */
static int place_of(const char *cgroup, size_t length, struct place *ret_place)
{
	struct place place = { .path = strndup(cgroup, length) };

	if (!place.path)
		return -ENOMEM;
	if (is_of_systemd(place.path, length))
		place.unit = strrchr(place.path, '/') + 1;
	place.is_kubernetes = strstr(place.path, "kubepods") != NULL;
	place.is_docker = !strncmp(place.path, DOCKER_PARENT, strlen(DOCKER_PARENT)) &&
			  strspn(place.path + strlen(DOCKER_PARENT), "0123456789abcdef") ==
				  strlen(place.path) - strlen(DOCKER_PARENT);
	*ret_place = place;
	return 0;
}

/*
 * The command that sets a property of a unit, or the file of a cgroup that has none; docker's own command for its containers.
 * NULL without memory.
 */
static const char *set_command(struct answer *answer, const struct place *place, const char *property,
			       const char *file, const char *value, const char *docker)
{
	_cleanup_free_ char *word = NULL, *path = NULL;

	if (place->unit) {
		word = shell_quote(place->unit);
		return word ? say(answer, SET_PROPERTY "%s %s=%s", word, property, value) : NULL;
	}
	if (place->is_docker && docker) {
		word = shell_quote(place->path + strlen(DOCKER_PARENT));
		return word ? say(answer, "docker update %s %s", docker, word) : NULL;
	}
	if (asprintf(&path, CGROUP2_MOUNT "%s/%s", place->path, file) < 0) {
		path = NULL;
		return NULL;
	}
	word = shell_quote(path);
	return word ? say(answer, "echo %s > %s", value, word) : NULL;
}

static const char *place_name(const struct place *place)
{
	return place->unit ? place->unit : place->path;
}

/* ---- commands that look ---- */

/* The command that shows these sections of this capture, of this database. */
static const char *look(struct answer *answer, const char *names)
{
	const char *path = answer->report->database->path;
	_cleanup_free_ char *word = strcmp(path, DATABASE_DEFAULT) ? shell_quote(path) : NULL;

	return say(answer, "bourdon %s%s%swhy %" PRId64 " --section %s", word ? "--db " : "",
		   word ? word : "", word ? " " : "", answer->report->capture_id, names);
}

static struct remedy look_at(struct answer *answer, const char *text, const char *sections)
{
	return (struct remedy){ .text = text, .command = look(answer, sections) };
}

/* ---- one remedy for each cause ---- */

/* What all targets would have used, in percent of a CPU; not more than there is. */
static int64_t wanted_percent(const struct answer *answer)
{
	double wanted = 0, most = 100.0 * (double)answer->cpus;

	for (uint32_t i = 0; i < answer->parties.count; i++)
		if (!strcmp(answer->parties.list[i].role, "target"))
			wanted += (double)answer->parties.list[i].cpu_ns +
				  (double)answer->parties.list[i].waited_ns;
	wanted = answer->span_ns > 0 ? 100 * wanted / (double)answer->span_ns : 0;
	wanted = wanted < most ? wanted : most;
	return wanted < QUOTA_MOST ? (int64_t)wanted : QUOTA_MOST;
}

static struct remedy raise_quota(struct answer *answer)
{
	const struct blame *blame = &answer->blame;
	bool is_sane = blame->period_us > 0 && blame->period_us <= INT32_MAX && blame->limit > 0 &&
		       blame->limit <= INT32_MAX * (int64_t)1000;
	int64_t quota = is_sane ? 100 * blame->limit / blame->period_us : 0;
	int64_t wanted = wanted_percent(answer);
	_cleanup_place_ struct place place = { 0 };
	char value[64], docker[64];
	bool is_unit;

	if (!blame->scope || quota <= 0 || quota > QUOTA_MOST)
		return look_at(answer, "raise the CPU quota of its cgroup, or of the one above that has it",
			       "capture,machine,groups");
	if (place_of(blame->scope, strlen(blame->scope), &place) < 0)
		return (struct remedy){ 0 };
	/* threads that were stopped counted as waiting, so the sum is what they would have used; a quarter more at least */
	if (wanted < quota + quota / 4 + 1)
		wanted = quota + quota / 4 + 1;
	wanted = (wanted + 9) / 10 * 10;
	is_unit = place.unit != NULL;
	if (is_unit)
		snprintf(value, sizeof(value), "%" PRId64 "%%", wanted);
	else
		snprintf(value, sizeof(value), "%" PRId64, wanted * blame->period_us / 100);
	snprintf(docker, sizeof(docker), "--cpus=%" PRId64 ".%02" PRId64, wanted / 100, wanted % 100);
	return (struct remedy){
		.text = say_name(answer, place_name(&place),
				 "raise the quota of " ANSWER_NAME " from %.2f to %.2f CPUs%s",
				 (double)quota / 100, (double)wanted / 100,
				 place.is_kubernetes ? " (lasting: in the pod)" : ""),
		.command = set_command(answer, &place, "CPUQuota", "cpu.max", value, docker),
		.changes = true,
	};
}

/* Processes of one cgroup, or that no cgroup keeps apart: by priority. */
static struct remedy renice(struct answer *answer)
{
	const struct party *culprit = answer->culprit;

	if (culprit->tgid)
		return (struct remedy){
			.text = say(answer, "lower the priority of %s[%" PRId64 "]: no cgroup parts them",
				    culprit->program, culprit->tgid),
			.command = say(answer, "renice -n 10 -p %" PRId64, culprit->tgid),
			.changes = true,
		};
	return look_at(
		answer,
		say(answer, "start %s in a unit of its own (systemd-run -p CPUWeight=20)", culprit->program),
		"groups,others");
}

/* The weight that is in force; negative: not known. */
static int weight_of(const struct answer *answer, const struct place *place, const char *file)
{
	const struct report *report = answer->report;
	_cleanup_free_ char *found =
		report->cgroup_mount ? NULL : weight_mount(report->database, report->capture_id);
	const char *mount = report->cgroup_mount ? report->cgroup_mount : found;

	return mount ? weight_read(mount, place->path, file) : -1;
}

/* Gives the culprit's part of the tree less than the victim's. */
static struct remedy lower_weight(struct answer *answer)
{
	bool is_io = !strcmp(answer->resource, "io");
	const struct party *culprit = answer->culprit, *victim = answer->victim;
	const char *of = is_io ? "disk" : "CPU";
	_cleanup_place_ struct place place = { 0 };
	const char *file = is_io ? "io.weight" : "cpu.weight";
	char value[16], docker[64], in_force[32] = "";
	size_t length;
	bool is_itself;
	int weight;

	if (!culprit)
		return look_at(answer, "find out who they are: root's policy or their short lives hide them",
			       "machine,groups,others");
	if (!strcmp(culprit->role, "kernel"))
		return look_at(answer,
			       say(answer, "find out what the kernel thread %s works for: see its stacks",
				   culprit->program),
			       "others,groups,interrupts");
	if (!culprit->cgroup)
		return look_at(answer, "find the cgroup of the culprit: it is not known", "groups,others");
	length = sibling_length(culprit->cgroup, victim && victim->cgroup ? victim->cgroup : "");
	if (!length || !strcmp(culprit->cgroup, "/"))
		return is_io ? look_at(answer,
				       "start the culprit in a unit of its own (systemd-run -p IOWeight=20)",
				       "groups,bytes,cgroup_bytes")
			     : renice(answer);
	if (place_of(culprit->cgroup, length, &place) < 0)
		return (struct remedy){ 0 };
	is_itself = !culprit->cgroup[length] ||
		    (place.unit && culprit->unit && !strcmp(place.unit, culprit->unit));
	weight = weight_of(answer, &place, file);
	if (weight == 0 || weight == 1)
		return look_at(
			answer,
			say_name(answer, place_name(&place),
				 ANSWER_NAME " has the least %s weight already: give the victim's more", of),
			"groups,others");
	if (weight > 0)
		snprintf(in_force, sizeof(in_force), ", not %d", weight);
	else
		weight = DEFAULT_WEIGHT;
	weight = weight < LOW_PART ? 1 : weight / LOW_PART;
	snprintf(value, sizeof(value), "%d", weight);
	/* docker counts from 1024 */
	snprintf(docker, sizeof(docker), "--cpu-shares=%d", 1024 * weight / DEFAULT_WEIGHT);
	return (struct remedy){
		.text = say_name(answer, place_name(&place), "give " ANSWER_NAME "%s%s%s %s weight %d%s%s",
				 is_itself ? "" : ", where ", is_itself ? "" : culprit->program,
				 is_itself ? "" : " is,", of, weight, in_force,
				 is_io                                        ? " (bfq, io.cost)"
				 : place.is_kubernetes                        ? " (lasting: in the pod)"
				 : place.unit || place.is_docker || *in_force ? ""
									      : " (where cgroup v2 is)"),
		.command = set_command(answer, &place, is_io ? "IOWeight" : "CPUWeight", file, value,
				       is_io ? NULL : docker),
		.changes = true,
	};
}

static int64_t round_up(int64_t bytes)
{
	int64_t step = bytes >= 1024 * MIB ? 64 * MIB : MIB;

	return bytes > INT64_MAX - step ? bytes : (bytes + step - 1) / step * step;
}

static struct remedy raise_memory(struct answer *answer)
{
	const struct blame *blame = &answer->blame;
	_cleanup_place_ struct place place = { 0 };
	char value[32], from[32], to[32], docker[64];
	bool is_max = blame->name && !strcmp(blame->name, "max");
	int64_t more;

	if (!blame->scope || !blame->name || blame->limit <= 0 || blame->limit > INT64_MAX / 4) {
		_cleanup_free_ char *unit = NULL;
		const char *known = answer->victim ? answer->victim->unit : NULL;

		if (blame->scope)
			known = blame_unit_of(blame->scope);
		unit = known && shell_is_unit(known) ? shell_quote(known) : NULL;
		if (!unit)
			return look_at(answer, "raise its memory limit: find which cgroup above it has one",
				       "capture,killed,cgroups,growth");
		return (struct remedy){
			.text = say_name(answer, known,
					 "raise the limit of " ANSWER_NAME
					 ", or of a slice above: see which"),
			.command = say(answer,
				       "systemctl show -p MemoryMax,MemoryHigh,MemoryCurrent,Slice %s", unit),
		};
	}
	if (place_of(blame->scope, strlen(blame->scope), &place) < 0)
		return (struct remedy){ 0 };
	/* what was read again did not fit: so much more, from a quarter to as much again */
	more = blame->bytes < blame->limit / 4 ? blame->limit / 4 : blame->bytes;
	more = round_up(blame->limit + (more > blame->limit ? blame->limit : more));
	snprintf(value, sizeof(value), "%" PRId64 "%s", place.unit ? more / MIB : more,
		 place.unit ? "M" : "");
	snprintf(docker, sizeof(docker), "--memory=%" PRId64 "m", more / MIB);
	return (struct remedy){
		.text = say_name(answer, place_name(&place),
				 "raise memory.%s of " ANSWER_NAME " from %s to %s%s", blame->name,
				 format_size((double)blame->limit, from, sizeof(from)),
				 format_size((double)more, to, sizeof(to)),
				 place.is_kubernetes ? " (lasting: in the pod)" : ""),
		.command = set_command(answer, &place, is_max ? "MemoryMax" : "MemoryHigh",
				       is_max ? "memory.max" : "memory.high", value, is_max ? docker : NULL),
		.changes = true,
	};
}

/* Who grew is held where it was before, and has at least half of what it has now. */
static struct remedy limit_growth(struct answer *answer)
{
	const struct party *culprit = answer->culprit;
	_cleanup_place_ struct place place = { 0 };
	char value[32], high[32];
	int64_t bytes;

	if (!culprit || culprit->grown_bytes <= 0 || !culprit->cgroup || !strcmp(culprit->cgroup, "/") ||
	    !strcmp(culprit->role, "kernel"))
		return look_at(answer,
			       culprit && culprit->grown_bytes > 0
				       ? "give who grew a unit of its own with MemoryHigh=: it has no cgroup"
				       : "free memory or add some: see who holds it, and who grew",
			       "growth,groups,cgroups,reclaim");
	if (place_of(culprit->cgroup, strlen(culprit->cgroup), &place) < 0)
		return (struct remedy){ 0 };
	/* a cgroup below a service is the service's own affair: the unit is limited */
	if (!place.unit && culprit->unit && shell_is_unit(culprit->unit)) {
		free(place.path);
		place.path = strdup(culprit->unit);
		if (!place.path)
			return (struct remedy){ 0 };
		place.unit = place.path;
	}
	bytes = subtract_saturated(culprit->rss_bytes, culprit->grown_bytes);
	bytes = round_up(bytes < culprit->rss_bytes / 2 ? culprit->rss_bytes / 2 : bytes);
	snprintf(value, sizeof(value), "%" PRId64 "%s", place.unit ? bytes / MIB : bytes,
		 place.unit ? "M" : "");
	return (struct remedy){
		.text = say_name(answer, place_name(&place),
				 "limit the memory of " ANSWER_NAME " to %s, about as before",
				 format_size((double)bytes, high, sizeof(high))),
		.command = set_command(answer, &place, "MemoryHigh", "memory.high", value, NULL),
		.changes = true,
	};
}

static struct remedy spread_interrupts(struct answer *answer)
{
	const struct blame *blame = &answer->blame;
	bool is_hard = blame->source && !strcmp(blame->source, "irq") && blame->number >= 0;

	if (is_hard)
		return (struct remedy){
			.text = say(answer,
				    "spread interrupt %" PRId64 " (%s) over more CPUs: see who serves it",
				    blame->number, blame->name),
			.command = say(answer, "cat /proc/irq/%" PRId64 "/effective_affinity_list",
				       blame->number),
		};
	return look_at(answer,
		       blame->name && !strncmp(blame->name, "NET_", 4)
			       ? "spread the network's queues over more CPUs (RPS, ethtool -L)"
			       : "spread the device's queues over more CPUs, or give it less to do",
		       "interrupts,machine,others");
}

static struct remedy raise_threshold(struct answer *answer)
{
	_cleanup_free_ char *path = NULL, *word = NULL;
	const char *colon = answer->source ? strrchr(answer->source, ':') : NULL;
	char allowed[32];

	if (!colon)
		return look_at(answer, "nothing; or raise the threshold of the rule",
			       "pressure,waiting,capture");
	path = strndup(answer->source, (size_t)(colon - answer->source));
	word = path ? shell_quote(path) : NULL;
	if (!word)
		return (struct remedy){ 0 };
	return (struct remedy){
		.text = say(answer, "nothing; or raise %s.%s of rule %s, which is %s", answer->resource,
			    answer->kind ? answer->kind : "some", answer->rule ? answer->rule : "-",
			    format_duration((double)answer->stall_us * 1e3, " ", allowed, sizeof(allowed))),
		.command = say(answer, "sudoedit %s", word),
		.changes = true,
	};
}

static struct remedy find(struct answer *answer)
{
	switch (answer->verdict) {
	case CAUSE_IS_THROTTLED:
		return raise_quota(answer);
	case CAUSE_IS_COMPETING:
		return lower_weight(answer);
	case CAUSE_IS_OWN_THREADS:
		return look_at(answer, "run fewer threads, make this code cheaper, or give it more CPUs",
			       "stacks,functions,states,locks");
	case CAUSE_IS_OWN_LIMIT:
		return raise_memory(answer);
	case CAUSE_IS_SHORTAGE:
		return limit_growth(answer);
	case CAUSE_IS_KILL:
		return answer->blame.limit ? raise_memory(answer) : limit_growth(answer);
	case CAUSE_IS_DEVICE:
		return look_at(answer, "give the disk less to do, or take a faster one: see who used it",
			       "bytes,groups,cgroup_bytes,stalls");
	case CAUSE_IS_OWN_IO:
		return look_at(answer, "read and write less, have more in the page cache, or a faster disk",
			       "stalls,bytes,cgroup_bytes,states");
	case CAUSE_IS_INTERRUPTS:
		return spread_interrupts(answer);
	case CAUSE_IS_STEAL:
		return look_at(answer, "ask whoever runs the host: move this machine, or give it CPUs",
			       "machine,pressure,seconds");
	case CAUSE_IS_NEGLIGIBLE:
		return raise_threshold(answer);
	case CAUSE_IS_NONE:
		if (!answer->rule)
			return look_at(answer, "none is needed: see what was recorded",
				       "stacks,functions,stalls,others");
		return look_at(answer, "not known yet: see what was recorded",
			       "capture,waiting,stacks,stalls");
	default:
		return look_at(answer, "not known: see what waited, and where",
			       "waiting,pressure,stalls,states,groups");
	}
}

int remedy_find(struct answer *answer, struct remedy *ret_remedy)
{
	struct remedy remedy = find(answer);

	if (!remedy.text || !remedy.command)
		return -ENOMEM;
	*ret_remedy = remedy;
	return 0;
}

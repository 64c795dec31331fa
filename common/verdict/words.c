/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/base/cleanup.h"
#include "common/text/format.h"
#include "common/text/plural.h"
#include "common/verdict/line.h"
#include "common/verdict/sums.h"
#include "common/verdict/teams.h"

#include <inttypes.h>
#include <string.h>

#define QUANTITY_BYTES 32

/* For what a thread waits. */
static const char *const wait_words[ACCOUNTS] = {
	[ACCOUNT_RAN] = "running",
	[ACCOUNT_MEMORY] = "for memory",
	[ACCOUNT_THROTTLED] = "for its quota",
	[ACCOUNT_QUEUED] = "for a CPU",
	[ACCOUNT_IO] = "for a disk",
	[ACCOUNT_LOCK] = "for a lock",
	[ACCOUNT_NETWORK] = "for the network",
	[ACCOUNT_PEER] = "for another process",
	[ACCOUNT_SLEEP] = "asleep",
	[ACCOUNT_REST] = "unseen",
};

static const char *duration(uint64_t ns, char into[QUANTITY_BYTES])
{
	return format_duration((double)ns, " ", into, QUANTITY_BYTES);
}

static const char *size(uint64_t bytes, char into[QUANTITY_BYTES])
{
	return format_size((double)bytes, into, QUANTITY_BYTES);
}

/* No share of what is there is "0 %", and none of what is not all is "100 %". */
static const char *percent(double value, char into[QUANTITY_BYTES])
{
	if (value > 0 && value < 1)
		snprintf(into, QUANTITY_BYTES, "<1 %%");
	else if (value > 99 && value < 100)
		snprintf(into, QUANTITY_BYTES, "99 %%");
	else
		snprintf(into, QUANTITY_BYTES, "%.0f %%", value);
	return into;
}

/* ---- who ---- */

/* "backup ×4 in backup.service", "backup[201] in backup.service" */
void verdict_say_who(struct line *line, const struct verdict_who *who)
{
	const char *place = verdict_place(who);

	line_name(line, who->program);
	if (who->tgid > 0)
		line_words(line, "[%" PRId64 "]", who->tgid);
	else if (who->processes > 1)
		line_words(line, " ×%" PRId64, who->processes);
	line_words(line, "%s", place ? " in " : "");
	line_name(line, place);
}

void verdict_say_party(struct line *line, const struct verdict_party *party)
{
	static const char *const of_role[BLAME_ROLES] = {
		[ROLE_RECORDER] = "bourdon itself", [ROLE_IRQ] = "interrupts",
		[ROLE_STEAL] = "the hypervisor",    [ROLE_LIMIT] = "its memory limit",
		[ROLE_DEVICE] = "the disk",         [ROLE_NOBODY] = "nobody: the CPU was idle",
	};

	if (of_role[party->role]) {
		line_words(line, "%s", of_role[party->role]);
	} else if (party->role == ROLE_QUOTA) {
		line_words(line, "the quota of ");
		line_name(line, party->who.cgroup ? party->who.cgroup
				: party->where    ? party->where
						  : "its cgroup");
	} else if (party->role == ROLE_UNKNOWN) {
		bool is_denied = party->where && !strcmp(party->where, "denied");

		line_words(line, "%s",
			   is_denied ? "processes that root's policy denies"
			   : party->wait == ACCOUNT_NETWORK && !party->where ? "another host"
									     : "nobody known");
	} else if (!party->who.program) {
		line_words(line, "small others");
	} else {
		if (party->role == ROLE_KERNEL)
			line_words(
				line, "%s ",
				plural(party->who.processes > 1 ? 2 : 1, "kernel thread", "kernel threads"));
		verdict_say_who(line, &party->who);
	}
}

void verdict_say_victim(struct line *line, const struct verdict_victim *victim)
{
	if (!victim)
		line_words(line, "the targets");
	else if (victim->who.program)
		verdict_say_who(line, &victim->who);
	else
		line_name(line, victim->text);
}

static void say_growth(struct line *line, const struct verdict_growth *grown)
{
	char by[QUANTITY_BYTES];

	verdict_say_who(line, &grown->who);
	line_words(line, " grew by %s", size(grown->grown_bytes, by));
}

/* ---- limits ---- */

/* "cpu.max of 0.50 CPUs of ", "memory.max of 64 MiB of ", and the cgroup */
static void say_limit(struct line *line, const struct verdict *verdict)
{
	const struct verdict_limit *limit = verdict->limit;
	char bytes[QUANTITY_BYTES];

	if (!verdict->limit_name)
		line_words(line, "%s", verdict->kind == VERDICT_QUOTA ? "a quota" : "a memory limit");
	else
		line_words(line, "%s", verdict->limit_name);
	if (verdict->limit_value >= 0 && verdict->kind != VERDICT_QUOTA)
		line_words(line, " of %s", size((uint64_t)verdict->limit_value, bytes));
	else if (limit && limit->value > 0 && limit->period_us > 0)
		line_words(line, " of %.2f CPUs", (double)limit->value / (double)limit->period_us);
	if (!verdict->limit_cgroup)
		return;
	line_words(line, limit && limit->is_concluded ? " of or above " : " of ");
	line_name(line, verdict->limit_cgroup);
}

/* ---- the kill ---- */

void verdict_say_kill(struct line *line, const struct verdict_facts *facts, const struct verdict *verdict)
{
	const struct verdict_kill *kill = verdict->kill;
	char held[QUANTITY_BYTES];

	(void)facts;
	if (!kill) {
		line_words(line, "a target was killed for lack of memory");
		return;
	}
	verdict_say_who(line, &kill->who);
	line_words(line, ", %s, killed by %s", size(kill->rss_bytes, held),
		   strcmp(kill->how, "oomd") ? "the kernel" : "systemd-oomd");
	if (verdict->limit_name || verdict->limit_cgroup) {
		line_words(line, ": ");
		say_limit(line, verdict);
	} else if (strcmp(kill->how, "oomd") != 0) {
		line_words(line, ": the host's memory ran out");
	}
}

/* ---- the headline ---- */

static const struct verdict_blamed *first(const struct verdict *verdict)
{
	return verdict->blamed_count ? &verdict->blamed[0] : NULL;
}

static void say_took(struct line *line, const struct verdict *verdict, const char *took)
{
	char part[QUANTITY_BYTES];

	line_words(line, " %s %s of the wait %s", took, percent(verdict->blamed_percent, part),
		   wait_words[verdict->wait]);
}

static void say_all_blamed(struct line *line, const struct verdict *verdict)
{
	char part[QUANTITY_BYTES];

	for (uint32_t i = 0; i < verdict->blamed_count; i++) {
		line_words(line, "%s", i ? ", " : "");
		verdict_say_party(line, verdict->blamed[i].party);
		line_words(line, " %s", percent(verdict->blamed[i].percent, part));
	}
}

/* The victim's own part, where it is not named anyway. */
static void say_own(struct line *line, const struct verdict *verdict)
{
	char part[QUANTITY_BYTES];

	if (verdict->waited_ns && !verdict_names_own(verdict))
		line_words(line, "; its own %s %s",
			   verdict->wait == ACCOUNT_IO       ? "I/O"
			   : verdict->wait == ACCOUNT_MEMORY ? "growth"
							     : "threads",
			   percent(verdict->own_percent, part));
}

/* Who released the lock to those who waited, most of the time, and where. */
static void say_release(struct line *line, const struct verdict *verdict)
{
	const struct verdict_blamed *blamed = first(verdict);
	char part[QUANTITY_BYTES];

	if (!blamed)
		return;
	verdict_say_party(line, blamed->party);
	line_words(line, " held it for %s of the wait", percent(blamed->percent, part));
	line_words(line, "%s", blamed->party->where ? ", released in " : "");
	line_name(line, blamed->party->where);
}

static void say_crowd(struct line *line, const struct verdict_facts *facts, const struct verdict *verdict)
{
	line_words(line, "no single culprit");
	if (verdict->programs)
		line_words(line, ": %" PRIu32 " %s", verdict->programs,
			   plural(verdict->programs, "program", "programs"));
	if (verdict->programs && verdict->units)
		line_words(line, " in %" PRIu32 " %s", verdict->units,
			   plural(verdict->units, "unit", "units"));
	if (verdict->wait == ACCOUNT_QUEUED && facts->wanted > 0)
		line_words(line, "; %.1f threads wanted %" PRIu32 " %s", facts->wanted, facts->cpus,
			   plural(facts->cpus, "CPU", "CPUs"));
}

static void say_disk(struct line *line, const struct verdict_facts *facts)
{
	const struct verdict_disk *disk = &facts->disk;
	char each[QUANTITY_BYTES];

	line_name(line, disk->name ? disk->name : "disk");
	if (disk->requests)
		line_words(line, ": %s a request", duration(disk->wait_ns / disk->requests, each));
	line_words(line, ", busy %.0f %%", sums_percent(disk->busy_ns, disk->span_ns));
}

static void say_machine_share(struct line *line, const struct verdict_facts *facts, uint64_t ns,
			      const struct verdict *verdict)
{
	char part[QUANTITY_BYTES];

	if (facts->machine_ns)
		line_words(line, " took %s of the CPUs' time",
			   percent(sums_percent(ns, facts->machine_ns), part));
	if (verdict->blamed_ns)
		line_words(line, "%s %s of the wait %s", facts->machine_ns ? ", and" : " took",
			   percent(verdict->blamed_percent, part), wait_words[verdict->wait]);
}

static void say_convoy(struct line *line, const struct verdict_facts *facts, const struct verdict *verdict)
{
	const struct verdict_lock *lock = &verdict->victim->lock;
	double waits = teams_lock_waits(verdict->victim), span_ns = (double)facts->span_ns;
	char each[QUANTITY_BYTES];

	if (first(verdict))
		verdict_say_party(line, first(verdict)->party);
	line_words(line, " hands a lock on %.0f times a second%s", span_ns > 0 ? waits * 1e9 / span_ns : 0,
		   lock->where ? " in " : "");
	line_name(line, lock->where);
	if (waits >= 1)
		line_words(line, ", and runs for %s between",
			   duration((uint64_t)((double)verdict->victim->ns[ACCOUNT_RAN] / waits), each));
	if (span_ns > 0)
		line_words(line, "; %.1f threads wait for it", (double)verdict->waited_ns / span_ns);
}

static void say_storm(struct line *line, const struct verdict *verdict)
{
	const struct verdict_herd *herd = &verdict->victim->herd;
	char each[QUANTITY_BYTES];

	verdict_say_who(line, &herd->waker);
	line_words(line, " wakes %.0f of %" PRIu64 " threads at once%s",
		   herd->moments ? (double)herd->wakes / (double)herd->moments : 0, herd->threads,
		   herd->where ? " in " : "");
	line_name(line, herd->where);
	if (herd->wakes)
		line_words(line, ", and each runs for %s",
			   duration(verdict->victim->ns[ACCOUNT_RAN] / herd->wakes, each));
}

static void say_pool(struct line *line, const struct verdict *verdict)
{
	const struct verdict_pool *pool = &verdict->victim->pool;
	const struct {
		uint64_t looks;
		const char *at;
	} places[] = { { pool->on_cpu, "have or want a CPU" },
		       { pool->disk, "wait for a disk" },
		       { pool->lock, "wait for a lock" },
		       { pool->elsewhere, "sleep or wait" } },
	  *most = &places[0];
	char part[QUANTITY_BYTES];

	for (size_t i = 1; i < ARRAY_SIZE(places); i++)
		if (places[i].looks > most->looks)
			most = &places[i];
	line_words(line, "%" PRIu64 " %s for %" PRIu64 " threads of ", pool->waiting,
		   plural(pool->waiting, "thread waits", "threads wait"), pool->threads);
	line_name(line, pool->name);
	line_words(line, ", busy %s of the time: most %s", percent(teams_pool_busy(pool), part), most->at);
	line_words(line, "%s", pool->where ? " in " : "");
	line_name(line, pool->where);
}

static void say_undetermined(struct line *line, const struct verdict *verdict)
{
	char part[QUANTITY_BYTES];

	if (verdict->waited_ns && verdict->unknown_ns)
		line_words(line, "%s of the wait %s is charged to nobody%s",
			   percent(sums_percent(verdict->unknown_ns, verdict->waited_ns), part),
			   wait_words[verdict->wait],
			   verdict->idle_ns > verdict->unknown_ns / 2 ? ": the CPU was idle" : "");
	else
		line_words(line, "the numbers do not show why");
	if (verdict->unseen)
		line_words(line, "; not examined: %s", verdict->not_examined);
}

static void say_sentence(struct line *line, const struct verdict_facts *facts, const struct verdict *verdict)
{
	char part[QUANTITY_BYTES];

	switch (verdict->kind) {
	case VERDICT_NEGLIGIBLE:
		verdict_say_victim(line, verdict->victim);
		line_words(line, " waited %s of its time",
			   percent(sums_percent(
					   verdict->waited_ns,
					   verdict->waited_ns +
						   (verdict->victim ? verdict->victim->ns[ACCOUNT_RAN] : 0)),
				   part));
		break;
	case VERDICT_KILL:
		verdict_say_kill(line, facts, verdict);
		break;
	case VERDICT_QUOTA:
	case VERDICT_LIMIT:
		say_limit(line, verdict);
		line_words(line, " made %s of the wait", percent(verdict->blamed_percent, part));
		break;
	case VERDICT_OWN_THREADS:
	case VERDICT_NEIGHBOUR:
		if (first(verdict))
			verdict_say_party(line, first(verdict)->party);
		say_took(line, verdict, "took");
		break;
	case VERDICT_STORM:
		say_storm(line, verdict);
		break;
	case VERDICT_CONVOY:
		say_convoy(line, facts, verdict);
		break;
	case VERDICT_LOCK:
		say_release(line, verdict);
		break;
	case VERDICT_NEIGHBOURS:
		say_all_blamed(line, verdict);
		line_words(line, " of the wait %s", wait_words[verdict->wait]);
		say_own(line, verdict);
		break;
	case VERDICT_CROWD:
		say_crowd(line, facts, verdict);
		break;
	case VERDICT_DEVICE:
		say_disk(line, facts);
		break;
	case VERDICT_OWN_IO:
		line_words(line, "what ");
		verdict_say_victim(line, verdict->victim);
		line_words(line, " reads and writes");
		say_took(line, verdict, "is");
		break;
	case VERDICT_MEMORY_SHORTAGE:
		if (verdict->grown)
			say_growth(line, verdict->grown);
		else
			line_words(line, "no program grew by much");
		break;
	case VERDICT_INTERRUPTS:
		line_name(line, facts->interrupt);
		line_words(line, facts->interrupt ? " and others" : "interrupts");
		say_machine_share(line, facts, facts->irq_ns + facts->softirq_ns, verdict);
		break;
	case VERDICT_STEAL:
		line_words(line, "the hypervisor");
		say_machine_share(line, facts, facts->steal_ns, verdict);
		break;
	case VERDICT_POOL:
		say_pool(line, verdict);
		break;
	case VERDICT_PEER:
		if (first(verdict))
			verdict_say_party(line, first(verdict)->party);
		line_words(line, " ended %s of the wait for other threads",
			   percent(first(verdict) ? first(verdict)->percent : 0, part));
		break;
	case VERDICT_NETWORK:
		line_words(line, "other hosts ended %s of the wait", percent(verdict->blamed_percent, part));
		break;
	default:
		say_undetermined(line, verdict);
	}
}

/* ---- whole lines ---- */

void verdict_say_headline(struct line *line, const struct verdict_facts *facts, const struct verdict *verdict)
{
	line_words(line, "%s: ", verdict_kind_names[verdict->kind]);
	say_sentence(line, facts, verdict);
}

char *verdict_headline_text(const struct verdict_facts *facts, const struct verdict *verdict,
			    char into[VERDICT_TEXT_BYTES])
{
	struct line line = { 0 };

	verdict_say_headline(&line, facts, verdict);
	return line_write(&line, 0, into, VERDICT_TEXT_BYTES);
}

/* "4.2 s of 6.5 s (64 %)" */
static void say_part(struct line *line, uint64_t ns, const struct verdict *verdict)
{
	char one[QUANTITY_BYTES], all[QUANTITY_BYTES], part[QUANTITY_BYTES];

	line_words(line, ": %s of %s (%s)", duration(ns, one), duration(verdict->waited_ns, all),
		   percent(sums_percent(ns, verdict->waited_ns), part));
}

static void say_blamed(struct line *line, const struct verdict *verdict)
{
	if (verdict->blamed_count > 1) {
		say_all_blamed(line, verdict);
		return;
	}
	verdict_say_party(line, verdict->blamed[0].party);
	say_part(line, verdict->blamed[0].party->ns, verdict);
}

static void say_limit_met(struct line *line, const struct verdict *verdict)
{
	const struct verdict_limit *limit = verdict->limit;
	char again[QUANTITY_BYTES];

	say_limit(line, verdict);
	say_part(line, verdict->blamed_ns, verdict);
	if (limit && limit->of_periods)
		line_words(line, ", in %" PRIu64 " of %" PRIu64 " periods", limit->met, limit->of_periods);
	else if (limit && limit->met)
		line_words(line, ", met %" PRIu64 " %s", limit->met, plural(limit->met, "time", "times"));
	if (limit && limit->refaulted_bytes)
		line_words(line, ", %s read again", size(limit->refaulted_bytes, again));
}

void verdict_say_culprit(struct line *line, const struct verdict_facts *facts, const struct verdict *verdict)
{
	switch (verdict->kind) {
	case VERDICT_NEGLIGIBLE:
		line_words(line, "nobody");
		break;
	case VERDICT_KILL:
		if (verdict->grown)
			say_growth(line, verdict->grown);
		else
			line_words(line, "no program grew by as much as was killed");
		break;
	case VERDICT_QUOTA:
		say_limit_met(line, verdict);
		say_own(line, verdict);
		break;
	case VERDICT_LIMIT:
		say_limit_met(line, verdict);
		break;
	case VERDICT_OWN_THREADS:
	case VERDICT_LOCK:
	case VERDICT_NEIGHBOUR:
	case VERDICT_NEIGHBOURS:
	case VERDICT_OWN_IO:
	case VERDICT_PEER:
		if (!verdict->blamed_count) {
			say_sentence(line, facts, verdict);
			break;
		}
		say_blamed(line, verdict);
		say_own(line, verdict);
		break;
	case VERDICT_CROWD:
		say_crowd(line, facts, verdict);
		say_own(line, verdict);
		break;
	default:
		say_sentence(line, facts, verdict);
	}
}

void verdict_say_certainty(struct line *line, const struct verdict_facts *facts,
			   const struct verdict *verdict)
{
	char part[QUANTITY_BYTES];

	if (verdict->waited_ns && verdict->kind != VERDICT_NEGLIGIBLE)
		line_words(line, "%s of the wait is charged to somebody; ",
			   percent(100 - sums_percent(verdict->unknown_ns, verdict->waited_ns), part));
	else if (verdict->kind == VERDICT_KILL)
		line_words(line, "the kernel told of the kill; ");
	else if (verdict->victim)
		line_words(line, "the kernel counted the wait; ");
	if (facts->lost_percent < 0)
		line_words(line, "it is not known what was lost");
	else if (facts->lost_reason)
		line_words(line, "%s of the samples lost", percent(facts->lost_percent, part));
	else
		line_words(line, "nothing was lost");
	if (facts->is_interrupted)
		line_words(line, "; the capture was interrupted");
	if (verdict->unseen)
		line_words(line, "; not examined: %s", verdict->not_examined);
}

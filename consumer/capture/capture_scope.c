/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/capture_scope.h"

#include "common/kernel/cgroup_parts.h"

#include <string.h>

static bool is_covered(const struct capture_scope *scope, const char comm[ABI_COMM_BYTES], const char *cgroup)
{
	return rule_applies(scope->rule, comm, cgroup ? cgroup : "") &&
	       (!scope->cgroup || (cgroup && cgroup_is_within(cgroup, scope->cgroup)));
}

/* The same, of a process whose id is known. */
static bool is_process_covered(const struct capture_scope *scope, uint32_t tgid, uint64_t started_ns,
			       const char comm[ABI_COMM_BYTES], const char *cgroup)
{
	return (!scope->asking || asking_names(scope->asking, tgid, started_ns)) &&
	       is_covered(scope, comm, cgroup);
}

/* Whether the capture is of processes in this cgroup, perhaps among others. */
static bool is_of_cgroup(const struct capture_scope *scope, const char *cgroup)
{
	return rule_covers(scope->rule, cgroup) &&
	       (!scope->cgroup || cgroup_is_within(cgroup, scope->cgroup));
}

/* Without a walk that met the program, a process is named by the thread that was sampled. */
static bool describe_other(const struct capture_scope *scope, const struct sample *sample,
			   struct capture_process *process)
{
	const struct usage_process *known =
		scope->usage ? usage_find(scope->usage, sample->tgid, sample->started_ns) : NULL;
	bool is_same = known && known->program == sample->program;
	const char *cgroup = cgroups_path(scope->cgroups, sample->cgroup_id);

	process->role = sample->of == SAMPLE_OF_KERNEL ? USAGE_KERNEL : USAGE_OTHER;
	process->uid = known ? known->uid : CAPTURE_NO_UID;
	memcpy(process->comm, is_same ? known->comm : sample->comm, sizeof(process->comm));
	process->cgroup = cgroup;
	/* somebody asked for it, and it became a target by that, or has ended before: the rings have what it did on CPU */
	if (scope->asking && process->role == USAGE_OTHER &&
	    is_process_covered(scope, sample->tgid, sample->started_ns, process->comm, cgroup))
		process->role = USAGE_TARGET;
	return true;
}

/* Whose sample it is depends on the cgroup. */
static bool needs_cgroup(const struct capture_scope *scope)
{
	return rule_has_cgroups(scope->rule) || scope->cgroup;
}

/* A target whose events were lost, or have yet to come. A rule of every comm does not need its name. */
static bool describe_unknown(const struct capture_scope *scope, const struct sample *sample,
			     struct capture_process *process)
{
	const char *cgroup = cgroups_path(scope->cgroups, sample->cgroup_id);

	if (scope->rule->comm.prefix && !scope->rule->comm.text[0] && (cgroup || !needs_cgroup(scope))) {
		describe_other(scope, sample, process);
		if (is_process_covered(scope, sample->tgid, sample->started_ns, process->comm, cgroup))
			process->role = USAGE_TARGET;
		return true;
	}
	/* in another cgroup, it is none of the capture's anyway */
	return cgroup && !is_of_cgroup(scope, cgroup) && describe_other(scope, sample, process);
}

bool capture_scope_describe(void *user, const struct sample *sample, struct capture_process *process)
{
	const struct capture_scope *scope = user;
	const struct target_process *target = targets_find(scope->targets, sample->tgid, sample->started_ns);
	const char *cgroup, *comm = target ? targets_comm_of(target, sample->program) : NULL;

	/* what a process ran before it executed the program that made it a target is not the rule's */
	if (sample->of != SAMPLE_OF_TARGET && !comm)
		return describe_other(scope, sample, process);
	process->role = USAGE_OTHER;
	if (!target)
		return describe_unknown(scope, sample, process);
	process->uid = target->uid;
	if (!comm) /* execve(2) leaves the first thread alone, whose name is the program's; the event has yet to come */
		comm = sample->tid == sample->tgid ? sample->comm : target->comm;
	memcpy(process->comm, comm, sizeof(process->comm));
	cgroup = cgroups_path(scope->cgroups, sample->cgroup_id);
	/* a cgroup that is not known yet may be known at the next sample: a counted loss is better than a guess */
	if (!cgroup && rule_names(scope->rule, comm) && needs_cgroup(scope))
		return false;
	if (is_process_covered(scope, sample->tgid, sample->started_ns, comm, cgroup))
		process->role = USAGE_TARGET;
	process->cgroup = cgroup;
	return true;
}

static bool describe_usage(void *user, const struct usage_process *process, const char **ret_cgroup)
{
	const struct capture_scope *scope = user;
	const struct target_process *target =
		targets_find(scope->targets, process->tgid, process->started_ns);

	*ret_cgroup = cgroups_path(scope->cgroups, process->cgroup_id);
	return target &&
	       is_process_covered(scope, target->tgid, target->started_ns, target->comm, *ret_cgroup);
}

/* Whether single processes were asked for by their ids. */
static bool is_of_processes(const struct capture_scope *scope)
{
	return scope->asking && scope->asking->processes_count;
}

static bool describe_ended(void *user, const struct ended_key *key, const char **ret_cgroup)
{
	const struct capture_scope *scope = user;

	*ret_cgroup = cgroups_path(scope->cgroups, key->cgroup_id);
	/* its id is not known: it is none of those that were asked for by theirs, which lived */
	return !is_of_processes(scope) && is_covered(scope, key->comm, *ret_cgroup);
}

struct capture_usage_scope capture_scope_of_usage(struct capture_scope *scope)
{
	return (struct capture_usage_scope){ describe_usage, describe_ended, scope };
}

/*
 * Whether it was asked for by its id; tgid 0: whether all targets of that name and cgroup were. The kernel's sums are of single
 * processes only since these were asked for.
 */
static bool is_asked(const struct capture_scope *scope, const char *comm, uint64_t cgroup_id, uint32_t tgid)
{
	const struct asking *asking = scope->asking;
	bool any = false;

	for (uint32_t i = 0; i < asking->processes_count && tgid; i++)
		if (asking->processes[i].tgid == tgid)
			return true;
	for (uint32_t i = 0; i < scope->targets->count && !tgid; i++) {
		const struct target_process *target = &scope->targets->processes[i];

		if (target->cgroup_id != cgroup_id || strcmp(target->comm, comm))
			continue;
		if (!asking_names(asking, target->tgid, target->started_ns))
			return false;
		any = true;
	}
	return any;
}

static bool covers_account(void *user, const char comm[ABI_COMM_BYTES], uint64_t cgroup_id, uint32_t tgid,
			   const char **ret_cgroup)
{
	const struct capture_scope *scope = user;

	*ret_cgroup = cgroups_path(scope->cgroups, cgroup_id);
	return (!is_of_processes(scope) || is_asked(scope, comm, cgroup_id, tgid)) &&
	       is_covered(scope, comm, *ret_cgroup);
}

static const char *path_of_account(void *user, uint64_t cgroup_id)
{
	const struct capture_scope *scope = user;

	return cgroups_path(scope->cgroups, cgroup_id);
}

struct accounts_scope capture_scope_of_accounts(struct capture_scope *scope)
{
	return (struct accounts_scope){ .covers = covers_account,
					.path = path_of_account,
					.user = scope,
					.of_processes = is_of_processes(scope) };
}

bool capture_scope_is_live(const struct capture_scope *scope, const struct sample *sample)
{
	const struct target_process *target = targets_find(scope->targets, sample->tgid, sample->started_ns);

	return target && !target->gone_ns;
}

static bool is_own(const struct capture_scope *scope, const struct usage_process *process)
{
	const struct target_process *target =
		targets_find(scope->targets, process->tgid, process->started_ns);

	return target && is_process_covered(scope, target->tgid, target->started_ns, target->comm,
					    cgroups_path(scope->cgroups, process->cgroup_id));
}

uint64_t capture_scope_cpu_ns(const struct capture_scope *scope, const struct capture_usage *usage,
			      const struct usage *now)
{
	const struct usage *before = &usage->before;
	uint64_t sum = usage->rest_targets.task.cpu_ns;

	for (uint32_t i = 0; i < now->count; i++) {
		const struct usage_process *process = &now->processes[i];

		if (process->walk > before->walk && is_own(scope, process))
			sum += usage_since(before, process).task.cpu_ns;
	}
	return sum;
}

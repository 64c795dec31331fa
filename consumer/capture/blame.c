/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/blame.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/numbers.h"
#include "common/base/optional_text.h"
#include "common/verdict/disk.h"
#include "consumer/capture/blame_kept.h"

#include <string.h>

/* Why the party of a wait is not known: blame_row.where. */
static const char denied[] = "denied", unseen[] = "unseen", not_recorded[] = "not recorded",
		  not_ended[] = "not ended";

#define MILLISECOND_NS (CLOCK_SECOND_NS / 1000)

static const struct usage_group *find_group(const struct usage_groups *groups, enum blame_role role,
					    const char *program, const char *cgroup)
{
	static const enum usage_role of_processes[] = { USAGE_TARGET, USAGE_OTHER },
				     of_kernel[] = { USAGE_KERNEL };
	const enum usage_role *roles = role == ROLE_KERNEL ? of_kernel : of_processes;

	for (size_t i = 0; i < (role == ROLE_KERNEL ? ARRAY_SIZE(of_kernel) : ARRAY_SIZE(of_processes)); i++)
		for (uint32_t j = 0; j < groups->count; j++)
			if (usage_group_has(&groups->groups[j], roles[i], program, cgroup))
				return &groups->groups[j];
	return NULL;
}

/* ---- victims ---- */

static bool is_same_place(const struct account_place *one, const struct account_place *other)
{
	return one->unit || other->unit ? optional_text_is_same(one->unit, other->unit)
					: optional_text_is_same(one->cgroup, other->cgroup);
}

/* Sums of the victims of the kernel, by program and unit: of_victim has the position of each one's row. */
static int make_victims(const struct accounts *accounts, struct blame_rows *rows, uint32_t *of_victim)
{
	rows->victims = calloc(accounts->victims_count + 1UL, sizeof(*rows->victims));
	if (!rows->victims)
		return -ENOMEM;
	for (uint32_t i = 0; i < accounts->victims_count; i++) {
		const struct account_victim *victim = &accounts->victims[i];
		uint32_t at = 0;

		of_victim[i] = UINT32_MAX;
		if (!victim->is_covered)
			continue;
		while (at < rows->victims_count && (strcmp(rows->victims[at].program, victim->comm) ||
						    !is_same_place(&rows->victims[at].place, &victim->place)))
			at++;
		if (at == rows->victims_count)
			rows->victims[rows->victims_count++] =
				(struct victim_row){ .program = victim->comm, .place = victim->place };
		for (uint32_t j = 0; j < ACCOUNTS; j++)
			rows->victims[at].ns[j] += victim->ns[j];
		rows->victims[at].threads += victim->threads;
		of_victim[i] = at;
	}
	return 0;
}

/* ---- rows ---- */

static struct blame_row *add_row(struct blame_rows *rows, const struct blame_row *row)
{
	if (array_make_room(rows->rows, rows->count, rows->room, 1U))
		return NULL;
	rows->rows[rows->count] = *row;
	return &rows->rows[rows->count++];
}

static bool is_own(const struct victim_row *victim, const char *program, const struct account_place *place)
{
	return !strcmp(victim->program, program) && is_same_place(&victim->place, place);
}

/* The row of a party as the kernel told it. */
static struct blame_row row_of_party(const struct blame_rows *rows, const struct account_party *party,
				     uint32_t victim)
{
	static const enum blame_role roles[BLAME_KINDS] = {
		[BLAME_PROCESS] = ROLE_OTHER, [BLAME_KERNEL] = ROLE_KERNEL,  [BLAME_RECORDER] = ROLE_RECORDER,
		[BLAME_QUOTA] = ROLE_QUOTA,   [BLAME_IRQ] = ROLE_IRQ,        [BLAME_STEAL] = ROLE_STEAL,
		[BLAME_NOBODY] = ROLE_NOBODY, [BLAME_DENIED] = ROLE_UNKNOWN, [BLAME_UNSEEN] = ROLE_UNKNOWN,
		[BLAME_LIMIT] = ROLE_LIMIT,
	};
	const struct blame_key *key = &party->key;
	struct blame_row row = { .victim = victim,
				 .wait = key->wait,
				 .role = roles[key->by],
				 .ns = party->ns,
				 .then = key->then };

	switch (key->by) {
	case BLAME_PROCESS:
	case BLAME_RECORDER:
		row.program = key->comm;
		row.place = party->place;
		if (is_own(&rows->victims[victim], key->comm, &party->place))
			row.role = ROLE_OWN;
		break;
	case BLAME_KERNEL:
		row.program = key->comm;
		break;
	case BLAME_QUOTA:
	case BLAME_LIMIT:
		row.place = party->place;
		row.where = party->place.cgroup ? party->place.cgroup : *key->comm ? key->comm : NULL;
		break;
	case BLAME_DENIED:
		row.where = denied;
		break;
	case BLAME_UNSEEN:
		row.where = key->wait == ACCOUNT_NETWORK ? NULL : unseen;
		break;
	default:
		break;
	}
	return row;
}

static uint64_t moved_bytes(const struct usage_group *group)
{
	return group->sums.task.read_bytes + group->sums.task.write_bytes;
}

static uint64_t grown_bytes(const struct usage_group *group)
{
	return group->sums.grown_bytes;
}

static struct account_place place_of_group(const struct usage_group *group)
{
	return (struct account_place){ group->cgroup, *group->unit ? group->unit : NULL };
}

static bool is_in_place(const struct usage_group *group, const struct account_place *place)
{
	const struct account_place of_group = place_of_group(group);

	return !place || is_same_place(&of_group, place);
}

static struct blame_row row_of_group(const struct blame_rows *rows, const struct usage_group *group,
				     uint32_t victim, uint8_t wait)
{
	const struct account_place place = place_of_group(group);
	struct blame_row row = { .victim = victim,
				 .wait = wait,
				 .role = group->role == USAGE_KERNEL ? ROLE_KERNEL : ROLE_OTHER,
				 .program = group->program,
				 .place = place,
				 .then = ACCOUNTS };

	if (row.role == ROLE_OTHER && is_own(&rows->victims[victim], group->program, &place))
		row.role = ROLE_OWN;
	return row;
}

/* Returns whether there is a row of this wait. */
static bool add_to_last(struct blame_rows *rows, uint32_t victim, uint8_t wait, uint64_t ns)
{
	for (uint32_t i = rows->count; i-- > 0;)
		if (rows->rows[i].victim == victim && rows->rows[i].wait == wait) {
			rows->rows[i].ns += ns;
			return true;
		}
	return false;
}

/*
 * Divides a wait of the victim among the groups by their measures; `unknown` is the measure of those that are not known. Of groups
 * elsewhere than in `place` it takes no account; NULL: of all. What cannot be divided is unknown.
 */
static int divide(struct blame_rows *rows, uint32_t victim, uint8_t wait, uint64_t ns,
		  uint64_t (*measure)(const struct usage_group *group), uint64_t unknown,
		  const struct account_place *place)
{
	struct blame_row rest = { .victim = victim,
				  .wait = wait,
				  .role = ROLE_UNKNOWN,
				  .ns = ns,
				  .where = not_recorded,
				  .then = ACCOUNTS };
	double all = (double)unknown;

	for (uint32_t i = 0; i < rows->groups.count; i++)
		if (is_in_place(&rows->groups.groups[i], place))
			all += (double)measure(&rows->groups.groups[i]);
	for (uint32_t i = 0; i < rows->groups.count && all > 0; i++) {
		struct blame_row row = row_of_group(rows, &rows->groups.groups[i], victim, wait);

		if (!is_in_place(&rows->groups.groups[i], place))
			continue;
		row.ns = (uint64_t)((double)ns * (double)measure(&rows->groups.groups[i]) / all);
		if (row.ns > rest.ns)
			row.ns = rest.ns;
		rest.ns -= row.ns;
		if (row.ns && !add_row(rows, &row))
			return -ENOMEM;
	}
	/* of each group a fraction of a ns */
	if (!rest.ns || (rest.ns <= rows->groups.count && add_to_last(rows, victim, wait, rest.ns)))
		return 0;
	return add_row(rows, &rest) ? 0 : -ENOMEM;
}

/* Bytes that the disks moved for nobody whom this capture knows. */
static uint64_t unknown_bytes(const struct capture_usage *usage)
{
	const struct machine_bytes *bytes = &usage->bytes;
	int64_t sum = bytes->known ? bytes->read[BYTES_UNACCOUNTED] + bytes->written[BYTES_UNACCOUNTED] : 0;

	return sum > 0 ? (uint64_t)sum : 0;
}

/* ---- devices ---- */

/* The growth in the span, if it is this number of a disk in /proc/diskstats. */
static uint64_t growth_of(const struct kernel_stat *stat, const char *name)
{
	return !strcmp(stat->source, "diskstats") && !strcmp(stat->name, name) && stat->before >= 0 &&
			       stat->after > stat->before
		       ? (uint64_t)(stat->after - stat->before)
		       : 0;
}

static uint64_t of_disk(const struct kernel_stats *stats, const char *disk, const char *name)
{
	uint64_t growth = 0;

	for (uint32_t i = 0; i < stats->count && !growth; i++)
		if (!strcmp(stats->stats[i].device, disk))
			growth = growth_of(&stats->stats[i], name);
	return growth;
}

/* The one that was busy for longest. */
static struct verdict_disk busiest_disk(const struct kernel_stats *stats)
{
	struct verdict_disk disk = { .span_ns = stats->to_ns - stats->from_ns };

	for (uint32_t i = 0; i < stats->count; i++) {
		uint64_t busy_ns = growth_of(&stats->stats[i], "busy_ms") * MILLISECOND_NS;

		if (busy_ns <= disk.busy_ns)
			continue;
		disk.name = stats->stats[i].device;
		disk.busy_ns = busy_ns;
	}
	if (!disk.name)
		return disk;
	disk.requests = of_disk(stats, disk.name, "reads") + of_disk(stats, disk.name, "writes");
	disk.bytes = of_disk(stats, disk.name, "read_bytes") + of_disk(stats, disk.name, "write_bytes");
	disk.wait_ns = (of_disk(stats, disk.name, "read_ms") + of_disk(stats, disk.name, "write_ms")) *
		       MILLISECOND_NS;
	return disk;
}

/* ---- requests ---- */

/* Where the requests of the victim took less than this part of its wait, it waited for something else: bytes tell more. */
#define REQUESTS_LEAST_PART 10U

/* Part of a wait for I/O, of a party that had requests there. Kernel threads write what a cgroup has changed. */
static int add_requester(struct blame_rows *rows, const struct account_party *party, uint32_t victim,
			 uint64_t ns)
{
	struct blame_row row = row_of_party(rows, party, victim);
	uint64_t bytes = 0;

	row.ns = ns;
	for (uint32_t i = 0; party->key.by == BLAME_PROCESS && !*party->key.comm && i < rows->groups.count;
	     i++)
		if (is_in_place(&rows->groups.groups[i], &party->place))
			bytes += moved_bytes(&rows->groups.groups[i]);
	if (bytes)
		return divide(rows, victim, ACCOUNT_IO, ns, moved_bytes, 0, &party->place);
	return add_row(rows, &row) ? 0 : -ENOMEM;
}

static bool is_requester(const struct account_party *party, const uint32_t *of_victim, uint32_t victim)
{
	return party->key.wait == ACCOUNT_IO && of_victim[party->key.victim] == victim;
}

/* Divides a wait for I/O among those whose requests were in the device meanwhile. 1, 0 if that is not known, or -ENOMEM. */
static int divide_by_requests(struct blame_rows *rows, const struct accounts *accounts,
			      const uint32_t *of_victim, const struct blame_row *row)
{
	uint64_t rest_ns = row->ns;
	double all = 0;
	int result = 0;

	for (uint32_t i = 0; i < accounts->parties_count; i++)
		if (is_requester(&accounts->parties[i], of_victim, row->victim))
			all += (double)accounts->parties[i].ns;
	if (all < (double)row->ns / REQUESTS_LEAST_PART)
		return 0;
	for (uint32_t i = 0; i < accounts->parties_count && !result; i++) {
		const struct account_party *party = &accounts->parties[i];
		uint64_t ns = (uint64_t)((double)row->ns * (double)party->ns / all);

		if (!is_requester(party, of_victim, row->victim))
			continue;
		if (ns > rest_ns)
			ns = rest_ns;
		rest_ns -= ns;
		if (ns)
			result = add_requester(rows, party, row->victim, ns);
	}
	/* of each party a fraction of a ns */
	add_to_last(rows, row->victim, row->wait, rest_ns);
	return result < 0 ? result : 1;
}

/*
 * A wait for I/O is the device's, if that is slow by itself; else of those whose requests it had; where these are not known, of
 * those who moved bytes.
 */
static int add_io(struct blame_rows *rows, const struct capture *capture, const uint32_t *of_victim,
		  struct blame_row *row)
{
	const struct verdict_disk disk = busiest_disk(&capture->kernel_stats);
	int result;

	if (verdict_disk_is_slow(&disk, rows->victims[row->victim].ns[row->wait],
				 capture->accounts.until_ns - capture->accounts.from_ns)) {
		row->role = ROLE_DEVICE;
		row->where = disk.name;
		return add_row(rows, row) ? 0 : -ENOMEM;
	}
	result = divide_by_requests(rows, &capture->accounts, of_victim, row);
	if (result)
		return result < 0 ? result : 0;
	return divide(rows, row->victim, row->wait, row->ns, moved_bytes, unknown_bytes(&capture->usage),
		      NULL);
}

/* ---- the parts of a wait that the kernel's sums of parties do not have ---- */

/* A slot that is in part in the span is divided for each sum by itself: so much is lost. */
static uint64_t accounts_rounding_ns(const struct accounts *accounts)
{
	return 2UL * accounts->parties_count;
}

/* The row with most of what reclaim at its memory limits took from the victim, or NULL. */
static const struct blame_row *first_limit(const struct blame_rows *rows, uint32_t victim)
{
	const struct blame_row *first = NULL;

	for (uint32_t i = 0; i < rows->count; i++) {
		const struct blame_row *row = &rows->rows[i];

		if (row->victim == victim && row->role == ROLE_LIMIT && (!first || row->ns > first->ns))
			first = row;
	}
	return first;
}

static int add_remainder(struct blame_rows *rows, const struct capture *capture, const uint32_t *of_victim,
			 uint32_t victim, uint8_t wait, uint64_t blamed_ns)
{
	const struct blame_row *limit = wait == ACCOUNT_MEMORY ? first_limit(rows, victim) : NULL;
	uint64_t ns = growth(rows->victims[victim].ns[wait], blamed_ns);
	struct blame_row row = {
		.victim = victim, .wait = wait, .role = ROLE_UNKNOWN, .ns = ns, .then = ACCOUNTS
	};

	if (!ns)
		return 0;
	if (ns <= accounts_rounding_ns(&capture->accounts) && add_to_last(rows, victim, wait, ns))
		return 0;
	if (wait == ACCOUNT_IO)
		return add_io(rows, capture, of_victim, &row);
	if (wait == ACCOUNT_MEMORY && !limit)
		return divide(rows, victim, wait, ns, grown_bytes, 0, NULL);
	/* a thread that waits for a page that its limit evicted is in no reclaim */
	if (limit) {
		row.role = ROLE_LIMIT;
		row.place = limit->place;
		row.where = limit->where;
	} else {
		row.where = wait == ACCOUNT_QUEUED || wait == ACCOUNT_THROTTLED ? not_recorded : not_ended;
	}
	return add_row(rows, &row) ? 0 : -ENOMEM;
}

static int add_remainders(struct blame_rows *rows, const struct capture *capture, const uint32_t *of_victim)
{
	static const uint8_t waits[] = { ACCOUNT_MEMORY, ACCOUNT_THROTTLED, ACCOUNT_QUEUED, ACCOUNT_IO,
					 ACCOUNT_LOCK,   ACCOUNT_NETWORK,   ACCOUNT_PEER };
	size_t cells = (size_t)rows->victims_count * ACCOUNTS;
	_cleanup_free_ uint64_t *blamed = calloc(cells + 1, sizeof(*blamed));
	int result = blamed ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < rows->count && !result; i++) {
		const struct blame_row *row = &rows->rows[i];

		blamed[row->victim * ACCOUNTS + row->wait] += row->ns;
	}
	for (uint32_t i = 0; i < rows->victims_count && !result; i++)
		for (size_t j = 0; j < ARRAY_SIZE(waits) && !result; j++) {
			uint64_t *ns = &rows->victims[i].ns[waits[j]],
				 of_parties = blamed[i * ACCOUNTS + waits[j]];

			/* the maps were read one after the other */
			if (*ns < of_parties)
				*ns = of_parties;
			result = add_remainder(rows, capture, of_victim, i, waits[j], of_parties);
		}
	return result;
}

/* ---- locks that the kernel does not know ---- */

/* Moves the locks' part from the wait for the victim's own threads as peers, of which its wakes are, too. */
static int find_locks(struct blame_rows *rows, blame_lock_part lock_part, void *user)
{
	for (uint32_t i = 0, count = rows->count; i < count; i++) {
		struct blame_row lock = rows->rows[i];
		struct victim_row *victim = &rows->victims[lock.victim];
		double part;

		if (lock.wait != ACCOUNT_PEER || lock.role != ROLE_OWN)
			continue;
		part = lock_part(user, victim);
		lock.wait = ACCOUNT_LOCK;
		lock.ns = part < 1 ? (uint64_t)((double)lock.ns * part) : lock.ns;
		if (!lock.ns)
			continue;
		if (!add_row(rows, &lock))
			return -ENOMEM;
		rows->rows[i].ns -= lock.ns;
		victim->ns[ACCOUNT_PEER] -= lock.ns;
		victim->ns[ACCOUNT_LOCK] += lock.ns;
	}
	return 0;
}

/* How many processes a party is. Those that ended between two walks, and were too many for rows, are not known. */
static void count_processes(struct blame_rows *rows)
{
	for (uint32_t i = 0; i < rows->count; i++) {
		struct blame_row *row = &rows->rows[i];
		const struct usage_group *group =
			row->program ? find_group(&rows->groups, row->role, row->program, row->place.cgroup)
				     : NULL;

		if (!group)
			continue;
		row->processes = group->processes;
		row->tgid = group->tgid;
	}
}

int blame_make(const struct capture *capture, blame_lock_part lock_part, void *user,
	       struct blame_rows *ret_rows)
{
	const struct accounts *accounts = &capture->accounts;
	_cleanup_free_ uint32_t *of_victim = calloc(accounts->victims_count + 1UL, sizeof(*of_victim));
	struct blame_rows rows = { 0 };
	int result = of_victim ? 0 : -ENOMEM;

	*ret_rows = rows;
	if (!accounts->is_complete)
		return 0;
	if (!result)
		result = usage_groups_make(&capture->usage, &rows.groups);
	if (!result)
		result = make_victims(accounts, &rows, of_victim);
	for (uint32_t i = 0; i < accounts->parties_count && !result; i++) {
		uint32_t victim = of_victim[accounts->parties[i].key.victim];
		struct blame_row row;

		/* those of I/O are of requests, not of threads */
		if (victim == UINT32_MAX || accounts->parties[i].key.wait == ACCOUNT_IO)
			continue;
		row = row_of_party(&rows, &accounts->parties[i], victim);
		result = add_row(&rows, &row) ? 0 : -ENOMEM;
	}
	if (!result)
		result = add_remainders(&rows, capture, of_victim);
	if (!result && lock_part)
		result = find_locks(&rows, lock_part, user);
	if (!result)
		result = blame_keep(&rows);
	if (!result)
		count_processes(&rows);
	if (result < 0)
		blame_free(&rows);
	*ret_rows = rows;
	return result;
}

void blame_free(struct blame_rows *rows)
{
	free(rows->victims);
	free(rows->rows);
	usage_groups_free(&rows->groups);
	*rows = (struct blame_rows){ 0 };
}

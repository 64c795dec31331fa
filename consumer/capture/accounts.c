/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/accounts.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/shared_text.h"
#include "common/kernel/cgroup_parts.h"
#include "consumer/host/iterator_stream.h"
#include "consumer/process/map_elements.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

/* What a capture keeps: as much as the maps have at a time, and as much again of what made room meanwhile. */
#define VICTIMS_KEPT (2 * VICTIMS_MAX)
#define PARTIES_KEPT (2 * BLAME_MAX)

#define INTERRUPTED_NS (CLOCK_SECOND_NS / 200) /* in which others had the CPU */
#define TRIES_MAX 5

#define SLOT_NS_MASK ((1ULL << ACCOUNT_SLOT_NS_BITS) - 1)
#define SLOT_NUMBER_MASK ((1ULL << (64 - ACCOUNT_SLOT_NS_BITS)) - 1)

/* ---- slots ---- */

bool accounts_set_history(const struct kernel_objects *kernel, uint64_t history_ns)
{
	uint32_t more = 0, before;

	while (more < ACCOUNT_SLOT_MORE_MAX && ACCOUNTS_HELD_NS(more) < history_ns)
		more++;
	before = __atomic_exchange_n(&kernel->control->account_slot_more, more, __ATOMIC_RELAXED);
	return before != more;
}

static uint32_t bits_of(const struct kernel_objects *kernel)
{
	return ACCOUNT_SLOT_BITS + __atomic_load_n(&kernel->control->account_slot_more, __ATOMIC_RELAXED);
}

static uint64_t later(uint64_t one, uint64_t other)
{
	return one > other ? one : other;
}

static uint64_t sooner(uint64_t one, uint64_t other)
{
	return one < other ? one : other;
}

/* The part of `ns` that a part of their slot has, if they are spread evenly over it. */
static uint64_t evenly(uint64_t ns, uint64_t part_ns, uint64_t slot_ns)
{
	return (uint64_t)((double)ns * (double)part_ns / (double)slot_ns);
}

uint64_t accounts_slots_ns(const __u64 slots[ACCOUNT_SLOTS], uint32_t bits, uint64_t from_ns, uint64_t to_ns,
			   uint64_t now_ns)
{
	uint64_t sum = 0;

	if (to_ns <= from_ns)
		return 0;
	for (uint64_t number = from_ns >> bits, i = 0; number <= (to_ns - 1) >> bits && i < ACCOUNT_SLOTS;
	     number++, i++) {
		uint64_t slot = slots[number % ACCOUNT_SLOTS], begins = number << bits,
			 ends = sooner((number + 1) << bits, later(now_ns, begins + 1)),
			 ns = slot & SLOT_NS_MASK,
			 part = later(sooner(to_ns, ends), begins) - later(begins, from_ns);

		if (slot >> ACCOUNT_SLOT_NS_BITS != (number & SLOT_NUMBER_MASK))
			continue;
		sum += part >= ends - begins ? ns : evenly(ns, part, ends - begins);
	}
	return sum;
}

/* ---- victims and parties ---- */

static void free_place(struct account_place *place)
{
	shared_text_free(place->cgroup);
	shared_text_free(place->unit);
}

static struct account_place make_place(const char *cgroup)
{
	struct account_place place = { .cgroup = shared_text_new(cgroup) };
	char unit[NAME_MAX + 1];

	if (place.cgroup && cgroup_unit(place.cgroup, unit))
		place.unit = shared_text_new(unit);
	return place;
}

/* A name as the kernel tells it, into zeros: bytes behind the NUL count for nothing. */
static void copy_comm(char into[ABI_COMM_BYTES], const char from[ABI_COMM_BYTES])
{
	memcpy(into, from, strnlen(from, ABI_COMM_BYTES - 1));
}

/*
 * Those that are not covered have a place only so that they are judged once: HASH_INDEX_NONE where they have taken half of all.
 */
static int find_victim(struct accounts_reading *reading, const char comm[ABI_COMM_BYTES], uint64_t cgroup_id,
		       uint32_t tgid, uint32_t *ret_position)
{
	struct accounts *accounts = reading->accounts;
	const struct accounts_scope *scope = reading->scope;
	struct account_victim wanted = { .cgroup_id = cgroup_id, .tgid = scope->of_processes ? tgid : 0 },
			      *victim;
	const char *cgroup = NULL;
	uint32_t found;

	copy_comm(wanted.comm, comm);
	found = hash_index_find_key(&accounts->victims_index, HASH_KEYS_BEFORE(accounts->victims, threads),
				    &wanted);
	*ret_position = found;
	if (found != HASH_INDEX_NONE) {
		victim = &accounts->victims[found];
		/* of several processes: a new one may be none of those that were asked for */
		if (scope->of_processes && !victim->tgid)
			victim->is_covered = scope->covers(scope->user, wanted.comm, cgroup_id, 0, &cgroup);
		return 0;
	}
	wanted.is_covered = scope->covers(scope->user, wanted.comm, cgroup_id, wanted.tgid, &cgroup);
	if (!wanted.is_covered && accounts->victims_count >= VICTIMS_KEPT / 2)
		return 0;
	if (accounts->victims_count >= VICTIMS_KEPT)
		return -ENOSPC;
	if (hash_index_intern(&accounts->victims_index, HASH_KEYS_BEFORE(accounts->victims, threads),
			      accounts->victims, accounts->victims_count, accounts->victims_room, &wanted,
			      ret_position) < 0)
		return -ENOMEM;
	if (wanted.is_covered)
		wanted.place = make_place(cgroup);
	accounts->victims[*ret_position] = wanted;
	return 0;
}

int accounts_add_victim(struct accounts_reading *reading, uint32_t id, const struct victim_sums *sums)
{
	struct account_victim *victim;
	uint32_t position;
	int result = find_victim(reading, sums->comm, sums->cgroup_id, sums->tgid, &position);

	if (result < 0 || position == HASH_INDEX_NONE)
		return result;
	victim = &reading->accounts->victims[position];
	if (!victim->is_covered)
		return 0;
	for (uint32_t i = 0; i < ACCOUNTS; i++)
		victim->ns[i] += accounts_slots_ns(sums->slots[i], reading->bits, reading->from_ns,
						   reading->to_ns, reading->now_ns);
	if (array_make_room(reading->read, reading->read_count, reading->read_room, 1U))
		return -ENOMEM;
	reading->read[reading->read_count] = (struct accounts_id){ id, position };
	return hash_index_add_key(&reading->ids, HASH_KEYS(reading->read, id), reading->read_count++);
}

static int find_party(struct accounts *accounts, const struct blame_key *key,
		      struct account_party **ret_party)
{
	uint32_t found =
		hash_index_find_key(&accounts->parties_index, HASH_KEYS(accounts->parties, key), key);

	if (found == HASH_INDEX_NONE && accounts->parties_count >= PARTIES_KEPT)
		return -ENOSPC;
	if (found == HASH_INDEX_NONE &&
	    hash_index_intern(&accounts->parties_index, HASH_KEYS(accounts->parties, key), accounts->parties,
			      accounts->parties_count, accounts->parties_room, key, &found) < 0)
		return -ENOMEM;
	*ret_party = &accounts->parties[found];
	return 0;
}

int accounts_add_blame(struct accounts_reading *reading, const struct blame_key *key,
		       const struct blame_sums *sums)
{
	struct blame_key own = {
		.wait = key->wait, .by = key->by, .then = key->then, .cgroup_id = key->cgroup_id
	};
	struct account_party *party;
	uint32_t found;
	uint64_t ns;
	int result;

	if (key->wait >= ACCOUNTS || key->by >= BLAME_KINDS || key->then > ACCOUNTS)
		return -EBADMSG;
	found = hash_index_find_key(&reading->ids, HASH_KEYS(reading->read, id), &key->victim);
	ns = accounts_slots_ns(sums->slots, reading->bits, reading->from_ns, reading->to_ns, reading->now_ns);
	if (found == HASH_INDEX_NONE || !ns)
		return 0;
	copy_comm(own.comm, key->comm);
	own.victim = reading->read[found].victim;
	result = find_party(reading->accounts, &own, &party);
	if (!result)
		party->ns += ns;
	return result;
}

/* ---- the kernel's maps ---- */

static int read_victim(void *user, const void *key, const void *value)
{
	uint32_t id;

	memcpy(&id, key, sizeof(id));
	return accounts_add_victim(user, id, value);
}

static int read_blame(void *user, const void *key, const void *value)
{
	return accounts_add_blame(user, key, value);
}

static void reading_free(struct accounts_reading *reading)
{
	hash_index_free(&reading->ids);
	free(reading->read);
}

/* Of what lies between until_ns and to_ns. */
static struct accounts_reading reading_of(struct accounts *accounts, const struct kernel_objects *kernel,
					  uint64_t to_ns, uint64_t now_ns, const struct accounts_scope *scope)
{
	return (struct accounts_reading){ .accounts = accounts,
					  .scope = scope,
					  .from_ns = accounts->until_ns,
					  .to_ns = to_ns,
					  .now_ns = now_ns,
					  .bits = bits_of(kernel) };
}

static int add_victims(struct accounts_reading *reading, const struct kernel_objects *kernel)
{
	return map_elements_read(kernel->map_fds[PIN_VICTIMS], sizeof(uint32_t), sizeof(struct victim_sums),
				 read_victim, reading);
}

/* Behind the victims, whose ids it knows. */
static int add_blame(struct accounts_reading *reading, const struct kernel_objects *kernel)
{
	return reading->scope->sums_only
		       ? 0
		       : map_elements_read(kernel->map_fds[PIN_BLAME], sizeof(struct blame_key),
					   sizeof(struct blame_sums), read_blame, reading);
}

void accounts_begin(struct accounts *accounts, const struct kernel_objects *kernel, uint64_t from_ns,
		    uint64_t valid_ns, uint64_t now_ns)
{
	uint64_t held_ns = (uint64_t)(ACCOUNT_SLOTS - 2) << bits_of(kernel);

	*accounts = (struct accounts){ 0 };
	from_ns = later(from_ns, valid_ns);
	accounts->from_ns = accounts->until_ns = later(from_ns, clock_before(now_ns, held_ns));
}

void accounts_follow(struct accounts *accounts, const struct kernel_objects *kernel, uint64_t now_ns,
		     const struct accounts_scope *scope)
{
	uint64_t slot_ns = 1ULL << bits_of(kernel),
		 to_ns = (now_ns & ~(slot_ns - 1)) - ACCOUNT_SLOTS / 2 * slot_ns;

	/* a capture may have begun later than its tick */
	if (now_ns > accounts->until_ns + (ACCOUNT_SLOTS - 4) * slot_ns) {
		_cleanup_(reading_free) struct accounts_reading reading =
			reading_of(accounts, kernel, to_ns, now_ns, scope);

		if (!add_victims(&reading, kernel))
			add_blame(&reading, kernel);
		accounts->until_ns = to_ns;
	}
}

/* ---- threads that are away ---- */

static bool is_sane(const struct away_record *record)
{
	return record->header.type == RECORD_AWAY && record->header.bytes == sizeof(*record) &&
	       record->account <= ACCOUNTS;
}

/*
 * The time from since_ns to until_ns within the span. accounts_slots_ns() divides the first slot of the span evenly. So does this:
 * then both together are what the span has of that slot.
 */
static uint64_t away_ns(const struct accounts_reading *reading, uint64_t since_ns, uint64_t until_ns)
{
	uint64_t from_ns = reading->accounts->from_ns, to_ns = sooner(until_ns, reading->to_ns),
		 begins = from_ns >> reading->bits << reading->bits,
		 ends = sooner(begins + (1ULL << reading->bits), reading->now_ns), away = 0;

	if (reading->to_ns <= from_ns)
		return 0;
	if (to_ns > later(since_ns, ends))
		away = to_ns - later(since_ns, ends);
	if (sooner(until_ns, ends) > later(since_ns, begins))
		away += evenly(sooner(until_ns, ends) - later(since_ns, begins),
			       sooner(reading->to_ns, ends) - from_ns, ends - begins);
	return away;
}

static int add_thread(struct accounts_reading *reading, const struct away_record *record)
{
	struct account_victim *victim;
	uint32_t position;
	int result = find_victim(reading, record->comm, record->cgroup_id, record->tgid, &position);

	if (result < 0 || position == HASH_INDEX_NONE)
		return result;
	victim = &reading->accounts->victims[position];
	victim->threads++;
	if (record->account < ACCOUNTS)
		victim->ns[record->account] += away_ns(reading, record->since_ns,
						       record->until_ns ? record->until_ns : reading->now_ns);
	return 0;
}

long accounts_add_away(void *user, const char *records, size_t bytes)
{
	struct accounts_reading *reading = user;
	size_t consumed = 0;

	for (; bytes - consumed >= sizeof(struct away_record); consumed += sizeof(struct away_record)) {
		struct away_record record;

		memcpy(&record, records + consumed, sizeof(record));
		if (!is_sane(&record))
			return -EBADMSG;
		if (add_thread(reading, &record) == -ENOMEM)
			return -ENOMEM;
	}
	return (long)consumed;
}

static int add_away(struct accounts_reading *reading, const struct kernel_objects *kernel)
{
	_cleanup_close_ int fd = kernel_objects_open_iterator(kernel, PIN_AWAY);

	return fd < 0 ? fd : iterator_stream_read(fd, accounts_add_away, reading);
}

/* The sums as they were before this reading; a victim that it has met first had none. */
static void forget_reading(struct accounts_reading *reading, const uint64_t (*before)[ACCOUNTS],
			   uint32_t before_count)
{
	for (uint32_t i = 0; i < reading->accounts->victims_count; i++) {
		struct account_victim *victim = &reading->accounts->victims[i];

		victim->threads = 0;
		if (i < before_count)
			memcpy(victim->ns, before[i], sizeof(victim->ns));
		else
			memset(victim->ns, 0, sizeof(victim->ns));
	}
	hash_index_free(&reading->ids);
	reading->read_count = 0;
}

/* Grows while this thread does not run. */
static uint64_t idle_ns(const struct clock *clock)
{
	return clock_now_ns(clock) - clock_spent_ns(clock);
}

/*
 * A wait that ends after the sums were read, and before its thread is, is in neither. So the two are read right after each other,
 * and again where others had the CPU in between.
 */
static int add_victims_and_away(struct accounts_reading *reading, const struct kernel_objects *kernel,
				const struct clock *clock)
{
	const struct accounts *accounts = reading->accounts;
	uint32_t before_count = accounts->victims_count;
	_cleanup_free_ uint64_t(*before)[ACCOUNTS] = calloc(before_count + 1U, sizeof(*before));
	int result;

	if (!before)
		return -ENOMEM;
	for (uint32_t i = 0; i < before_count; i++)
		memcpy(before[i], accounts->victims[i].ns, sizeof(before[i]));
	for (int tries = 1;; tries++) {
		uint64_t began_ns = idle_ns(clock);

		reading->now_ns = clock_now_ns(clock);
		result = add_victims(reading, kernel);
		if (!result)
			result = add_away(reading, kernel);
		if (result < 0 || tries == TRIES_MAX || idle_ns(clock) - began_ns < INTERRUPTED_NS)
			return result;
		forget_reading(reading, before, before_count);
	}
}

int accounts_end(struct accounts *accounts, const struct kernel_objects *kernel, uint64_t end_ns,
		 const struct clock *clock, const struct accounts_scope *scope)
{
	uint64_t now_ns = clock_now_ns(clock);
	_cleanup_(reading_free) struct accounts_reading reading =
		reading_of(accounts, kernel, sooner(end_ns, now_ns), now_ns, scope);
	int result = add_victims_and_away(&reading, kernel, clock);

	if (!result)
		result = add_blame(&reading, kernel);
	accounts->until_ns = reading.to_ns;
	accounts->is_complete = !result;
	return result;
}

/* They were kept so that each was judged once. Without memory they stay. */
static void drop_uncovered(struct accounts *accounts)
{
	_cleanup_free_ uint32_t *places = calloc(accounts->victims_count + 1U, sizeof(*places));
	uint32_t victims = 0, parties = 0;

	if (!places)
		return;
	for (uint32_t i = 0; i < accounts->victims_count; i++) {
		places[i] = accounts->victims[i].is_covered ? victims : HASH_INDEX_NONE;
		if (accounts->victims[i].is_covered)
			accounts->victims[victims++] = accounts->victims[i];
		else
			free_place(&accounts->victims[i].place);
	}
	for (uint32_t i = 0; i < accounts->parties_count; i++) {
		struct account_party party = accounts->parties[i];

		party.key.victim = places[party.key.victim];
		if (party.key.victim != HASH_INDEX_NONE)
			accounts->parties[parties++] = party;
	}
	accounts->victims_count = victims;
	accounts->parties_count = parties;
}

void accounts_settle(struct accounts *accounts, const struct accounts_scope *scope)
{
	drop_uncovered(accounts);
	for (uint32_t i = 0; i < accounts->parties_count; i++) {
		struct account_party *party = &accounts->parties[i];

		if (party->key.cgroup_id)
			party->place = make_place(scope->path(scope->user, party->key.cgroup_id));
	}
	hash_index_free(&accounts->victims_index);
	hash_index_free(&accounts->parties_index);
	array_fit(accounts->victims, accounts->victims_count, accounts->victims_room);
	array_fit(accounts->parties, accounts->parties_count, accounts->parties_room);
}

void accounts_free(struct accounts *accounts)
{
	for (uint32_t i = 0; i < accounts->victims_count; i++)
		free_place(&accounts->victims[i].place);
	for (uint32_t i = 0; i < accounts->parties_count; i++)
		free_place(&accounts->parties[i].place);
	free(accounts->victims);
	free(accounts->parties);
	hash_index_free(&accounts->victims_index);
	hash_index_free(&accounts->parties_index);
	*accounts = (struct accounts){ 0 };
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * in_flight.bpf.c owns the counts of in_flight.h. A device has places for a few parties; the requests of all others count together.
 * A party without requests leaves its place to another, and a victim without requests its own to another victim.
 *
 * The time of a moment is divided once for all: `each` is the sum of what a single request had of it, and what a party
 * had is summed when the number of its requests changes, or a victim is charged. So an event costs the same however many
 * parties there are. A victim is charged with what each party had since the last change of its own requests, times these.
 *
 * CPUs add and subtract at once, without a lock. Where one takes a place while another counts a request there, the request
 * counts for the new party until its end.
 */
#include "bpf/in_flight.h"
#include "bpf/account_parts.h"
#include "bpf/histogram.h"

#define DEVICES 64U /* a power of two */
#define DEVICES_TRIED 4U
#define PARTIES 16U /* a power of two; behind them is a place for all others */
#define PARTIES_TRIED 4U
#define PLACES_A_DEVICE 32U /* of which there are PARTIES + 1 */
#define WAITERS 8U          /* victims that wait for a device at a time */

#define PARTY_BUSY 1U /* its place is being taken */

#define EACH_BITS 10U /* times are in parts of a ns, which are many requests' */

struct party {
	__u64 id; /* hash of the members below, neither 0, which means nobody, nor PARTY_BUSY */
	__u64 cgroup_id;
	__u64 comm[2];
	__u32 by; /* BLAME_* */
	__s32 requests;
	__u64 at;    /* `each` of the device up to which `had` is summed */
	__u64 had;   /* by all who had the place */
	__u64 first; /* what `had` was when the party took the place */
};

struct waiter {
	__u32 victim; /* 0: none */
	__s32 requests;
	__u64 charged[PARTIES + 1]; /* `had` of each place up to which the victim is charged */
};

struct block_device {
	__u64 since_ns; /* of in_flight_enter() */
	__u32 device;   /* 0: none */
	__s32 requests; /* of all parties */
	__s32 waiting;  /* requests of victims */
	__u32 reserved;
	__u64 at_ns; /* up to which `each` is summed, while victims wait */
	__u64 each;
	struct party parties[PARTIES + 1];
	struct waiter waiters[WAITERS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, DEVICES);
	__type(key, __u32);
	__type(value, struct block_device);
} block_devices SEC(".maps");

/* Argument of the bpf_loop() callbacks. */
struct device_search {
	__u32 device;
	__u32 makes;
	__u32 found; /* 1 + its index */
};

static long try_device(__u32 number, struct device_search *search)
{
	__u32 index = (search->device ^ search->device >> 20) + number, before;
	struct block_device *there;

	index %= DEVICES;
	there = bpf_map_lookup_elem(&block_devices, &index);
	if (!there)
		return 1;
	before = *(volatile __u32 *)&there->device;
	if (!before && search->makes)
		before = __sync_val_compare_and_swap(&there->device, 0, search->device) ?: search->device;
	if (before == search->device)
		search->found = index + 1;
	return search->found || !before;
}

/* Its index and 1, or 0. */
static __noinline __u32 find_device(__u32 device, __u32 makes)
{
	struct device_search search = { .device = device, .makes = makes };

	if (device)
		bpf_loop(DEVICES_TRIED, try_device, &search, 0);
	return search.found;
}

/* ---- time ---- */

/* Before the number of the device's requests changes. */
static __always_inline void advance(struct block_device *device, __u64 now_ns)
{
	__u64 before = *(volatile __u64 *)&device->at_ns;
	__s32 requests = *(volatile __s32 *)&device->requests;

	if (*(volatile __s32 *)&device->waiting <= 0 || (__s64)(now_ns - before) <= 0 ||
	    __sync_val_compare_and_swap(&device->at_ns, before, now_ns) != before)
		return;
	if (requests > 0)
		__sync_fetch_and_add(&device->each, ((now_ns - before) << EACH_BITS) / (__u32)requests);
}

/* Before the number of the party's requests changes: sums up to now what it had. */
static __always_inline void sum_party(struct block_device *device, struct party *party)
{
	__u64 each = *(volatile __u64 *)&device->each, before = *(volatile __u64 *)&party->at;
	__s32 requests = *(volatile __s32 *)&party->requests;

	if (each == before || __sync_val_compare_and_swap(&party->at, before, each) != before)
		return;
	if (requests > 0 && (__s64)(each - before) > 0)
		__sync_fetch_and_add(&party->had, (each - before) * (__u32)requests);
}

/* A count that began at 0 while a request entered does not have it. */
static __always_inline void take_one(__s32 *count)
{
	if (__sync_fetch_and_add(count, -1) <= 0)
		__sync_fetch_and_add(count, 1);
}

/* ---- parties ---- */

static __always_inline __u64 id_of(const struct blame_key *party)
{
	const __u64 *comm = (const void *)party->comm;
	__u64 hash = table_hash(party->cgroup_id ^ (__u64)party->by << 56);

	hash = table_hash(hash ^ hash >> 32 ^ comm[0]);
	hash = table_hash(hash ^ hash >> 32 ^ comm[1]);
	return (hash ^ hash >> 32) | 2;
}

struct party_search {
	struct block_device *device;
	__u64 id;
	__u32 found; /* its index */
	__u32 free;  /* the first one without requests */
};

static long try_party(__u32 number, struct party_search *search)
{
	__u32 index = ((__u32)search->id / PARTIES + number) % PARTIES;
	struct party *there = &search->device->parties[index];
	__u64 id = *(volatile __u64 *)&there->id;

	if (id == search->id)
		search->found = index;
	else if (search->free == PARTIES && id != PARTY_BUSY && *(volatile __s32 *)&there->requests <= 0)
		search->free = index;
	return id == search->id;
}

/* Of a party that has no place yet. */
static __always_inline void take_party(struct party_search *search, const struct blame_key *party)
{
	const __u64 *comm = (const void *)party->comm;
	struct party *free;
	__u64 before;

	if (search->free >= PARTIES)
		return;
	free = &search->device->parties[search->free];
	before = *(volatile __u64 *)&free->id;
	if (before == PARTY_BUSY || __sync_val_compare_and_swap(&free->id, before, PARTY_BUSY) != before)
		return;
	sum_party(search->device, free);
	free->first = free->had;
	free->requests = 0;
	free->by = party->by;
	free->cgroup_id = party->cgroup_id;
	free->comm[0] = comm[0];
	free->comm[1] = comm[1];
	publish(&free->id, search->id);
	search->found = search->free;
}

static long forget_party(__u32 index, struct block_device **device)
{
	if (index <= PARTIES)
		(*device)->parties[index].requests = 0;
	return 0;
}

static long forget_waiter(__u32 index, struct block_device **device)
{
	if (index < WAITERS)
		(*device)->waiters[index].requests = 0;
	return 0;
}

/* NULL: there are too many. */
static __always_inline struct block_device *device_counted(__u32 index, __u64 since_ns)
{
	struct block_device *device = bpf_map_lookup_elem(&block_devices, &index);

	if (device && device->since_ns != since_ns) {
		device->since_ns = since_ns;
		device->requests = device->waiting = 0;
		bpf_loop(PARTIES + 1, forget_party, &device, 0);
		bpf_loop(WAITERS, forget_waiter, &device, 0);
	}
	return device;
}

__noinline __u32 in_flight_enter(const struct blame_key *party, __u32 device, __u64 since_ns, __u64 now_ns)
{
	struct party_search search = { .found = PARTIES, .free = PARTIES };
	__u32 index = find_device(device, 1) - 1;
	struct party *found;

	search.device = device_counted(index, since_ns);
	if (!party || !search.device)
		return 0;
	search.id = id_of(party);
	bpf_loop(PARTIES_TRIED, try_party, &search, 0);
	if (search.found == PARTIES)
		take_party(&search, party);
	if (search.found > PARTIES)
		return 0;
	found = &search.device->parties[search.found];
	advance(search.device, now_ns);
	sum_party(search.device, found);
	__sync_fetch_and_add(&found->requests, 1);
	__sync_fetch_and_add(&search.device->requests, 1);
	return 1 + index * PLACES_A_DEVICE + search.found;
}

__noinline int in_flight_leave(__u32 place, __u64 now_ns)
{
	__u32 index = (place - 1) / PLACES_A_DEVICE, of_party = (place - 1) % PLACES_A_DEVICE;
	struct block_device *device = place ? bpf_map_lookup_elem(&block_devices, &index) : NULL;

	if (!device || of_party > PARTIES)
		return 0;
	advance(device, now_ns);
	sum_party(device, &device->parties[of_party]);
	take_one(&device->parties[of_party].requests);
	take_one(&device->requests);
	return 0;
}

/* ---- blame ---- */

struct charge {
	struct block_device *device;
	struct waiter *waiter;
	struct blame_key key;
	__u64 number;   /* of the slot */
	__u64 requests; /* of the waiter */
};

static __always_inline void add_blame(struct charge *charge, const struct party *party, __u32 by, __u64 had)
{
	__u64 *comm = (void *)charge->key.comm, ns = had * charge->requests >> EACH_BITS;

	if (!ns)
		return;
	charge->key.by = (__u8)by;
	charge->key.cgroup_id = by == BLAME_UNSEEN ? 0 : party->cgroup_id;
	comm[0] = by == BLAME_UNSEEN ? 0 : party->comm[0];
	comm[1] = by == BLAME_UNSEEN ? 0 : party->comm[1];
	account_add_blame(&charge->key, charge->number, ns);
}

/* What those had who had the place before is of nobody known. */
static long charge_party(__u32 index, struct charge *charge)
{
	__u64 had, first, since;
	struct party *party;

	if (index > PARTIES)
		return 1;
	party = &charge->device->parties[index];
	sum_party(charge->device, party);
	had = *(volatile __u64 *)&party->had;
	first = *(volatile __u64 *)&party->first;
	if (had == *(volatile __u64 *)&charge->waiter->charged[index])
		return 0;
	since = __sync_lock_test_and_set(&charge->waiter->charged[index], had);
	if ((__s64)(had - since) <= 0 || !charge->requests)
		return 0;
	if ((__s64)(first - since) > 0)
		add_blame(charge, party, BLAME_UNSEEN, first - since);
	else
		first = since;
	add_blame(charge, party, index < PARTIES ? party->by : BLAME_UNSEEN, had - first);
	return 0;
}

/* Before the number of the victim's requests changes. */
static __noinline int charge_waiter(struct block_device *device, struct waiter *waiter, __u64 now_ns)
{
	struct charge charge = { .key = { .wait = ACCOUNT_IO, .then = ACCOUNTS } };

	charge.device = device;
	charge.waiter = waiter;
	charge.key.victim = waiter->victim;
	charge.number = now_ns >> slot_bits();
	charge.requests = waiter->requests > 0 ? (__u32)waiter->requests : 0;
	advance(device, now_ns);
	bpf_loop(PARTIES + 1, charge_party, &charge, 0);
	return 0;
}

struct waiter_search {
	struct block_device *device;
	__u32 victim;
	__u32 found; /* its index */
	__u32 free;  /* one without requests */
};

static long try_waiter(__u32 number, struct waiter_search *search)
{
	__u32 index = (search->victim + number) % WAITERS;
	const struct waiter *there = &search->device->waiters[index];

	if (*(volatile const __u32 *)&there->victim == search->victim)
		search->found = index;
	else if (*(volatile const __s32 *)&there->requests <= 0)
		search->free = index;
	return search->found < WAITERS;
}

__noinline __u32 in_flight_wait(__u32 device, __u32 victim, __u64 since_ns, __u64 now_ns)
{
	struct waiter_search search = { .victim = victim, .found = WAITERS, .free = WAITERS };
	__u32 index = find_device(device, 1) - 1;
	struct waiter *waiter;

	search.device = device_counted(index, since_ns);
	if (!search.device)
		return 0;
	bpf_loop(WAITERS, try_waiter, &search, 0);
	if (search.found >= WAITERS)
		search.found = search.free;
	if (search.found >= WAITERS)
		return 0;
	waiter = &search.device->waiters[search.found];
	if (*(volatile __s32 *)&search.device->waiting <= 0)
		search.device->at_ns = now_ns;
	charge_waiter(search.device, waiter, now_ns);
	waiter->victim = victim;
	__sync_fetch_and_add(&waiter->requests, 1);
	__sync_fetch_and_add(&search.device->waiting, 1);
	return 1 + index * WAITERS + search.found;
}

__noinline int in_flight_waited(__u32 place, __u64 now_ns)
{
	__u32 index = (place - 1) / WAITERS, of_victim = (place - 1) % WAITERS;
	struct block_device *device = place ? bpf_map_lookup_elem(&block_devices, &index) : NULL;

	if (!device)
		return 0;
	charge_waiter(device, &device->waiters[of_victim], now_ns);
	take_one(&device->waiters[of_victim].requests);
	take_one(&device->waiting);
	return 0;
}

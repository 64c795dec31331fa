/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * in_flight.bpf.c owns the counts of in_flight.h. A device has places for a few parties; the requests of all others count together.
 * A party without requests leaves its place to another.
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

#define PARTY_BUSY 1U /* its place is being taken */

struct party {
	__u64 id; /* hash of the members below, neither 0, which means nobody, nor PARTY_BUSY */
	__u64 cgroup_id;
	__u64 comm[2];
	__u32 by; /* BLAME_* */
	__s32 requests;
};

struct block_device {
	__u64 since_ns; /* of in_flight_enter() */
	__u32 device;   /* 0: none */
	__u32 reserved;
	struct party parties[PARTIES + 1];
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
	const struct blame_key *party;
	struct block_device *device;
	__u64 id;
	__u32 found; /* its index */
};

static long try_party(__u32 number, struct party_search *search)
{
	__u32 index = ((__u32)search->id / PARTIES + number) % PARTIES;
	struct party *there = &search->device->parties[index];
	const __u64 *comm = (const void *)search->party->comm;
	__u64 before = *(volatile __u64 *)&there->id;

	if (before != search->id) {
		if (before == PARTY_BUSY || *(volatile __s32 *)&there->requests > 0 ||
		    __sync_val_compare_and_swap(&there->id, before, PARTY_BUSY) != before)
			return 0;
		there->requests = 0;
		there->by = search->party->by;
		there->cgroup_id = search->party->cgroup_id;
		there->comm[0] = comm[0];
		there->comm[1] = comm[1];
		publish(&there->id, search->id);
	}
	search->found = index;
	return 1;
}

static long forget_requests(__u32 index, struct party_search *search)
{
	if (index <= PARTIES)
		search->device->parties[index].requests = 0;
	return 0;
}

__noinline __u32 in_flight_enter(const struct blame_key *party, __u32 device, __u64 since_ns)
{
	struct party_search search = { .found = PARTIES };
	__u32 index = find_device(device, 1) - 1;
	struct blame_key own;

	if (!party)
		return 0;
	own = *party;
	search.party = &own;
	search.id = id_of(party);
	search.device = bpf_map_lookup_elem(&block_devices, &index);
	if (!search.device)
		return 0;
	if (search.device->since_ns != since_ns) {
		search.device->since_ns = since_ns;
		bpf_loop(PARTIES + 1, forget_requests, &search, 0);
	}
	bpf_loop(PARTIES_TRIED, try_party, &search, 0);
	if (search.found > PARTIES)
		return 0;
	__sync_fetch_and_add(&search.device->parties[search.found].requests, 1);
	return 1 + index * PLACES_A_DEVICE + search.found;
}

__noinline int in_flight_leave(__u32 place)
{
	__u32 index = (place - 1) / PLACES_A_DEVICE, of_party = (place - 1) % PLACES_A_DEVICE;
	struct block_device *device = place ? bpf_map_lookup_elem(&block_devices, &index) : NULL;

	/* a count that began at 0 while the request entered does not have it */
	if (device && of_party <= PARTIES &&
	    __sync_fetch_and_add(&device->parties[of_party].requests, -1) <= 0)
		__sync_fetch_and_add(&device->parties[of_party].requests, 1);
	return 0;
}

/* ---- blame ---- */

struct charge {
	const struct block_device *device;
	struct blame_key key;
	__u64 ns;
	__u64 number; /* of the slot */
	__u64 all;    /* requests that the device has */
};

static __always_inline __u32 requests_of(const struct party *party)
{
	__s32 requests = *(volatile const __s32 *)&party->requests;

	return requests > 0 ? (__u32)requests : 0;
}

static long add_requests(__u32 index, struct charge *charge)
{
	if (index <= PARTIES)
		charge->all += requests_of(&charge->device->parties[index]);
	return 0;
}

static long add_part(__u32 index, struct charge *charge)
{
	const struct party *party;
	__u64 *comm = (void *)charge->key.comm;
	__u64 part, id;

	if (index > PARTIES)
		return 1;
	party = &charge->device->parties[index];
	part = charge->ns * requests_of(party) / charge->all;
	if (!part)
		return 0;
	id = *(volatile const __u64 *)&party->id;
	charge->key.by = index < PARTIES ? (__u8)party->by : BLAME_UNSEEN;
	charge->key.cgroup_id = party->cgroup_id;
	comm[0] = party->comm[0];
	comm[1] = party->comm[1];
	if (id != PARTY_BUSY && id == *(volatile const __u64 *)&party->id)
		account_add_blame(&charge->key, charge->number, part);
	return 0;
}

__noinline int in_flight_charge(__u32 device, __u32 victim, __u64 ns, __u64 now_ns)
{
	struct charge charge = {
		.key = { .victim = victim, .wait = ACCOUNT_IO, .then = ACCOUNTS },
		.ns = ns,
		.number = now_ns >> slot_bits(),
	};
	__u32 index = find_device(device, 0) - 1;

	charge.device = bpf_map_lookup_elem(&block_devices, &index);
	if (!charge.device || ns > HISTOGRAM_VALUE_MAX)
		return 0;
	bpf_loop(PARTIES + 1, add_requests, &charge, 0);
	if (charge.all)
		bpf_loop(PARTIES + 1, add_part, &charge, 0);
	return 0;
}

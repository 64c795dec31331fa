/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * in_flight.h counts the requests that each device has at the moment, by who asked for them, so that a victim's wait for the
 * device is charged to those whose requests were there meanwhile. bpf/block.bpf.c tells when a request enters a device and
 * leaves it; one of which the end was not seen leaves when its memory is used again.
 *
 * Each moment in which a victim waits for a device is divided among the requests that the device has in that moment. A
 * look at the end of the wait would not do: requests end together, and the last of them saw no other.
 */
#ifndef BOURDON_BPF_IN_FLIGHT_H
#define BOURDON_BPF_IN_FLIGHT_H

#include "bpf/maps.h"

/*
 * The device has a request of this party: the members `by`, cgroup_id and comm. `since_ns` is since when requests are counted; at
 * another time the device's counts begin at 0. Returns a place for in_flight_leave(), or 0.
 */
__u32 in_flight_enter(const struct blame_key *party, __u32 device, __u64 since_ns, __u64 now_ns);

int in_flight_leave(__u32 place, __u64 now_ns);

/*
 * A request of the victim waits for the device from now on, in a queue or in it. Until in_flight_waited() the time goes
 * to what `blame` has of the victim for ACCOUNT_IO. These are no parts of the time in which threads waited: a thread may
 * have many requests, and wait for none. Returns a place for in_flight_waited(), or 0: there is no room for more victims.
 */
__u32 in_flight_wait(__u32 device, __u32 victim, __u64 since_ns, __u64 now_ns);

int in_flight_waited(__u32 place, __u64 now_ns);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * in_flight.h counts the requests that each device has at the moment, by who asked for them, so that a victim's wait for the
 * device is charged to those whose requests were there meanwhile. bpf/block.bpf.c tells when a request enters a device and
 * leaves it; one of which the end was not seen leaves when its memory is used again.
 */
#ifndef BOURDON_BPF_IN_FLIGHT_H
#define BOURDON_BPF_IN_FLIGHT_H

#include "bpf/maps.h"

/*
 * The device has a request of this party: the members `by`, cgroup_id and comm. `since_ns` is since when requests are counted; at
 * another time the device's counts begin at 0. Returns a place for in_flight_leave(), or 0.
 */
__u32 in_flight_enter(const struct blame_key *party, __u32 device, __u64 since_ns);

int in_flight_leave(__u32 place);

/*
 * The victim's request has waited `ns` for this device, up to now: adds that to what `blame` has of the victim for ACCOUNT_IO,
 * in proportion to the requests that the device has now. These are no parts of the time in which threads waited: a thread may
 * have many requests, and wait for none.
 */
int in_flight_charge(__u32 device, __u32 victim, __u64 ns, __u64 now_ns);

#endif

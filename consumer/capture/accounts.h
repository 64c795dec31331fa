/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * accounts.h owns where the time of a capture's threads went, and who they waited for, from the begin of the wanted history
 * to the end: the kernel programs' own sums (bpf/sums.bpf.c), of the victims that the capture covers. The draining thread
 * gathers them.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_ACCOUNTS_H
#define BOURDON_CONSUMER_CAPTURE_ACCOUNTS_H

#include "common/abi/abi.h"
#include "common/base/clock.h"
#include "common/base/hash_index.h"
#include "consumer/process/kernel_objects.h"

#include <stdbool.h>
#include <stdint.h>

/* Where it runs. Texts of shared_text.h: equal ones are the same pointer. */
struct account_place {
	const char *cgroup; /* path; NULL: not known */
	const char *unit;   /* NULL: none */
};

/* All threads of targets with one name in one cgroup. */
struct account_victim {
	char comm[ABI_COMM_BYTES];
	uint64_t cgroup_id;
	uint32_t tgid;    /* accounts_scope.of_processes: the only one; else 0 */
	uint32_t threads; /* at the end */
	struct account_place place;
	bool is_covered; /* by the capture; of others there are no sums */
	uint64_t ns[ACCOUNTS];
};

/* What the threads of a victim waited for one party. */
struct account_party {
	struct blame_key key;       /* its member `victim` is a position in accounts.victims */
	struct account_place place; /* from accounts_settle() on */
	uint64_t ns;
};

struct accounts {
	struct account_victim *victims;
	uint32_t victims_count, victims_room;
	struct account_party *parties;
	uint32_t parties_count, parties_room;
	struct hash_index victims_index, parties_index;
	uint64_t from_ns;  /* begin of the span, CLOCK_MONOTONIC */
	uint64_t until_ns; /* up to here the kernel's sums are in it */
	bool is_complete;  /* accounts_end() has read all */
};

/* Whom a capture covers, and where cgroups are. */
struct accounts_scope {
	/*
	 * Whether the capture is of such processes; of all of them if tgid is 0. Stores the path of their cgroup, which is
	 * copied, or NULL.
	 */
	bool (*covers)(void *user, const char comm[ABI_COMM_BYTES], uint64_t cgroup_id, uint32_t tgid,
		       const char **ret_cgroup);
	/* The path of a cgroup, or NULL. */
	const char *(*path)(void *user, uint64_t cgroup_id);
	void *user;
	bool of_processes; /* single processes were asked for */
	bool sums_only;    /* whom they waited for is not read */
};

/* The span that the kernel's slots hold, if each is 2^more times as long as it can be. */
#define ACCOUNTS_HELD_NS(more) ((uint64_t)(ACCOUNT_SLOTS - 2) << (ACCOUNT_SLOT_BITS + (more)))

/* Has the programs make their slots long enough for this history. Returns whether that is a change: no slot is valid then. */
bool accounts_set_history(const struct kernel_objects *kernel, uint64_t history_ns);

/* Begins a capture's accounts. Slots are valid since `valid_ns`. */
void accounts_begin(struct accounts *accounts, const struct kernel_objects *kernel, uint64_t from_ns,
		    uint64_t valid_ns, uint64_t now_ns);

/*
 * Call it now and then while the capture is under way: before slots are used again it adds those that have been full for
 * long. An interval of which the kernel programs learn the end later, and that reaches further back, is in no account there.
 */
void accounts_follow(struct accounts *accounts, const struct kernel_objects *kernel, uint64_t now_ns,
		     const struct accounts_scope *scope);

/*
 * Adds all up to the end, or up to now if that is sooner, also what threads do that have not come back. Call it when the capture
 * ends, before what takes longer: what was added to the end's slot since then is divided evenly. 0 or -errno; then the accounts are
 * not complete.
 */
int accounts_end(struct accounts *accounts, const struct kernel_objects *kernel, uint64_t end_ns,
		 const struct clock *clock, const struct accounts_scope *scope);

/* Finds where the parties run, once that is known, and gives back the memory that adding needs. */
void accounts_settle(struct accounts *accounts, const struct accounts_scope *scope);

void accounts_free(struct accounts *accounts);

/* The two parts of accounts_end() that need no kernel, for tests: a map's element, and the iterator's records. */
struct accounts_reading {
	struct accounts *accounts;
	const struct accounts_scope *scope;
	uint64_t from_ns, to_ns, now_ns;
	uint32_t bits;
	struct hash_index ids; /* of victims that were read, by the kernel's ids: positions in `read` */
	struct accounts_id {
		uint32_t id, victim;
	} * read;
	uint32_t read_count, read_room;
};
int accounts_add_victim(struct accounts_reading *reading, uint32_t id, const struct victim_sums *sums);
int accounts_add_blame(struct accounts_reading *reading, const struct blame_key *key,
		       const struct blame_sums *sums);
long accounts_add_away(void *user, const char *records, size_t bytes);

/* How much of the slots lies between two moments; now_ns is when they were read. */
uint64_t accounts_slots_ns(const __u64 slots[ACCOUNT_SLOTS], uint32_t bits, uint64_t from_ns, uint64_t to_ns,
			   uint64_t now_ns);

#endif

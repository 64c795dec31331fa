/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * parties.h owns who took part in a capture: programs in units, as bourdond groups them, with what each used and waited for;
 * and which of them suffered and which the verdict names. The verdict is bourdond's; it is read from its sentence, so that
 * a report never names another one.
 */
#ifndef BOURDON_REPORT_PARTIES_H
#define BOURDON_REPORT_PARTIES_H

#include "report/profile.h"

#include <stdbool.h>
#include <stdint.h>

/* Processes of one program in one unit; without a unit in one cgroup. Texts live as long as the profile. */
struct party {
	const char *role; /* target, other or kernel */
	const char *program;
	const char *unit, *cgroup, *container; /* NULL: none, or not known */
	int64_t processes, ended;
	int64_t tgid; /* of the only process, if it lives; else 0 */
	int64_t cpu_ns, read_bytes, write_bytes, rss_bytes, grown_bytes;
	int64_t waited_ns; /* for the resource that fired */
};

struct parties {
	struct party *list; /* targets that waited longest first, then others that used most */
	uint32_t count, room;
};

void parties_free(struct parties *parties);
#define _cleanup_parties_ _cleanup_(parties_free)

/*
 * All parties of the capture. Texts are kept in `profile`. Returns 0; -ENOMEM; or -EIO after a query that failed. The caller
 * frees them.
 */
int parties_load(struct database *database, int64_t capture_id, struct profile *profile,
		 struct parties *ret_parties);

/* Who waited longest for the resource; NULL: no target did. */
const struct party *parties_victim(const struct parties *parties);

/*
 * Whom the sentence names that begins at `text`: by program, and of equal ones by process or place. NULL: none of them.
 */
const struct party *parties_named(const struct parties *parties, const char *text);

/* Whom a sentence on a shortage of memory names: "...; NAME grew most, by ...", or "...; the largest is NAME with ...". */
const struct party *parties_grown(const struct parties *parties, const char *because);

/* "nginx ×4 in nginx.service". Returns `into`. */
char *party_text(const struct party *party, char *into, size_t into_bytes);

/* Unit, else cgroup; NULL: neither is known. */
const char *party_place(const struct party *party);

/* What it is after a path of its cgroup, or of its unit: whether the process of the profile is of it. */
bool party_has(const struct party *party, const struct profile *profile,
	       const struct profile_process *process);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rules.h owns the rules: parsing rules.d, and deciding which rules apply to a process.
 *
 * Room: what the administrator wrote. The worker thread reads the files, main() before it; the draining
 * thread uses the result, which does not change.
 */
#ifndef BOURDON_CONSUMER_RULES_RULES_H
#define BOURDON_CONSUMER_RULES_RULES_H

#include "common/kernel/psi.h"
#include "common/policy/comm_trie.h"
#include "common/protocol/latency_groups.h"
#include "common/system/ini.h"
#include "consumer/rules/latency_key.h"

#include <stdbool.h>
#include <stdint.h>

#define RULES_MAX 1024
#define RULE_TRIGGERS_MAX 7 /* some and full of cpu, memory and io; full of irq */

struct trigger {
	enum psi_resource resource;
	enum psi_kind kind;
	uint64_t stall_us;
	uint64_t window_us;
};

/* The ways in which a trigger is watched, and their names in status and database. */
enum trigger_mode {
	TRIGGER_KERNEL,   /* the kernel watches the pressure file */
	TRIGGER_SAMPLED,  /* bourdond reads it once a second; of a capture: one of its reads fired */
	TRIGGER_MANUAL,   /* somebody asked for the capture: there is no trigger */
	TRIGGER_BASELINE, /* a calm rule's capture of history alone: there is no trigger */
	TRIGGER_KILL,     /* a process of a rule with on_kill was killed for lack of memory */
	TRIGGER_LATENCY,  /* a quantile of a latency was longer than the rule allows */
	TRIGGER_MODES
};
extern const char *const trigger_mode_names[TRIGGER_MODES];

enum rule_watch {
	WATCH_CGROUP, /* the cgroup of each process */
	WATCH_SLICE,  /* the slice around it (cgroup_slice_length()) */
	WATCH_SYSTEM,
	RULE_WATCHES,
};

extern const char *const rule_watch_names[RULE_WATCHES];

struct rule {
	uint32_t id; /* identifies this text of the rule in this database; 0 until assigned */
	uint32_t pattern_id;
	char name[64];
	char source[256]; /* file:line */
	struct comm_pattern comm;
	char *cgroup; /* glob on the cgroup path; NULL: any */
	char *unit;   /* glob on the names of systemd units; NULL: any */
	enum rule_watch watch;
	bool on_kill; /* fires when a process that it applies to is killed for lack of memory, too */
	uint64_t history_ns, capture_ns, cooldown_ns;
	struct trigger triggers[RULE_TRIGGERS_MAX];
	size_t triggers_count; /* 0: it has on_kill, latencies, or both */
	struct latency_trigger latencies[RULE_LATENCIES_MAX];
	size_t latencies_count;
	uint32_t probes; /* groups of latencies that its captures have: a bit for each LATENCY_* */
	bool has_probes; /* they were named; else they are all that the loader offers */
};

struct rule_set {
	struct rule *rules;
	size_t count;
	size_t files;           /* *.conf files read */
	struct comm_trie *trie; /* set by rules_assign_ids() */
};

/*
 * Reads all *.conf files of a directory in the order of their names. Adds
 * mistakes to `errors`; with any mistake, nothing is stored. 0, -EINVAL, -ENOMEM or another -errno:
 * -ENOENT for a missing directory. The caller frees with rules_free().
 */
int rules_read_directory(const char *directory, struct rule_set *ret_set, struct config_errors *errors);

/* Reads one text in the same way, for tests. */
int rules_read_text(const char *name, const char *text, size_t bytes, struct rule_set *ret_set,
		    struct config_errors *errors);

void rules_free(struct rule_set *set);

/* The next free ids. Ids are never reused within a database. */
struct rule_ids {
	uint32_t rule, pattern;
};

/*
 * Assigns ids to rules and patterns, and builds the trie. A rule that is unchanged from `previous` (or NULL)
 * keeps its id, and a comm keeps its pattern's id; all others get new ids. Rules with the same comm share a
 * pattern. 0 or -ENOMEM.
 */
int rules_assign_ids(struct rule_set *set, const struct rule_set *previous, struct rule_ids *ids);

/* Whether both sets have the same rules, in whatever files and lines. */
bool rules_equal(const struct rule_set *a, const struct rule_set *b);

/*
 * Stores the patterns that match a comm, the most specific first; the kernel's look-up returns the first.
 * Returns their number.
 */
size_t rules_patterns_of(const struct rule_set *set, const char comm[ABI_COMM_BYTES],
			 uint32_t ret_ids[COMM_TRIE_PATH]);

/* The groups of latencies that the rule wants measured while it is in force: `probes`, and those of its triggers. */
uint32_t rule_latency_groups(const struct rule *rule);

/* Those of its triggers alone. */
uint32_t rule_trigger_groups(const struct rule *rule);

/* Whether the rule applies in some cgroups only. */
bool rule_has_cgroups(const struct rule *rule);

/* Whether the rule applies in a cgroup, by its path and by its unit. */
bool rule_covers(const struct rule *rule, const char *cgroup);

/* Whether the rule's pattern matches the comm: without a match, no cgroup needs to be looked up. */
bool rule_names(const struct rule *rule, const char comm[ABI_COMM_BYTES]);

/* Whether a rule applies to a process with this comm in this cgroup ("" where it is not known). */
bool rule_applies(const struct rule *rule, const char comm[ABI_COMM_BYTES], const char *cgroup);

#endif

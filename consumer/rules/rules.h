/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rules.h owns the rules: what they say (rules.d), and which of them apply to a process.
 */
#ifndef BOURDON_CONSUMER_RULES_RULES_H
#define BOURDON_CONSUMER_RULES_RULES_H

#include "common/comm_trie.h"
#include "common/ini.h"
#include "common/psi.h"

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

enum rule_watch { WATCH_CGROUP, WATCH_SYSTEM };

struct rule {
	uint32_t id; /* of this rule as it is written, in this database; 0 until assigned */
	uint32_t pattern_id;
	char name[64];
	char source[256]; /* file:line */
	struct comm_pattern comm;
	char *cgroup; /* glob, NULL: any */
	enum rule_watch watch;
	uint64_t history_ns, capture_ns, cooldown_ns;
	struct trigger triggers[RULE_TRIGGERS_MAX];
	size_t triggers_count;
};

struct rule_set {
	struct rule *rules;
	size_t count;
	size_t files;           /* that they were read from */
	struct comm_trie *trie; /* after rules_assign_ids() */
};

/*
 * Reads all *.conf files of a directory, in the order of their names. Mistakes go to `errors`; when there were
 * any, nothing is stored. 0, -EINVAL, -ENOMEM or -errno: -ENOENT for a directory that does not exist.
 * The caller frees with rules_free().
 */
int rules_read_directory(const char *directory, struct rule_set *ret_set, struct config_errors *errors);

/* The same for one text, for tests. */
int rules_read_text(const char *name, const char *text, size_t bytes, struct rule_set *ret_set,
		    struct config_errors *errors);

void rules_free(struct rule_set *set);

/* What is used next: neither was ever used in the database. */
struct rule_ids {
	uint32_t rule, pattern;
};

/*
 * Numbers rules and patterns, and builds the trie. A rule that `previous` (or NULL) has as it is keeps its
 * id, and a comm its pattern's; all others take new ones. Rules with one comm share a pattern. 0 or -ENOMEM.
 */
int rules_assign_ids(struct rule_set *set, const struct rule_set *previous, struct rule_ids *ids);

/* Whether both say the same, wherever they are written. */
bool rules_equal(const struct rule_set *a, const struct rule_set *b);

/*
 * The patterns that match a comm, most specific first: what the kernel answers is the first. Returns their
 * number; none is 0.
 */
size_t rules_patterns_of(const struct rule_set *set, const char comm[ABI_COMM_BYTES],
			 uint32_t ret_ids[COMM_TRIE_PATH]);

/* Whether the rule's glob, if it has one, matches a cgroup. */
bool rule_covers(const struct rule *rule, const char *cgroup);

/* Whether a rule applies to a process with this comm in this cgroup ("" where it is not known). */
bool rule_applies(const struct rule *rule, const char comm[ABI_COMM_BYTES], const char *cgroup);

#endif

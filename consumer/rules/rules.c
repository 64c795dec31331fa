/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/rules/rules.h"

#include "common/base/cleanup.h"
#include "common/base/optional_text.h"
#include "common/kernel/cgroup_parts.h"
#include "common/text/units.h"

#include <fnmatch.h>
#include <limits.h>
#include <string.h>

#define SECOND_NS 1000000000UL
#define HISTORY_MAX_NS (600 * SECOND_NS)
#define CAPTURE_MIN_NS (1 * SECOND_NS)
#define CAPTURE_MAX_NS (3600 * SECOND_NS)
#define COOLDOWN_MAX_NS (24 * 3600 * SECOND_NS)

const char *const trigger_mode_names[TRIGGER_MODES] = { "kernel",   "sampled", "manual",
							"baseline", "kill",    "latency" };

const char *const rule_watch_names[RULE_WATCHES] = {
	[WATCH_CGROUP] = "cgroup",
	[WATCH_SLICE] = "slice",
	[WATCH_SYSTEM] = "system",
};

struct reading {
	struct rule_set set;
	struct config_errors *errors;
	struct rule *rule; /* the current section, or NULL: its keys are skipped */
	char file[200];    /* the current section's rule */
	unsigned int line;
	bool has_trigger, names_processes;
	unsigned int keys; /* one bit for each key that the current section has set */
	bool out_of_memory;
};

/* ---- values ---- */

static void set_duration(struct reading *reading, const struct ini_entry *entry, uint64_t *duration_ns,
			 uint64_t least_ns, uint64_t most_ns)
{
	uint64_t ns;
	int result = units_duration(entry->value, &ns);

	if (result == -EINVAL)
		config_error(reading->errors, entry->file, entry->line,
			     "%s = %s: expected a duration with its unit, such as 10s or 250ms", entry->key,
			     entry->value);
	else if (result < 0 || ns < least_ns || ns > most_ns)
		config_error(reading->errors, entry->file, entry->line, "%s = %s: expected %lus to %lus",
			     entry->key, entry->value, least_ns / SECOND_NS, most_ns / SECOND_NS);
	else
		*duration_ns = ns;
}

static void set_comm(struct reading *reading, const struct ini_entry *entry)
{
	const char *why;

	reading->names_processes = true;
	if (comm_pattern_parse(entry->value, &reading->rule->comm, &why))
		config_error(reading->errors, entry->file, entry->line, "comm = %s: %s", entry->value, why);
}

static void set_cgroup(struct reading *reading, const struct ini_entry *entry)
{
	if (entry->value[0] != '/') {
		config_error(reading->errors, entry->file, entry->line,
			     "cgroup = %s: expected a path below the cgroup2 mount that begins with '/'",
			     entry->value);
		return;
	}
	free(reading->rule->cgroup);
	reading->rule->cgroup = strdup(entry->value);
	reading->out_of_memory |= !reading->rule->cgroup;
}

static void set_unit(struct reading *reading, const struct ini_entry *entry)
{
	const char *why;

	reading->names_processes = true;
	if (!unit_pattern_is_valid(entry->value, &why)) {
		config_error(reading->errors, entry->file, entry->line, "unit = %s: %s", entry->value, why);
		return;
	}
	free(reading->rule->unit);
	reading->rule->unit = strdup(entry->value);
	reading->out_of_memory |= !reading->rule->unit;
}

static void set_watch(struct reading *reading, const struct ini_entry *entry)
{
	unsigned int watch = 0;

	while (watch < RULE_WATCHES && strcmp(entry->value, rule_watch_names[watch]))
		watch++;
	if (watch < RULE_WATCHES)
		reading->rule->watch = (enum rule_watch)watch;
	else
		config_error(reading->errors, entry->file, entry->line,
			     "watch = %s: expected 'cgroup', 'slice' or 'system'", entry->value);
}

static void set_on_kill(struct reading *reading, const struct ini_entry *entry)
{
	bool is_no = !strcmp(entry->value, "no");

	reading->has_trigger |= !is_no;
	reading->rule->on_kill = !is_no;
	if (!is_no && strcmp(entry->value, "yes") != 0)
		config_error(reading->errors, entry->file, entry->line,
			     "on_kill = %s: expected 'yes' or 'no'", entry->value);
}

static void set_latency(struct reading *reading, const struct ini_entry *entry)
{
	struct rule *rule = reading->rule;
	char why[LATENCY_KEY_WHY_BYTES];

	reading->has_trigger = true;
	if (latency_key_parse(entry->value, rule->latencies, &rule->latencies_count, why))
		config_error(reading->errors, entry->file, entry->line, "latency = %s: %s", entry->value,
			     why);
}

static void set_probes(struct reading *reading, const struct ini_entry *entry)
{
	const char *wrong = latency_groups_parse(entry->value, &reading->rule->probes);

	reading->rule->has_probes = true;
	if (wrong)
		config_error(
			reading->errors, entry->file, entry->line,
			"probes = %s: '%.*s' is no group; give runqueue, offcpu, block, lock, memory, softirq, exec, fork or request, parted by commas; or all, or none",
			entry->value, (int)strcspn(wrong, " \t,"), wrong);
}

/* Parses "50ms/1s", or "5%" of the default window. Returns NULL, or what is wrong. */
static const char *parse_threshold(const char *value, struct trigger *trigger)
{
	_cleanup_free_ char *stall = strdup(value);
	char *slash = stall ? strchr(stall, '/') : NULL;
	uint64_t stall_ns, window_ns;
	uint32_t ppm;

	if (!stall)
		return "out of memory";
	if (!slash) {
		if (units_percent(value, &ppm))
			return "expected STALL/WINDOW, such as 50ms/1s, or a percentage, such as 5%";
		trigger->window_us = PSI_WINDOW_DEFAULT_US;
		trigger->stall_us = (uint64_t)ppm * PSI_WINDOW_DEFAULT_US / 1000000;
	} else {
		*slash = '\0';
		if (units_duration(stall, &stall_ns) || units_duration(slash + 1, &window_ns))
			return "expected two durations with their units, such as 50ms/1s";
		trigger->stall_us = stall_ns / 1000;
		trigger->window_us = window_ns / 1000;
	}
	if (trigger->window_us < PSI_WINDOW_MIN_US || trigger->window_us > PSI_WINDOW_MAX_US)
		return "the kernel accepts windows from 500ms to 10s";
	if (!trigger->stall_us)
		return "the threshold is less than a microsecond, so it would always be crossed";
	if (trigger->stall_us > trigger->window_us)
		return "the stall is longer than its window, so it would never be seen";
	return NULL;
}

/* Returns whether the key is RESOURCE.KIND. */
static bool is_trigger(const char *key, struct trigger *ret_trigger)
{
	const char *dot = strchr(key, '.');

	for (int resource = 0; dot && resource < PSI_RESOURCES; resource++) {
		if (strlen(psi_resource_names[resource]) != (size_t)(dot - key) ||
		    strncmp(key, psi_resource_names[resource], (size_t)(dot - key)))
			continue;
		for (int kind = 0; kind < PSI_KINDS; kind++) {
			if (strcmp(dot + 1, psi_kind_names[kind]))
				continue;
			ret_trigger->resource = (enum psi_resource)resource;
			ret_trigger->kind = (enum psi_kind)kind;
			return true;
		}
	}
	return false;
}

static void add_trigger(struct reading *reading, const struct ini_entry *entry, struct trigger trigger)
{
	struct rule *rule = reading->rule;
	const char *why = parse_threshold(entry->value, &trigger);

	reading->has_trigger = true;
	if (trigger.resource == PSI_IRQ && trigger.kind == PSI_SOME)
		why = "the kernel counts irq pressure as full only: use irq.full";
	if (why) {
		config_error(reading->errors, entry->file, entry->line, "%s = %s: %s", entry->key,
			     entry->value, why);
		return;
	}
	for (size_t i = 0; i < rule->triggers_count; i++) {
		if (rule->triggers[i].resource != trigger.resource || rule->triggers[i].kind != trigger.kind)
			continue;
		config_error(reading->errors, entry->file, entry->line, "%s is set twice", entry->key);
		return;
	}
	rule->triggers[rule->triggers_count++] = trigger;
}

/* ---- sections ---- */

/* Checks that need the whole section. */
static void finish_rule(struct reading *reading)
{
	const struct rule *rule = reading->rule;

	if (!rule)
		return;
	if (!reading->names_processes)
		config_error(reading->errors, reading->file, reading->line,
			     "rule '%s' has no comm and no unit", rule->name);
	if (!reading->has_trigger)
		config_error(
			reading->errors, reading->file, reading->line,
			"rule '%s' has no trigger, such as cpu.some = 10%%, on_kill = yes or latency = runqueue.p99 > 20ms / 10s",
			rule->name);
	for (size_t i = 0; i < rule->triggers_count; i++)
		if (rule->watch == WATCH_SYSTEM && rule->triggers[i].resource == PSI_CPU &&
		    rule->triggers[i].kind == PSI_FULL)
			config_error(reading->errors, reading->file, reading->line,
				     "rule '%s': cpu.full of the whole system is always 0", rule->name);
	reading->rule = NULL;
}

static void begin_rule(struct reading *reading, const struct ini_entry *entry)
{
	const char *name = strncmp(entry->section, "rule ", 5) ? NULL : entry->section + 5;
	struct rule *grown;

	finish_rule(reading);
	while (name && *name == ' ')
		name++;
	if (!name || !*name) {
		config_error(reading->errors, entry->file, entry->line, "expected '[rule NAME]', not '[%s]'",
			     entry->section);
		return;
	}
	for (size_t i = 0; i < reading->set.count; i++) {
		if (strcmp(reading->set.rules[i].name, name))
			continue;
		config_error(reading->errors, entry->file, entry->line, "rule '%s' is already defined at %s",
			     name, reading->set.rules[i].source);
		return;
	}
	if (reading->set.count == RULES_MAX) {
		config_error(reading->errors, entry->file, entry->line, "more than %d rules", RULES_MAX);
		return;
	}
	grown = reallocarray(reading->set.rules, reading->set.count + 1, sizeof(*grown));
	if (!grown) {
		reading->out_of_memory = true;
		return;
	}
	reading->set.rules = grown;
	reading->rule = &grown[reading->set.count++];
	*reading->rule = (struct rule){ .comm = { .prefix = true }, /* every process, if it has a unit */
					.history_ns = 10 * SECOND_NS,
					.capture_ns = 5 * SECOND_NS,
					.cooldown_ns = 60 * SECOND_NS,
					.probes = LATENCY_ALL };
	snprintf(reading->rule->name, sizeof(reading->rule->name), "%s", name);
	snprintf(reading->rule->source, sizeof(reading->rule->source), "%.200s:%u", entry->file, entry->line);
	snprintf(reading->file, sizeof(reading->file), "%s", entry->file);
	reading->line = entry->line;
	reading->has_trigger = reading->names_processes = false;
	reading->keys = 0;
}

/* A key of a rule: what reads its value, or where the duration goes and its bounds. */
static const struct rule_key {
	const char *name;
	void (*set)(struct reading *reading, const struct ini_entry *entry);
	size_t at; /* in struct rule */
	uint64_t least_ns, most_ns;
} keys[] = {
	{ "comm", .set = set_comm },
	{ "cgroup", .set = set_cgroup },
	{ "unit", .set = set_unit },
	{ "watch", .set = set_watch },
	{ "on_kill", .set = set_on_kill },
	{ "latency", .set = set_latency },
	{ "probes", .set = set_probes },
	{ "history", .at = offsetof(struct rule, history_ns), .most_ns = HISTORY_MAX_NS },
	{ "capture", .at = offsetof(struct rule, capture_ns), .least_ns = CAPTURE_MIN_NS,
	  .most_ns = CAPTURE_MAX_NS },
	{ "cooldown", .at = offsetof(struct rule, cooldown_ns), .most_ns = COOLDOWN_MAX_NS },
};

/* Returns false for another key. */
static bool set_key(struct reading *reading, const struct ini_entry *entry)
{
	const struct rule_key *key = keys;
	unsigned int bit;

	while (strcmp(entry->key, key->name))
		if (++key == keys + ARRAY_SIZE(keys))
			return false;
	bit = 1U << (key - keys);
	/* as RESOURCE.KIND, several lines of `latency` each add something */
	if (reading->keys & bit && key->set != set_latency)
		config_error(reading->errors, entry->file, entry->line, "%s is set twice", entry->key);
	reading->keys |= bit;
	if (key->set)
		key->set(reading, entry);
	else
		set_duration(reading, entry, (uint64_t *)(void *)((char *)reading->rule + key->at),
			     key->least_ns, key->most_ns);
	return true;
}

static void visit_entry(void *user, const struct ini_entry *entry)
{
	struct reading *reading = user;
	struct trigger trigger = { 0 };

	if (!entry->key)
		begin_rule(reading, entry);
	else if (!*entry->section)
		config_error(reading->errors, entry->file, entry->line,
			     "'%s' comes before the first [rule NAME]", entry->key);
	else if (!reading->rule)
		return; /* the section's header was reported as a mistake */
	else if (is_trigger(entry->key, &trigger))
		add_trigger(reading, entry, trigger);
	else if (!set_key(reading, entry))
		config_error(reading->errors, entry->file, entry->line, "unknown key '%s'", entry->key);
}

static int finish_reading(struct reading *reading, int result, struct rule_set *ret_set)
{
	finish_rule(reading);
	if (!result && reading->out_of_memory)
		result = -ENOMEM;
	if (!result && reading->errors->count)
		result = -EINVAL;
	if (result < 0)
		rules_free(&reading->set);
	else
		*ret_set = reading->set;
	return result;
}

int rules_read_text(const char *name, const char *text, size_t bytes, struct rule_set *ret_set,
		    struct config_errors *errors)
{
	struct reading reading = { .errors = errors };

	return finish_reading(&reading, ini_read_text(name, text, bytes, visit_entry, &reading, errors),
			      ret_set);
}

static int is_rule_file(const struct dirent *entry)
{
	size_t bytes = strlen(entry->d_name);

	return entry->d_name[0] != '.' && bytes > 5 && !strcmp(entry->d_name + bytes - 5, ".conf");
}

int rules_read_directory(const char *directory, struct rule_set *ret_set, struct config_errors *errors)
{
	struct reading reading = { .errors = errors };
	struct dirent **names = NULL;
	int count = scandir(directory, &names, is_rule_file, alphasort), result = 0;

	if (count < 0)
		return -errno;
	reading.set.files = (size_t)count;
	for (int i = 0; i < count; i++) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s/%s", directory, names[i]->d_name);
		if (!result)
			result = ini_read_file(path, visit_entry, &reading, errors);
		finish_rule(&reading);
		free(names[i]);
	}
	free(names);
	return finish_reading(&reading, result, ret_set);
}

void rules_free(struct rule_set *set)
{
	for (size_t i = 0; i < set->count; i++) {
		free(set->rules[i].cgroup);
		free(set->rules[i].unit);
	}
	free(set->rules);
	comm_trie_free(set->trie);
	*set = (struct rule_set){ 0 };
}

/* ---- matching ---- */

static bool is_same_rule(const struct rule *a, const struct rule *b)
{
	if (strcmp(a->name, b->name) || memcmp(&a->comm, &b->comm, sizeof(a->comm)) ||
	    !optional_text_is_same(a->cgroup, b->cgroup) || !optional_text_is_same(a->unit, b->unit) ||
	    a->watch != b->watch || a->on_kill != b->on_kill || a->history_ns != b->history_ns ||
	    a->capture_ns != b->capture_ns || a->cooldown_ns != b->cooldown_ns ||
	    a->triggers_count != b->triggers_count || a->latencies_count != b->latencies_count ||
	    a->probes != b->probes || a->has_probes != b->has_probes)
		return false;
	for (size_t i = 0; i < a->latencies_count; i++)
		if (!latency_trigger_is_same(&a->latencies[i], &b->latencies[i]))
			return false;
	for (size_t i = 0; i < a->triggers_count; i++)
		if (a->triggers[i].resource != b->triggers[i].resource ||
		    a->triggers[i].kind != b->triggers[i].kind ||
		    a->triggers[i].stall_us != b->triggers[i].stall_us ||
		    a->triggers[i].window_us != b->triggers[i].window_us)
			return false;
	return true;
}

static const struct rule *find_same_rule(const struct rule_set *set, const struct rule *rule)
{
	for (size_t i = 0; set && i < set->count; i++)
		if (is_same_rule(&set->rules[i], rule))
			return &set->rules[i];
	return NULL;
}

static const struct rule *find_same_comm(const struct rule_set *set, size_t count, const struct rule *rule)
{
	for (size_t i = 0; i < count; i++)
		if (!memcmp(&set->rules[i].comm, &rule->comm, sizeof(rule->comm)))
			return &set->rules[i];
	return NULL;
}

int rules_assign_ids(struct rule_set *set, const struct rule_set *previous, struct rule_ids *ids)
{
	set->trie = comm_trie_new();
	if (!set->trie)
		return -ENOMEM;
	for (size_t i = 0; i < set->count; i++) {
		struct rule *rule = &set->rules[i];
		const struct rule *same = find_same_rule(previous, rule);
		const struct rule *sibling = find_same_comm(set, i, rule);
		int result;

		rule->id = same ? same->id : ids->rule++;
		if (sibling) {
			rule->pattern_id = sibling->pattern_id;
			continue;
		}
		same = previous ? find_same_comm(previous, previous->count, rule) : NULL;
		rule->pattern_id = same ? same->pattern_id : ids->pattern++;
		result = comm_trie_add(set->trie, &rule->comm, rule->pattern_id);
		if (result < 0)
			return result;
	}
	return 0;
}

bool rules_equal(const struct rule_set *a, const struct rule_set *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (!is_same_rule(&a->rules[i], &b->rules[i]))
			return false;
	return true;
}

size_t rules_patterns_of(const struct rule_set *set, const char comm[ABI_COMM_BYTES],
			 uint32_t ret_ids[COMM_TRIE_PATH])
{
	return comm_trie_match(set->trie, comm, ret_ids);
}

uint32_t rule_trigger_groups(const struct rule *rule)
{
	uint32_t groups = 0;

	for (size_t i = 0; i < rule->latencies_count; i++)
		groups |= 1U << latency_metric_group(rule->latencies[i].metric);
	return groups;
}

uint32_t rule_latency_groups(const struct rule *rule)
{
	return rule->probes | rule_trigger_groups(rule);
}

bool rule_has_cgroups(const struct rule *rule)
{
	return rule->cgroup || rule->unit;
}

bool rule_covers(const struct rule *rule, const char *cgroup)
{
	return (!rule->cgroup || !fnmatch(rule->cgroup, cgroup, 0)) &&
	       (!rule->unit || cgroup_is_of_unit(cgroup, rule->unit));
}

bool rule_names(const struct rule *rule, const char comm[ABI_COMM_BYTES])
{
	size_t bytes = strnlen(rule->comm.text, ABI_COMM_BYTES);

	return !strncmp(rule->comm.text, comm, rule->comm.prefix ? bytes : ABI_COMM_BYTES);
}

bool rule_applies(const struct rule *rule, const char comm[ABI_COMM_BYTES], const char *cgroup)
{
	return rule_names(rule, comm) && rule_covers(rule, cgroup);
}

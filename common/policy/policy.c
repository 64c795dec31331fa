/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/policy/policy.h"

#include "common/base/cleanup.h"
#include "common/policy/comm_pattern.h"
#include "common/system/options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define UID_LAST 4294967294ULL /* 2^32 - 1 means "no uid" */

const struct policy policy_default = {
	.max_rate = POLICY_RATE_DEFAULT,
	.unwinding = POLICY_UNWIND_DWARF,
	.kernel_stacks = 1,
	.bystanders = 1,
	.kernel_threads = 1,
	.latency_labels = 1,
};

static const char *const unwinding_words[] = {
	[POLICY_UNWIND_NONE] = "none",
	[POLICY_UNWIND_FRAME_POINTER] = "frame-pointer",
	[POLICY_UNWIND_DWARF] = "dwarf",
};

struct reading {
	struct policy policy;
	struct config_errors *errors;
	const struct ini_entry *entry;
	unsigned int said; /* SAID_* */
};

/* Keys that take one value: given twice, root's intention is unclear. */
#define SAID_KERNEL_STACKS 1U
#define SAID_UNWINDING 2U
#define SAID_MAX_RATE 4U
#define SAID_DENY_UNDUMPABLE 8U
#define SAID_BYSTANDERS 16U
#define SAID_KERNEL_THREADS 32U
#define SAID_LATENCY_LABELS 64U

/* ---- parsing ---- */

static void check_once(struct reading *reading, unsigned int said)
{
	if (reading->said & said)
		config_error(reading->errors, reading->entry->file, reading->entry->line,
			     "%s is given twice; keep one line", reading->entry->key);
	reading->said |= said;
}

static void parse_uids(struct reading *reading, const char *word, struct policy_uids *list, __u32 *count)
{
	const struct ini_entry *entry = reading->entry;
	char first[24];
	const char *dash = strchr(word, '-');
	size_t bytes = dash ? (size_t)(dash - word) : strlen(word);
	unsigned long long from = 0, to;

	if (bytes < sizeof(first)) {
		memcpy(first, word, bytes);
		first[bytes] = '\0';
	}
	if (bytes >= sizeof(first) || options_number(first, 0, UID_LAST, &from) ||
	    options_number(dash ? dash + 1 : first, from, UID_LAST, &to))
		config_error(reading->errors, entry->file, entry->line,
			     "%s: '%s' is neither a uid, such as 0, nor a range of uids, such as 1000-1999",
			     entry->key, word);
	else if (*count == POLICY_UIDS_MAX)
		config_error(reading->errors, entry->file, entry->line, "%s: more than %u ranges", entry->key,
			     POLICY_UIDS_MAX);
	else
		list[(*count)++] = (struct policy_uids){ (__u32)from, (__u32)to };
}

static void parse_allowed(struct reading *reading, const char *word)
{
	parse_uids(reading, word, reading->policy.allowed, &reading->policy.allowed_count);
}

static void parse_denied(struct reading *reading, const char *word)
{
	parse_uids(reading, word, reading->policy.denied, &reading->policy.denied_count);
}

static void parse_comm(struct reading *reading, const char *word)
{
	const struct ini_entry *entry = reading->entry;
	struct policy_comm comm = { { 0 }, { 0 } };
	struct comm_pattern pattern;
	const char *why;

	if (comm_pattern_parse(word, &pattern, &why)) {
		config_error(reading->errors, entry->file, entry->line, "%s: '%s': %s", entry->key, word,
			     why);
	} else if (reading->policy.comms_count == POLICY_COMMS_MAX) {
		config_error(reading->errors, entry->file, entry->line, "%s: more than %u names", entry->key,
			     POLICY_COMMS_MAX);
	} else {
		memcpy(comm.bits, pattern.text, sizeof(pattern.text));
		/* an exact pattern includes the zeroes after it: programs see a zero-filled comm */
		memset(comm.mask, 0xff, pattern.prefix ? strlen(pattern.text) : sizeof(comm.mask));
		reading->policy.comms[reading->policy.comms_count++] = comm;
	}
}

/* Splits a comma-separated list and passes each word to `parse`, without surrounding blanks. */
static void parse_list(struct reading *reading, void (*parse)(struct reading *reading, const char *word))
{
	const struct ini_entry *entry = reading->entry;
	char text[INI_LINE_BYTES + 1], *rest = text, *word;

	snprintf(text, sizeof(text), "%s", entry->value);
	while ((word = strsep(&rest, ","))) {
		word += strspn(word, " \t");
		for (size_t end = strlen(word); end && strchr(" \t", word[end - 1]); end--)
			word[end - 1] = '\0';
		if (*word)
			parse(reading, word);
		else
			config_error(reading->errors, entry->file, entry->line,
				     "%s: empty item in the list; check the commas", entry->key);
	}
}

static void parse_unwinding(struct reading *reading)
{
	const struct ini_entry *entry = reading->entry;

	check_once(reading, SAID_UNWINDING);
	for (__u32 i = 0; i < ARRAY_SIZE(unwinding_words); i++)
		if (!strcmp(entry->value, unwinding_words[i])) {
			reading->policy.unwinding = i;
			return;
		}
	config_error(reading->errors, entry->file, entry->line,
		     "unwinding = %s: expected none, frame-pointer or dwarf", entry->value);
}

static void parse_yes_or_no(struct reading *reading, unsigned int said, __u32 *ret_yes)
{
	const struct ini_entry *entry = reading->entry;

	check_once(reading, said);
	if (!strcmp(entry->value, "yes") || !strcmp(entry->value, "no"))
		*ret_yes = entry->value[0] == 'y';
	else
		config_error(reading->errors, entry->file, entry->line, "%s = %s: expected yes or no",
			     entry->key, entry->value);
}

static void parse_rate(struct reading *reading)
{
	const struct ini_entry *entry = reading->entry;
	unsigned long long rate;

	check_once(reading, SAID_MAX_RATE);
	if (options_number(entry->value, 1, POLICY_RATE_MAX, &rate))
		config_error(reading->errors, entry->file, entry->line,
			     "max_rate = %s: expected 1 to %u samples a second and CPU", entry->value,
			     POLICY_RATE_MAX);
	else
		reading->policy.max_rate = (__u32)rate;
}

static void visit_entry(void *user, const struct ini_entry *entry)
{
	struct reading *reading = user;

	reading->entry = entry;
	if (!entry->key) {
		if (strcmp(entry->section, "policy"))
			config_error(reading->errors, entry->file, entry->line,
				     "unknown section '[%s]': expected '[policy]'", entry->section);
	} else if (strcmp(entry->section, "policy")) {
		if (!*entry->section)
			config_error(reading->errors, entry->file, entry->line,
				     "'%s' comes before '[policy]'", entry->key);
	} else if (!strcmp(entry->key, "allow_uids")) {
		parse_list(reading, parse_allowed);
	} else if (!strcmp(entry->key, "deny_uids")) {
		parse_list(reading, parse_denied);
	} else if (!strcmp(entry->key, "deny_comms")) {
		parse_list(reading, parse_comm);
	} else if (!strcmp(entry->key, "kernel_stacks")) {
		parse_yes_or_no(reading, SAID_KERNEL_STACKS, &reading->policy.kernel_stacks);
	} else if (!strcmp(entry->key, "deny_undumpable")) {
		parse_yes_or_no(reading, SAID_DENY_UNDUMPABLE, &reading->policy.deny_undumpable);
	} else if (!strcmp(entry->key, "bystanders")) {
		parse_yes_or_no(reading, SAID_BYSTANDERS, &reading->policy.bystanders);
	} else if (!strcmp(entry->key, "kernel_threads")) {
		parse_yes_or_no(reading, SAID_KERNEL_THREADS, &reading->policy.kernel_threads);
	} else if (!strcmp(entry->key, "latency_labels")) {
		parse_yes_or_no(reading, SAID_LATENCY_LABELS, &reading->policy.latency_labels);
	} else if (!strcmp(entry->key, "unwinding")) {
		parse_unwinding(reading);
	} else if (!strcmp(entry->key, "max_rate")) {
		parse_rate(reading);
	} else {
		config_error(reading->errors, entry->file, entry->line, "unknown key '%s'", entry->key);
	}
}

static bool has_uids(const struct policy *policy)
{
	return policy->allowed_count || policy->denied_count;
}

int policy_parse(const char *name, const char *text, size_t bytes, struct policy *ret_policy,
		 struct config_errors *errors)
{
	struct reading reading = { .policy = policy_default, .errors = errors };
	int result = ini_read_text(name, text, bytes, visit_entry, &reading, errors);

	if (result < 0)
		return result;
	if (errors->count)
		return -EINVAL;
	if (!(reading.said & SAID_DENY_UNDUMPABLE))
		reading.policy.deny_undumpable = has_uids(&reading.policy);
	*ret_policy = reading.policy;
	return 0;
}

/* ---- describing ---- */

__attribute__((format(printf, 2, 3))) static void add(char *text, const char *format, ...)
{
	size_t used = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + used, POLICY_TEXT_BYTES - used, format, arguments);
	va_end(arguments);
}

static void add_key(char *text, const char *key)
{
	add(text, "%s%s = ", *text ? "; " : "", key);
}

static void add_uids(char *text, const char *key, const struct policy_uids *list, __u32 count)
{
	if (count)
		add_key(text, key);
	for (__u32 i = 0; i < count && i < POLICY_UIDS_MAX; i++) {
		add(text, "%s%u", i ? ", " : "", list[i].first);
		if (list[i].last != list[i].first)
			add(text, "-%u", list[i].last);
	}
}

static void add_comms(char *text, const struct policy *policy)
{
	if (policy->comms_count)
		add_key(text, "deny_comms");
	for (__u32 i = 0; i < policy->comms_count && i < POLICY_COMMS_MAX; i++) {
		const struct policy_comm *comm = &policy->comms[i];
		bool is_prefix = ((const __u8 *)comm->mask)[ABI_COMM_BYTES - 1] == 0;

		add(text, "%s%.*s%s", i ? ", " : "", (int)ABI_COMM_BYTES - 1, (const char *)comm->bits,
		    is_prefix ? "*" : "");
	}
}

void policy_describe(const struct policy *policy, char text[POLICY_TEXT_BYTES])
{
	text[0] = '\0';
	add_uids(text, "allow_uids", policy->allowed, policy->allowed_count);
	add_uids(text, "deny_uids", policy->denied, policy->denied_count);
	add_comms(text, policy);
	if (policy->deny_undumpable || has_uids(policy)) {
		add_key(text, "deny_undumpable");
		add(text, "%s", policy->deny_undumpable ? "yes" : "no");
	}
	if (!policy->bystanders)
		add(text, "%sbystanders = no", *text ? "; " : "");
	if (!policy->kernel_threads)
		add(text, "%skernel_threads = no", *text ? "; " : "");
	if (!policy->latency_labels)
		add(text, "%slatency_labels = no", *text ? "; " : "");
	if (!policy->kernel_stacks)
		add(text, "%skernel_stacks = no", *text ? "; " : "");
	if (policy->unwinding != POLICY_UNWIND_DWARF) {
		add_key(text, "unwinding");
		add(text, "%s",
		    policy->unwinding < ARRAY_SIZE(unwinding_words) ? unwinding_words[policy->unwinding]
								    : "?");
	}
	if (policy->max_rate != POLICY_RATE_DEFAULT) {
		add_key(text, "max_rate");
		add(text, "%u", policy->max_rate);
	}
}

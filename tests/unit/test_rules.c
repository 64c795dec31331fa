/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows what rules mean, that each mistake is reported with its file and line and hides no other, that a set
 * with a mistake is refused, and which rules apply to which process.
 */
#include "common/base/cleanup.h"
#include "consumer/rules/rules.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <string.h>
#include <sys/stat.h>

#define SECOND 1000000000UL

static int read_text(const char *text, struct rule_set *set, struct config_errors *errors)
{
	*errors = (struct config_errors){ 0 };
	memset(set, 0, sizeof(*set));
	return rules_read_text("web.conf", text, strlen(text), set, errors);
}

static void read_good(const char *text, struct rule_set *set)
{
	struct config_errors errors;

	ck_assert_msg(read_text(text, set, &errors) == 0, "%s", errors.count ? errors.messages[0] : "?");
	ck_assert_uint_eq(errors.count, 0);
}

/* ---- valid rules ---- */

START_TEST(the_example_of_the_documentation)
{
	static const char text[] = "[rule web]\n"
				   "comm = nginx                ; exact.  worker-*  is a prefix.\n"
				   "cgroup = /system.slice/*    ; optional glob on the cgroup path\n"
				   "memory.some = 50ms/1s       ; RESOURCE.KIND = STALL/WINDOW\n"
				   "io.full     = 200ms/2s\n"
				   "watch = cgroup              ; or system: the /proc/pressure files\n"
				   "history = 10s\n"
				   "capture = 5s\n"
				   "cooldown = 60s\n";
	struct rule_set set;
	const struct rule *rule;

	read_good(text, &set);
	ck_assert_uint_eq(set.count, 1);
	rule = &set.rules[0];
	ck_assert_str_eq(rule->name, "web");
	ck_assert_str_eq(rule->source, "web.conf:1");
	ck_assert_str_eq(rule->comm.text, "nginx");
	ck_assert(!rule->comm.prefix);
	ck_assert_str_eq(rule->cgroup, "/system.slice/*");
	ck_assert_int_eq(rule->watch, WATCH_CGROUP);
	ck_assert_uint_eq(rule->history_ns, 10 * SECOND);
	ck_assert_uint_eq(rule->capture_ns, 5 * SECOND);
	ck_assert_uint_eq(rule->cooldown_ns, 60 * SECOND);
	ck_assert_uint_eq(rule->triggers_count, 2);
	ck_assert_int_eq(rule->triggers[0].resource, PSI_MEMORY);
	ck_assert_int_eq(rule->triggers[0].kind, PSI_SOME);
	ck_assert_uint_eq(rule->triggers[0].stall_us, 50000);
	ck_assert_uint_eq(rule->triggers[0].window_us, 1000000);
	ck_assert_int_eq(rule->triggers[1].resource, PSI_IO);
	ck_assert_int_eq(rule->triggers[1].kind, PSI_FULL);
	ck_assert_uint_eq(rule->triggers[1].stall_us, 200000);
	ck_assert_uint_eq(rule->triggers[1].window_us, 2000000);
	rules_free(&set);
	rules_free(&set);
}
END_TEST

START_TEST(defaults)
{
	struct rule_set set;

	read_good("[rule a]\ncomm=*\ncpu.some=5%\n", &set);
	ck_assert_ptr_null(set.rules[0].cgroup);
	ck_assert_int_eq(set.rules[0].watch, WATCH_CGROUP);
	ck_assert_uint_eq(set.rules[0].history_ns, 10 * SECOND);
	ck_assert_uint_eq(set.rules[0].capture_ns, 5 * SECOND);
	ck_assert_uint_eq(set.rules[0].cooldown_ns, 60 * SECOND);
	ck_assert_uint_eq(set.rules[0].id, 0);
	rules_free(&set);
	read_good("", &set);
	ck_assert_uint_eq(set.count, 0);
	rules_free(&set);
}
END_TEST

START_TEST(a_rule_may_name_a_unit_instead_of_a_comm)
{
	static const char of_unit[] = "[rule a]\nunit=shop-*.service\nwatch=slice\ncpu.some=5%\n";
	char comm[ABI_COMM_BYTES] = "java";
	struct rule_set set, other;

	read_good(of_unit, &set);
	ck_assert_int_eq(set.rules[0].watch, WATCH_SLICE);
	ck_assert(rule_has_cgroups(&set.rules[0]));
	ck_assert(rule_applies(&set.rules[0], comm, "/shop.slice/shop-cart.service"));
	ck_assert(rule_applies(&set.rules[0], comm, "/shop.slice/shop-cart.service/inner"));
	ck_assert(!rule_applies(&set.rules[0], comm, "/shop.slice/stock.service"));
	ck_assert(!rule_applies(&set.rules[0], comm, ""));
	read_good("[rule a]\nunit=shop-*.service\nwatch=slice\ncpu.some=5%\ncomm=*\n", &other);
	ck_assert(rules_equal(&set, &other));
	rules_free(&other);
	read_good("[rule a]\nunit=shop-c*.service\nwatch=slice\ncpu.some=5%\n", &other);
	ck_assert(!rules_equal(&set, &other));
	rules_free(&other);
	read_good("[rule a]\nunit=shop-*.service\ncgroup=/shop.slice/*\ncomm=ja*\ncpu.some=5%\n", &other);
	ck_assert(rule_applies(&other.rules[0], comm, "/shop.slice/shop-cart.service"));
	ck_assert(!rule_applies(&other.rules[0], comm, "/other.slice/shop-cart.service"));
	ck_assert(!rule_applies(&other.rules[0], "ruby\0\0\0\0\0\0\0\0\0\0\0",
				"/shop.slice/shop-cart.service"));
	rules_free(&other);
	rules_free(&set);
}
END_TEST

START_TEST(every_kind_of_trigger)
{
	struct rule_set set;

	read_good("[rule a]\ncomm=*\ncpu.some=1%\ncpu.full=2%\nmemory.some=3%\nmemory.full=4%\nio.some=5%\n"
		  "io.full=6%\nirq.full=7%\n",
		  &set);
	ck_assert_uint_eq(set.rules[0].triggers_count, RULE_TRIGGERS_MAX);
	for (uint64_t i = 0; i < RULE_TRIGGERS_MAX; i++)
		ck_assert_uint_eq(set.rules[0].triggers[i].stall_us, (i + 1) * 20000);
	rules_free(&set);
}
END_TEST

struct threshold_case {
	const char *text;
	uint64_t stall_us, window_us; /* 0: refused, */
	const char *why;              /* with this message */
};

static const struct threshold_case threshold_cases[] = {
	{ "50ms/1s", 50000, 1000000, NULL },
	{ "1us/500ms", 1, 500000, NULL },
	{ "500ms/500ms", 500000, 500000, NULL },
	{ "10s/10s", 10000000, 10000000, NULL },
	{ "0.5s/1.5s", 500000, 1500000, NULL },
	{ "50 ms/1 s", 50000, 1000000, NULL },
	{ "5%", 100000, 2000000, NULL },
	{ "0.5%", 10000, 2000000, NULL },
	{ "100%", 2000000, 2000000, NULL },
	{ "0.0001%", 2, 2000000, NULL },
	{ "50ms/499ms", 0, 0, "windows from 500ms to 10s" },
	{ "50ms/499999us", 0, 0, "windows from 500ms to 10s" },
	{ "50ms/10001ms", 0, 0, "windows from 500ms to 10s" },
	{ "50ms/0s", 0, 0, "windows from 500ms to 10s" },
	{ "501ms/500ms", 0, 0, "the stall is longer than its window" },
	{ "2s/1s", 0, 0, "the stall is longer than its window" },
	{ "0ms/1s", 0, 0, "less than a microsecond" },
	{ "999ns/1s", 0, 0, "less than a microsecond" },
	{ "0%", 0, 0, "less than a microsecond" },
	{ "101%", 0, 0, "percentage" },
	{ "50ms", 0, 0, "expected STALL/WINDOW" },
	{ "", 0, 0, "expected STALL/WINDOW" },
	{ "5", 0, 0, "expected STALL/WINDOW" },
	{ "50/1s", 0, 0, "two durations with their units" },
	{ "50ms/1", 0, 0, "two durations with their units" },
	{ "50ms/", 0, 0, "two durations with their units" },
	{ "/1s", 0, 0, "two durations with their units" },
	{ "5%/1s", 0, 0, "two durations with their units" },
	{ "50ms/1s/1s", 0, 0, "two durations with their units" },
	{ "-50ms/1s", 0, 0, "two durations with their units" },
};

START_TEST(thresholds)
{
	const struct threshold_case *one = &threshold_cases[_i];
	struct config_errors errors;
	struct rule_set set;
	char text[128];

	snprintf(text, sizeof(text), "[rule a]\ncomm=x\nio.some=1%%\nmemory.full = %s\n", one->text);
	if (!one->why) {
		read_good(text, &set);
		ck_assert_uint_eq(set.rules[0].triggers[1].stall_us, one->stall_us);
		ck_assert_uint_eq(set.rules[0].triggers[1].window_us, one->window_us);
		rules_free(&set);
		return;
	}
	ck_assert_int_eq(read_text(text, &set, &errors), -EINVAL);
	ck_assert_uint_eq(errors.count, 1);
	ck_assert_int_eq(strncmp(errors.messages[0], "web.conf:4: memory.full = ", 26), 0);
	ck_assert_msg(strstr(errors.messages[0], one->why), "%s", errors.messages[0]);
	config_errors_free(&errors);
}
END_TEST

struct duration_case {
	const char *key, *value;
	uint64_t ns;
	bool good;
};

static const struct duration_case duration_cases[] = {
	{ "history", "0s", 0, true },
	{ "history", "600s", 600 * SECOND, true },
	{ "history", "10min", 600 * SECOND, true },
	{ "history", "600001ms", 0, false },
	{ "history", "10", 0, false },
	{ "history", "", 0, false },
	{ "history", "99999999999999999999s", 0, false },
	{ "capture", "1s", SECOND, true },
	{ "capture", "1h", 3600 * SECOND, true },
	{ "capture", "999ms", 0, false },
	{ "capture", "3601s", 0, false },
	{ "cooldown", "0ns", 0, true },
	{ "cooldown", "24h", 86400 * SECOND, true },
	{ "cooldown", "25h", 0, false },
};

START_TEST(durations)
{
	const struct duration_case *one = &duration_cases[_i];
	struct config_errors errors;
	struct rule_set set;
	char text[128];

	snprintf(text, sizeof(text), "[rule a]\ncomm=x\nio.some=1%%\n%s = %s\n", one->key, one->value);
	if (one->good) {
		read_good(text, &set);
		ck_assert_uint_eq(one->key[0] == 'h'   ? set.rules[0].history_ns
				  : one->key[1] == 'a' ? set.rules[0].capture_ns
						       : set.rules[0].cooldown_ns,
				  one->ns);
		rules_free(&set);
		return;
	}
	ck_assert_int_eq(read_text(text, &set, &errors), -EINVAL);
	ck_assert_uint_eq(errors.count, 1);
	snprintf(text, sizeof(text), "web.conf:4: %s = %s: ", one->key, one->value);
	ck_assert_int_eq(strncmp(errors.messages[0], text, strlen(text)), 0);
	config_errors_free(&errors);
}
END_TEST

/* ---- mistakes ---- */

#define GOOD "[rule good]\ncomm=g\nio.some=1%\n"

struct mistake_case {
	const char *text;
	const char *errors[4]; /* how each message begins, or "..." and a later part of it */
};

static const struct mistake_case mistake_cases[] = {
	{ "[rule a]\nio.some=1%\n", { "web.conf:1: rule 'a' has no comm and no unit" } },
	{ "\n\n[rule a]\ncomm=x\n" GOOD, { "web.conf:3: rule 'a' has no trigger" } },
	{ "[rule a]\ncomm=x\non_kill=no\n" GOOD,
	  { "web.conf:1: rule 'a' has no trigger, such as cpu.some = 10%, on_kill = yes or latency = runqueue.p99 > 20ms / 10s" } },
	{ "[rule a]\ncomm=x\non_kill=maybe\n", { "web.conf:3: on_kill = maybe: expected 'yes' or 'no'" } },
	{ "[rule a]\ncomm=x\non_kill=\n", { "web.conf:3: on_kill = : expected 'yes' or 'no'" } },
	{ "[rule a]\ncomm=x\non_kill=yes\non_kill=no\n", { "web.conf:4: on_kill is set twice" } },
	{ "[rule a]\non_kill=yes\n", { "web.conf:1: rule 'a' has no comm and no unit" } },
	{ "[rule a]\ncomm=x\nlatency=runqueue.p99 > 20ms / 5s, disk.p99 > 1s / 5s\n",
	  { "web.conf:3: latency = runqueue.p99 > 20ms / 5s, disk.p99 > 1s / 5s: 'disk' is no metric; give runqueue, " } },
	{ "[rule a]\ncomm=x\nlatency=runqueue.p95 > 20ms / 5s\n",
	  { "web.conf:3: latency = runqueue.p95 > 20ms / 5s: 'p95' is no quantile; give p50, p90, p99 or p999" } },
	{ "[rule a]\ncomm=x\nlatency=block.size.p99 > 20ms / 5s\n",
	  { "web.conf:3: latency = block.size.p99 > 20ms / 5s: block.size is measured in bytes" } },
	{ "[rule a]\ncomm=x\nlatency=block.p99 > 20 / 5s\n",
	  { "web.conf:3: latency = block.p99 > 20 / 5s: '20': expected a time with its unit, such as 20ms" } },
	{ "[rule a]\ncomm=x\nlatency=block.p99 > 0s / 5s\n",
	  { "web.conf:3: latency = block.p99 > 0s / 5s: '0s': expected more than 0 and less than an hour" } },
	{ "[rule a]\ncomm=x\nlatency=block.p99 > 2h / 5s\n",
	  { "web.conf:3: latency = block.p99 > 2h / 5s: '2h': expected more than 0 and less than an hour" } },
	{ "[rule a]\ncomm=x\nlatency=block.p99 > 2s / 4999ms\n",
	  { "web.conf:3: latency = block.p99 > 2s / 4999ms: '4999ms': windows from 5s to 10min are possible" } },
	{ "[rule a]\ncomm=x\nlatency=block.p99 > 2s / 601s\n",
	  { "web.conf:3: latency = block.p99 > 2s / 601s: '601s': windows from 5s to 10min are possible" } },
	{ "[rule a]\ncomm=x\nlatency=block.p99 > 2s / 10\n",
	  { "web.conf:3: latency = block.p99 > 2s / 10: '10': expected a window with its unit, such as 10s" } },
	{ "[rule a]\ncomm=x\nlatency=block.p99\n",
	  { "web.conf:3: latency = block.p99: 'block.p99': expected METRIC.pNN > TIME / WINDOW" } },
	{ "[rule a]\ncomm=x\nlatency=block > 2s / 10s\n",
	  { "web.conf:3: latency = block > 2s / 10s: 'block': expected METRIC.pNN > TIME / WINDOW" } },
	{ "[rule a]\ncomm=x\nlatency=\n",
	  { "web.conf:3: latency = : '': expected METRIC.pNN > TIME / WINDOW" } },
	{ "[rule a]\ncomm=x\nlatency=lock.p99 > 2s / 10s,\n",
	  { "web.conf:3: latency = lock.p99 > 2s / 10s,: '': expected METRIC.pNN > TIME / WINDOW" } },
	{ "[rule a]\ncomm=x\nlatency=lock.p99 > 2s / 10s\nlatency=lock.p50 > 1s / 5s, lock.p99 > 1s / 5s\n",
	  { "web.conf:4: latency = lock.p50 > 1s / 5s, lock.p99 > 1s / 5s: lock.p99 is set twice" } },
	{ "[rule a]\ncomm=x\nio.some=1%\nprobes=block, disks\n",
	  { "web.conf:4: probes = block, disks: 'disks' is no group; give runqueue, offcpu, block, " } },
	{ "[rule a]\ncomm=x\nio.some=1%\nprobes=block lock\n",
	  { "web.conf:4: probes = block lock: 'lock' is no group" } },
	{ "[rule a]\ncomm=x\nio.some=1%\nprobes=block,\n",
	  { "web.conf:4: probes = block,: '' is no group" } },
	{ "[rule a]\ncomm=x\nio.some=1%\nprobes=all\nprobes=none\n", { "web.conf:5: probes is set twice" } },
	{ "[rule a]\ncomm=x\nprobes=all\n", { "web.conf:1: rule 'a' has no trigger" } },
	{ "[rule a]\n", { "web.conf:1: rule 'a' has no comm", "web.conf:1: rule 'a' has no trigger" } },
	{ "[rule a]\ncomm=1234567890123456\nio.some=1%\n",
	  { "web.conf:2: comm = 1234567890123456: longer than 15 bytes, so it never matches" } },
	{ "[rule a]\ncomm=\nio.some=1%\n", { "web.conf:2: comm = : comm is empty" } },
	{ "[rule a]\ncomm=a*b\nio.some=1%\n", { "web.conf:2: comm = a*b: '*' is allowed only at the end" } },
	{ "[rule a]\ncomm=x\ncgroup=system.slice\nio.some=1%\n",
	  { "web.conf:3: cgroup = system.slice: expected a path" } },
	{ "[rule a]\ncomm=x\ncgroup=\nio.some=1%\n", { "web.conf:3: cgroup = : expected a path" } },
	{ "[rule a]\ncomm=x\nwatch=all\nio.some=1%\n",
	  { "web.conf:3: watch = all: expected 'cgroup', 'slice' or 'system'" } },
	{ "[rule a]\nunit=nginx\nio.some=1%\n",
	  { "web.conf:2: unit = nginx: expected the name of a unit with its type" } },
	{ "[rule a]\nunit=/a.service\nio.some=1%\n",
	  { "web.conf:2: unit = /a.service: a unit has a name, not a path" } },
	{ "[rule a]\nunit=a.service\nunit=b.service\nio.some=1%\n", { "web.conf:3: unit is set twice" } },
	{ "[rule a]\ncomm=x\nirq.some=1%\nio.some=1%\n",
	  { "web.conf:3: irq.some = 1%: the kernel counts irq pressure as full only" } },
	{ "[rule a]\ncomm=x\nio.some=1%\nio.full=1%\nio.some=2%\n", { "web.conf:5: io.some is set twice" } },
	{ "[rule a]\ncomm=x\nio.half=1%\nio.some=1%\n", { "web.conf:3: unknown key 'io.half'" } },
	{ "[rule a]\ncomm=x\ndisk.some=1%\nio.some=1%\n", { "web.conf:3: unknown key 'disk.some'" } },
	{ "[rule a]\ncomm=x\nio=1%\nio.some=1%\n", { "web.conf:3: unknown key 'io'" } },
	{ "[rule a]\ncomm=x\nmem.some=1%\nio.some=1%\n", { "web.conf:3: unknown key 'mem.some'" } },
	{ "[rule a]\ncomm=x\nIO.SOME=1%\nio.some=1%\n", { "web.conf:3: unknown key 'IO.SOME'" } },
	{ "[rule a]\ncomm=x\ncpu.full=1%\nwatch=system\n",
	  { "web.conf:1: rule 'a': cpu.full of the whole system" } },
	{ "comm = x\n" GOOD, { "web.conf:1: 'comm' comes before the first [rule NAME]" } },
	{ "[web]\ncomm = x\nnonsense = 1\n" GOOD, { "web.conf:1: expected '[rule NAME]', not '[web]'" } },
	{ "[rule]\ncomm = x\n" GOOD, { "web.conf:1: expected '[rule NAME]', not '[rule]'" } },
	{ "[rule  ]\ncomm = x\n" GOOD, { "web.conf:1: expected '[rule NAME]', not '[rule" } },
	{ "[rules a]\ncomm = x\n" GOOD, { "web.conf:1: expected '[rule NAME]', not '[rules a]'" } },
	{ GOOD GOOD, { "web.conf:4: rule 'good' is already defined at web.conf:1" } },
	{ GOOD "[rule  good]\ncomm=x\n", { "web.conf:4: rule 'good' is already defined at web.conf:1" } },
	/* keys below an invalid section line belong to no section: one mistake, one line */
	{ GOOD "[rule b\ncomm=x\nio.some=1%\n", { "web.conf:4: expected '[section]'" } },
	/* none hides another */
	{ "[rule a]\ncomm = x\nhistory = 10\nio.some = 1%\n[rule b]\nwatch = no\ncomm = y\ncpu.some = "
	  "1\n" GOOD,
	  { "web.conf:3: history = 10: expected a duration", "web.conf:6: watch = no: expected",
	    "web.conf:8: cpu.some = 1: expected STALL/WINDOW" } },
	{ "[rule a]\njunk\ncomm = a*b\nio.some = 9s/1s\n",
	  { "web.conf:2: expected 'key = value'", "web.conf:3: comm = a*b", "web.conf:4: io.some = 9s/1s" } },
};

static bool is_expected(const struct mistake_case *one, const struct config_errors *errors)
{
	size_t expected = 0;

	while (expected < ARRAY_SIZE(one->errors) && one->errors[expected])
		expected++;
	if (errors->count < expected)
		return false;
	for (size_t i = 0; i < expected; i++) {
		bool there = false;

		for (size_t j = 0; j < errors->count; j++)
			there |= !strncmp(errors->messages[j], one->errors[i], strlen(one->errors[i]));
		if (!there)
			return false;
	}
	return true;
}

START_TEST(mistakes)
{
	const struct mistake_case *one = &mistake_cases[_i];
	struct config_errors errors;
	struct rule_set set;
	char said[1024] = "";
	bool expected;

	ck_assert_int_eq(read_text(one->text, &set, &errors), -EINVAL);
	ck_assert_ptr_null(set.rules);
	for (size_t i = 0; i < errors.count; i++)
		snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s\n", errors.messages[i]);
	expected = is_expected(one, &errors);
	ck_assert_msg(expected, "%s", said);
	config_errors_free(&errors);
}
END_TEST

/* A mistake is one line, and reported once. */
START_TEST(a_mistake_is_reported_once)
{
	const struct mistake_case *one = &mistake_cases[_i];
	struct config_errors errors;
	struct rule_set set;
	size_t expected = 0;

	while (expected < ARRAY_SIZE(one->errors) && one->errors[expected])
		expected++;
	ck_assert_int_eq(read_text(one->text, &set, &errors), -EINVAL);
	ck_assert_msg(errors.count == expected, "%zu mistakes, the last '%s'", errors.count,
		      errors.messages[errors.count - 1]);
	config_errors_free(&errors);
}
END_TEST

START_TEST(there_may_be_1024_rules)
{
	size_t room = 64UL * (RULES_MAX + 1), used = 0;
	_cleanup_free_ char *text = malloc(room);
	struct config_errors errors;
	struct rule_ids next = { 1, 1 };
	struct rule_set set;

	for (int i = 0; i < RULES_MAX; i++)
		used += (size_t)snprintf(text + used, room - used, "[rule r%d]\ncomm=c%d\nio.some=1%%\n", i,
					 i);
	read_good(text, &set);
	ck_assert_uint_eq(set.count, RULES_MAX);
	ck_assert_int_eq(rules_assign_ids(&set, NULL, &next), 0);
	ck_assert_uint_eq(next.rule, 1 + RULES_MAX);
	ck_assert_uint_eq(next.pattern, 1 + RULES_MAX);
	rules_free(&set);
	snprintf(text + used, room - used, "[rule more]\ncomm=c\nio.some=1%%\n");
	ck_assert_int_eq(read_text(text, &set, &errors), -EINVAL);
	ck_assert_uint_eq(errors.count, 1);
	ck_assert_str_eq(errors.messages[0], "web.conf:3073: more than 1024 rules");
	config_errors_free(&errors);
}
END_TEST

/* ---- directories ---- */

static void put(const char *directory, const char *name, const char *text)
{
	_cleanup_free_ char *path = path_join(directory, name);

	file_put(path, text, strlen(text));
}

START_TEST(a_directory_is_read_in_order)
{
	_cleanup_free_ char *directory = directory_make(), *source = NULL;
	struct config_errors errors = { 0 };
	struct rule_set set = { 0 };

	put(directory, "20-b.conf", "[rule second]\ncomm=b\nio.some=1%\n");
	put(directory, "10-a.conf", "[rule first]\ncomm=a\nio.some=1%\n");
	put(directory, "30-c.conf", "[rule third]\ncomm=c\nio.some=1%\n");
	put(directory, ".hidden.conf", "junk\n");
	put(directory, "readme.txt", "junk\n");
	put(directory, "web.conf.rpmsave", "junk\n");
	put(directory, ".conf", "junk\n");
	ck_assert_int_eq(rules_read_directory(directory, &set, &errors), 0);
	ck_assert_uint_eq(set.count, 3);
	ck_assert_uint_eq(set.files, 3);
	ck_assert_str_eq(set.rules[0].name, "first");
	ck_assert_str_eq(set.rules[1].name, "second");
	ck_assert_str_eq(set.rules[2].name, "third");
	ck_assert_int_gt(asprintf(&source, "%s/20-b.conf:1", directory), 0);
	ck_assert_str_eq(set.rules[1].source, source);
	rules_free(&set);
	directory_remove(directory);
}
END_TEST

START_TEST(mistakes_of_all_files_are_reported)
{
	_cleanup_free_ char *directory = directory_make(), *one = NULL, *two = NULL, *three = NULL,
			    *four = NULL;
	struct config_errors errors = { 0 };
	struct rule_set set = { 0 };

	put(directory, "1.conf", "[rule web]\ncomm=a\n");
	put(directory, "2.conf", "comm=b\n[rule web]\ncomm=b\nio.some=1%\n[rule fine]\ncomm=c\nio.some=1%\n");
	put(directory, "3.conf", "\n[rule fine]\ncomm=c\nio.some=1%\n");
	ck_assert_int_eq(rules_read_directory(directory, &set, &errors), -EINVAL);
	ck_assert_ptr_null(set.rules);
	ck_assert_uint_eq(errors.count, 4);
	ck_assert_int_gt(asprintf(&one, "%s/1.conf:1: rule 'web' has no trigger", directory), 0);
	ck_assert_int_gt(asprintf(&two, "%s/2.conf:1: 'comm' comes before the first", directory), 0);
	ck_assert_int_gt(asprintf(&three, "%s/2.conf:2: rule 'web' is already defined at %s/1.conf:1",
				  directory, directory),
			 0);
	ck_assert_int_gt(asprintf(&four, "%s/3.conf:2: rule 'fine' is already defined at %s/2.conf:5",
				  directory, directory),
			 0);
	ck_assert_int_eq(strncmp(errors.messages[0], one, strlen(one)), 0);
	ck_assert_int_eq(strncmp(errors.messages[1], two, strlen(two)), 0);
	ck_assert_str_eq(errors.messages[2], three);
	ck_assert_str_eq(errors.messages[3], four);
	config_errors_free(&errors);
	directory_remove(directory);
}
END_TEST

START_TEST(odd_directories)
{
	_cleanup_free_ char *directory = directory_make(), *none = path_join(directory, "none");
	_cleanup_free_ char *odd = path_join(directory, "odd.conf");
	struct config_errors errors = { 0 };
	struct rule_set set = { 0 };

	ck_assert_int_eq(rules_read_directory(none, &set, &errors), -ENOENT);
	ck_assert_uint_eq(set.count, 0);
	ck_assert_int_eq(rules_read_directory(directory, &set, &errors), 0);
	ck_assert_uint_eq(set.count, 0);
	ck_assert_int_eq(mkdir(odd, 0700), 0);
	ck_assert_int_eq(rules_read_directory(directory, &set, &errors), -EINVAL);
	ck_assert_uint_eq(errors.count, 1);
	ck_assert_ptr_nonnull(strstr(errors.messages[0], "odd.conf: cannot read the file: Is a directory"));
	config_errors_free(&errors);
	file_put(none, "", 0);
	ck_assert_int_eq(rules_read_directory(none, &set, &errors), -ENOTDIR);
	directory_remove(directory);
}
END_TEST

/* ---- ids and matching ---- */

static const char many[] = "[rule all]\ncomm=*\nio.some=1%\n"
			   "[rule web]\ncomm=nginx\nio.some=1%\n"
			   "[rule n]\ncomm=n*\nio.some=1%\n"
			   "[rule web-too]\ncomm=nginx\ncgroup=/system.slice/*.service\ncpu.some=1%\n"
			   "[rule literal]\ncomm=ngin\nio.some=1%\n"
			   "[rule n-too]\ncomm=n*\nmemory.some=1%\n";

START_TEST(rules_with_one_comm_share_a_pattern)
{
	uint32_t ids[COMM_TRIE_PATH];
	struct rule_ids next = { 41, 1001 };
	struct rule_set set;

	read_good(many, &set);
	ck_assert_int_eq(rules_assign_ids(&set, NULL, &next), 0);
	for (uint32_t i = 0; i < set.count; i++)
		ck_assert_uint_eq(set.rules[i].id, 41 + i);
	ck_assert_uint_eq(next.rule, 47);
	ck_assert_uint_eq(next.pattern, 1005);
	ck_assert_uint_eq(set.rules[0].pattern_id, 1001);
	ck_assert_uint_eq(set.rules[1].pattern_id, 1002);
	ck_assert_uint_eq(set.rules[2].pattern_id, 1003);
	ck_assert_uint_eq(set.rules[3].pattern_id, 1002);
	ck_assert_uint_eq(set.rules[4].pattern_id, 1004);
	ck_assert_uint_eq(set.rules[5].pattern_id, 1003);
	ck_assert_uint_eq(rules_patterns_of(&set, (char[ABI_COMM_BYTES]){ "nginx" }, ids), 3);
	ck_assert_uint_eq(ids[0], 1002);
	ck_assert_uint_eq(ids[1], 1003);
	ck_assert_uint_eq(ids[2], 1001);
	ck_assert_uint_eq(rules_patterns_of(&set, (char[ABI_COMM_BYTES]){ "x" }, ids), 1);
	ck_assert_uint_eq(ids[0], 1001);
	rules_free(&set);
}
END_TEST

/* Unchanged rules keep their ids, so that watches and targets live on; no id is used twice. */
START_TEST(a_reload_keeps_the_ids_of_unchanged_rules)
{
	static const char later[] =
		"[rule n]\ncomm=n*\nio.some=1%\n"      /* unchanged, in another place */
		"[rule web]\ncomm=nginx\nio.some=2%\n" /* another threshold */
		"[rule web-too]\ncomm=apache\ncgroup=/system.slice/*.service\ncpu.some=1%\n"
		"[rule new]\ncomm=nginx\nio.some=1%\n";
	struct rule_ids next = { 41, 1001 };
	struct rule_set before, after, same;

	read_good(many, &before);
	ck_assert_int_eq(rules_assign_ids(&before, NULL, &next), 0);
	read_good(later, &after);
	ck_assert(!rules_equal(&before, &after));
	ck_assert_int_eq(rules_assign_ids(&after, &before, &next), 0);
	ck_assert_uint_eq(after.rules[0].id, 43);
	ck_assert_uint_eq(after.rules[0].pattern_id, 1003);
	ck_assert_uint_eq(after.rules[1].id, 47);
	ck_assert_uint_eq(after.rules[1].pattern_id, 1002);
	ck_assert_uint_eq(after.rules[2].id, 48);
	ck_assert_uint_eq(after.rules[2].pattern_id, 1005);
	ck_assert_uint_eq(after.rules[3].id, 49);
	ck_assert_uint_eq(after.rules[3].pattern_id, 1002);
	ck_assert_uint_eq(next.rule, 50);
	ck_assert_uint_eq(next.pattern, 1006);
	read_good(many, &same);
	ck_assert(rules_equal(&before, &same));
	rules_free(&before);
	rules_free(&after);
	rules_free(&same);
}
END_TEST

START_TEST(on_kill_is_enough_and_makes_another_rule)
{
	struct rule_ids next = { 1, 1 };
	struct rule_set alone, beside, without;

	read_good("[rule a]\ncomm=x\non_kill=yes\n", &alone);
	ck_assert(alone.rules[0].on_kill);
	ck_assert_uint_eq(alone.rules[0].triggers_count, 0);
	read_good("[rule a]\ncomm=x\nio.some=1%\non_kill=yes\n", &beside);
	read_good("[rule a]\ncomm=x\nio.some=1%\non_kill=no\n", &without);
	ck_assert(beside.rules[0].on_kill && !without.rules[0].on_kill);
	ck_assert(!rules_equal(&beside, &without));
	ck_assert_int_eq(rules_assign_ids(&without, NULL, &next), 0);
	ck_assert_int_eq(rules_assign_ids(&beside, &without, &next), 0);
	ck_assert_uint_ne(beside.rules[0].id, without.rules[0].id);
	rules_free(&alone);
	rules_free(&beside);
	rules_free(&without);
}
END_TEST

START_TEST(latencies_are_enough_and_make_another_rule)
{
	struct rule_ids next = { 1, 1 };
	struct rule_set alone, other, same, of_requests;
	const struct rule *rule;

	read_good(
		"[rule a]\ncomm=x\nlatency = runqueue.p99 > 20ms / 7s,block.service.p999>1.5s/10min\nlatency = exec.p50 > 1us / 5s\nprobes = lock\n",
		&alone);
	rule = &alone.rules[0];
	ck_assert_uint_eq(rule->latencies_count, 3);
	ck_assert_uint_eq(rule->latencies[0].metric, METRIC_RUNQUEUE);
	ck_assert_int_eq(rule->latencies[0].quantile, LATENCY_P99);
	ck_assert_uint_eq(rule->latencies[0].limit_ns, SECOND / 50);
	/* rounded up to whole epochs */
	ck_assert_uint_eq(rule->latencies[0].window_ns, 10 * SECOND);
	ck_assert_uint_eq(rule->latencies[0].asked_ns, 7 * SECOND);
	ck_assert_uint_eq(rule->latencies[1].metric, METRIC_BLOCK_SERVICE);
	ck_assert_int_eq(rule->latencies[1].quantile, LATENCY_P999);
	ck_assert_uint_eq(rule->latencies[1].limit_ns, 3 * SECOND / 2);
	ck_assert_uint_eq(rule->latencies[1].window_ns, 600 * SECOND);
	ck_assert_uint_eq(rule->latencies[2].metric, METRIC_EXEC);
	ck_assert_uint_eq(rule->probes, 1U << LATENCY_LOCK);
	ck_assert_uint_eq(rule_trigger_groups(rule),
			  1U << LATENCY_RUNQUEUE | 1U << LATENCY_BLOCK | 1U << LATENCY_EXEC);
	ck_assert_uint_eq(rule_latency_groups(rule), rule_trigger_groups(rule) | 1U << LATENCY_LOCK);
	read_good("[rule a]\ncomm=x\nlatency = runqueue.p99 > 21ms / 10s\n", &other);
	read_good("[rule a]\ncomm=x\nlatency = runqueue.p99 > 21000us / 9s\n", &same);
	ck_assert(rules_equal(&other, &same));
	ck_assert(!rules_equal(&alone, &other));
	read_good("[rule a]\ncomm=x\nlatency = request.unread.p90 > 5ms / 10s\nprobes = none\n",
		  &of_requests);
	ck_assert_uint_eq(of_requests.rules[0].latencies[0].metric, METRIC_REQUEST_UNREAD);
	ck_assert_uint_eq(rule_latency_groups(&of_requests.rules[0]), 1U << LATENCY_REQUEST);
	rules_free(&of_requests);
	/* without the line it is all that the loader offers */
	ck_assert_uint_eq(other.rules[0].probes, LATENCY_ALL);
	ck_assert(!other.rules[0].has_probes && rule->has_probes);
	ck_assert_int_eq(rules_assign_ids(&alone, NULL, &next), 0);
	ck_assert_int_eq(rules_assign_ids(&other, &alone, &next), 0);
	ck_assert_uint_ne(alone.rules[0].id, other.rules[0].id);
	rules_free(&alone);
	rules_free(&other);
	rules_free(&same);
}
END_TEST

struct applies_case {
	const char *comm, *cgroup;
	const char *process_comm, *process_cgroup;
	bool applies;
};

static const struct applies_case applies_cases[] = {
	{ "nginx", NULL, "nginx", "/x", true },
	{ "nginx", NULL, "nginx", "", true },
	{ "nginx", NULL, "nginx2", "/x", false },
	{ "nginx", NULL, "ngin", "/x", false },
	{ "nginx*", NULL, "nginx", "/x", true },
	{ "nginx*", NULL, "nginx-worker", "/x", true },
	{ "nginx*", NULL, "ngin", "/x", false },
	{ "nginx*", NULL, "anginx", "/x", false },
	{ "*", NULL, "anything", "/x", true },
	{ "*", NULL, "", "/x", true },
	{ "123456789012345", NULL, "123456789012345", "/x", true },
	{ "123456789012345*", NULL, "123456789012345", "/x", true },
	{ "12345678901234", NULL, "123456789012345", "/x", false },
	{ "*", "/system.slice/*", "a", "/system.slice/web.service", true },
	{ "*", "/system.slice/*", "a", "/system.slice/a/b", true },
	{ "*", "/system.slice/*", "a", "/system.slice", false },
	{ "*", "/system.slice/*", "a", "/user.slice/a", false },
	{ "*", "/system.slice/*", "a", "", false },
	{ "*", "/system.slice/web.service", "a", "/system.slice/web.service", true },
	{ "*", "/system.slice/web.service", "a", "/system.slice/web.service/sub", false },
	{ "*", "/a[0-9]", "a", "/a7", true },
	{ "*", "/a?", "a", "/a", false },
	{ "*", "/*", "a", "/", true },
	{ "*", "/", "a", "/", true },
	{ "*", "/", "a", "/a", false },
	{ "b", "/*", "a", "/a", false },
};

START_TEST(which_processes_a_rule_includes)
{
	const struct applies_case *one = &applies_cases[_i];
	struct rule rule = { .cgroup = (char *)one->cgroup };
	char comm[ABI_COMM_BYTES] = { 0 };
	const char *why;

	ck_assert_int_eq(comm_pattern_parse(one->comm, &rule.comm, &why), 0);
	memcpy(comm, one->process_comm, strlen(one->process_comm));
	ck_assert_int_eq(rule_applies(&rule, comm, one->process_cgroup), one->applies);
}
END_TEST

/* A difference between the trie and the rules would make the daemon count events as stale. */
START_TEST(the_trie_agrees_with_each_rule)
{
	struct dice dice = dice_new(40);
	struct rule_ids next = { 1, 1 };
	struct rule_set set;

	read_good(many, &set);
	ck_assert_int_eq(rules_assign_ids(&set, NULL, &next), 0);
	for (int round = 0; round < 20000; round++) {
		char comm[ABI_COMM_BYTES] = "nginx-1";
		uint32_t ids[COMM_TRIE_PATH];
		size_t count, bytes = dice_below(&dice, 8);

		memset(comm + bytes, 0, sizeof(comm) - bytes);
		if (bytes && !dice_below(&dice, 3))
			comm[dice_below(&dice, (uint32_t)bytes)] = 'n';
		count = rules_patterns_of(&set, comm, ids);
		for (size_t i = 0; i < set.count; i++) {
			bool matches = false;

			for (size_t j = 0; j < count; j++)
				matches |= ids[j] == set.rules[i].pattern_id;
			HOLDS(matches == rule_applies(&set.rules[i], comm, "/system.slice/a.service"));
		}
	}
	rules_free(&set);
}
END_TEST

SUITE(rules)
{
	Suite *suite = suite_create("rules");
	TCase *good = tcase_create("right"), *bad = tcase_create("wrong"), *files = tcase_create("files");
	TCase *matching = tcase_create("matching");

	tcase_add_test(good, the_example_of_the_documentation);
	tcase_add_test(good, defaults);
	tcase_add_test(good, a_rule_may_name_a_unit_instead_of_a_comm);
	tcase_add_test(good, every_kind_of_trigger);
	tcase_add_loop_test(good, thresholds, 0, ARRAY_SIZE(threshold_cases));
	tcase_add_loop_test(good, durations, 0, ARRAY_SIZE(duration_cases));
	tcase_add_loop_test(bad, mistakes, 0, ARRAY_SIZE(mistake_cases));
	tcase_add_loop_test(bad, a_mistake_is_reported_once, 0, ARRAY_SIZE(mistake_cases));
	tcase_add_test(bad, there_may_be_1024_rules);
	tcase_add_test(files, a_directory_is_read_in_order);
	tcase_add_test(files, mistakes_of_all_files_are_reported);
	tcase_add_test(files, odd_directories);
	tcase_add_loop_test(matching, which_processes_a_rule_includes, 0, ARRAY_SIZE(applies_cases));
	tcase_add_test(matching, rules_with_one_comm_share_a_pattern);
	tcase_add_test(matching, a_reload_keeps_the_ids_of_unchanged_rules);
	tcase_add_test(matching, on_kill_is_enough_and_makes_another_rule);
	tcase_add_test(matching, latencies_are_enough_and_make_another_rule);
	tcase_add_test(matching, the_trie_agrees_with_each_rule);
	suite_add_tcase(suite, good);
	suite_add_tcase(suite, bad);
	suite_add_tcase(suite, files);
	suite_add_tcase(suite, matching);
	return suite;
}

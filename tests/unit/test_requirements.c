/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows the verdict on each requirement. Directories stand for machines: one that has everything, and for
 * each requirement one that lacks it.
 */
#include "common/base/cleanup.h"
#include "common/kernel/requirements.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

struct file {
	const char *path, *text; /* NULL: the file is removed */
};

static const struct file good[] = {
	{ "sys/kernel/btf/vmlinux", "" },
	{ "proc/sys/net/core/bpf_jit_enable", "1\n" },
	{ "sys/kernel/security/lockdown", "none [integrity] confidentiality\n" },
	{ "proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n" },
	{ "sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids\n" },
	{ "sys/fs/cgroup/cpu.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n" },
	{ "sys/fs/cgroup/a.slice/b/cgroup.pressure", "1\n" },
	{ "proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n" },
	{ "proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n" },
	{ "proc/pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n" },
	{ "proc/pressure/irq", "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n" },
	{ "proc/sys/kernel/seccomp/actions_avail", "kill_process kill_thread trap errno trace log allow\n" },
	{ "proc/sys/kernel/unprivileged_bpf_disabled", "2\n" },
	{ "proc/sys/kernel/kptr_restrict", "1\n" },
	{ "proc/sys/kernel/perf_event_paranoid", "3\n" },
	{ "proc/sys/kernel/perf_event_max_sample_rate", "100000\n" },
	{ "proc/sys/kernel/perf_cpu_time_max_percent", "25\n" },
	{ "proc/sys/kernel/perf_event_max_stack", "127\n" },
};

struct requirement_case {
	const char *release;
	int landlock_abi;
	struct file file; /* requirements that this machine meets in another way */
	const char *name;
	enum grade grade;
	const char *found, *remedy; /* parts of their names */
};

#define NEW "6.12.110"

static const struct requirement_case requirement_cases[] = {
	{ NEW, 6, { 0 }, "kernel", GRADE_OK, "Linux 6.12.110", "" },
	{ NEW, 6, { 0 }, "kernel bugs", GRADE_OK, "none of the", "" },
	{ "6.1.41", 2, { 0 }, "kernel bugs", GRADE_WARNING, "use after free", "6.1.42" },
	{ "6.1.96", 2, { 0 }, "kernel bugs", GRADE_WARNING, "CVE-2024-41009", "6.1.97" },
	{ "6.1.115", 2, { 0 }, "kernel bugs", GRADE_WARNING, "LPM trie", "6.1.116, 6.6.60" },
	{ "6.1.152", 2, { 0 }, "kernel bugs", GRADE_WARNING, "CVE-2025-39881", "6.1.153" },
	{ "6.18.44", 7, { 0 }, "kernel bugs", GRADE_WARNING, "CVE-2026-74594", "6.18.45, 7.1.9 and 7.2" },
	{ "6.18.45", 7, { 0 }, "kernel bugs", GRADE_OK, "none of the", "" },
	{ "6.0.19", 2, { 0 }, "kernel", GRADE_FAILED, "6.0.19", "6.1 or newer" },
	{ "5.15.0", 1, { 0 }, "kernel", GRADE_FAILED, "5.15.0", "6.1 or newer" },
	{ "strange", 1, { 0 }, "kernel", GRADE_FAILED, "cannot parse the kernel version", "6.1 or newer" },
	{ "6.12.0-55.el10", 6, { 0 }, "kernel", GRADE_OK, "does not show which stable fixes", "" },
	{ NEW, 6, { 0 }, "kernel BTF", GRADE_OK, "vmlinux", "" },
	{ NEW,
	  6,
	  { "sys/kernel/btf/vmlinux", NULL },
	  "kernel BTF",
	  GRADE_FAILED,
	  "No such file",
	  "CONFIG_DEBUG_INFO_BTF" },
	{ NEW, 6, { 0 }, "BPF JIT", GRADE_OK, "on", "" },
	{ NEW,
	  6,
	  { "proc/sys/net/core/bpf_jit_enable", "0\n" },
	  "BPF JIT",
	  GRADE_WARNING,
	  "interpreted",
	  "bpf_jit_enable=1" },
	{ NEW,
	  6,
	  { "proc/sys/net/core/bpf_jit_enable", NULL },
	  "BPF JIT",
	  GRADE_UNKNOWN,
	  "No such file",
	  "" },
	{ NEW, 6, { "proc/sys/net/core/bpf_jit_enable", "on\n" }, "BPF JIT", GRADE_UNKNOWN, "Invalid", "" },
	{ NEW, 6, { 0 }, "lockdown", GRADE_OK, "[integrity]", "" },
	{ NEW, 6, { "sys/kernel/security/lockdown", NULL }, "lockdown", GRADE_OK, "none", "" },
	{ NEW,
	  6,
	  { "sys/kernel/security/lockdown", "none integrity [confidentiality]\n" },
	  "lockdown",
	  GRADE_WARNING,
	  "confidentiality",
	  "integrity" },
	{ NEW, 6, { 0 }, "cgroup2", GRADE_OK, "/sys/fs/cgroup", "" },
	{ NEW,
	  6,
	  { "sys/fs/cgroup/cgroup.controllers", "cpuset\n" },
	  "cgroup2",
	  GRADE_OK,
	  "cgroup v1 hierarchy",
	  "" },
	{ NEW, 6, { "proc/self/mountinfo", "" }, "cgroup2", GRADE_FAILED, "not mounted", "mount -t cgroup2" },
	{ NEW, 6, { 0 }, "PSI of cgroups", GRADE_OK, "on in all 3", "" },
	{ NEW,
	  6,
	  { "sys/fs/cgroup/cpu.pressure", NULL },
	  "PSI of cgroups",
	  GRADE_WARNING,
	  "watch = system",
	  "cgroup_disable=pressure" },
	{ NEW,
	  6,
	  { "sys/fs/cgroup/a.slice/b/cgroup.pressure", "0\n" },
	  "PSI of cgroups",
	  GRADE_WARNING,
	  "off in 1 of 3 cgroups: /a.slice/b",
	  "echo 1 > /sys/fs/cgroup/a.slice/b/cgroup.pressure" },
	{ NEW, 6, { 0 }, "PSI", GRADE_OK, "cpu, memory, io, irq", "" },
	{ NEW, 6, { "proc/pressure/irq", NULL }, "PSI", GRADE_OK, "cpu, memory, io", "" },
	{ NEW, 6, { "proc/pressure/cpu", NULL }, "PSI", GRADE_FAILED, "No such file", "CONFIG_PSI=y" },
	{ NEW,
	  6,
	  { "proc/pressure/memory", "nonsense\n" },
	  "PSI",
	  GRADE_FAILED,
	  "unknown format",
	  "CONFIG_PSI" },
	{ NEW, 6, { 0 }, "seccomp", GRADE_OK, "kill_process", "" },
	{ NEW,
	  6,
	  { "proc/sys/kernel/seccomp/actions_avail", "trap errno allow\n" },
	  "seccomp",
	  GRADE_FAILED,
	  "trap errno allow",
	  "CONFIG_SECCOMP_FILTER" },
	{ NEW,
	  6,
	  { "proc/sys/kernel/seccomp/actions_avail", NULL },
	  "seccomp",
	  GRADE_FAILED,
	  "No such file",
	  "CONFIG_SECCOMP_FILTER" },
	{ NEW, 6, { 0 }, "Landlock", GRADE_OK, "ABI 6", "" },
	{ NEW, 0, { 0 }, "Landlock", GRADE_WARNING, "not available", "lsm=" },
	{ NEW, 6, { 0 }, "unprivileged BPF", GRADE_OK, "disabled", "" },
	{ NEW,
	  6,
	  { "proc/sys/kernel/unprivileged_bpf_disabled", "0\n" },
	  "unprivileged BPF",
	  GRADE_WARNING,
	  "any user can load BPF",
	  "unprivileged_bpf_disabled=2" },
	{ NEW, 6, { 0 }, "kptr_restrict", GRADE_OK, "1:", "" },
	{ NEW, 6, { "proc/sys/kernel/kptr_restrict", NULL }, "kptr_restrict", GRADE_UNKNOWN, "No such", "" },
	{ NEW, 6, { 0 }, "perf_event_paranoid", GRADE_OK, "3:", "" },
	{ NEW, 6, { 0 }, "perf sample rate", GRADE_OK, "100000", "" },
	{ NEW,
	  6,
	  { "proc/sys/kernel/perf_event_max_sample_rate", "50\n" },
	  "perf sample rate",
	  GRADE_WARNING,
	  "50 samples a second",
	  "perf_event_max_sample_rate" },
	{ NEW, 6, { 0 }, "stack depth", GRADE_OK, "127", "" },
	{ NEW,
	  6,
	  { "proc/sys/kernel/perf_event_max_stack", "32\n" },
	  "stack depth",
	  GRADE_WARNING,
	  "32",
	  "perf_event_max_stack=127" },
};

static void put(const char *root, const struct file *file)
{
	_cleanup_free_ char *path = path_join(root, file->path);

	if (file->text)
		file_put_below(root, file->path, file->text);
	else
		ck_assert_int_eq(unlink(path), 0);
}

/* Some kernels have several bugs; the expected one must be among them. */
static bool has_finding(const struct findings *findings, const struct requirement_case *one)
{
	for (size_t i = 0; i < findings->count; i++)
		if (!strcmp(findings->items[i].name, one->name) && findings->items[i].grade == one->grade &&
		    strstr(findings->items[i].found, one->found) &&
		    strstr(findings->items[i].remedy, one->remedy))
			return true;
	return false;
}

static void make_machine(struct machine *machine, const char *release, int landlock_abi,
			 const struct file *file)
{
	_cleanup_free_ char *root = directory_make();

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		put(root, &good[i]);
	if (file->path)
		put(root, file);
	*machine = (struct machine){ .root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC),
				     .landlock_abi = landlock_abi };
	ck_assert_int_ge(machine->root_fd, 0);
	snprintf(machine->release, sizeof(machine->release), "%s", release);
	snprintf(machine->version, sizeof(machine->version), "#1 SMP");
}

START_TEST(requirements)
{
	const struct requirement_case *one = &requirement_cases[_i];
	struct findings findings = { 0 };
	struct machine machine;

	make_machine(&machine, one->release, one->landlock_abi, &one->file);
	requirements_check(&machine, true, &findings);
	machine_close(&machine);
	if (!has_finding(&findings, one))
		ck_abort_msg("%s on %s: %s, %s, %s", one->name, one->release,
			     grade_names[finding_find(&findings, one->name)->grade],
			     finding_find(&findings, one->name)->found,
			     finding_find(&findings, one->name)->remedy);
	if (!one->file.path && !strcmp(one->release, NEW) && one->landlock_abi)
		ck_assert_int_eq(findings_worst(&findings), GRADE_OK);
}
END_TEST

/* A load checks only what it needs, and does not walk over all cgroups. */
START_TEST(a_load_does_not_walk)
{
	static const struct file off = { "sys/fs/cgroup/a.slice/b/cgroup.pressure", "0\n" };
	struct findings findings = { 0 };
	struct machine machine;

	make_machine(&machine, NEW, 6, &off);
	requirements_check(&machine, false, &findings);
	machine_close(&machine);
	ck_assert_int_eq(findings_worst(&findings), GRADE_OK);
}
END_TEST

START_TEST(this_machine)
{
	struct findings findings = { 0 };
	struct machine machine;

	ck_assert_int_eq(machine_open(&machine), 0);
	requirements_check(&machine, true, &findings);
	machine_close(&machine);
	ck_assert_uint_gt(findings.count, 10);
	ck_assert_int_eq(finding_find(&findings, "kernel")->grade, GRADE_OK);
}
END_TEST

SUITE(requirements)
{
	Suite *suite = suite_create("requirements");
	TCase *tests = tcase_create("requirements");

	tcase_add_loop_test(tests, requirements, 0, ARRAY_SIZE(requirement_cases));
	tcase_add_test(tests, a_load_does_not_walk);
	tcase_add_test(tests, this_machine);
	suite_add_tcase(suite, tests);
	return suite;
}

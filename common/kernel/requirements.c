/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/kernel/requirements.h"

#include "common/abi/samples.h"
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/confine/landlock_abi.h"
#include "common/kernel/cgroup.h"
#include "common/kernel/cgroup_walk.h"
#include "common/kernel/kernel_version.h"
#include "common/system/files.h"
#include "common/system/options.h"

#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

int machine_open(struct machine *ret_machine)
{
	struct machine machine = { 0 };
	struct utsname name;

	if (uname(&name))
		return -errno;
	machine.root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (machine.root_fd < 0)
		return -errno;
	snprintf(machine.release, sizeof(machine.release), "%s", name.release);
	snprintf(machine.version, sizeof(machine.version), "%s", name.version);
	machine.landlock_abi = landlock_abi();
	*ret_machine = machine;
	return 0;
}

void machine_close(struct machine *machine)
{
	cleanup_close(&machine->root_fd);
}

/* ---- reading ---- */

/*
 * Reads the first line of a small file, without its newline. The caller frees *ret_text. Returns 0 or -errno.
 */
static int read_line(const struct machine *machine, const char *path, char **ret_text)
{
	size_t bytes;
	int result = file_read_text(machine->root_fd, path, 4096, ret_text, &bytes);

	if (!result)
		(*ret_text)[strcspn(*ret_text, "\n")] = '\0';
	return result;
}

static int read_number(const struct machine *machine, const char *path, long *ret_number)
{
	_cleanup_free_ char *text = NULL;
	int result = read_line(machine, path, &text);
	char *end;

	if (result < 0)
		return result;
	*ret_number = strtol(text, &end, 10);
	return end == text || *end ? -EINVAL : 0;
}

/* Reads a sysctl. If that fails, adds a finding and returns false. */
static bool read_sysctl(const struct machine *machine, const char *name, const char *path, long *ret_number,
			struct findings *findings)
{
	int result = read_number(machine, path, ret_number);

	if (!result)
		return true;
	findings_add(findings, GRADE_UNKNOWN, name, "", "/%s: %s", path,
		     result == -EACCES ? "readable by root only" : strerror(-result));
	return false;
}

/* ---- the kernel ---- */

static void check_kernel(const struct machine *machine, struct findings *findings)
{
	_cleanup_free_ char *signature = NULL;
	struct kernel_version version;
	bool bugs = false;

	read_line(machine, "proc/version_signature", &signature);
	if (kernel_version_parse(machine->release, machine->version, signature ? signature : "", &version)) {
		findings_add(findings, GRADE_FAILED, "kernel", "use Linux 6.1 or newer",
			     "%s: cannot parse the kernel version", machine->release);
		return;
	}
	if (version.major < 6 || (version.major == 6 && version.minor < 1)) {
		findings_add(findings, GRADE_FAILED, "kernel", "use Linux 6.1 or newer", "%s",
			     machine->release);
		return;
	}
	if (!version.patch_known) {
		findings_ok(findings, "kernel", "%s; its version does not show which stable fixes it has",
			    machine->release);
		return;
	}
	findings_ok(findings, "kernel", "%s, which is Linux %u.%u.%u", machine->release, version.major,
		    version.minor, version.patch);
	for (size_t i = 0; i < kernel_bugs_count; i++) {
		char remedy[128];

		if (!kernel_version_has_bug(&version, &kernel_bugs[i]))
			continue;
		snprintf(remedy, sizeof(remedy), "update the kernel: fixed in %s", kernel_bugs[i].fixed_in);
		findings_add(findings, GRADE_WARNING, "kernel bugs", remedy, "%s", kernel_bugs[i].what);
		bugs = true;
	}
	if (!bugs)
		findings_ok(findings, "kernel bugs", "none of the %zu known bugs that affect bourdon",
			    kernel_bugs_count);
}

static void check_btf(const struct machine *machine, struct findings *findings)
{
	if (faccessat(machine->root_fd, "sys/kernel/btf/vmlinux", R_OK, 0))
		findings_add(findings, GRADE_FAILED, "kernel BTF",
			     "use a kernel with CONFIG_DEBUG_INFO_BTF=y", "/sys/kernel/btf/vmlinux: %s",
			     strerror(errno));
	else
		findings_ok(findings, "kernel BTF", "/sys/kernel/btf/vmlinux");
}

static void check_jit(const struct machine *machine, struct findings *findings)
{
	static const char path[] = "proc/sys/net/core/bpf_jit_enable";
	long enabled, hardened = 0;

	if (!read_sysctl(machine, "BPF JIT", path, &enabled, findings))
		return;
	read_number(machine, "proc/sys/net/core/bpf_jit_harden", &hardened);
	if (!enabled)
		findings_add(findings, GRADE_WARNING, "BPF JIT", "sysctl -w net.core.bpf_jit_enable=1",
			     "off: BPF programs are interpreted, several times slower");
	else
		findings_ok(findings, "BPF JIT", "on%s", hardened == 2 ? ", hardened for all users" : "");
}

static void check_lockdown(const struct machine *machine, struct findings *findings)
{
	_cleanup_free_ char *text = NULL;

	if (read_line(machine, "sys/kernel/security/lockdown", &text))
		findings_ok(findings, "lockdown", "none, or securityfs is not mounted");
	else if (strstr(text, "[confidentiality]"))
		findings_add(findings, GRADE_WARNING, "lockdown",
			     "boot with lockdown=integrity, which is enough for a hardened host",
			     "confidentiality mode: BPF programs cannot read kernel memory");
	else
		findings_ok(findings, "lockdown", "%s", text);
}

/* ---- pressure ---- */

static void check_psi(const struct machine *machine, struct findings *findings)
{
	static const char *const resources[] = { "cpu", "memory", "io", "irq" };
	char found[32] = "";

	for (size_t i = 0; i < ARRAY_SIZE(resources); i++) {
		_cleanup_free_ char *text = NULL;
		char path[32];
		int result;

		snprintf(path, sizeof(path), "proc/pressure/%s", resources[i]);
		result = read_line(machine, path, &text);
		if (result == -ENOENT && !strcmp(resources[i], "irq"))
			continue; /* CONFIG_IRQ_TIME_ACCOUNTING is optional */
		/* with psi=0 the files do not exist either */
		if (result || (strncmp(text, "some ", 5) && strncmp(text, "full ", 5))) {
			findings_add(findings, GRADE_FAILED, "PSI",
				     result == -EACCES ? "let this user read /proc/pressure"
						       : "boot with psi=1, on a kernel with CONFIG_PSI=y",
				     "/%s: %s", path, result ? strerror(-result) : "unknown format");
			return;
		}
		snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s%s", i ? ", " : "",
			 resources[i]);
	}
	findings_ok(findings, "PSI", "%s", found);
}

#define CGROUPS_NS CLOCK_SECOND_NS /* a user may make cgroups without end: a check takes a second at most */

struct cgroups_off {
	int mount_fd;
	unsigned int seen, off;
	char first[160];
};

/* Since Linux 6.1, cgroup.pressure is 0 or 1 in every cgroup but the root. */
static bool look_at_cgroup(void *user, uint64_t id, const char *path)
{
	struct cgroups_off *cgroups = user;
	_cleanup_free_ char *text = NULL;
	char file[PATH_MAX];
	size_t bytes;

	(void)id;
	cgroups->seen++;
	snprintf(file, sizeof(file), ".%s/cgroup.pressure", path);
	if (file_read_text(cgroups->mount_fd, file, 64, &text, &bytes) || text[0] != '0')
		return true;
	if (!cgroups->off++)
		snprintf(cgroups->first, sizeof(cgroups->first), "%s", path);
	return true;
}

static void check_cgroup_pressure(int mount_fd, const char *mount, bool thorough, struct findings *findings)
{
	struct cgroups_off cgroups = { .mount_fd = mount_fd };
	char walked[64], remedy[PATH_MAX], of[64];
	int more;

	if (faccessat(mount_fd, "cpu.pressure", F_OK, 0)) {
		findings_add(findings, GRADE_WARNING, "PSI of cgroups",
			     "boot without cgroup_disable=pressure",
			     "off: rules with watch = system work, rules with watch = cgroup do not");
		return;
	}
	if (!thorough)
		return;
	snprintf(walked, sizeof(walked), "/proc/self/fd/%d/.", mount_fd);
	more = cgroup_walk(walked, clock_monotonic_ns() + CGROUPS_NS, look_at_cgroup, &cgroups);
	snprintf(of, sizeof(of), more > 0 ? "the first %u cgroups, of more" : "%u cgroups", cgroups.seen);
	if (more < 0) {
		findings_add(findings, GRADE_UNKNOWN, "PSI of cgroups", "", "%s: %s", mount, strerror(-more));
		return;
	}
	if (!cgroups.off) {
		findings_ok(findings, "PSI of cgroups", more ? "on in %s" : "on in all %s", of);
		return;
	}
	snprintf(remedy, sizeof(remedy), "echo 1 > %s%s/cgroup.pressure", mount, cgroups.first);
	findings_add(findings, GRADE_WARNING, "PSI of cgroups", remedy, "off in %u of %s: %s%s", cgroups.off,
		     of, cgroups.first, cgroups.off > 1 ? " and others" : "");
}

static void check_cgroups(const struct machine *machine, bool thorough, struct findings *findings)
{
	_cleanup_free_ char *mountinfo = NULL, *mount = NULL, *controllers = NULL;
	_cleanup_close_ int mount_fd = -EBADF;
	size_t bytes;
	int result = file_read_text(machine->root_fd, "proc/self/mountinfo", 4 << 20, &mountinfo, &bytes);

	if (!result)
		result = cgroup_mount_parse(mountinfo, &mount);
	if (!result) {
		mount_fd = openat(machine->root_fd, mount + 1, O_PATH | O_DIRECTORY | O_CLOEXEC);
		result = mount_fd < 0 ? -errno : 0;
	}
	if (result < 0) {
		findings_add(findings, GRADE_FAILED, "cgroup2", "mount -t cgroup2 cgroup2 /sys/fs/cgroup",
			     "%s", result == -ENOENT ? "not mounted" : strerror(-result));
		return;
	}
	result = file_read_text(mount_fd, "cgroup.controllers", 4096, &controllers, &bytes);
	if (!result && strstr(controllers, "memory") && strstr(controllers, "io"))
		findings_ok(findings, "cgroup2", "%s", mount);
	else
		findings_ok(findings, "cgroup2", "%s, but memory or io is in a cgroup v1 hierarchy", mount);
	check_cgroup_pressure(mount_fd, mount, thorough, findings);
}

/* ---- settings ---- */

static void check_kptr_restrict(const struct machine *machine, struct findings *findings)
{
	long value;

	if (read_sysctl(machine, "kptr_restrict", "proc/sys/kernel/kptr_restrict", &value, findings))
		findings_ok(findings, "kptr_restrict",
			    "%ld: symbols come from an iterator, not /proc/kallsyms", value);
}

#define PERF_PARANOID_FILE "proc/sys/kernel/perf_event_paranoid"

long requirements_perf_paranoid(const struct machine *machine)
{
	long value;

	return read_number(machine, PERF_PARANOID_FILE, &value) ? 0 : value;
}

static void check_perf_paranoid(const struct machine *machine, struct findings *findings)
{
	long value;

	if (read_sysctl(machine, "perf_event_paranoid", PERF_PARANOID_FILE, &value, findings))
		findings_ok(findings, "perf_event_paranoid", "%ld: bourdon-load needs %s", value,
			    value >= PERF_PARANOID_DEBIAN ? "CAP_SYS_ADMIN on Debian's kernels"
							  : "CAP_PERFMON");
}

static void check_unprivileged_bpf(const struct machine *machine, struct findings *findings)
{
	static const char name[] = "unprivileged BPF";
	long value;

	if (!read_sysctl(machine, name, "proc/sys/kernel/unprivileged_bpf_disabled", &value, findings))
		return;
	if (!value)
		findings_add(findings, GRADE_WARNING, name, "sysctl -w kernel.unprivileged_bpf_disabled=2",
			     "allowed: any user can load BPF programs; bourdon does not need that");
	else
		findings_ok(findings, name, "disabled (%ld)", value);
}

static void check_seccomp(const struct machine *machine, struct findings *findings)
{
	_cleanup_free_ char *text = NULL;
	int result = read_line(machine, "proc/sys/kernel/seccomp/actions_avail", &text);

	if (result < 0 || !strstr(text, "kill_process") || !strstr(text, "errno"))
		findings_add(findings, GRADE_FAILED, "seccomp", "use a kernel with CONFIG_SECCOMP_FILTER=y",
			     "filters need the actions kill_process and errno: %s",
			     result < 0 ? strerror(-result) : text);
	else
		findings_ok(findings, "seccomp", "filters, with kill_process");
}

static void check_landlock(const struct machine *machine, struct findings *findings)
{
	if (machine->landlock_abi)
		findings_ok(findings, "Landlock", "ABI %d", machine->landlock_abi);
	else
		findings_add(findings, GRADE_WARNING, "Landlock",
			     "use a kernel with CONFIG_SECURITY_LANDLOCK=y and boot with landlock in lsm=",
			     "not available: only file permissions limit which files bourdond can open");
}

#define JIFFIES_A_SECOND_LEAST 100

static void check_sample_rate(const struct machine *machine, struct findings *findings)
{
	static const char name[] = "perf sample rate", path[] = "proc/sys/kernel/perf_event_max_sample_rate";
	long rate, percent = -1;

	if (!read_sysctl(machine, name, path, &rate, findings))
		return;
	read_number(machine, "proc/sys/kernel/perf_cpu_time_max_percent", &percent);
	/* the kernel admits a whole number of samples a jiffy, at least one */
	if (rate < JIFFIES_A_SECOND_LEAST)
		findings_add(
			findings, GRADE_WARNING, name, "sysctl -w kernel.perf_event_max_sample_rate=100000",
			"at most %ld samples a second: the kernel throttles a higher --hz; it lowers this limit when sampling takes more than %ld %% of CPU time",
			rate, percent);
	else
		findings_ok(findings, name, "at most %ld samples a second and %ld %% of CPU time", rate,
			    percent);
}

static void check_stack_depth(const struct machine *machine, struct findings *findings)
{
	static const char name[] = "stack depth", path[] = "proc/sys/kernel/perf_event_max_stack";
	char remedy[64];
	long frames;

	if (!read_sysctl(machine, name, path, &frames, findings))
		return;
	snprintf(remedy, sizeof(remedy), "sysctl -w kernel.perf_event_max_stack=%u", SAMPLE_USER_FRAMES);
	if (frames < (long)SAMPLE_USER_FRAMES)
		findings_add(findings, GRADE_WARNING, name, remedy,
			     "at most %ld frames: deeper stacks are truncated", frames);
	else
		findings_ok(findings, name, "at most %ld frames", frames);
}

void requirements_check(const struct machine *machine, bool thorough, struct findings *findings)
{
	check_kernel(machine, findings);
	check_btf(machine, findings);
	check_jit(machine, findings);
	check_lockdown(machine, findings);
	check_cgroups(machine, thorough, findings);
	check_psi(machine, findings);
	check_seccomp(machine, findings);
	check_landlock(machine, findings);
	check_unprivileged_bpf(machine, findings);
	check_kptr_restrict(machine, findings);
	check_perf_paranoid(machine, findings);
	check_sample_rate(machine, findings);
	check_stack_depth(machine, findings);
}

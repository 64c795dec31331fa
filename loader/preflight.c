/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/preflight.h"

#include "common/base/cleanup.h"
#include "common/kernel/requirements.h"
#include "common/system/findings.h"
#include "common/system/log.h"
#include "loader/canary.h"
#include "loader/pin_directory.h"

#include <cap-ng.h>
#include <libgen.h>
#include <limits.h>
#include <linux/bpf.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BPFFS "/sys/fs/bpf"

/* Returns false where a capability is missing that a load needs. */
static bool check_capabilities(struct findings *findings)
{
	static const char name[] = "capabilities",
			  remedy[] = "run it as root, or with CAP_BPF, CAP_PERFMON and CAP_CHOWN";
	static const unsigned int needed[] = { CAP_BPF, CAP_PERFMON };

	if (capng_get_caps_process()) {
		findings_add(findings, GRADE_FAILED, name, remedy, "cannot read this process's capabilities");
		return false;
	}
	if (capng_have_capability(CAPNG_EFFECTIVE, CAP_SYS_ADMIN)) {
		findings_ok(findings, name, "cap_sys_admin, which is more than it needs");
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		if (capng_have_capability(CAPNG_EFFECTIVE, needed[i]))
			continue;
		findings_add(findings, GRADE_FAILED, name, remedy, "no cap_%s",
			     capng_capability_to_name(needed[i]));
		return false;
	}
	findings_ok(findings, name, "cap_bpf and cap_perfmon");
	return true;
}

/*
 * A container's system-call filter, a user namespace or a security module may refuse what the capabilities permit. Not through
 * libbpf: where bpf() is refused, it raises RLIMIT_MEMLOCK, which this program's own filter does not allow.
 */
static void check_bpf(struct findings *findings)
{
	union bpf_attr attributes;
	_cleanup_close_ int fd = -EBADF;

	memset(&attributes, 0, sizeof(attributes));
	attributes.map_type = BPF_MAP_TYPE_ARRAY;
	attributes.key_size = attributes.value_size = sizeof(__u32);
	attributes.max_entries = 1;
	fd = (int)syscall(SYS_bpf, BPF_MAP_CREATE, &attributes, sizeof(attributes));
	if (fd < 0)
		findings_add(findings, GRADE_FAILED, "bpf()",
			     "run it on the host, outside of containers and user namespaces",
			     "refused, despite the capabilities: %s", strerror(errno));
	else
		findings_ok(findings, "bpf()", "a map can be made");
}

/*
 * Debian patches its kernels: at level 3 and above CAP_PERFMON opens no perf event. On other kernels 3 means
 * the same as 2.
 */
static bool perf_needs_sys_admin(const struct machine *machine)
{
	return strstr(machine->version, "Debian") &&
	       requirements_perf_paranoid(machine) >= PERF_PARANOID_DEBIAN;
}

static void check_perf_privilege(const struct machine *machine, struct findings *findings)
{
	if (perf_needs_sys_admin(machine) && !capng_have_capability(CAPNG_EFFECTIVE, CAP_SYS_ADMIN))
		findings_add(findings, GRADE_FAILED, "perf events",
			     "run it with CAP_SYS_ADMIN, or after sysctl -w kernel.perf_event_paranoid=2",
			     "kernel.perf_event_paranoid is %ld: Debian's kernels open none for CAP_PERFMON",
			     requirements_perf_paranoid(machine));
}

static bool is_bpffs(const char *path)
{
	struct statfs at;

	return !statfs(path, &at) && (unsigned long)at.f_type == BPF_FS_MAGIC;
}

/* Two loaders at once would mount bpffs twice. */
static int mount_bpffs(const char *pin_dir, bool *ret_mounted)
{
	_cleanup_close_ int lock = pin_directory_lock(pin_dir, -EBADF);

	if (lock < 0)
		return lock;
	if (is_bpffs(BPFFS))
		return 0;
	if (mount("bpf", BPFFS, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0700"))
		return -errno;
	*ret_mounted = true;
	return 0;
}

/* With `ret_mounted`, mounts bpffs where it is missing and mounting is permitted. */
static void check_bpffs(const char *pin_dir, struct findings *findings, bool *ret_mounted)
{
	static const char name[] = "bpffs";
	_cleanup_free_ char *copy = strdup(pin_dir);
	char remedy[PATH_MAX];
	const char *parent;
	int result;

	if (!copy) {
		findings_add(findings, GRADE_FAILED, name, "", "%s", strerror(ENOMEM));
		return;
	}
	parent = dirname(copy);
	snprintf(remedy, sizeof(remedy), "mount -t bpf -o mode=0700 bpf %s", parent);
	if (is_bpffs(parent)) {
		findings_ok(findings, name, "%s", parent);
	} else if (strcmp(parent, BPFFS)) {
		findings_add(findings, GRADE_FAILED, name, remedy, "%s is not on a BPF file system", parent);
	} else if (ret_mounted) {
		result = mount_bpffs(pin_dir, ret_mounted);
		if (result < 0)
			findings_add(findings, GRADE_FAILED, name, remedy,
				     "%s is not mounted, and bourdon-load may not mount it: %s", BPFFS,
				     strerror(-result));
	} else if (capng_have_capability(CAPNG_EFFECTIVE, CAP_SYS_ADMIN)) {
		findings_ok(findings, name, "%s is not mounted; a load mounts it", BPFFS);
	} else {
		findings_add(findings, GRADE_FAILED, name, remedy, "%s is not mounted", BPFFS);
	}
}

/* All checks but the canary. Returns the exit status that they call for. */
static int collect(const char *pin_dir, bool thorough, struct findings *findings, bool *ret_mounted)
{
	bool privileged = check_capabilities(findings);
	struct machine machine;
	int result = machine_open(&machine);

	if (result < 0)
		return log_failed(EXIT_FAILED, "cannot check this machine: %s", strerror(-result));
	requirements_check(&machine, thorough, findings);
	if (privileged) {
		check_bpf(findings);
		check_perf_privilege(&machine, findings);
	}
	machine_close(&machine);
	check_bpffs(pin_dir, findings, ret_mounted);
	for (size_t i = 0; i < findings->count; i++)
		if (findings->items[i].grade == GRADE_FAILED &&
		    strcmp(findings->items[i].name, "capabilities"))
			return EXIT_CANNOT;
	return privileged ? EXIT_DONE : EXIT_FAILED;
}

bool preflight_needs_sys_admin(const char *pin_dir)
{
	_cleanup_free_ char *copy = strdup(pin_dir);
	struct machine machine;
	bool needs = true;

	if (!copy || machine_open(&machine) < 0)
		return needs;
	needs = perf_needs_sys_admin(&machine) || !is_bpffs(dirname(copy));
	machine_close(&machine);
	return needs;
}

int preflight_drop_sys_admin(void)
{
	if (capng_get_caps_process())
		return -EPERM;
	if (!capng_have_capability(CAPNG_PERMITTED, CAP_SYS_ADMIN) ||
	    !capng_have_capability(CAPNG_EFFECTIVE, CAP_BPF) ||
	    !capng_have_capability(CAPNG_EFFECTIVE, CAP_PERFMON))
		return 0;
	capng_update(CAPNG_DROP, CAPNG_EFFECTIVE | CAPNG_PERMITTED | CAPNG_INHERITABLE, CAP_SYS_ADMIN);
	return capng_apply(CAPNG_SELECT_CAPS) ? -EPERM : 0;
}

int preflight_pass(const char *pin_dir, bool *ret_mounted_bpffs)
{
	struct findings findings = { 0 };
	int status;

	*ret_mounted_bpffs = false;
	status = collect(pin_dir, false, &findings, ret_mounted_bpffs);
	for (size_t i = 0; i < findings.count; i++)
		if (findings.items[i].grade == GRADE_FAILED)
			log_error("%s: %s; remedy: %s", findings.items[i].name, findings.items[i].found,
				  findings.items[i].remedy);
	return status;
}

int preflight_report(const char *pin_dir, unsigned int hz, bool json)
{
	struct findings findings = { 0 };
	int status = collect(pin_dir, true, &findings, NULL);

	if (status == EXIT_DONE) {
		canary_run(hz, &findings);
		status = findings_worst(&findings) == GRADE_FAILED ? EXIT_CANNOT : EXIT_DONE;
	}
	if (json)
		findings_print_json(&findings, stdout);
	else
		findings_print(&findings, stdout);
	if (fflush(stdout))
		return log_failed(EXIT_FAILED, "cannot write the report: %s", strerror(errno));
	return status;
}

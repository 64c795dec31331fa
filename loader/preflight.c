/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/preflight.h"

#include "common/cgroup.h"
#include "common/cleanup.h"
#include "common/files.h"
#include "common/log.h"
#include "loader/pin_directory.h"

#include <cap-ng.h>
#include <libgen.h>
#include <limits.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/statfs.h>
#include <sys/utsname.h>

#define BPFFS "/sys/fs/bpf"

struct preflight {
	const char *pin_dir;
	bool mounted_bpffs;
	char found[256]; /* what was found, or why it does not do */
	const char *remedy;
};

static bool check_capabilities(struct preflight *check)
{
	check->remedy = "run it as root, or with CAP_BPF, CAP_PERFMON and CAP_CHOWN";
	if (capng_get_caps_process()) {
		snprintf(check->found, sizeof(check->found), "cannot read this process's capabilities");
		return false;
	}
	if (capng_have_capability(CAPNG_EFFECTIVE, CAP_SYS_ADMIN))
		return true;
	for (size_t i = 0; i < 2; i++) {
		unsigned int needed = i ? CAP_PERFMON : CAP_BPF;

		if (!capng_have_capability(CAPNG_EFFECTIVE, needed)) {
			snprintf(check->found, sizeof(check->found), "no cap_%s",
				 capng_capability_to_name(needed));
			return false;
		}
	}
	return true;
}

static bool check_kernel(struct preflight *check)
{
	struct utsname name;
	unsigned int major, minor;

	check->remedy = "use Linux 6.1 or newer";
	if (uname(&name) || sscanf(name.release, "%u.%u", &major, &minor) != 2) {
		snprintf(check->found, sizeof(check->found), "the version cannot be told");
		return false;
	}
	snprintf(check->found, sizeof(check->found), "%s", name.release);
	return major > 6 || (major == 6 && minor >= 1);
}

static bool check_btf(struct preflight *check)
{
	check->remedy = "use a kernel with CONFIG_DEBUG_INFO_BTF=y";
	if (!access("/sys/kernel/btf/vmlinux", R_OK))
		return true;
	snprintf(check->found, sizeof(check->found), "/sys/kernel/btf/vmlinux: %s", strerror(errno));
	return false;
}

static bool check_cgroup2(struct preflight *check)
{
	_cleanup_free_ char *mount_point = NULL;
	int result = cgroup_mount(&mount_point);

	check->remedy = "mount -t cgroup2 cgroup2 /sys/fs/cgroup";
	if (result < 0) {
		snprintf(check->found, sizeof(check->found), "%s",
			 result == -ENOENT ? "not mounted" : strerror(-result));
		return false;
	}
	snprintf(check->found, sizeof(check->found), "%s", mount_point);
	return true;
}

static bool check_psi(struct preflight *check)
{
	_cleanup_free_ char *text = NULL;
	size_t bytes;
	int result = file_read_text(AT_FDCWD, "/proc/pressure/cpu", 4096, &text, &bytes);

	check->remedy = result == -EOPNOTSUPP ? "boot with psi=1 on the kernel's command line"
			: result == -EACCES   ? "let root read /proc/pressure"
					      : "use a kernel with CONFIG_PSI=y";
	if (!result && !strncmp(text, "some ", 5))
		return true;
	snprintf(check->found, sizeof(check->found), "/proc/pressure/cpu: %s",
		 result < 0 ? strerror(-result) : "not in a form that is known");
	return false;
}

static bool is_bpffs(const char *path)
{
	struct statfs at;

	return !statfs(path, &at) && (unsigned long)at.f_type == BPF_FS_MAGIC;
}

static bool check_bpffs(struct preflight *check)
{
	_cleanup_free_ char *copy = strdup(check->pin_dir);
	_cleanup_close_ int lock = -EBADF;
	static char remedy[PATH_MAX + 64];
	const char *parent;

	if (!copy)
		return false;
	parent = dirname(copy);
	snprintf(remedy, sizeof(remedy), "mount -t bpf -o mode=0700 bpf %s", parent);
	check->remedy = remedy;
	if (is_bpffs(parent))
		return true;
	if (strcmp(parent, BPFFS)) {
		snprintf(check->found, sizeof(check->found), "%s is not on a BPF file system", parent);
		return false;
	}
	/* two loaders at once would mount it over each other */
	lock = pin_directory_lock(check->pin_dir);
	if (lock < 0) {
		snprintf(check->found, sizeof(check->found), "cannot lock %s: %s", parent, strerror(-lock));
		return false;
	}
	if (is_bpffs(parent))
		return true;
	if (mount("bpf", BPFFS, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0700")) {
		snprintf(check->found, sizeof(check->found), "%s is not mounted, and may not be by us: %s",
			 BPFFS, strerror(errno));
		return false;
	}
	check->mounted_bpffs = true;
	snprintf(check->found, sizeof(check->found), "mounted %s", BPFFS);
	return true;
}

static const struct requirement {
	const char *name;
	bool (*holds)(struct preflight *check);
	int status; /* when it does not */
} requirements[] = {
	{ "capabilities", check_capabilities, EXIT_FAILED },
	{ "kernel", check_kernel, EXIT_CANNOT },
	{ "kernel BTF", check_btf, EXIT_CANNOT },
	{ "cgroup2", check_cgroup2, EXIT_CANNOT },
	{ "PSI", check_psi, EXIT_CANNOT },
	{ "bpffs", check_bpffs, EXIT_CANNOT },
};

int preflight_check(const char *pin_dir, bool verbose, bool *ret_mounted_bpffs)
{
	int status = EXIT_DONE;

	*ret_mounted_bpffs = false;
	for (size_t i = 0; i < ARRAY_SIZE(requirements); i++) {
		struct preflight check = { .pin_dir = pin_dir };

		if (requirements[i].holds(&check)) {
			*ret_mounted_bpffs |= check.mounted_bpffs;
			if (verbose)
				printf("%-14s ok      %s\n", requirements[i].name, check.found);
			continue;
		}
		log_error("%s: %s; remedy: %s", requirements[i].name, check.found, check.remedy);
		if (requirements[i].status > status)
			status = requirements[i].status;
	}
	return status;
}

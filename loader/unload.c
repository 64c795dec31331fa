/* SPDX-License-Identifier: GPL-2.0-only */
#include "loader/unload.h"

#include "common/abi/policy.h"
#include "common/abi/targets.h"
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/policy/policy.h"
#include "common/protocol/manifest.h"
#include "common/protocol/pins.h"
#include "common/system/files.h"
#include "common/system/log.h"
#include "common/system/options.h"
#include "common/text/escape.h"
#include "loader/pin_directory.h"
#include "loader/readers_pin.h"
#include "loader/run_files.h"

#include <bpf/bpf.h>
#include <libgen.h>
#include <limits.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

static bool is_in(const char *path, const char *directory)
{
	size_t bytes = strlen(directory);

	return !strncmp(path, directory, bytes) && path[bytes] == '/' && !strchr(path + bytes + 1, '/');
}

/* An open iterator keeps its program in the kernel after the pin is gone. */
static void report_holder(int pid, const char *pin_dir, const char *readers_dir)
{
	char directory[64], target[PATH_MAX], comm[64] = "?", safe[256];
	_cleanup_free_ char *text = NULL;
	_cleanup_dir_ DIR *fds = NULL;
	struct dirent *entry;
	size_t bytes;

	snprintf(directory, sizeof(directory), "/proc/%d/fd", pid);
	fds = opendir(directory);
	while (fds && (entry = readdir(fds))) {
		ssize_t length = readlinkat(dirfd(fds), entry->d_name, target, sizeof(target) - 1);

		if (length <= 0)
			continue;
		target[length] = '\0';
		if (!is_in(target, pin_dir) && !is_in(target, readers_dir))
			continue;
		snprintf(directory, sizeof(directory), "/proc/%d/comm", pid);
		if (!file_read_text(AT_FDCWD, directory, 4096, &text, &bytes))
			snprintf(comm, sizeof(comm), "%.*s", (int)strcspn(text, "\n"), text);
		log_warning(
			"process %d (%s) still has %s open: its program stays in the kernel until it closes it",
			pid, escape_terminal(comm, safe, sizeof(safe)), target);
		return;
	}
}

static void report_holders(const char *pin_dir, const char *run_dir)
{
	_cleanup_free_ char *readers_dir = NULL;
	_cleanup_dir_ DIR *processes = opendir("/proc");
	unsigned long long pid;
	struct dirent *entry;

	if (asprintf(&readers_dir, "%s/" READERS_DIRECTORY, run_dir) < 0) {
		readers_dir = NULL;
		return;
	}
	while (processes && (entry = readdir(processes)))
		if (!options_number(entry->d_name, 1, INT_MAX, &pid))
			report_holder((int)pid, pin_dir, readers_dir);
}

/* Unmounts the bpffs that preflight mounted, unless somebody else uses it meanwhile. */
static void unmount_bpffs(const char *pin_dir)
{
	_cleanup_free_ char *copy = strdup(pin_dir);
	_cleanup_dir_ DIR *directory = NULL;
	struct dirent *entry;
	const char *parent;

	if (!copy)
		return;
	parent = dirname(copy);
	directory = opendir(parent);
	while (directory && (entry = readdir(directory)))
		/* the kernel's own entries have a dot: maps.debug, progs.debug */
		if (!strchr(entry->d_name, '.'))
			return;
	if (directory)
		closedir(TAKE_PTR(directory));
	/* a lazy unmount: an open iterator stays open, and nobody else sees the mount */
	if (umount2(parent, MNT_DETACH) && errno != EINVAL)
		log_warning("cannot unmount %s: %s", parent, strerror(errno));
}

bool unload_needs_sys_admin(const char *pin_dir, const char *run_dir)
{
	struct manifest manifest;

	return run_files_manifest(run_dir, &manifest) && manifest.mounted_bpffs &&
	       !strcmp(manifest.pin_dir, pin_dir);
}

/* Holds the pins against loaders of the same directory. Loaders of other pins go on. */
static int remove_pins(const char *pin_dir)
{
	_cleanup_free_ char *loading = NULL;
	_cleanup_close_ int hold = pin_directory_prepare(pin_dir, 0, &loading);
	int result, made;

	if (hold < 0 && hold != -ENOENT && hold != -ENODEV)
		return hold;
	result = pin_directory_remove(pin_dir);
	made = loading ? pin_directory_remove(loading) : 0;
	return result ? result : made;
}

int unload_run(const char *pin_dir, const char *run_dir)
{
	struct manifest manifest = { 0 };
	int result;

	run_files_manifest(run_dir, &manifest); /* without a manifest there is nothing to unmount */
	report_holders(pin_dir, run_dir);
	result = remove_pins(pin_dir);
	if (result < 0)
		return log_failed(EXIT_FAILED, "cannot remove the pins in %s: %s", pin_dir,
				  result == -EXDEV ? "it is not a directory on a BPF file system"
				  : result == -EBUSY
					  ? "another loader works there, or somebody holds its lock"
					  : strerror(-result));
	result = readers_pins_remove(run_dir);
	if (result < 0)
		return log_failed(EXIT_FAILED,
				  "cannot remove the readers' pins from %s/" READERS_DIRECTORY ": %s",
				  run_dir, strerror(-result));
	result = run_files_remove(run_dir);
	if (result < 0)
		return log_failed(EXIT_FAILED, "cannot empty the run directory %s: %s", run_dir,
				  strerror(-result));
	if (manifest.mounted_bpffs && !strcmp(manifest.pin_dir, pin_dir))
		unmount_bpffs(pin_dir);
	return EXIT_DONE;
}

static void print_readers(const char *run_dir)
{
	_cleanup_free_ char *path = readers_pin_path(run_dir, PIN_THREADS);
	struct stat at;

	if (path && readers_pin_is_possible(run_dir) && !stat(path, &at))
		printf("readers       %s, group %u\n", path, at.st_gid);
}

static unsigned int count_pins(const char *pin_dir)
{
	_cleanup_dir_ DIR *directory = opendir(pin_dir);
	struct dirent *entry;
	unsigned int count = 0;

	while (directory && (entry = readdir(directory)))
		count += entry->d_name[0] != '.';
	return count;
}

/* The only element of an array map. */
static bool read_pin(const char *pin_dir, const char *name, void *ret_value)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_close_ int fd = -EBADF;
	__u32 zero = 0;

	if (asprintf(&path, "%s/%s", pin_dir, name) < 0)
		return false;
	fd = bpf_obj_get(path);
	return fd >= 0 && !bpf_map_lookup_elem(fd, &zero, ret_value);
}

static void print_heartbeat(const char *pin_dir)
{
	struct control control;

	if (!read_pin(pin_dir, pin_maps[PIN_CONTROL].name, &control))
		return;
	if (!control.heartbeat_ns)
		printf("consumer      never seen: nothing is sampled\n");
	else
		printf("consumer      heartbeat %.1f s ago\n",
		       (double)(clock_monotonic_ns() - control.heartbeat_ns) / 1e9);
}

static void print_policy(const char *pin_dir)
{
	char text[POLICY_TEXT_BYTES];
	struct policy policy;

	if (!read_pin(pin_dir, pin_maps[PIN_POLICY].name, &policy))
		return;
	policy_describe(&policy, text);
	printf("policy        %s\n", *text ? text : "the default: nobody is denied");
}

int load_status_run(const char *pin_dir, const char *run_dir)
{
	_cleanup_(config_errors_free) struct config_errors errors = { 0 };
	_cleanup_free_ char *path = NULL;
	struct manifest manifest;
	struct stat at;

	if (stat(pin_dir, &at))
		return log_failed(EXIT_FAILED, "nothing is loaded at %s: %s; load with 'bourdon-load'",
				  pin_dir, strerror(errno));
	if (asprintf(&path, "%s/" MANIFEST_FILE, run_dir) < 0)
		return EXIT_FAILED;
	if (manifest_read(path, &manifest, &errors)) {
		config_errors_log(&errors);
		return EXIT_FAILED;
	}
	printf("pins          %s, %u objects\n", pin_dir, count_pins(pin_dir));
	printf("version       %s, ABI %u\n", manifest.version, manifest.abi);
	printf("kernel        %s\n", manifest.kernel);
	printf("object        sha256 %s\n", manifest.object_sha256);
	printf("samples       %u Hz on CPUs %s, %u slots of %u bytes each\n", manifest.hz,
	       manifest.sampled_cpus, manifest.slots_per_cpu, manifest.slot_bytes);
	printf("targets       at most %u\n", manifest.targets);
	printf("attached      %s\n", manifest.attached);
	print_readers(run_dir);
	print_policy(pin_dir);
	print_heartbeat(pin_dir);
	return EXIT_DONE;
}

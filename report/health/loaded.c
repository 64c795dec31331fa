/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/health/loaded.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/version.h"
#include "common/kernel/cpus.h"
#include "common/protocol/counters.h"
#include "common/protocol/manifest.h"
#include "common/protocol/pins.h"
#include "common/text/plural.h"

#include <bpf/bpf.h>
#include <fcntl.h>
#include <grp.h>
#include <object_sha256.h>
#include <string.h>
#include <sys/stat.h>

#define HEARTBEAT_LATE_NS (5 * CLOCK_SECOND_NS)

static const char load_again[] = "run bourdon-load";
static const char look_as_root[] = "run 'bourdon doctor' as root";

/* ---- the manifest ---- */

static bool read_manifest(const char *run_dir, struct manifest *manifest, struct findings *findings)
{
	static const char name[] = "manifest";
	_cleanup_(config_errors_free) struct config_errors errors = { 0 };
	_cleanup_free_ char *path = NULL;
	int missing;

	if (asprintf(&path, "%s/" MANIFEST_FILE, run_dir) < 0)
		return false;
	missing = access(path, R_OK) ? errno : 0;
	if (missing == ENOENT || missing == ENOTDIR)
		findings_add(findings, GRADE_FAILED, name, load_again, "nothing is loaded: no %s", path);
	else if (missing)
		findings_add(findings, GRADE_UNKNOWN, name, "become a member of its group", "%s: %s", path,
			     strerror(missing));
	else if (manifest_read(path, manifest, &errors))
		findings_add(findings, GRADE_FAILED, name, load_again, "%s",
			     errors.count ? errors.messages[0] : strerror(ENOMEM));
	else
		return true;
	return false;
}

/* Returns false if the manifest has another ABI version: its pins are then not checked. */
static bool check_manifest(const struct machine *machine, const struct manifest *manifest,
			   struct findings *findings)
{
	static const char name[] = "manifest";

	if (manifest->abi != BOURDON_ABI) {
		findings_add(findings, GRADE_FAILED, name, load_again,
			     "loaded by version %s with ABI %u; this is version %s with ABI %u",
			     manifest->version, manifest->abi, BOURDON_VERSION, BOURDON_ABI);
		return false;
	}
	if (strcmp(manifest->kernel, machine->release))
		findings_add(findings, GRADE_FAILED, name, load_again,
			     "written for kernel %s, but %s is running: not loaded since this boot",
			     manifest->kernel, machine->release);
	else if (strcmp(manifest->object_sha256, OBJECT_SHA256))
		findings_add(findings, GRADE_WARNING, name, load_again,
			     "version %s, ABI %u, but the loaded BPF programs are from another build",
			     manifest->version, manifest->abi);
	else
		findings_ok(findings, name, "version %s, ABI %u, BPF programs of this build, %u Hz",
			    manifest->version, manifest->abi, manifest->hz);
	return true;
}

static void check_cpus(const struct manifest *manifest, struct findings *findings)
{
	static const char name[] = "sampled CPUs";
	_cleanup_free_ unsigned int *online = NULL, *sampled = NULL;
	size_t online_count, sampled_count;

	if (cpus_online(&online, &online_count) ||
	    cpus_parse(manifest->sampled_cpus, &sampled, &sampled_count)) {
		findings_add(findings, GRADE_UNKNOWN, name, "", "cannot read the list of CPUs");
		return;
	}
	for (size_t i = 0, at = 0; i < online_count; i++) {
		while (at < sampled_count && sampled[at] < online[i])
			at++;
		if (at < sampled_count && sampled[at] == online[i])
			continue;
		findings_add(findings, GRADE_WARNING, name, load_again,
			     "CPU %u came online after bourdon-load ran: it is not sampled", online[i]);
		return;
	}
	findings_ok(findings, name, "%s", manifest->sampled_cpus);
}

/* ---- the pins ---- */

/* Writes what is wrong with a pin; an empty text means nothing is wrong. */
static void judge_pin(int directory, const char *pin, mode_t mode, char *into, size_t bytes)
{
	struct stat at;

	if (fstatat(directory, pin, &at, AT_SYMLINK_NOFOLLOW))
		snprintf(into, bytes, "%s: %s", pin, strerror(errno));
	else if (at.st_uid || (at.st_mode & 07777) != mode)
		snprintf(into, bytes, "%s: mode %04o, uid %u; expected mode %04o, uid 0", pin,
			 (unsigned int)at.st_mode & 07777, at.st_uid, (unsigned int)mode);
}

static mode_t expected_mode(const char *pin)
{
	for (size_t i = 0; i < PIN_MAPS; i++)
		if (!strcmp(pin, pin_maps[i].name))
			return pin_maps[i].mode;
	for (size_t i = 0; i < PIN_ITERATORS; i++)
		if (!strcmp(pin, pin_iterators[i]))
			return PIN_ITERATOR_MODE;
	return PIN_PRIVATE_MODE;
}

/* Checks the pins that must exist, then every pin that exists. Returns how many exist. */
static unsigned int judge_pins(int directory, char *wrong, size_t bytes)
{
	_cleanup_dir_ DIR *pins = NULL;
	struct dirent *entry;
	unsigned int count = 0;

	judge_pin(directory, ".", PIN_DIRECTORY_MODE, wrong, bytes);
	for (size_t i = 0; i < PIN_MAPS && !*wrong; i++)
		judge_pin(directory, pin_maps[i].name, pin_maps[i].mode, wrong, bytes);
	for (size_t i = 0; i < PIN_ITERATORS && !*wrong; i++)
		/* this one is there only if bourdon-load --probes has its group */
		if (i != PIN_REQUESTS || !faccessat(directory, pin_iterators[i], F_OK, AT_SYMLINK_NOFOLLOW))
			judge_pin(directory, pin_iterators[i], PIN_ITERATOR_MODE, wrong, bytes);
	pins = fdopendir(dup(directory));
	while (pins && !*wrong && (entry = readdir(pins))) {
		if (entry->d_name[0] == '.')
			continue;
		count++;
		judge_pin(directory, entry->d_name, expected_mode(entry->d_name), wrong, bytes);
	}
	return count;
}

/* A member of the pins' group other than the daemon's user; NULL if there is none, as far as the list of members tells. */
static const char *other_member(int directory, const char **ret_group)
{
	struct stat at;
	struct group *group = fstat(directory, &at) ? NULL : getgrgid(at.st_gid);

	for (char **member = group ? group->gr_mem : NULL; member && *member; member++) {
		*ret_group = group->gr_name;
		if (strcmp(*member, DAEMON_USER) != 0)
			return *member;
	}
	return NULL;
}

static bool check_pins(const char *pin_dir, struct findings *findings)
{
	static const char name[] = "pins";
	_cleanup_close_ int directory = open(pin_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const char *member, *group = "";
	char wrong[256] = "";
	unsigned int count;

	if (directory < 0) {
		bool hidden = errno == EACCES;

		findings_add(findings, hidden ? GRADE_UNKNOWN : GRADE_FAILED, name,
			     hidden ? look_as_root : load_again, "%s: %s", pin_dir, strerror(errno));
		return false;
	}
	count = judge_pins(directory, wrong, sizeof(wrong));
	member = other_member(directory, &group);
	if (*wrong)
		findings_add(findings, GRADE_FAILED, name, load_again, "%s/%s", pin_dir, wrong);
	else if (member)
		findings_add(
			findings, GRADE_WARNING, name,
			"take the user out of the group, or load with another --group: readers of the database need no pins",
			"user %s is in the group %s, and so may write what the programs read", member, group);
	else
		findings_ok(findings, name, "%u %s in %s, each with its owner and mode", count,
			    plural(count, "object", "objects"), pin_dir);
	return !*wrong;
}

static int open_map(const char *pin_dir, enum pin_map which)
{
	LIBBPF_OPTS(bpf_obj_get_opts, options, .file_flags = BPF_F_RDONLY);
	_cleanup_free_ char *path = NULL;

	if (asprintf(&path, "%s/%s", pin_dir, pin_maps[which].name) < 0)
		return -ENOMEM;
	return bpf_obj_get_opts(path, &options);
}

static void check_heartbeat(const struct manifest *manifest, struct findings *findings)
{
	static const char name[] = "heartbeat", remedy[] = "start bourdond, or read its log";
	_cleanup_close_ int map = open_map(manifest->pin_dir, PIN_CONTROL);
	struct control control;
	__u32 zero = 0;
	uint64_t age_ns;
	int result = map < 0 ? map : bpf_map_lookup_elem(map, &zero, &control);

	if (result < 0) {
		findings_add(findings, GRADE_UNKNOWN, name, look_as_root, "%s", strerror(-result));
		return;
	}
	age_ns = clock_monotonic_ns() - control.heartbeat_ns;
	if (!control.heartbeat_ns)
		findings_add(findings, GRADE_FAILED, name, remedy,
			     "none since bourdon-load ran: nothing is sampled");
	else if (age_ns > manifest->quiet_after_ns)
		findings_add(findings, GRADE_FAILED, name, remedy, "%.1f s ago: sampling has stopped",
			     (double)age_ns / 1e9);
	else if (age_ns > HEARTBEAT_LATE_NS)
		findings_add(findings, GRADE_WARNING, name, remedy, "%.1f s ago; expected at most 1 s",
			     (double)age_ns / 1e9);
	else
		findings_ok(findings, name, "%.1f s ago", (double)age_ns / 1e9);
}

/* What the BPF programs lost since they were loaded. */
static void check_counters(const struct manifest *manifest, struct findings *findings)
{
	static const struct {
		unsigned int counter;
		const char *remedy;
	} losses[] = {
		{ COUNTER_CLOCKS_LOST, load_again },
		{ COUNTER_TARGETS_FULL, "raise bourdon-load --targets, or narrow the rules" },
		{ COUNTER_EVENTS_LOST, "none needed: the process walk every 30 s finds missed processes" },
		{ COUNTER_CGROUPS_LOST, "none needed: the paths of cgroups are told again" },
		{ COUNTER_OFFCPU_UNTRACKED, "raise bourdon-load --targets, or narrow the rules" },
		{ COUNTER_ACCOUNTS_LOST, "narrow the rules: 512 programs in a cgroup each have accounts" },
		{ COUNTER_ERRORS_LOST, "" },
	};
	static const char name[] = "losses since load";
	_cleanup_close_ int map = open_map(manifest->pin_dir, PIN_COUNTERS);
	uint64_t values[COUNTERS];
	int result = map < 0 ? map : counters_read(map, values);
	bool lost = false;

	if (result < 0) {
		findings_add(findings, GRADE_UNKNOWN, name, look_as_root, "%s", strerror(-result));
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(losses); i++) {
		uint64_t value = values[losses[i].counter];

		if (!value)
			continue;
		findings_add(findings, GRADE_WARNING, name, losses[i].remedy, "%s: %llu",
			     counter_names[losses[i].counter], (unsigned long long)value);
		lost = true;
	}
	if (!lost)
		findings_ok(findings, name, "none, of %llu %s",
			    (unsigned long long)values[COUNTER_SAMPLES_ONCPU],
			    plural(values[COUNTER_SAMPLES_ONCPU], "sample", "samples"));
}

void loaded_check(const struct machine *machine, const char *run_dir, struct findings *findings)
{
	struct manifest manifest;

	if (!read_manifest(run_dir, &manifest, findings) || !check_manifest(machine, &manifest, findings))
		return;
	check_cpus(&manifest, findings);
	if (!check_pins(manifest.pin_dir, findings))
		return;
	check_heartbeat(&manifest, findings);
	check_counters(&manifest, findings);
}

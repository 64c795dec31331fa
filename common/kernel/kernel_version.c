/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/kernel/kernel_version.h"

#include "common/base/cleanup.h"

#include <stdio.h>
#include <string.h>

/*
 * Versions are those of the CVE records of the kernel's CVE team (CVEProject/cvelistV5 on GitHub), where there
 * is a record, otherwise of the stable change logs. Bugs that only a program loaded with CAP_BPF reaches are
 * not listed: the consumer cannot load one.
 */
const struct kernel_bug kernel_bugs[] = {
	/* bpf: keep a reference to the mm, in case the task is dead */
	{ "reading the mappings of a process that is exiting can crash the kernel",
	  "6.1.8 and 6.2",
	  { { 6, 1, 8 }, { 6, 2, 0 } },
	  2 },
	/* sched/psi: use kernfs polling functions for PSI trigger polling */
	{ "removing a cgroup that has a PSI trigger causes a use after free in the kernel",
	  "6.1.42, 6.4.7 and 6.5",
	  { { 6, 1, 42 }, { 6, 4, 7 }, { 6, 5, 0 } },
	  3 },
	/* sched/psi: Allow unprivileged polling of N*2s period */
	{ "PSI triggers need CAP_SYS_RESOURCE: bourdond reads the pressure once a second instead",
	  "6.1.42 and 6.4",
	  { { 6, 1, 42 }, { 6, 4, 0 } },
	  2 },
	/* bpf: Fix overrunning reservations in ringbuf, CVE-2024-41009 */
	{ "a process that can write to a BPF ring buffer can corrupt kernel memory (CVE-2024-41009)",
	  "6.1.97, 6.6.37, 6.9.8 and 6.10",
	  { { 6, 1, 97 }, { 6, 6, 37 }, { 6, 9, 8 }, { 6, 10, 0 } },
	  4 },
	/* bpf: Fix out-of-bounds write in trie_get_next_key(), CVE-2024-50262 */
	{ "a process that can write to a BPF LPM trie can corrupt kernel memory (CVE-2024-50262)",
	  "6.1.116, 6.6.60, 6.11.7 and 6.12",
	  { { 6, 1, 116 }, { 6, 6, 60 }, { 6, 11, 7 }, { 6, 12, 0 } },
	  4 },
	/* kernfs: Fix UAF in polling when open file is released, CVE-2025-39881 */
	{ "switching PSI off and on in a cgroup that has a PSI trigger causes a use after free in the kernel (CVE-2025-39881)",
	  "6.1.153, 6.6.107, 6.12.48, 6.16.8 and 6.17",
	  { { 6, 1, 153 }, { 6, 6, 107 }, { 6, 12, 48 }, { 6, 16, 8 }, { 6, 17, 0 } },
	  5 },
	/* sched/psi: Shut down rtpoll_timer in psi_cgroup_free(), CVE-2026-74594 */
	{ "removing a cgroup whose PSI trigger with a short window has just ended can cause a use after free in the kernel (CVE-2026-74594)",
	  "6.1.183, 6.6.152, 6.12.104, 6.18.45, 7.1.9 and 7.2",
	  { { 6, 1, 183 }, { 6, 6, 152 }, { 6, 12, 104 }, { 6, 18, 45 }, { 7, 1, 9 }, { 7, 2, 0 } },
	  6 },
};

const size_t kernel_bugs_count = ARRAY_SIZE(kernel_bugs);

/* Parses "X.Y.Z" or "X.Y" at the start of `text`. */
static bool parse_numbers(const char *text, struct kernel_version *version)
{
	version->patch = 0;
	return sscanf(text, "%u.%u.%u", &version->major, &version->minor, &version->patch) >= 2;
}

static bool same_branch(const struct kernel_version *a, const struct kernel_version *b)
{
	return a->major == b->major && a->minor == b->minor;
}

int kernel_version_parse(const char *release, const char *version, const char *signature,
			 struct kernel_version *ret_version)
{
	const char *debian = strstr(version, "Debian "), *ubuntu = strrchr(signature, ' ');
	struct kernel_version parsed, stable;

	if (!parse_numbers(release, &parsed))
		return -EINVAL;
	/* a plain release is complete; in "6.1.0-54-amd64" the patch number is the distribution's own */
	parsed.patch_known = parsed.patch || !strchr(release, '-');
	if ((debian && parse_numbers(debian + strlen("Debian "), &stable) && same_branch(&stable, &parsed)) ||
	    (ubuntu && parse_numbers(ubuntu + 1, &stable) && same_branch(&stable, &parsed))) {
		parsed.patch = stable.patch;
		parsed.patch_known = true;
	}
	if (strstr(release, ".el"))
		parsed.patch_known = false; /* Red Hat backports years of fixes under one number */
	*ret_version = parsed;
	return 0;
}

static bool is_before(const struct kernel_version *version, const unsigned int fix[3])
{
	if (version->major != fix[0])
		return version->major < fix[0];
	if (version->minor != fix[1])
		return version->minor < fix[1];
	return version->patch < fix[2];
}

bool kernel_version_has_bug(const struct kernel_version *version, const struct kernel_bug *bug)
{
	for (size_t i = 0; i + 1 < bug->fixes_count; i++)
		if (version->major == bug->fixes[i][0] && version->minor == bug->fixes[i][1])
			return version->patch < bug->fixes[i][2];
	return is_before(version, bug->fixes[bug->fixes_count - 1]);
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel_version.h finds out which stable kernel is running, whatever a distribution calls it, and lists the
 * kernel bugs that affect bourdon: those that crash the kernel while bourdon does its work, and those by which a
 * compromised consumer could gain the kernel with the pins and pressure files that it has.
 */
#ifndef BOURDON_COMMON_KERNEL_KERNEL_VERSION_H
#define BOURDON_COMMON_KERNEL_KERNEL_VERSION_H

#include <stdbool.h>
#include <stddef.h>

struct kernel_version {
	unsigned int major, minor, patch;
	bool patch_known; /* false if the distribution keeps X.Y.0 and backports fixes of its own choice */
};

/*
 * Parses uname(2)'s release and version, and the text of /proc/version_signature ("" if there is none).
 * Debian gives its stable version in uname's version, Ubuntu in the signature. Returns 0 or -EINVAL.
 */
int kernel_version_parse(const char *release, const char *version, const char *signature,
			 struct kernel_version *ret_version);

struct kernel_bug {
	const char *what; /* its effect on bourdon */
	const char *fixed_in;
	/* major, minor, patch of the first fixed release of each branch; the last entry is the main line */
	unsigned int fixes[6][3];
	size_t fixes_count;
};

/* Oldest first. Each entry names the commit that fixed it, as in the kernel's stable change logs. */
extern const struct kernel_bug kernel_bugs[];
extern const size_t kernel_bugs_count;

/* True if that kernel has the bug. Valid only if version->patch_known. */
bool kernel_version_has_bug(const struct kernel_version *version, const struct kernel_bug *bug);

#endif

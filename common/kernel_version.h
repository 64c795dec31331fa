/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel_version.h owns which stable kernel it is that runs, whatever a distribution calls it, and the bugs
 * of kernels that matter to bourdon.
 */
#ifndef BOURDON_KERNEL_VERSION_H
#define BOURDON_KERNEL_VERSION_H

#include <stdbool.h>
#include <stddef.h>

struct kernel_version {
	unsigned int major, minor, patch;
	bool patch_known; /* false where a distribution keeps X.Y.0 and applies fixes of its own choice */
};

/*
 * From uname(2)'s release and version, and the text of /proc/version_signature ("" where there is none).
 * Debian says its stable version in uname's version, Ubuntu in the signature. 0 or -EINVAL.
 */
int kernel_version_parse(const char *release, const char *version, const char *signature,
			 struct kernel_version *ret_version);

struct kernel_bug {
	const char *what; /* what it does to bourdon */
	const char *fixed_in;
	/* major, minor, patch of the first good release of each branch; the last is of the main line */
	unsigned int fixes[4][3];
	size_t fixes_count;
};

/* Oldest first. Each names the change that fixed it, as the kernel's stable change logs tell. */
extern const struct kernel_bug kernel_bugs[];
extern const size_t kernel_bugs_count;

/* Whether that kernel has the bug. Ask only where patch_known. */
bool kernel_version_has_bug(const struct kernel_version *version, const struct kernel_bug *bug);

#endif

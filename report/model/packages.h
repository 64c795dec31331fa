/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * packages.h knows which Debian package of this machine a file belongs to, and which package has its symbols. It reads dpkg's
 * lists of files (dpkg(1), /var/lib/dpkg/info): those of another distribution have no package here.
 */
#ifndef BOURDON_REPORT_MODEL_PACKAGES_H
#define BOURDON_REPORT_MODEL_PACKAGES_H

#include <stdint.h>

#define PACKAGES_LISTS "/var/lib/dpkg/info"

/*
 * Sets ret_packages[i], which the caller frees, to the package of paths[i], or to NULL if none has the file. `lists` is
 * PACKAGES_LISTS, but in tests; without lists no file has a package. Returns 0 or -ENOMEM.
 */
int packages_find(const char *lists, const char *const *paths, uint32_t count, char **ret_packages);

/* Returns the package with the symbols of the files of a package, which the caller frees; NULL without memory. */
char *packages_symbols(const char *package);

#endif

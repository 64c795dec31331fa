/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * preflight.h owns what bourdon-load asks of the machine before it touches it.
 */
#ifndef BOURDON_LOADER_PREFLIGHT_H
#define BOURDON_LOADER_PREFLIGHT_H

#include <stdbool.h>

/*
 * Checks every requirement and logs a line with the remedy for each that fails. The bpffs that `pin_dir`
 * needs is mounted where it may be (its parent is /sys/fs/bpf, and mount(2) is permitted);
 * *ret_mounted_bpffs says so. With `verbose` each requirement that holds is printed, too.
 * Returns EXIT_DONE, EXIT_FAILED (not privileged enough) or EXIT_CANNOT.
 */
int preflight_check(const char *pin_dir, bool verbose, bool *ret_mounted_bpffs);

#endif

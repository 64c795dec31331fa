/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * preflight.h owns what bourdon-load asks of the machine before it touches it.
 */
#ifndef BOURDON_LOADER_PREFLIGHT_H
#define BOURDON_LOADER_PREFLIGHT_H

#include <stdbool.h>

/*
 * Before a load: checks what it cannot do without, and logs a line with the remedy for each that fails. The
 * bpffs that `pin_dir` needs is mounted where it may be (its parent is /sys/fs/bpf, and mount(2) is
 * permitted); *ret_mounted_bpffs says so. Returns EXIT_DONE, EXIT_FAILED (not privileged enough) or
 * EXIT_CANNOT.
 */
int preflight_pass(const char *pin_dir, bool *ret_mounted_bpffs);

/*
 * --check: prints every requirement with what was found, and, where none fails, proves the machine with a
 * canary at this rate. Changes nothing. Returns as preflight_pass() does; a warning is no failure.
 */
int preflight_report(const char *pin_dir, unsigned int hz, bool json);

#endif

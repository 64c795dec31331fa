/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * preflight.h owns the checks that bourdon-load makes before it changes anything.
 */
#ifndef BOURDON_LOADER_PREFLIGHT_H
#define BOURDON_LOADER_PREFLIGHT_H

#include <stdbool.h>

/*
 * Whether a load or --check at `pin_dir` needs CAP_SYS_ADMIN: for the perf clocks, or to mount bpffs. True
 * also where this cannot be told.
 */
bool preflight_needs_sys_admin(const char *pin_dir);

/*
 * Gives CAP_SYS_ADMIN up for the rest of this process. Keeps it where CAP_BPF or CAP_PERFMON are missing, whose
 * place it takes. 0 or -errno.
 */
int preflight_drop_sys_admin(void);

/*
 * Before a load: checks every requirement, and logs a line with the remedy for each that fails. Mounts the
 * bpffs that `pin_dir` needs where it may (its parent is /sys/fs/bpf, and mount(2) is permitted), and says so
 * in *ret_mounted_bpffs. Returns EXIT_DONE, EXIT_FAILED (not privileged enough) or EXIT_CANNOT.
 */
int preflight_pass(const char *pin_dir, bool *ret_mounted_bpffs);

/*
 * --check: prints every requirement with what was found. Where none fails, proves the machine with a canary
 * at this rate. Changes nothing. Returns as preflight_pass() does; a warning is no failure.
 */
int preflight_report(const char *pin_dir, unsigned int hz, bool json);

#endif

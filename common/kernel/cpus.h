/* SPDX-License-Identifier: GPL-2.0-only */
/* cpus.h parses and writes CPU lists in the form of sysfs: "0-3,5". */
#ifndef BOURDON_COMMON_KERNEL_CPUS_H
#define BOURDON_COMMON_KERNEL_CPUS_H

#include <stddef.h>

#define CPUS_MAX 4096U

/*
 * Parses a list into ascending numbers. The caller frees *ret_cpus. Returns 0, -EINVAL if the text is not an
 * ascending list, -ERANGE for a number >= CPUS_MAX, or -ENOMEM.
 */
int cpus_parse(const char *text, unsigned int **ret_cpus, size_t *ret_count);

/* Writes ascending numbers as a list; truncates it to `bytes`. */
void cpus_format(const unsigned int *cpus, size_t count, char *into, size_t bytes);

#define CPUS_ONLINE_FILE "/sys/devices/system/cpu/online"

/* Reads the list of online CPUs. The caller frees *ret_cpus. Returns 0 or -errno. */
int cpus_online(unsigned int **ret_cpus, size_t *ret_count);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cpus.h owns CPU lists as sysfs writes them: "0-3,5".
 */
#ifndef BOURDON_CPUS_H
#define BOURDON_CPUS_H

#include <stddef.h>

#define CPUS_MAX 4096U

/*
 * Parses a list into ascending numbers. The caller frees *ret_cpus. 0, -EINVAL for anything that is no
 * ascending list, -ERANGE for a number of CPUS_MAX or more, -ENOMEM.
 */
int cpus_parse(const char *text, unsigned int **ret_cpus, size_t *ret_count);

/* Writes ascending numbers as such a list; cuts it where `into` is full. */
void cpus_format(const unsigned int *cpus, size_t count, char *into, size_t bytes);

#define CPUS_ONLINE_FILE "/sys/devices/system/cpu/online"

/* The CPUs that are online. The caller frees. 0 or -errno. */
int cpus_online(unsigned int **ret_cpus, size_t *ret_count);

#endif

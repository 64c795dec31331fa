/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * psi_resource.h defines the PSI resources and kinds, the names of their files and lines, and the limits of a
 * window.
 */
#ifndef BOURDON_COMMON_KERNEL_PSI_RESOURCE_H
#define BOURDON_COMMON_KERNEL_PSI_RESOURCE_H

enum psi_resource { PSI_CPU, PSI_MEMORY, PSI_IO, PSI_IRQ, PSI_RESOURCES };
enum psi_kind { PSI_SOME, PSI_FULL, PSI_KINDS };

extern const char *const psi_resource_names[PSI_RESOURCES];
extern const char *const psi_kind_names[PSI_KINDS];

/* The kernel's limits for a trigger's window; without CAP_SYS_RESOURCE it must be a multiple of 2 s. */
#define PSI_WINDOW_MIN_US 500000U
#define PSI_WINDOW_MAX_US 10000000U
#define PSI_WINDOW_UNPRIVILEGED_US 2000000U /* multiples of this */
#define PSI_WINDOW_DEFAULT_US 2000000U

#endif

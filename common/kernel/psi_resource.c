/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/kernel/psi_resource.h"

const char *const psi_resource_names[PSI_RESOURCES] = { "cpu", "memory", "io", "irq" };
const char *const psi_kind_names[PSI_KINDS] = { "some", "full" };

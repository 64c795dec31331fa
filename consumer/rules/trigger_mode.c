/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/rules/trigger_mode.h"

const char *const trigger_mode_names[TRIGGER_MODES] = { "kernel", "sampled", "manual", "baseline", "kill" };

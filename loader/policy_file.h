/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * policy_file.h owns the check that policy.conf belongs to root: a file that somebody else could have written
 * is not root's policy.
 */
#ifndef BOURDON_LOADER_POLICY_FILE_H
#define BOURDON_LOADER_POLICY_FILE_H

#include "common/policy/policy.h"

#include <stdbool.h>

/*
 * Reads the policy at `path`. A missing file that is not required means the default. Refuses a file that does
 * not belong to root, or that others may write or replace. Adds the mistakes to `errors`. 0, -EINVAL or
 * -ENOMEM.
 */
int policy_file_read(const char *path, bool must_be, struct policy *ret_policy, struct config_errors *errors);

#endif

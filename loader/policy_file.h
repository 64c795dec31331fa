/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * policy_file.h owns whose policy.conf it is: one that somebody else could have written is no policy of
 * root's.
 */
#ifndef BOURDON_LOADER_POLICY_FILE_H
#define BOURDON_LOADER_POLICY_FILE_H

#include "common/policy.h"

#include <stdbool.h>

/*
 * Reads the policy at `path`; where there is none, and it need not be, nothing is limited. Refuses a file
 * that is not root's, or that others than root may write or exchange. What is wrong goes to `errors`. 0,
 * -EINVAL or -ENOMEM.
 */
int policy_file_read(const char *path, bool must_be, struct policy *ret_policy, struct config_errors *errors);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * patterns.h owns the kernel's two pattern tries. It fills the one that is not live and makes it live in one
 * store, so no process is ever matched against half of the rules.
 */
#ifndef BOURDON_CONSUMER_HOST_PATTERNS_H
#define BOURDON_CONSUMER_HOST_PATTERNS_H

#include "consumer/process/kernel_objects.h"
#include "consumer/rules/rules.h"

/*
 * Returns 0, -ENOSPC if there are more patterns than a trie holds, or -errno. A failure leaves the live trie
 * as it was.
 */
int patterns_publish(const struct kernel_objects *kernel, const struct rule_set *rules);

#endif

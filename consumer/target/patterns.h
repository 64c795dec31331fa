/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * patterns.h owns the kernel's pattern tries: the one that is not live is filled, then made live in one
 * store, so that a process is never matched against half of the rules.
 */
#ifndef BOURDON_CONSUMER_TARGET_PATTERNS_H
#define BOURDON_CONSUMER_TARGET_PATTERNS_H

#include "consumer/process/kernel_objects.h"
#include "consumer/rules/rules.h"

/*
 * 0, -ENOSPC when there are more patterns than a trie holds, or -errno. On failure the live trie is as
 * before.
 */
int patterns_publish(const struct kernel_objects *kernel, const struct rule_set *rules);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * patterns.h owns the kernel's pattern tries: the one that is not live is filled, then made live in one
 * store, so that a process is never matched against half of the rules.
 */
#ifndef BOURDON_CONSUMER_PATTERNS_H
#define BOURDON_CONSUMER_PATTERNS_H

#include "consumer/pinned.h"
#include "consumer/rules.h"

/* 0, -ENOSPC when there are more patterns than a trie holds, or -errno. On failure the live trie is as
 * before. */
int patterns_publish(const struct pinned *pinned, const struct rule_set *rules);

#endif

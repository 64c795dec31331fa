/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * policy.h converts root's policy.conf to the map that the in-kernel programs check, and says in words what a map has.
 * Room: whom root allows to be profiled. All programs; it opens policy.conf alone.
 */
#ifndef BOURDON_COMMON_POLICY_POLICY_H
#define BOURDON_COMMON_POLICY_POLICY_H

#include "common/abi/policy.h"
#include "common/base/paths.h"
#include "common/system/ini.h"

#include <stddef.h>

#define POLICY_DEFAULT CONFIGURATION_DIRECTORY "/policy.conf"

/* In force if there is no policy.conf: nobody is denied. */
extern const struct policy policy_default;

/*
 * Parses the text of a policy file; `name` is its name in messages. Adds every error to `errors`; with any
 * error there is no policy. Without a line for it, deny_undumpable is yes if there are rules on uids: a
 * process that is not dumpable may hold secrets of other uids than its own. Returns 0, -EINVAL or -ENOMEM.
 */
int policy_parse(const char *name, const char *text, size_t bytes, struct policy *ret_policy,
		 struct config_errors *errors);

/* Large enough for every possible policy. */
#define POLICY_TEXT_BYTES 2048

/*
 * Describes a policy in the words of the file, on one line: "deny_uids = 0, 1000-1999; deny_undumpable = yes".
 * Empty: the default.
 */
void policy_describe(const struct policy *policy, char text[POLICY_TEXT_BYTES]);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * policy.h owns root's policy.conf, between its text and the map that the in-kernel programs check. The
 * loader reads it; who shows what was loaded turns the map into words again.
 */
#ifndef BOURDON_POLICY_H
#define BOURDON_POLICY_H

#include "common/abi.h"
#include "common/ini.h"

#include <stddef.h>

#define POLICY_DEFAULT "/etc/bourdon/policy.conf"

/* Nothing is limited: what holds where there is no file. */
extern const struct policy policy_unlimited;

/*
 * Reads the text of a policy file, which `name` names in messages. Every mistake goes to `errors`, and with
 * one there is no policy. 0, -EINVAL or -ENOMEM.
 */
int policy_parse(const char *name, const char *text, size_t bytes, struct policy *ret_policy,
		 struct config_errors *errors);

/* Long enough for what any policy says. */
#define POLICY_TEXT_BYTES 2048

/* In the words of the file, on one line: "deny_uids = 0, 1000-1999; kernel_stacks = no". Empty: no limit. */
void policy_describe(const struct policy *policy, char text[POLICY_TEXT_BYTES]);

#endif

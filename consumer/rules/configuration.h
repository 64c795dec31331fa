/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * configuration.h owns the configuration as one thing: settings and rules, read together, whole or not at
 * all. Reading it may block on a disk: the worker thread does it once the daemon runs.
 */
#ifndef BOURDON_CONSUMER_RULES_CONFIGURATION_H
#define BOURDON_CONSUMER_RULES_CONFIGURATION_H

#include "consumer/rules/rules.h"
#include "consumer/rules/settings.h"

struct configuration {
	struct settings settings;
	struct rule_set rules;
};

/*
 * Reads what `where` names. Mistakes go to `errors`, which is not empty when it fails; then nothing is
 * stored. 0 or -errno. The caller frees with configuration_free().
 */
int configuration_read(const struct settings *where, struct configuration **ret_configuration,
		       struct config_errors *errors);

/* Accepts NULL. */
void configuration_free(struct configuration *configuration);

#endif

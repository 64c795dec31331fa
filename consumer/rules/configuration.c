/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/rules/configuration.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int configuration_read(const struct settings *where, struct configuration **ret_configuration,
		       struct config_errors *errors)
{
	struct configuration *configuration = calloc(1, sizeof(*configuration));
	int result, rules;

	if (!configuration) {
		config_error(errors, where->config, 0, "out of memory");
		return -ENOMEM;
	}
	configuration->settings = *where;
	/* the rules are read even where the settings have mistakes: all of them are told at once */
	result = settings_read(&configuration->settings, errors);
	rules = rules_read_directory(where->rules_dir, &configuration->rules, errors);
	if (rules == -ENOENT && !where->rules_dir_named)
		rules = 0; /* a fresh installation */
	else if (rules < 0 && rules != -EINVAL && rules != -ENOMEM)
		config_error(errors, where->rules_dir, 0, "cannot read the directory of rules: %s",
			     strerror(-rules));
	result = result < 0 ? result : rules;
	if (!result) {
		*ret_configuration = configuration;
		return 0;
	}
	if (!errors->count)
		config_error(errors, where->rules_dir, 0, "%s", strerror(-result));
	configuration_free(configuration);
	return result;
}

void configuration_free(struct configuration *configuration)
{
	if (!configuration)
		return;
	rules_free(&configuration->rules);
	free(configuration);
}

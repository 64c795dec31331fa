/* SPDX-License-Identifier: GPL-2.0-only */
/* grant_arguments.h owns the command line of bourdon-grant. */
#ifndef BOURDON_LOADER_GRANT_GRANT_ARGUMENTS_H
#define BOURDON_LOADER_GRANT_GRANT_ARGUMENTS_H

#include "loader/grant/server.h"

/* Changes what the options name. Returns OPTIONS_RUN (common/system/options.h) or an exit status. Logs a mistake. */
int grant_arguments_parse(int count, char **words, struct grant_settings *settings);

#endif

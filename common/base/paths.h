/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * paths.h: where the administrator's files are, as `make SYSCONFDIR=…` says.
 */
#ifndef BOURDON_COMMON_BASE_PATHS_H
#define BOURDON_COMMON_BASE_PATHS_H

#ifndef CONFIGURATION_DIRECTORY
#define CONFIGURATION_DIRECTORY "/etc/bourdon"
#endif

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * start_command.h owns the command that starts bourdond, as messages name it: the unit's where systemd runs and the
 * unit is installed, else the program's.
 */
#ifndef BOURDON_COMMON_PROTOCOL_START_COMMAND_H
#define BOURDON_COMMON_PROTOCOL_START_COMMAND_H

#include <stddef.h>
#include <unistd.h>

static inline const char *start_command(void)
{
	static const char *const units[] = {
		"/etc/systemd/system/bourdond.service",
		"/usr/local/lib/systemd/system/bourdond.service",
		"/usr/lib/systemd/system/bourdond.service",
		"/lib/systemd/system/bourdond.service",
	};

	if (!access("/run/systemd/system", F_OK))
		for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
			if (!access(units[i], F_OK))
				return "systemctl start bourdond";
	return "bourdond";
}

#endif

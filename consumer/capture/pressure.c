/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/pressure.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"

#include <fcntl.h>

/*
 * Four readings a second of six files for 45 minutes. A longer capture keeps the first readings and the last.
 */
#define READINGS_MAX 65536U

void pressure_open(struct pressure *pressure, const char *mount, const char *cgroup)
{
	*pressure = PRESSURE_EMPTY;
	for (int resource = 0; resource < PRESSURE_RESOURCES; resource++) {
		pressure->fds[PRESSURE_SYSTEM][resource] =
			psi_open(mount, NULL, (enum psi_resource)resource, O_RDONLY);
		if (cgroup)
			pressure->fds[PRESSURE_CGROUP][resource] =
				psi_open(mount, cgroup, (enum psi_resource)resource, O_RDONLY);
	}
}

static void add(struct pressure *pressure, const struct pressure_reading *reading)
{
	if (pressure->count == READINGS_MAX)
		pressure->count -= PRESSURE_SCOPES * PRESSURE_RESOURCES;
	if (!array_make_room(pressure->readings, pressure->count, pressure->room, 1U))
		pressure->readings[pressure->count++] = *reading;
}

void pressure_read(struct pressure *pressure, uint64_t now_ns)
{
	for (int scope = 0; scope < PRESSURE_TARGETS; scope++) {
		for (int resource = 0; resource < PRESSURE_RESOURCES; resource++) {
			struct pressure_reading reading = { .at_ns = now_ns,
							    .scope = (enum pressure_scope)scope,
							    .resource = (enum psi_resource)resource };

			if (pressure->fds[scope][resource] >= 0 &&
			    !psi_read(pressure->fds[scope][resource], &reading.totals))
				add(pressure, &reading);
		}
	}
}

void pressure_add_targets(struct pressure *pressure, uint64_t now_ns,
			  const uint64_t some_us[PRESSURE_RESOURCES])
{
	for (int resource = 0; resource < PRESSURE_RESOURCES; resource++) {
		struct pressure_reading reading = { .at_ns = now_ns,
						    .scope = PRESSURE_TARGETS,
						    .resource = (enum psi_resource)resource,
						    .totals = { { some_us[resource] }, { true, false } } };

		add(pressure, &reading);
	}
}

void pressure_close(struct pressure *pressure)
{
	for (int scope = 0; scope < PRESSURE_TARGETS; scope++)
		for (int resource = 0; resource < PRESSURE_RESOURCES; resource++)
			cleanup_close(&pressure->fds[scope][resource]);
}

void pressure_free(struct pressure *pressure)
{
	pressure_close(pressure);
	free(pressure->readings);
	*pressure = PRESSURE_EMPTY;
}

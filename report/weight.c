/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/weight.h"

#include "common/cgroup.h"
#include "common/cleanup.h"
#include "common/files.h"
#include "consumer/store/machine.h"
#include "report/query.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* In both files the largest one. */
#define WEIGHT_MOST 10000

char *weight_mount(struct database *database, int64_t capture_id)
{
	_cleanup_query_ struct query query = query_begin(
		database,
		"SELECT d.machine FROM capture c JOIN run USING(run_id) JOIN database d USING(database_id) "
		"WHERE c.capture_id = ?1",
		capture_id, 0);
	char machine[MACHINE_TEXT_BYTES], *mount = NULL;

	if (!machine_hash(MACHINE_ID_FILE, machine) || !query_next(&query) ||
	    strcmp(query_text(&query, "machine"), machine) != 0 || cgroup_mount(&mount) < 0)
		return NULL;
	return mount;
}

int weight_read(const char *mount, const char *cgroup, const char *file)
{
	_cleanup_free_ char *text = NULL;
	char path[PATH_MAX];
	size_t bytes;
	int weight;

	/* the name is the database's */
	if (*cgroup != '/' || strstr(cgroup, "/..") ||
	    snprintf(path, sizeof(path), "%s%s/%s", mount, cgroup, file) >= PATH_MAX ||
	    file_read_text(AT_FDCWD, path, 4096, &text, &bytes) < 0)
		return -1;
	/* io.weight has a line for each device besides */
	if (sscanf(text, "default %5d", &weight) != 1 && sscanf(text, "%5d", &weight) != 1)
		return -1;
	return weight >= 0 && weight <= WEIGHT_MOST ? weight : -1;
}

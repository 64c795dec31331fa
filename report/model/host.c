/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/model/host.h"

#include "common/base/cleanup.h"
#include "common/kernel/cgroup.h"
#include "common/store/machine.h"
#include "common/system/files.h"
#include "common/text/escape_name.h"
#include "report/model/query.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FILE_MOST 65536

static bool is_of_here(struct database *database, int64_t capture_id)
{
	_cleanup_query_ struct query query = query_begin(
		database,
		"SELECT d.machine FROM capture c JOIN run USING(run_id) JOIN database d USING(database_id) "
		"WHERE c.capture_id = ?1",
		capture_id, 0);
	char machine[MACHINE_TEXT_BYTES];

	return machine_hash(MACHINE_ID_FILE, machine) && query_next(&query) &&
	       !strcmp(query_text(&query, "machine"), machine);
}

int host_of(struct database *database, int64_t capture_id, struct host *ret_host)
{
	struct host host = { .is_here = is_of_here(database, capture_id),
			     .block = "/sys/class/block",
			     .proc = "/proc" };

	*ret_host = host;
	if (!host.is_here)
		return 0;
	ret_host->has_systemd = !access("/run/systemd/system", F_OK);
	return cgroup_mount(&ret_host->cgroups) == -ENOMEM ? -ENOMEM : 0;
}

void host_free(struct host *host)
{
	free(host->cgroups);
}

/* ---- files ---- */

/* The text of a file; NULL: it cannot be read. The caller frees it. */
static __attribute__((format(printf, 1, 2))) char *read_file(const char *format, ...)
{
	_cleanup_free_ char *path = NULL;
	char *text = NULL;
	va_list arguments;
	size_t bytes;
	int length;

	va_start(arguments, format);
	length = vasprintf(&path, format, arguments);
	va_end(arguments);
	if (length < 0) {
		path = NULL;
		return NULL;
	}
	return file_read_text(AT_FDCWD, path, FILE_MOST, &text, &bytes) < 0 ? NULL : text;
}

/* ---- cgroups ---- */

/* As read_file(). */
static char *read_of_cgroup(const struct host *host, const char *cgroup, const char *file)
{
	_cleanup_free_ char *path = host->cgroups ? strdup(cgroup) : NULL;

	if (!path)
		return NULL;
	escape_name_undo(path);
	return *path == '/' && !strstr(path, "/..") ? read_file("%s%s/%s", host->cgroups, path, file) : NULL;
}

bool host_has_file(const struct host *host, const char *cgroup, const char *file)
{
	_cleanup_free_ char *text = read_of_cgroup(host, cgroup, file);

	return text != NULL;
}

bool host_has_cgroup(const struct host *host, const char *cgroup)
{
	return host_has_file(host, cgroup, "cgroup.controllers");
}

int64_t host_cgroup_number(const struct host *host, const char *cgroup, const char *file)
{
	_cleanup_free_ char *text = read_of_cgroup(host, cgroup, file);
	int64_t number;

	if (!text)
		return -1;
	if (!strncmp(text, "max", strlen("max")))
		return INT64_MAX;
	/* weights of a disk have a line for each device besides */
	if (sscanf(text, "default %" SCNd64, &number) != 1 && sscanf(text, "%" SCNd64, &number) != 1)
		return -1;
	return number;
}

int64_t host_quota_percent(const struct host *host, const char *cgroup)
{
	_cleanup_free_ char *text = read_of_cgroup(host, cgroup, "cpu.max");
	int64_t quota_us, period_us;

	if (text && !strncmp(text, "max", strlen("max")))
		return INT64_MAX;
	return text && sscanf(text, "%" SCNd64 " %" SCNd64, &quota_us, &period_us) == 2 && period_us > 0 &&
			       quota_us >= 0 && quota_us <= INT64_MAX / 100
		       ? 100 * quota_us / period_us
		       : -1;
}

bool host_cpu_controlled(const struct host *host, const char *cgroup)
{
	_cleanup_free_ char *outermost =
		cgroup && cgroup[0] && cgroup[1] ? strndup(cgroup, 1 + strcspn(cgroup + 1, "/")) : NULL;

	/* a cgroup has a controller only if the one above has it */
	return outermost && host_has_file(host, outermost, "cpu.weight");
}

/* ---- disks ---- */

static bool is_name(const char *disk)
{
	return *disk && *disk != '.' && !strchr(disk, '/');
}

bool host_disk_number(const struct host *host, const char *disk, char into[32])
{
	_cleanup_free_ char *text = is_name(disk) ? read_file("%s/%s/dev", host->block, disk) : NULL;
	unsigned int major, minor;

	if (!text || sscanf(text, "%u:%u", &major, &minor) != 2)
		return false;
	snprintf(into, 32, "%u:%u", major, minor);
	return true;
}

const char *host_disk_weight_file(const struct host *host, const char *disk)
{
	_cleanup_free_ char *scheduler = is_name(disk) ? read_file("%s/%s/queue/scheduler", host->block, disk)
						       : NULL,
			    *cost = host->cgroups ? read_file("%s/io.cost.qos", host->cgroups) : NULL;
	char number[32];

	if (scheduler && strstr(scheduler, "[bfq]"))
		return "io.bfq.weight";
	if (!cost || !host_disk_number(host, disk, number))
		return NULL;
	for (char *rest, *line = strtok_r(cost, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (!strncmp(line, number, strlen(number)) && line[strlen(number)] == ' ')
			return strstr(line, " enable=1") ? "io.weight" : NULL;
	return NULL;
}

/* ---- processes ---- */

bool host_has_process(const struct host *host, int64_t tgid, const char *comm)
{
	_cleanup_free_ char *text = read_file("%s/%" PRId64 "/comm", host->proc, tgid);

	if (!text)
		return false;
	text[strcspn(text, "\n")] = '\0';
	return !strcmp(text, comm);
}

int64_t host_autogroup(const struct host *host, int64_t tgid)
{
	_cleanup_free_ char *enabled = read_file("%s/sys/kernel/sched_autogroup_enabled", host->proc),
			    *text = read_file("%s/%" PRId64 "/autogroup", host->proc, tgid);
	int64_t number;

	if (!enabled || *enabled != '1' || !text || sscanf(text, "/autogroup-%" SCNd64, &number) != 1)
		return -1;
	return number;
}

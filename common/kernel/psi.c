/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/kernel/psi.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

int psi_parse(const char *text, struct psi_totals *ret_totals)
{
	struct psi_totals totals = { 0 };

	while (*text) {
		const char *end = strchrnul(text, '\n'), *total = strstr(text, " total=");
		int kind = !strncmp(text, "some ", 5) ? PSI_SOME : !strncmp(text, "full ", 5) ? PSI_FULL : -1;

		if (kind < 0 || !total || total > end ||
		    sscanf(total, " total=%" SCNu64, &totals.us[kind]) != 1)
			return -EBADMSG;
		totals.has[kind] = true;
		text = *end ? end + 1 : end;
	}
	if (!totals.has[PSI_SOME] && !totals.has[PSI_FULL])
		return -EBADMSG;
	*ret_totals = totals;
	return 0;
}

/* The root cgroup's files contain the same as /proc/pressure, which ProcSubset=pid hides. */
int psi_open(const char *mount, const char *cgroup, enum psi_resource resource, int flags)
{
	char path[PATH_MAX];
	int fd;

	if (cgroup) {
		snprintf(path, sizeof(path), "%s%s/%s.pressure", mount, cgroup, psi_resource_names[resource]);
		fd = open(path, flags | O_CLOEXEC);
		return fd < 0 ? -errno : fd;
	}
	snprintf(path, sizeof(path), "/proc/pressure/%s", psi_resource_names[resource]);
	fd = open(path, flags | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT) {
		snprintf(path, sizeof(path), "%s/%s.pressure", mount, psi_resource_names[resource]);
		fd = open(path, flags | O_CLOEXEC);
	}
	return fd < 0 ? -errno : fd;
}

int psi_read(int fd, struct psi_totals *ret_totals)
{
	char text[512];
	ssize_t bytes = pread(fd, text, sizeof(text) - 1, 0);

	if (bytes < 0)
		return -errno;
	text[bytes] = '\0';
	return psi_parse(text, ret_totals);
}

int psi_read_machine(enum psi_resource resource, uint64_t *ret_some_us)
{
	_cleanup_close_ int fd = psi_open("", NULL, resource, O_RDONLY);
	struct psi_totals totals;
	int result = fd < 0 ? fd : psi_read(fd, &totals);

	if (!result && !totals.has[PSI_SOME])
		result = -ENOENT;
	if (!result)
		*ret_some_us = totals.us[PSI_SOME];
	return result;
}

int psi_arm(int fd, enum psi_kind kind, uint64_t stall_us, uint64_t window_us)
{
	char text[64];
	int length = snprintf(text, sizeof(text), "%s %" PRIu64 " %" PRIu64, psi_kind_names[kind], stall_us,
			      window_us);

	/* the kernel expects the NUL, too */
	return write(fd, text, (size_t)length + 1) < 0 ? -errno : 0;
}

void psi_window_begin(struct psi_window *window, uint64_t window_us)
{
	*window = (struct psi_window){ .window_ns = window_us * 1000 };
}

void psi_window_add(struct psi_window *window, uint64_t at_ns, uint64_t total_us)
{
	if (window->count && total_us < window->readings[window->newest].total_us)
		window->count = 0; /* the total shrank: another file under the same name, start over */
	window->newest = (window->newest + 1) % PSI_READINGS;
	window->readings[window->newest].at_ns = at_ns;
	window->readings[window->newest].total_us = total_us;
	if (window->count < PSI_READINGS)
		window->count++;
}

static uint64_t growth(const struct psi_window *window, unsigned int windows, uint64_t at_ns,
		       uint64_t total_us, bool most)
{
	uint64_t back_ns = windows * window->window_ns, from_ns = clock_before(at_ns, back_ns);
	uint64_t later_ns = at_ns, later_us = total_us;

	for (unsigned int i = 0; i < window->count; i++) {
		unsigned int at = (window->newest + PSI_READINGS - i) % PSI_READINGS;
		uint64_t earlier_ns = window->readings[at].at_ns, earlier_us = window->readings[at].total_us;

		if (earlier_us > later_us)
			return 0;
		if (earlier_ns <= from_ns) {
			/* the window begins between two readings */
			double share =
				later_ns > earlier_ns && !most
					? (double)(from_ns - earlier_ns) / (double)(later_ns - earlier_ns)
					: 0;

			return total_us - earlier_us - (uint64_t)(share * (double)(later_us - earlier_us));
		}
		later_ns = earlier_ns;
		later_us = earlier_us;
	}
	return total_us - later_us;
}

uint64_t psi_window_growth(const struct psi_window *window, unsigned int windows, uint64_t at_ns,
			   uint64_t total_us)
{
	return growth(window, windows, at_ns, total_us, false);
}

uint64_t psi_window_growth_most(const struct psi_window *window, unsigned int windows, uint64_t at_ns,
				uint64_t total_us)
{
	return growth(window, windows, at_ns, total_us, true);
}

#define CALM_SHARE 4 /* of the threshold's rate */

uint64_t psi_window_onset(const struct psi_window *window, uint64_t stall_us)
{
	uint64_t newest_ns = window->readings[window->newest].at_ns, onset_ns = newest_ns;
	unsigned int later = window->newest;
	bool has_gap = false;

	for (unsigned int i = 1; i < window->count; i++) {
		unsigned int earlier = (window->newest + PSI_READINGS - i) % PSI_READINGS;
		uint64_t later_ns = window->readings[later].at_ns;
		uint64_t span_ns = later_ns - window->readings[earlier].at_ns;
		uint64_t grown_us = window->readings[later].total_us - window->readings[earlier].total_us;
		bool calm = CALM_SHARE * (double)grown_us * (double)window->window_ns <
			    (double)stall_us * (double)span_ns;

		/* within the window that fired, a pause does not end the stall */
		if (has_gap && newest_ns - later_ns >= window->window_ns)
			break;
		if (!calm)
			onset_ns = later_ns - (grown_us * 1000 < span_ns ? grown_us * 1000 : span_ns);
		has_gap |= calm;
		later = earlier;
	}
	return onset_ns;
}

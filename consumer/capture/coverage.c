/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/coverage.h"

#include "common/base/cleanup.h"
#include "common/kernel/cpus.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <string.h>

struct coverage {
	int online_fd, counters_fd;
	bool sampled[CPUS_MAX]; /* when the programs were loaded */
	uint64_t *lost;         /* indexed by possible CPU */
	uint64_t *lost_now;     /* room for a new reading */
	size_t possible;
	char online[4096]; /* the kernel's list, as last read */
	unsigned int unsampled[CPUS_MAX];
	unsigned int count;
	char text[256];
};

int coverage_open(struct coverage **ret_coverage, const struct kernel_objects *kernel)
{
	_cleanup_free_ struct coverage *coverage = calloc(1, sizeof(*coverage));
	_cleanup_free_ unsigned int *sampled = NULL;
	int possible = libbpf_num_possible_cpus(), result;
	size_t count;

	if (!coverage)
		return -ENOMEM;
	if (possible < 0)
		return possible;
	result = cpus_parse(kernel->manifest.sampled_cpus, &sampled, &count);
	if (result < 0)
		return result;
	for (size_t i = 0; i < count; i++)
		coverage->sampled[sampled[i]] = true;
	coverage->possible = (size_t)possible;
	coverage->lost = calloc(2 * coverage->possible, sizeof(*coverage->lost));
	if (!coverage->lost)
		return -ENOMEM;
	coverage->lost_now = coverage->lost + coverage->possible;
	coverage->counters_fd = kernel->map_fds[PIN_COUNTERS];
	coverage->online_fd = open(CPUS_ONLINE_FILE, O_RDONLY | O_CLOEXEC);
	if (coverage->online_fd < 0) {
		free(coverage->lost);
		return -errno;
	}
	*ret_coverage = TAKE_PTR(coverage);
	return 0;
}

void coverage_free(struct coverage *coverage)
{
	if (!coverage)
		return;
	cleanup_close(&coverage->online_fd);
	free(coverage->lost);
	free(coverage);
}

/* A value that cannot be read keeps its previous state. Returns false where nothing changed. */
static bool refresh(struct coverage *coverage)
{
	bool changed = false;
	__u32 counter = COUNTER_CLOCKS_LOST;
	char online[sizeof(coverage->online)];
	/* sysfs makes the list anew for each read from offset 0 */
	ssize_t bytes = pread(coverage->online_fd, online, sizeof(online) - 1, 0);

	if (bytes > 0) {
		online[bytes] = '\0';
		changed = strcmp(online, coverage->online) != 0;
		memcpy(coverage->online, online, (size_t)bytes + 1);
	}
	if (!bpf_map_lookup_elem(coverage->counters_fd, &counter, coverage->lost_now) &&
	    memcmp(coverage->lost_now, coverage->lost, coverage->possible * sizeof(*coverage->lost))) {
		memcpy(coverage->lost, coverage->lost_now, coverage->possible * sizeof(*coverage->lost));
		changed = true;
	}
	return changed;
}

unsigned int coverage_look(struct coverage *coverage, bool *ret_changed)
{
	_cleanup_free_ unsigned int *online = NULL;
	char before[sizeof(coverage->text)];
	size_t count;

	*ret_changed = false;
	if (!refresh(coverage))
		return coverage->count;
	memcpy(before, coverage->text, sizeof(before));
	if (cpus_parse(coverage->online, &online, &count) < 0)
		return coverage->count;
	coverage->count = 0;
	for (size_t i = 0; i < count; i++)
		if (!coverage->sampled[online[i]] ||
		    (online[i] < coverage->possible && coverage->lost[online[i]]))
			coverage->unsampled[coverage->count++] = online[i];
	coverage->text[0] = '\0';
	cpus_format(coverage->unsampled, coverage->count, coverage->text, sizeof(coverage->text));
	*ret_changed = strcmp(before, coverage->text) != 0;
	return coverage->count;
}

const char *coverage_text(const struct coverage *coverage)
{
	return coverage->text;
}

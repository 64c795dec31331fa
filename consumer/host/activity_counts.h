/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * activity_counts.h owns one look at the activity of all threads: a read of the iterator `looks`, and a copy of what it
 * counted in the map `activity`. A look whose counts do not add up is refused.
 */
#ifndef BOURDON_CONSUMER_HOST_ACTIVITY_COUNTS_H
#define BOURDON_CONSUMER_HOST_ACTIVITY_COUNTS_H

#include "common/abi/abi.h"
#include "consumer/host/cgroups.h"
#include "consumer/process/kernel_objects.h"

#include <stdbool.h>
#include <stdint.h>

struct activity_count {
	struct activity_key key;
	uint32_t threads;
};

struct activity_counts {
	struct activity_count *rows; /* each key once: the kernel program has it in one slot */
	uint32_t count, room;
	struct activity_look look; /* the iterator's last record */
};

void activity_counts_free(struct activity_counts *counts);

/*
 * Takes a look in place of the one before. Paths of cgroups that the kernel tells go to `cgroups`. Returns 0; -ENODATA if the
 * look did not come to its end; -EBADMSG if what it told cannot be; or -errno.
 */
int activity_counts_take(struct activity_counts *counts, const struct kernel_objects *kernel,
			 struct cgroups *cgroups);

/* The parts of activity_counts_take(), for tests. The first has the form that iterator_stream.h wants. */
struct activity_stream {
	struct cgroups *cgroups;
	struct activity_look look;
	bool is_whole;
};
long activity_counts_read(void *user, const char *records, size_t bytes);
int activity_counts_copy(struct activity_counts *counts, const struct activity_look *look,
			 const struct activity_slot *slots);

#endif

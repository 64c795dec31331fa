/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/process/own_counters.h"

const char *const own_counter_names[OWN_COUNTERS] = {
	[OWN_STALE_EVENTS] = "stale-events",
	[OWN_UNKNOWN_RECORDS] = "unknown-records",
	[OWN_ERROR_RECORDS] = "error-records",
	[OWN_CAPTURES] = "captures",
	[OWN_SUPPRESSED] = "triggers-suppressed",
	[OWN_SPURIOUS] = "triggers-spurious",
	[OWN_GRANTS] = "grants",
	[OWN_GRANTS_REFUSED] = "grants-refused",
	[OWN_FILES_GRANTED] = "files-granted",
	[OWN_FILES_REFUSED] = "files-refused",
	[OWN_FILES_DEFERRED] = "files-deferred",
	[OWN_CGROUPS_UNWATCHED] = "cgroups-unwatched",
	[OWN_WITHOUT_TARGET] = "triggers-without-target",
	[OWN_ASKED] = "captures-asked-for",
	[OWN_ASKED_REFUSED] = "requests-refused",
	[OWN_LINES_UNREAD] = "client-lines-unread",
	[OWN_RELOADS] = "reloads",
	[OWN_RELOADS_REFUSED] = "reloads-refused",
	[OWN_SYMBOLIZERS] = "symbolizers",
	[OWN_SYMBOLIZER_REQUESTS] = "symbolizer-requests",
	[OWN_MAPPINGS_DROPPED] = "mappings-dropped",
	[OWN_WALKS_STUCK] = "mapping-walks-stuck",
	[OWN_WALKS_PAUSED] = "mapping-walks-paused",
};

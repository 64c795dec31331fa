/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbols/supervisor.h"

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/log.h"
#include "consumer/symbolizer/spawner.h"

#include <string.h>

/* Symbolizers that one capture may lose before the rest of its frames stay unnamed. */
#define DEATHS_MAX 3U

/* Naming runs at nice 19 for this long, then at nice 5. */
#define IDLE_NS (2 * CLOCK_SECOND_NS)

static void count(const struct supervisor *symbolizers, enum own_counter counter)
{
	if (symbolizers->counters)
		own_count(symbolizers->counters, counter);
}

struct supervisor supervisor_begin(int spawner_socket, struct own_counters *counters, uint64_t deadline_ns)
{
	return (struct supervisor){ .spawner_socket = spawner_socket,
				    .counters = counters,
				    .deadline_ns = deadline_ns,
				    .idle_until_ns = clock_monotonic_ns() + IDLE_NS,
				    .socket = -EBADF };
}

void supervisor_end(struct supervisor *symbolizers)
{
	cleanup_close(&symbolizers->socket);
}

static int request(struct supervisor *symbolizers)
{
	if (symbolizers->deaths == DEATHS_MAX || clock_monotonic_ns() >= symbolizers->deadline_ns)
		return -ETIMEDOUT;
	return spawner_request(symbolizers->spawner_socket,
			       symbolizers->late ? SYMBOLIZER_SOON : SYMBOLIZER_LATER,
			       symbolizers->deadline_ns);
}

bool supervisor_need(struct supervisor *symbolizers)
{
	if (symbolizers->socket >= 0)
		return true;
	if (symbolizers->no_more)
		return false;
	symbolizers->socket = request(symbolizers);
	if (symbolizers->socket >= 0) {
		count(symbolizers, OWN_SYMBOLIZERS);
		return true;
	}
	log_warning("no symbolizer: %s; the remaining user frames of this capture get no names",
		    symbolizers->deaths ? "it died too often in this capture"
					: strerror(-symbolizers->socket));
	symbolizers->no_more = true;
	symbolizers->failures++;
	return false;
}

uint64_t supervisor_patience(struct supervisor *symbolizers)
{
	count(symbolizers, OWN_SYMBOLIZER_REQUESTS);
	return symbolizers->late || symbolizers->deadline_ns < symbolizers->idle_until_ns
		       ? symbolizers->deadline_ns
		       : symbolizers->idle_until_ns;
}

bool supervisor_lose(struct supervisor *symbolizers, const char *over, int result)
{
	close(TAKE_FD(symbolizers->socket));
	if (result == -ETIMEDOUT && !symbolizers->late && clock_monotonic_ns() < symbolizers->deadline_ns) {
		symbolizers->late = true;
		return true;
	}
	log_warning("the symbolizer died reading %s: %s; its frames get no names", over, strerror(-result));
	symbolizers->deaths++;
	symbolizers->failures++;
	return false;
}

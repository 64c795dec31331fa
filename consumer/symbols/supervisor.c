/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbols/supervisor.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/symbolizer/spawner.h"
#include "common/system/log.h"

#include <string.h>

/* Symbolizers that one capture may lose before the rest of its frames stay unnamed. */
#define DEATHS_MAX 3U

/* Symbolizers of one capture that are replaced because of the files that they have read: each start takes about 1 ms. */
#define REPLACED_MAX 8U

/* Naming runs at nice 19 for this long, and for half of its time at most. */
#define IDLE_NS (2 * CLOCK_SECOND_NS)

static void count(const struct supervisor *symbolizers, enum own_counter counter)
{
	if (symbolizers->counters)
		own_count(symbolizers->counters, counter);
}

struct supervisor supervisor_begin(int spawner_socket, struct own_counters *counters,
				   struct cpu_budget *budget, uint64_t deadline_ns)
{
	uint64_t now_ns = clock_monotonic_ns();

	return (struct supervisor){ .spawner_socket = spawner_socket,
				    .counters = counters,
				    .budget = budget,
				    .deadline_ns = deadline_ns,
				    .idle_until_ns =
					    clock_sooner(now_ns + IDLE_NS, now_ns / 2 + deadline_ns / 2),
				    .socket = -EBADF };
}

/* It does not tell how much CPU time it used: at most the time that it was there. */
static void end_symbolizer(struct supervisor *symbolizers)
{
	cleanup_close(&symbolizers->socket);
	if (symbolizers->is_now)
		cpu_budget_take(symbolizers->budget, clock_monotonic_ns() - symbolizers->since_ns);
	symbolizers->is_now = false;
	symbolizers->read = (struct files_read){ 0 };
}

void supervisor_end(struct supervisor *symbolizers)
{
	end_symbolizer(symbolizers);
}

static int request(struct supervisor *symbolizers)
{
	enum symbolizer_priority priority = SYMBOLIZER_LATER;
	uint64_t now_ns = clock_monotonic_ns();

	if (symbolizers->deaths == DEATHS_MAX || now_ns >= symbolizers->deadline_ns)
		return -ETIMEDOUT;
	if (symbolizers->late)
		priority = symbolizers->budget && cpu_budget_has_time(symbolizers->budget, now_ns)
				   ? SYMBOLIZER_NOW
				   : SYMBOLIZER_SOON;
	symbolizers->is_now = priority == SYMBOLIZER_NOW;
	symbolizers->since_ns = now_ns;
	return spawner_request(symbolizers->spawner_socket, priority, symbolizers->deadline_ns);
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

bool supervisor_need_for(struct supervisor *symbolizers, const struct stat *file)
{
	if (symbolizers->socket >= 0 && files_read_is_unfit(&symbolizers->read, file) &&
	    symbolizers->replaced < REPLACED_MAX) {
		symbolizers->replaced++;
		end_symbolizer(symbolizers);
	}
	if (!supervisor_need(symbolizers))
		return false;
	files_read_note(&symbolizers->read, file);
	return true;
}

uint64_t supervisor_patience(struct supervisor *symbolizers)
{
	count(symbolizers, OWN_SYMBOLIZER_REQUESTS);
	return symbolizers->late ? symbolizers->deadline_ns : symbolizers->idle_until_ns;
}

bool supervisor_lose(struct supervisor *symbolizers, const char *over, int result)
{
	end_symbolizer(symbolizers);
	if (result == -ETIMEDOUT && !symbolizers->late && clock_monotonic_ns() < symbolizers->deadline_ns) {
		symbolizers->late = true;
		return true;
	}
	log_warning("the symbolizer died reading %s: %s; its frames get no names", over, strerror(-result));
	symbolizers->deaths++;
	symbolizers->failures++;
	return false;
}

/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/protocol/grant_counters.h"

#include "common/base/cleanup.h"
#include "common/system/files.h"
#include "common/system/log.h"

#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#define TEXT_BYTES 192U

/* What the file holds. A limit's state is that of rate.h, by CLOCK_MONOTONIC: the file is gone after a boot. */
struct state {
	uint64_t counters[GRANT_COUNTERS];
	uint64_t full_ns[GRANT_BUDGETS];
};

/* Of fixed length, so that each write replaces the whole text. */
static void format(const struct state *state, char text[TEXT_BYTES])
{
	snprintf(text, TEXT_BYTES,
		 "granted %020" PRIu64 "\nrefused %020" PRIu64 "\nlater %020" PRIu64
		 "\npressure-full-ns %020" PRIu64 "\nfiles-full-ns %020" PRIu64 "\n",
		 state->counters[GRANT_COUNTER_GRANTED], state->counters[GRANT_COUNTER_REFUSED],
		 state->counters[GRANT_COUNTER_LATER], state->full_ns[GRANT_BUDGET_PRESSURE],
		 state->full_ns[GRANT_BUDGET_FILES]);
}

/* An earlier version wrote the first two lines only. */
static int parse(const char *text, struct state *ret_state)
{
	struct state state = { 0 };

	if (sscanf(text,
		   "granted %" SCNu64 "\nrefused %" SCNu64 "\nlater %" SCNu64 "\npressure-full-ns %" SCNu64
		   "\nfiles-full-ns %" SCNu64,
		   &state.counters[GRANT_COUNTER_GRANTED], &state.counters[GRANT_COUNTER_REFUSED],
		   &state.counters[GRANT_COUNTER_LATER], &state.full_ns[GRANT_BUDGET_PRESSURE],
		   &state.full_ns[GRANT_BUDGET_FILES]) < 2)
		return -EBADMSG;
	*ret_state = state;
	return 0;
}

static int open_as(const char *path, mode_t mode, int number)
{
	_cleanup_close_ int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, mode);

	return fd < 0 || dup3(fd, number, O_CLOEXEC) < 0 ? -errno : 0;
}

/*
 * The lock is a separate file that only its owner can open: any reader of a file could lock it and stop all
 * others.
 */
int grant_counters_open(const char *path)
{
	_cleanup_free_ char *lock = NULL;
	int result;

	if (asprintf(&lock, "%s.lock", path) < 0)
		return -ENOMEM;
	result = open_as(lock, 0600, GRANT_COUNTERS_LOCK_FD);
	return result < 0 ? result : open_as(path, 0640, GRANT_COUNTERS_FD);
}

/* Locks and reads. False: nothing is counted. */
static bool begin(struct state *ret_state)
{
	char text[TEXT_BYTES];
	ssize_t bytes;

	if (flock(GRANT_COUNTERS_LOCK_FD, LOCK_EX))
		return false;
	bytes = pread(GRANT_COUNTERS_FD, text, sizeof(text) - 1, 0);
	*ret_state = (struct state){ 0 };
	if (bytes > 0) {
		text[bytes] = '\0';
		parse(text, ret_state);
	}
	if (bytes < 0)
		flock(GRANT_COUNTERS_LOCK_FD, LOCK_UN);
	return bytes >= 0;
}

static void end(const struct state *state)
{
	char text[TEXT_BYTES];

	format(state, text);
	if (pwrite(GRANT_COUNTERS_FD, text, strlen(text), 0) < 0)
		log_warning("cannot write the grant counters: %s; this request is not counted",
			    strerror(errno));
	flock(GRANT_COUNTERS_LOCK_FD, LOCK_UN);
}

void grant_counters_add(enum grant_counter counter)
{
	struct state state;

	if (!begin(&state))
		return;
	state.counters[counter]++;
	end(&state);
}

uint64_t grant_counters_take(enum grant_budget budget, uint64_t (*clock_ns)(void))
{
	struct state state;
	uint64_t now_ns, over = 0, *full_ns = &state.full_ns[budget];

	if (!begin(&state))
		return 0;
	now_ns = clock_ns(); /* a time from before the lock would take for damage what others took since */
	if (*full_ns > rate_full_most_ns(GRANT_ANSWERED, now_ns))
		*full_ns = rate_full_most_ns(GRANT_ANSWERED, now_ns);
	if (rate_left(GRANT_ANSWERED, *full_ns, now_ns))
		rate_take(GRANT_ANSWERED, full_ns, now_ns);
	else
		over = ++state.counters[GRANT_COUNTER_LATER];
	end(&state);
	return over;
}

int grant_counters_read(const char *path, uint64_t ret_values[GRANT_COUNTERS])
{
	_cleanup_free_ char *text = NULL;
	struct state state;
	size_t bytes;
	int result = file_read_text(AT_FDCWD, path, TEXT_BYTES, &text, &bytes);

	if (!result)
		result = parse(text, &state);
	if (!result)
		memcpy(ret_values, state.counters, sizeof(state.counters));
	return result;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * announce.h tells others than readers of the database that a capture is written: the journal by one entry with fields, and
 * the administrator's hook by a file, if there is a directory for such files. Neither says more than the capture has, so
 * nothing of a process that root's policy denies. docs/ALERTS.md lists the fields.
 */
#ifndef BOURDON_CONSUMER_STORE_ANNOUNCE_H
#define BOURDON_CONSUMER_STORE_ANNOUNCE_H

#include "common/store/store_verdict.h"
#include "common/system/log.h"
#include "consumer/capture/capture.h"
#include "consumer/process/journal.h"

/* systemd/bourdon.catalog.in has their texts. */
#define ANNOUNCE_CAPTURED "9f8b8a2aec894c2ba7be965f985b1066"
#define ANNOUNCE_LATENCY "1ae2d27c7e8a497d860279462541c231"
#define ANNOUNCE_KILLED "f7ad9544b9e14cdf86a888e6b96d4d69"
#define ANNOUNCE_ASKED "ace7d791a2734c52b1957a08e5e8b344"

/* Below the state directory; the hook removes its files. */
#define HOOK_DIRECTORY "hook"
/* The newest, if nobody removes them. */
#define HOOK_FILES 256

struct announcer {
	struct journal journal;
	const char *state_dir;
	struct own_counters *own_counters;
	bool without_journal; /* and the log says so */
	struct log_limit journal_lost, hook_lost;
};

/* What is announced. */
struct announced {
	const struct capture *capture;
	int64_t capture_id;
	const struct stored_verdict *verdict;
};

#define ANNOUNCE_FIELDS 32U
#define ANNOUNCE_BYTES 12288U

/* The fields of the entry, with what they refer to. All values are well-formed UTF-8 without control characters. */
struct announcement {
	struct journal_field fields[ANNOUNCE_FIELDS];
	size_t count, used;
	char text[ANNOUNCE_BYTES];
};

/* Logs a failure, after which no entry reaches the journal. The settings outlive it. */
void announce_open(struct announcer *ret_announcer, const char *journal_socket, const char *state_dir,
		   struct own_counters *own_counters);
void announce_close(struct announcer *announcer);

void announce_make(const struct announced *announced, struct announcement *ret_announcement);

/* Logs what fails, at most once a minute each. Returns whether the journal has the entry, or will have it. */
bool announce(struct announcer *announcer, const struct announced *announced, uint64_t now_ns);

/* When announce_retry() is to be called (CLOCK_MONOTONIC); 0: not at all. */
uint64_t announce_retry_ns(const struct announcer *announcer);
void announce_retry(struct announcer *announcer, uint64_t now_ns);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fake_grant.h owns a stand-in for bourdon-grant: a child behind a socket, which serves one connection after
 * the other, checks each request and gives the answers that the test wants.
 */
#ifndef BOURDON_UNIT_FAKE_GRANT_H
#define BOURDON_UNIT_FAKE_GRANT_H

#include <stddef.h>
#include <sys/types.h>

struct fake_answer {
	const char *request; /* the request expected, byte for byte; NULL: it is not read */
	const char *text;    /* NULL: no answer, until the other end closes */
	const char *path;    /* the file whose descriptor is sent beside the answer; NULL: none */
};

struct fake_grant {
	char *directory, *path;
	int listener;
	pid_t child;
};

/* Listens; connections are not answered yet. */
void fake_grant_make(struct fake_grant *grant);
void fake_grant_free(struct fake_grant *grant);

/* Gives these answers, in this order. fake_grant_finish() asserts that each was asked for as expected. */
void fake_grant_answer(struct fake_grant *grant, const struct fake_answer *answers, size_t count);
void fake_grant_finish(struct fake_grant *grant);

/* Whether a connection waits that was not answered. */
int fake_grant_is_asked(const struct fake_grant *grant);

#endif

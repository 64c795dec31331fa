/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fake_grant.h owns a bourdon-grant that answers as a test wants: a child behind a socket, which takes one
 * connection after the other and checks what it is asked.
 */
#ifndef BOURDON_UNIT_FAKE_GRANT_H
#define BOURDON_UNIT_FAKE_GRANT_H

#include <stddef.h>
#include <sys/types.h>

struct fake_answer {
	const char *request; /* what has to come, to the byte; NULL: it is not read */
	const char *text;    /* NULL: none, until the other end closes */
	const char *path;    /* the file whose descriptor goes with it; NULL: none */
};

struct fake_grant {
	char *directory, *path;
	int listener;
	pid_t child;
};

/* Listens; nobody answers yet. */
void fake_grant_make(struct fake_grant *grant);
void fake_grant_free(struct fake_grant *grant);

/* Gives these answers, in this order. fake_grant_finish() asserts that all were asked for as expected. */
void fake_grant_answer(struct fake_grant *grant, const struct fake_answer *answers, size_t count);
void fake_grant_finish(struct fake_grant *grant);

/* Whether somebody has connected who was not answered. */
int fake_grant_is_asked(const struct fake_grant *grant);

#endif

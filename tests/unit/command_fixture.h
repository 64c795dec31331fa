/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * command_fixture.h owns running the command bourdon in a test: as in a shell, but without main(), on a database that the
 * test made through the store.
 */
#ifndef BOURDON_UNIT_COMMAND_FIXTURE_H
#define BOURDON_UNIT_COMMAND_FIXTURE_H

#include "common/base/cleanup.h"

/* The result of one command. */
struct command_ran {
	int status;
	char *out;
	char *err;
};

void command_ran_free(struct command_ran *ran);
#define _cleanup_command_ran_ _cleanup_(command_ran_free)

/* Runs "bourdon" with these words; a blank ends a word. */
struct command_ran __attribute__((format(printf, 1, 2))) command_run_words(const char *format, ...);

/* Asserts success, and that what it wrote has `part`. */
void __attribute__((format(printf, 2, 3))) expect_command(const char *part, const char *format, ...);

/* Asserts the exit status 1, and that the last line of the errors has `part`. */
void __attribute__((format(printf, 2, 3))) expect_command_fails(const char *part, const char *format, ...);

#endif

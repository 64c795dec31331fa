/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * command.h owns the command line of bourdon: it finds the subcommand that is named, and runs it.
 *
 * Room: main() and the table of subcommands. It is root if the user is, and opens nothing but what subcommands do.
 */
#ifndef BOURDON_REPORT_COMMAND_H
#define BOURDON_REPORT_COMMAND_H

#include <stdio.h>

/*
 * Runs the subcommand that `arguments` (argv) name, which it reorders, and writes what that shows to `out`. Returns the exit
 * status; errors have been logged. Help goes to standard output.
 */
int command_main(int count, char **arguments, FILE *out);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * shell_quote.h owns words of commands that a person may copy into a shell. Whoever chose a name must not choose what the
 * shell does.
 */
#ifndef BOURDON_REPORT_TEXT_SHELL_QUOTE_H
#define BOURDON_REPORT_TEXT_SHELL_QUOTE_H

#include <stdbool.h>

/*
 * The name of the database (see common/text/escape_name.h) as one word that a shell reads as the bytes of the name: as it is if
 * that is harmless, else in quotes, and with bytes that a terminal must not see as \xHH in $'...', which bash, zsh, ksh and
 * busybox read. It is never empty and begins with no dash. The caller frees; NULL without memory.
 */
char *shell_quote(const char *name);

/* Whether it is the name of a unit that systemctl takes literally: the characters of systemd.unit(5), and a type. */
bool shell_is_unit(const char *name);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * escape_name.h escapes names chosen by other processes before they leave bourdond, and reverses the
 * escaping.
 */
#ifndef BOURDON_COMMON_TEXT_ESCAPE_NAME_H
#define BOURDON_COMMON_TEXT_ESCAPE_NAME_H

#include <stdbool.h>

/*
 * Escapes a name chosen by another process, for the database and the control socket. Bytes that a terminal
 * must not see become \xHH, and so does a backslash that could be read as the start of such an escape. The
 * result is well-formed UTF-8 without control characters; escape_terminal() leaves it unchanged; different
 * names give different results. The caller frees it; NULL if out of memory.
 */
char *escape_name(const char *name);

/* True if escape_name() would leave the name unchanged, as it does almost all names. */
bool escape_name_is_plain(const char *name);

/* Reverses escape_name(), in place. */
void escape_name_undo(char *text);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * escape_name.h owns the form in which a name that others chose leaves bourdond, and the way back.
 */
#ifndef BOURDON_ESCAPE_NAME_H
#define BOURDON_ESCAPE_NAME_H

#include <stdbool.h>

/*
 * A name that others chose, in the form that leaves bourdond, for the database and the control socket: what a
 * terminal must not see is \xHH here, too, and so is a backslash that could be taken for the beginning of
 * such an escape. So the form is well-formed UTF-8 without control characters, escape_terminal() leaves it as
 * it is, and no two names have the same. The caller frees; NULL without memory.
 */
char *escape_name(const char *name);

/* Whether a name is its own such form, as almost all are. */
bool escape_name_is_plain(const char *name);

/* The name of such a form, in place. */
void escape_name_undo(char *text);

#endif

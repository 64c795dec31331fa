/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hexadecimal.h owns how build ids and digests are written: two lower-case digits a byte.
 */
#ifndef BOURDON_HEXADECIMAL_H
#define BOURDON_HEXADECIMAL_H

#include <stddef.h>

#define HEXADECIMAL_BYTES(length) (2 * (length) + 1)

/* `text` has HEXADECIMAL_BYTES(length); it is terminated, and "" for no bytes. Returns it. */
char *hexadecimal_write(const void *bytes, size_t length, char *text);

#endif

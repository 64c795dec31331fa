/* SPDX-License-Identifier: GPL-2.0-only */
/* hexadecimal.h writes build ids and digests: two lower-case digits a byte. */
#ifndef BOURDON_COMMON_TEXT_HEXADECIMAL_H
#define BOURDON_COMMON_TEXT_HEXADECIMAL_H

#include <stddef.h>

#define HEXADECIMAL_BYTES(length) (2 * (length) + 1)

/* `text` has HEXADECIMAL_BYTES(length) bytes and is terminated; no bytes give "". Returns `text`. */
char *hexadecimal_write(const void *bytes, size_t length, char *text);

#endif

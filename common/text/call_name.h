/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * call_name.h names system calls by number, as this architecture's 64-bit programs make them.
 */
#ifndef BOURDON_COMMON_TEXT_CALL_NAME_H
#define BOURDON_COMMON_TEXT_CALL_NAME_H

#include <stdint.h>

#define CALL_NAME_BYTES 32U /* with its end: of "syscall_18446744073709551615", too */

/* The call's name, or "syscall_N" in `unknown` for one that libseccomp did not know when this was built. */
const char *call_name(uint64_t number, char unknown[CALL_NAME_BYTES]);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* demangle.h converts linker names of C++ and Rust functions to source names. */
#ifndef BOURDON_COMMON_SYMBOLIZER_DEMANGLE_H
#define BOURDON_COMMON_SYMBOLIZER_DEMANGLE_H

#include <stddef.h>

/*
 * SYMBOLIZER: writes the name, at most `room` bytes and no NUL, and returns its length. A name that is not
 * mangled is copied without its symbol version (name@@VERSION). Truncates only between characters.
 */
size_t demangle(const char *name, char *into, size_t room);

#endif

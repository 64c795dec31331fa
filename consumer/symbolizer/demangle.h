/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * demangle.h owns turning the linker's names of C++ and Rust functions into those that their authors wrote.
 */
#ifndef BOURDON_SYMBOLIZER_DEMANGLE_H
#define BOURDON_SYMBOLIZER_DEMANGLE_H

#include <stddef.h>

/*
 * SYMBOLIZER: writes the name, at most `room` bytes of it and no NUL, and returns its length. A name that is
 * not mangled is written as it is, without the version of a symbol (name@@VERSION). What does not fit is cut,
 * never within a character.
 */
size_t demangle(const char *name, char *into, size_t room);

#endif

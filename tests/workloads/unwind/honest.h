/* SPDX-License-Identifier: GPL-2.0-only */
/* honest.h owns the contract between honest.c and its library. */
#ifndef BOURDON_WORKLOADS_UNWIND_HONEST_H
#define BOURDON_WORKLOADS_UNWIND_HONEST_H

#include <signal.h>

typedef void honest_leaf(const volatile sig_atomic_t *over);
typedef void honest_callback(honest_leaf *leaf);

/* Lets the callback call a leaf of the library, which runs until *over is not 0. */
void honest_serve(honest_callback *callback);

#endif

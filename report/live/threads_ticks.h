/* SPDX-License-Identifier: GPL-2.0-only */
/* threads_ticks.h says when to look at the threads. */
#ifndef BOURDON_REPORT_LIVE_THREADS_TICKS_H
#define BOURDON_REPORT_LIVE_THREADS_TICKS_H

/* Begins a clock of `hz` ticks a second. Returns a descriptor that can be polled and the caller closes, or -errno. */
int threads_ticks_begin(unsigned int hz);

/* Takes the ticks that have passed. Returns their number, 0 if there was none, or -errno. */
int threads_ticks_take(int ticks);

#endif

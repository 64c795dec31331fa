/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * vdso.h owns the image of the vDSO: code that the kernel maps into every process and that is in no file. All
 * 64-bit processes have the same image as this process (vdso(7)).
 */
#ifndef BOURDON_CONSUMER_SYMBOLS_VDSO_H
#define BOURDON_CONSUMER_SYMBOLS_VDSO_H

/* Returns a descriptor of a copy of the image; the caller closes it. -errno if there is none. */
int vdso_open(void);

#endif

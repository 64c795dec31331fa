/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * vdso.h owns the image of the vDSO: code that the kernel maps into every process, and that no file has. This
 * process has the one that all 64-bit processes have (vdso(7)).
 */
#ifndef BOURDON_CONSUMER_UNWIND_VDSO_H
#define BOURDON_CONSUMER_UNWIND_VDSO_H

/* A descriptor of its image, as if it was a file; the caller closes it. -errno where there is none. */
int vdso_open(void);

#endif

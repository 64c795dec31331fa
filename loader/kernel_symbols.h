/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel_symbols.h owns the snapshot of the kernel's code symbols: one line each, "OFFSET NAME [MODULE]",
 * ascending by the decimal offset from _text. No absolute address is in it, nor in this process.
 */
#ifndef BOURDON_LOADER_KERNEL_SYMBOLS_H
#define BOURDON_LOADER_KERNEL_SYMBOLS_H

#include <stddef.h>

/*
 * LOADER: reads the symbol iterator twice: the first pass tells the in-kernel samplers where _text is,
 * the second yields the symbols. The caller frees *ret_text. 0, -ENOENT where the kernel shows no _text
 * (then *ret_text is an empty text and samples have no kernel frames), or -errno.
 */
int kernel_symbols_snapshot(int link_fd, char **ret_text, size_t *ret_bytes);

#endif

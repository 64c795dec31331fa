/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * symbol_snapshot.h owns the snapshot of the kernel's code symbols: one line each, "PLACE NAME [MODULE]",
 * ascending by the decimal place, which is encoded as in a sample (abi.h, KERNEL_FRAME_*). No absolute
 * address is in it.
 */
#ifndef BOURDON_LOADER_SYMBOL_SNAPSHOT_H
#define BOURDON_LOADER_SYMBOL_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * LOADER: reads the symbol iterator twice: the first pass tells the in-kernel samplers where code lies, the
 * second, which sets *emit, yields the symbols. The caller frees *ret_text. 0, -ENOENT where the kernel
 * shows no _text (then *ret_text is an empty text and samples have no kernel frames), or -errno.
 */
int kernel_symbols_snapshot(int link_fd, bool *emit, char **ret_text, size_t *ret_bytes);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * symbol_snapshot.h owns the snapshot of the kernel's code symbols: one line for each, "PLACE NAME [MODULE]",
 * in ascending order of the decimal place, which is encoded as in a sample (abi.h, KERNEL_FRAME_*). It holds
 * no absolute address.
 */
#ifndef BOURDON_LOADER_SYMBOL_SNAPSHOT_H
#define BOURDON_LOADER_SYMBOL_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * LOADER: reads the symbol iterator twice. The first pass tells the in-kernel samplers where code lies. The
 * second, which sets *emit, yields the symbols. The caller frees *ret_text. 0, -ENOENT where the kernel shows
 * no _text (*ret_text is then empty, and samples have no kernel frames), or -errno.
 */
int kernel_symbols_snapshot(int link_fd, bool *emit, char **ret_text, size_t *ret_bytes);

#endif

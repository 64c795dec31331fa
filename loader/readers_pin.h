/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * readers_pin.h owns the second pins of the iterators of text, RUN_DIR/bpf/threads and RUN_DIR/bpf/stacks, which a group of
 * readers opens who can open no other pin. /sys/fs/bpf is 0700, so these pins are on a BPF file system of their own, which
 * somebody else mounts (run-bourdon-bpf.mount). Without one there are no second pins.
 */
#ifndef BOURDON_LOADER_READERS_PIN_H
#define BOURDON_LOADER_READERS_PIN_H

#include "common/protocol/pins.h"

#include <stdbool.h>
#include <sys/types.h>

/* True if there is a BPF file system at RUN_DIR/bpf whose top directory root alone can write to. */
bool readers_pin_is_possible(const char *run_dir);

/* The path of the pin of that iterator; the caller frees it. NULL without memory. */
char *readers_pin_path(const char *run_dir, enum pin_iterator iterator);

/* Pins `link_fd` beside its final place, for `gid` to read. 0 or -errno. */
int readers_pin_prepare(const char *run_dir, enum pin_iterator iterator, int link_fd, gid_t gid);

/*
 * Puts all that was prepared in place, and what was there beside it; a second call undoes that. 0; or -errno, with nothing
 * changed.
 */
int readers_pins_swap(const char *run_dir);

/* Removes what is beside its place. 0 or -errno. */
int readers_pins_abandon(const char *run_dir);

/* Removes the pins; without any, or without a BPF file system, does nothing. 0 or -errno. */
int readers_pins_remove(const char *run_dir);

#endif

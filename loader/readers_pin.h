/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * readers_pin.h owns the second pin of the iterator `threads`, RUN_DIR/bpf/threads, which a group of readers opens who can
 * open no other pin. /sys/fs/bpf is 0700, so this pin is on a BPF file system of its own, which somebody else mounts
 * (run-bourdon-bpf.mount). Without one there is no second pin.
 */
#ifndef BOURDON_LOADER_READERS_PIN_H
#define BOURDON_LOADER_READERS_PIN_H

#include <stdbool.h>
#include <sys/types.h>

/* True if there is a BPF file system at RUN_DIR/bpf whose top directory root alone can write to. */
bool readers_pin_is_possible(const char *run_dir);

/* The path of the pin; the caller frees it. NULL without memory. */
char *readers_pin_path(const char *run_dir);

/*
 * Pins `link_fd` beside its final place, for `gid` to read. readers_pin_swap() puts it in place, and a second call undoes
 * that; readers_pin_abandon() then removes what is not in place. All return 0 or -errno.
 */
int readers_pin_prepare(const char *run_dir, int link_fd, gid_t gid);
int readers_pin_swap(const char *run_dir);
int readers_pin_abandon(const char *run_dir);

/* Removes the pin; without one, or without a BPF file system, does nothing. 0 or -errno. */
int readers_pin_remove(const char *run_dir);

#endif

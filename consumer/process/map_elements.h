/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * map_elements.h reads all elements of a hash map of the kernel programs, many with one system call. Programs may change the map
 * meanwhile: an element that comes or goes then is met or not.
 */
#ifndef BOURDON_CONSUMER_PROCESS_MAP_ELEMENTS_H
#define BOURDON_CONSUMER_PROCESS_MAP_ELEMENTS_H

#include <stddef.h>

/* Returns 0, or a negative errno that ends the reading. Key and value are valid until it returns. */
typedef int (*map_element)(void *user, const void *key, const void *value);

/* `value_bytes` are those of all CPUs, of a map that has a value for each. 0 or -errno. */
int map_elements_read(int map_fd, size_t key_bytes, size_t value_bytes, map_element each, void *user);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * build_ids.h owns which build id a file was found to have, so that a second capture of the same code needs
 * no symbolizer to say so.
 */
#ifndef BOURDON_CONSUMER_BUILD_IDS_H
#define BOURDON_CONSUMER_BUILD_IDS_H

#include <sys/stat.h>

struct build_ids;

/* The caller frees. NULL without memory. */
struct build_ids *build_ids_new(void);
void build_ids_free(struct build_ids *ids);

/* In hexadecimal, or NULL. Another content, or one that was touched, is another file. Accepts NULL. */
const char *build_ids_find(const struct build_ids *ids, const struct stat *at);

/* Without memory it is not remembered. Accepts NULL, and "" for a file that has none, which is not kept. */
void build_ids_add(struct build_ids *ids, const struct stat *at, const char *build_id);

#endif

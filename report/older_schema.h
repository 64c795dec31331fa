/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * older_schema.h owns reading databases of older schemas without a change to them: temporary views, of the
 * connection alone, give the names and columns of the current schema that docs/SCHEMA.md documents.
 */
#ifndef BOURDON_REPORT_OLDER_SCHEMA_H
#define BOURDON_REPORT_OLDER_SCHEMA_H

#include <stddef.h>

/*
 * The statements that create these views over a database of that version; NULL if bourdon does not read it. They
 * hide tables of the same names, which remain as main.NAME. Tables that only the current schema has, and that no
 * documented view needs there (stack_node, stack_class, frame_row, sample_row, sample_class, thread), stay missing.
 */
const char *older_schema_views(int version);

/* Stores the versions that bourdon reads, as "versions 6, 7 and 8". */
void older_schema_list(char *into, size_t into_bytes);

#endif

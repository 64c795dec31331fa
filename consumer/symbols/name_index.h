/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * name_index.h owns what symbolizers said about the code of one file: functions, source places and what is inlined, by spans of
 * offsets that have the same answer (symbolizer/span.h). A span is asked for once, whatever offsets of it later captures have;
 * one without a name is known to have none. The index is kept in the file cache. Not thread-safe.
 */
#ifndef BOURDON_CONSUMER_SYMBOLS_NAME_INDEX_H
#define BOURDON_CONSUMER_SYMBOLS_NAME_INDEX_H

#include "common/symbolizer/protocol.h"
#include "common/text/hexadecimal.h"
#include "consumer/kept/file_cache.h"
#include "consumer/symbols/frame_name.h"

/* Spans, frames and text of one file. Beyond, the index begins anew, once between reading and writing it. */
#define NAME_INDEX_BYTES_MAX (192UL << 10)

/* What the names were found in. */
struct name_source {
	char debuglink[SYMBOLIZE_LINK_BYTES]; /* a debug file of this name was not there; or "" */
	char build_id[HEXADECIMAL_BYTES(SYMBOLIZE_BUILD_ID_BYTES)]; /* "" if the file has none */
	uint8_t has_bias;                                           /* 0 or 1 */
	int64_t bias;                                               /* resolved.h */
	struct file_key debug_file; /* the debug file with that build id; zeros: there was none */
};

struct name_index;

bool name_source_is(const struct name_source *one, const struct name_source *other);

/* An empty index. Returns NULL without memory. The caller frees. */
struct name_index *name_index_new(const struct name_source *source);
void name_index_free(struct name_index *index);

/* Reads what name_index_write() wrote. Returns 0, -ENOMEM, or -EBADMSG. The caller frees. */
int name_index_read(const char *content, size_t bytes, struct name_index **ret_index);

const struct name_source *name_index_source(const struct name_index *index);

/*
 * Passes the functions at the offset to `add`: a single one without a name if it is known that there is none. Returns 0, the
 * error of `add`, or -ENOENT: nobody asked about this span.
 */
int name_index_find(const struct name_index *index, uint64_t offset, frame_name_add add, void *adder);

/*
 * Adds the answer for `offset`, which holds for `before` bytes before it and for `after` from it on. A span that overlaps another
 * one, or has a function that would begin before the file, is not added. Returns 0 or -ENOMEM.
 */
int name_index_add(struct name_index *index, uint64_t offset, uint32_t before, uint32_t after,
		   const struct frame_name *frames, uint32_t count);

/* Whether anything was added since it was made or read. */
bool name_index_has_changed(const struct name_index *index);

/* Appends the content for the file cache. Returns 0 or -ENOMEM. */
int name_index_write(const struct name_index *index, struct kept_bytes *content);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* gzip_stream.h owns compressing what is written to a file, as gzip(1) does. */
#ifndef BOURDON_REPORT_EXPORT_GZIP_STREAM_H
#define BOURDON_REPORT_EXPORT_GZIP_STREAM_H

#include "common/base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <zlib.h>

struct gzip_stream {
	z_stream zlib;
	FILE *out; /* the caller's */
	bool is_begun;
	uint8_t packed[16384];
};

/* Returns 0 or -ENOMEM. */
int gzip_stream_begin(struct gzip_stream *stream, FILE *out);

/* An error of the file stays in it, as ferror(3) tells. */
void gzip_stream_write(struct gzip_stream *stream, const void *bytes, size_t count);

/* Writes the end. */
void gzip_stream_finish(struct gzip_stream *stream);

/* Frees it. Accepts one that was never begun. */
void gzip_stream_end(struct gzip_stream *stream);

#endif

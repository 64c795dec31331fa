/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/export/gzip_stream.h"

#include <limits.h>

#define WINDOW_BITS (15 + 16) /* a gzip header, with zlib's largest window */
#define MEMORY_LEVEL 8        /* zlib's default */

int gzip_stream_begin(struct gzip_stream *stream, FILE *out)
{
	stream->out = out;
	stream->zlib = (z_stream){ 0 };
	if (deflateInit2(&stream->zlib, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW_BITS, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	stream->is_begun = true;
	return 0;
}

/* Compresses what zlib has been given; with Z_FINISH all. */
static void pack(struct gzip_stream *stream, int flush)
{
	do {
		stream->zlib.next_out = stream->packed;
		stream->zlib.avail_out = sizeof(stream->packed);
		deflate(&stream->zlib, flush); /* it cannot fail: the stream was begun, and has room */
		fwrite(stream->packed, 1, sizeof(stream->packed) - stream->zlib.avail_out, stream->out);
	} while (!stream->zlib.avail_out);
}

void gzip_stream_write(struct gzip_stream *stream, const void *bytes, size_t count)
{
	const uint8_t *at = bytes;

	while (count) {
		uInt part = count < UINT_MAX ? (uInt)count : UINT_MAX;

		stream->zlib.next_in = (z_const Bytef *)at;
		stream->zlib.avail_in = part;
		pack(stream, Z_NO_FLUSH);
		at += part;
		count -= part;
	}
}

void gzip_stream_finish(struct gzip_stream *stream)
{
	stream->zlib.avail_in = 0;
	pack(stream, Z_FINISH);
}

void gzip_stream_end(struct gzip_stream *stream)
{
	if (stream->is_begun)
		deflateEnd(&stream->zlib);
	stream->is_begun = false;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads any bytes as the stream of the mapping iterator: an address belongs to the mapping that was shown
 * last there, wherever the reads cut the stream.
 */
#include "consumer/symbols/mappings.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>

/*
 * Adds the records in pieces of this many bytes, as iterator_stream_read() does. Returns the bytes used or
 * -errno.
 */
static long feed(struct mappings *mappings, const uint8_t *data, size_t bytes, size_t piece)
{
	size_t begins = 0, ends = 0;

	while (ends < bytes) {
		char *records;
		long taken;

		ends = bytes - ends < piece ? bytes : ends + piece;
		records = copy_bytes(data + begins, ends - begins);
		taken = mappings_add_records(mappings, records, ends - begins);
		free(records);
		if (taken < 0)
			return taken;
		HOLDS((size_t)taken <= ends - begins);
		begins += (size_t)taken;
	}
	return (long)begins;
}

static const struct mapping *find(const struct mappings *mappings, const struct mapping_record *record,
				  uint64_t address)
{
	const struct mapping *mapping = mappings_find(mappings, record->tgid, record->started_ns, address);

	HOLDS(!mapping || (mapping->begins <= address && address < mapping_ends(mapping)));
	return mapping;
}

static void expect_same(const struct mapping *one, const struct mapping *other)
{
	HOLDS(!one == !other);
	if (!one)
		return;
	HOLDS(one->begins == other->begins && one->bytes == other->bytes);
	HOLDS(one->file_offset == other->file_offset && one->flags == other->flags);
	HOLDS(!one->file == !other->file);
	HOLDS(!one->file || !strcmp(one->file->path, other->file->path));
}

/* No later record can have replaced a part of the last one. */
static void expect_last(const struct mappings *mappings, const struct mapping_record *record,
			const char *path)
{
	const struct mapping *mapping = find(mappings, record, record->begins);

	HOLDS(mapping && mapping->begins == record->begins && mapping_ends(mapping) == record->ends);
	if (record->path_bytes && !(record->flags & MAPPING_NO_PATH)) {
		HOLDS(mapping->file && strlen(mapping->file->path) == record->path_bytes);
		HOLDS(!memcmp(mapping->file->path, path, record->path_bytes));
	}
}

static void check(struct mappings *whole, const struct mappings *pieces, const uint8_t *data, size_t taken)
{
	struct mapping_record record = { .tgid = 0 };
	struct record_header header;
	const char *path = NULL;
	size_t bytes;

	for (size_t at = 0; at < taken; at += bytes) {
		memcpy(&header, data + at, sizeof(header));
		bytes = header.bytes;
		if (header.type == RECORD_MAPPED)
			continue;
		memcpy(&record, data + at, sizeof(record));
		bytes += record.path_bytes;
		path = (const char *)data + at + sizeof(record);
		expect_same(find(whole, &record, record.begins), find(pieces, &record, record.begins));
		expect_same(find(whole, &record, record.ends), find(pieces, &record, record.ends));
		expect_same(find(whole, &record, record.ends - 1), find(pieces, &record, record.ends - 1));
	}
	if (!path)
		return;
	expect_last(whole, &record, path);
	mappings_forget(whole, 1);
	expect_last(whole, &record, path);
	mappings_forget(whole, 0);
	HOLDS(!find(whole, &record, record.begins));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct mappings *whole = mappings_new(), *pieces = mappings_new();
	struct input input = { data, bytes };
	size_t piece = 1 + (size_t)input_byte(&input);
	long taken;

	HOLDS(whole && pieces);
	taken = feed(whole, input.next, input.left, input.left);
	HOLDS(taken >= 0 || taken == -EBADMSG);
	HOLDS(feed(pieces, input.next, input.left, piece) == taken);
	if (taken >= 0)
		check(whole, pieces, input.next, (size_t)taken);
	mappings_free(whole);
	mappings_free(pieces);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dwarf_bytes.h reads the numbers of DWARF from bytes that may be anything. A read beyond the end, or of a
 * number that needs more than 64 bits, gives 0 and is remembered: a caller asks once, after several reads.
 */
#ifndef BOURDON_COMMON_SYMBOLIZER_DWARF_BYTES_H
#define BOURDON_COMMON_SYMBOLIZER_DWARF_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct dwarf_bytes {
	const uint8_t *at, *end;
	bool is_bad; /* a read failed; all later ones fail, too */
};

static inline size_t dwarf_bytes_left(const struct dwarf_bytes *bytes)
{
	return (size_t)(bytes->end - bytes->at);
}

static inline void dwarf_bytes_fail(struct dwarf_bytes *bytes)
{
	bytes->at = bytes->end;
	bytes->is_bad = true;
}

/* Returns the next bytes as a reader of their own, and goes behind them. */
static inline struct dwarf_bytes dwarf_bytes_take(struct dwarf_bytes *bytes, uint64_t count)
{
	struct dwarf_bytes taken = { bytes->at, bytes->at, bytes->is_bad };

	if (count > dwarf_bytes_left(bytes)) {
		dwarf_bytes_fail(bytes);
		taken.is_bad = true;
	} else {
		taken.end = bytes->at += count;
	}
	return taken;
}

/* `size`: 1 to 8. Little-endian, like the host. */
static inline uint64_t dwarf_bytes_number(struct dwarf_bytes *bytes, size_t size)
{
	uint64_t number = 0;

	if (size > dwarf_bytes_left(bytes)) {
		dwarf_bytes_fail(bytes);
		return 0;
	}
	memcpy(&number, bytes->at, size);
	bytes->at += size;
	return number;
}

static inline int64_t dwarf_bytes_signed_number(struct dwarf_bytes *bytes, size_t size)
{
	unsigned int unused = 64 - 8 * (unsigned int)size;

	return (int64_t)(dwarf_bytes_number(bytes, size) << unused) >> unused;
}

static inline uint8_t dwarf_bytes_u8(struct dwarf_bytes *bytes)
{
	if (bytes->at == bytes->end) {
		bytes->is_bad = true;
		return 0;
	}
	return *bytes->at++;
}

/* ULEB128, SLEB128: DWARF 5, 7.6 */
static inline uint64_t dwarf_bytes_leb(struct dwarf_bytes *bytes, unsigned int *ret_bits, uint8_t *ret_last)
{
	uint64_t number = 0;
	unsigned int bits = 0;
	uint8_t byte = 0x80;

	while (byte & 0x80 && bits < 64 && bytes->at < bytes->end) {
		byte = *bytes->at++;
		number |= (uint64_t)(byte & 0x7f) << bits;
		bits += 7;
	}
	if (byte & 0x80)
		dwarf_bytes_fail(bytes);
	*ret_bits = bits;
	*ret_last = byte;
	return bytes->is_bad ? 0 : number;
}

static inline uint64_t dwarf_bytes_uleb(struct dwarf_bytes *bytes)
{
	unsigned int bits;
	uint8_t last;

	return dwarf_bytes_leb(bytes, &bits, &last);
}

static inline int64_t dwarf_bytes_sleb(struct dwarf_bytes *bytes)
{
	unsigned int bits;
	uint8_t last;
	uint64_t number = dwarf_bytes_leb(bytes, &bits, &last);

	if (last & 0x40 && bits < 64)
		number |= ~(uint64_t)0 << bits;
	return bytes->is_bad ? 0 : (int64_t)number;
}

/* Returns the text up to its NUL, and goes behind it; "" if there is none. */
static inline const char *dwarf_bytes_text(struct dwarf_bytes *bytes)
{
	const uint8_t *text = bytes->at, *nul = memchr(text, 0, dwarf_bytes_left(bytes));

	if (!nul) {
		dwarf_bytes_fail(bytes);
		return "";
	}
	bytes->at = nul + 1;
	return (const char *)text;
}

#endif

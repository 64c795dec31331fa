/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/symbolizer/eh_frame.h"

#include <dwarf.h>

/* Pointer encoding (Linux Standard Base, Core, 10.5: DW_EH_PE). The low half gives its size. */
#define ENCODING_SIZE 0x0fU
#define ENCODING_RELATIVE 0x70U

/* Each function executes the common entry's instructions anew, as it were: a file may have as many functions as fit. */
#define COMMON_BYTES_MAX 512U

/* Of the common entries met last: files of several compilers change between a few. */
#define KEPT 8U

struct kept_common {
	const uint8_t *entry; /* NULL: none */
	bool is_valid;
	struct call_frames_common common;
};

struct reading {
	const struct eh_frame *frame;
	struct kept_common kept[KEPT];
};

struct entry {
	bool is_common;
	uint64_t common;          /* of a function's entry: the place of the common one in the section */
	struct dwarf_bytes bytes; /* what follows */
};

/* Returns false at the end. */
static bool next_entry(const struct eh_frame *frame, struct dwarf_bytes *section, struct entry *ret_entry)
{
	uint64_t length = dwarf_bytes_number(section, 4), id, id_at;
	bool is_long = length == UINT32_MAX;

	if (is_long)
		length = dwarf_bytes_number(section, 8);
	ret_entry->bytes = dwarf_bytes_take(section, length);
	id_at = (uint64_t)(ret_entry->bytes.at - frame->section);
	if (frame->is_debug_frame) {
		id = dwarf_bytes_number(&ret_entry->bytes, is_long ? 8 : 4);
		ret_entry->is_common = id == (is_long ? UINT64_MAX : UINT32_MAX);
		ret_entry->common = id;
	} else {
		id = dwarf_bytes_number(&ret_entry->bytes, 4);
		ret_entry->is_common = !id;
		ret_entry->common = id_at - id;
	}
	return length && !section->is_bad;
}

/* ---- addresses ---- */

/* Returns the size in bytes of a pointer in this encoding, or 0. */
static size_t bytes_of(unsigned int encoding)
{
	switch (encoding & ENCODING_SIZE) {
	case DW_EH_PE_udata2:
	case DW_EH_PE_sdata2:
		return 2;
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4:
		return 4;
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return 8;
	default:
		return 0;
	}
}

static bool read_address(const struct eh_frame *frame, struct dwarf_bytes *bytes, uint8_t encoding,
			 uint64_t *ret_address)
{
	uint64_t from = frame->address + (uint64_t)(bytes->at - frame->section);
	unsigned int relative = encoding & ENCODING_RELATIVE;
	size_t size = bytes_of(encoding);

	if (!size || encoding & DW_EH_PE_indirect || (relative && relative != DW_EH_PE_pcrel))
		return false;
	*ret_address = encoding & DW_EH_PE_signed ? (uint64_t)dwarf_bytes_signed_number(bytes, size)
						  : dwarf_bytes_number(bytes, size);
	if (relative)
		*ret_address += from;
	return !bytes->is_bad;
}

/* ---- common entries ---- */

/* Reads the data that the letters behind 'z' of the augmentation announce. */
static bool read_augmentation(const char *letter, struct dwarf_bytes data, struct call_frames_common *common)
{
	for (; *letter; letter++) {
		if (*letter == 'R') {
			common->encoding = dwarf_bytes_u8(&data);
		} else if (*letter == 'L') {
			dwarf_bytes_u8(&data);
		} else if (*letter == 'P') {
			uint8_t encoding = dwarf_bytes_u8(&data);
			size_t size = bytes_of(encoding);

			if (!size || encoding == DW_EH_PE_aligned)
				return false;
			dwarf_bytes_take(&data, size);
		} else if (*letter == 'S') {
			common->is_signal = true;
		} else if (*letter != 'B') {
			return false;
		}
	}
	return !data.is_bad;
}

static bool read_common(struct dwarf_bytes bytes, struct call_frames_common *common)
{
	uint8_t version = dwarf_bytes_u8(&bytes);
	const char *augmentation = dwarf_bytes_text(&bytes);

	*common = (struct call_frames_common){ .encoding = DW_EH_PE_absptr };
	if ((version != 1 && version != 3 && version != 4) || (*augmentation && *augmentation != 'z'))
		return false;
	/* of an address and of a segment's selector */
	if (version == 4 && dwarf_bytes_number(&bytes, 2) != 8)
		return false;
	common->code_alignment = dwarf_bytes_uleb(&bytes);
	common->data_alignment = dwarf_bytes_sleb(&bytes);
	common->return_register = version == 1 ? dwarf_bytes_u8(&bytes) : dwarf_bytes_uleb(&bytes);
	if (*augmentation) {
		uint64_t length = dwarf_bytes_uleb(&bytes);

		common->has_augmentation = true;
		if (!read_augmentation(augmentation + 1, dwarf_bytes_take(&bytes, length), common))
			return false;
	}
	return !bytes.is_bad && dwarf_bytes_left(&bytes) <= COMMON_BYTES_MAX &&
	       call_frames_begin(common, bytes);
}

/* Returns the common entry of a function's entry, or NULL. */
static const struct call_frames_common *find_common(struct reading *reading, const struct entry *entry)
{
	const struct eh_frame *frame = reading->frame;
	struct dwarf_bytes at = { .end = frame->section + frame->bytes };
	struct kept_common *kept;
	struct entry common;

	if (entry->common >= frame->bytes)
		return NULL;
	at.at = frame->section + entry->common;
	kept = &reading->kept[(uintptr_t)at.at / 4 % KEPT];
	if (kept->entry != at.at) {
		kept->entry = at.at;
		kept->is_valid = next_entry(frame, &at, &common) && common.is_common &&
				 !common.bytes.is_bad && read_common(common.bytes, &kept->common);
	}
	return kept->is_valid ? &kept->common : NULL;
}

/* ---- entries of functions ---- */

static int read_function(struct reading *reading, const struct entry *entry, eh_frame_begin *begin,
			 call_frames_add *add, void *user)
{
	const struct call_frames_common *common = find_common(reading, entry);
	struct dwarf_bytes bytes = entry->bytes;
	uint64_t begins, length, ends;
	int result;

	if (!common || !read_address(reading->frame, &bytes, common->encoding, &begins))
		return 0;
	length = dwarf_bytes_number(&bytes, bytes_of(common->encoding));
	if (common->has_augmentation) {
		uint64_t data = dwarf_bytes_uleb(&bytes);

		dwarf_bytes_take(&bytes, data);
	}
	if (bytes.is_bad || !length || __builtin_add_overflow(begins, length, &ends))
		return 0;
	result = begin(user, begins);
	return result ? result : call_frames_execute(common, bytes, begins, ends, add, user);
}

int eh_frame_read(const struct eh_frame *frame, eh_frame_begin *begin, call_frames_add *add, void *user)
{
	struct dwarf_bytes section = { frame->section, frame->section + frame->bytes, false };
	struct reading reading = { .frame = frame };
	struct entry entry;
	int result = 0;

	while (!result && next_entry(frame, &section, &entry))
		if (!entry.is_common && !entry.bytes.is_bad)
			result = read_function(&reading, &entry, begin, add, user);
	return result;
}

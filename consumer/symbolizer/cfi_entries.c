/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbolizer/cfi_entries.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Pointer encoding (Linux Standard Base, Core, 10.5: DW_EH_PE). The low half gives its size. */
#define ENCODING_SIZE 0x0fU
#define ENCODING_RELATIVE 0x70U

#define UNKNOWN_ENCODING 0xffU

struct section {
	const uint8_t *ident;
	Elf_Data *data;
	uint64_t address;
};

static bool find_section(Elf *elf, struct section *ret_section)
{
	Elf_Scn *at = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((at = elf_nextscn(elf, at))) {
		const char *name = gelf_getshdr(at, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;

		if (!name || strcmp(name, ".eh_frame") || header.sh_type == SHT_NOBITS)
			continue;
		ret_section->ident = (const uint8_t *)elf_getident(elf, NULL);
		ret_section->data = elf_getdata(at, NULL);
		ret_section->address = header.sh_addr;
		return ret_section->ident && ret_section->data && ret_section->data->d_buf;
	}
	return false;
}

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

/* Returns the pointer encoding of the CIE's entries: the byte that belongs to 'R' in its augmentation. */
static unsigned int encoding_of(const Dwarf_CIE *cie)
{
	const uint8_t *at = cie->augmentation_data, *end = at ? at + cie->augmentation_data_size : NULL;
	const char *letter = cie->augmentation;

	if (!letter || !*letter)
		return DW_EH_PE_absptr;
	if (*letter++ != 'z' || !at)
		return UNKNOWN_ENCODING;
	for (; *letter && at < end; letter++) {
		if (*letter == 'R')
			return *at;
		if (*letter == 'L') {
			at++;
		} else if (*letter == 'P') {
			size_t bytes = bytes_of(*at);

			if (!bytes || *at == DW_EH_PE_aligned || (size_t)(end - at) < 1 + bytes)
				return UNKNOWN_ENCODING;
			at += 1 + bytes;
		} else if (*letter != 'S' && *letter != 'B') {
			return UNKNOWN_ENCODING;
		}
	}
	return strchr(cie->augmentation, 'R') ? UNKNOWN_ENCODING : DW_EH_PE_absptr;
}

static uint64_t read_number(const uint8_t *at, size_t bytes, bool is_signed)
{
	uint64_t number = 0;
	unsigned int unused = 64 - 8 * (unsigned int)bytes;

	memcpy(&number, at, bytes); /* little-endian, like the host */
	if (is_signed)
		number = (uint64_t)((int64_t)(number << unused) >> unused);
	return number;
}

static bool read_addresses(const struct section *section, const Dwarf_FDE *fde, unsigned int encoding,
			   uint64_t *ret_begins, uint64_t *ret_ends)
{
	const uint8_t *at = fde->start;
	size_t bytes = bytes_of(encoding);
	uint64_t begins, length;

	if (encoding == UNKNOWN_ENCODING || encoding & DW_EH_PE_indirect || !bytes ||
	    (size_t)(fde->end - at) < 2 * bytes)
		return false;
	begins = read_number(at, bytes, encoding & DW_EH_PE_signed);
	if ((encoding & ENCODING_RELATIVE) == DW_EH_PE_pcrel)
		begins += section->address + (uint64_t)(at - (const uint8_t *)section->data->d_buf);
	else if (encoding & ENCODING_RELATIVE)
		return false;
	length = read_number(at + bytes, bytes, false);
	*ret_begins = begins;
	return length && !__builtin_add_overflow(begins, length, ret_ends);
}

int cfi_entries_each(Elf *elf, cfi_entry_add *add, void *user)
{
	struct section section;
	Dwarf_Off cie_at = (Dwarf_Off)-1;
	unsigned int encoding = UNKNOWN_ENCODING;
	Dwarf_CFI_Entry entry;
	Dwarf_Off at = 0, next;
	int result = 0;

	if (!find_section(elf, &section))
		return -ENODATA;
	for (; !result; at = next) {
		uint64_t begins, ends;
		int got;

		next = at;
		got = dwarf_next_cfi(section.ident, section.data, true, at, &next, &entry);
		if (got > 0 || next <= at)
			break;
		if (got < 0 || dwarf_cfi_cie_p(&entry))
			continue;
		if (entry.fde.CIE_pointer != cie_at) {
			Dwarf_CFI_Entry cie;
			Dwarf_Off behind;

			cie_at = entry.fde.CIE_pointer;
			encoding =
				!dwarf_next_cfi(section.ident, section.data, true, cie_at, &behind, &cie) &&
						dwarf_cfi_cie_p(&cie)
					? encoding_of(&cie.cie)
					: UNKNOWN_ENCODING;
		}
		if (read_addresses(&section, &entry.fde, encoding, &begins, &ends))
			result = add(user, begins, ends);
	}
	return result;
}

/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/symbolizer/elf_plt.h"

#include "common/symbolizer/demangle.h"

#include <string.h>

/*
 * An entry jumps through a slot of the global offset table, which a relocation fills: jmp *slot(%rip), behind endbr64 or not. The
 * lazy half of an entry with endbr64 has the number of that relocation instead: push $number (System V ABI, AMD64 supplement, 5.2).
 */
#define ENTRY_BYTES 16U
#define JUMP_BYTES 6U
static const unsigned char jump[] = { 0xff, 0x25 }, endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
#define PUSH 0x68

#define SUFFIX "@plt"

static bool is_table(const char *name)
{
	return name && (!strcmp(name, ".plt") || !strcmp(name, ".plt.sec") || !strcmp(name, ".plt.got"));
}

/* The section of such a table that contains the address. */
static Elf_Scn *find_table(Elf *elf, uint64_t address, GElf_Shdr *ret_header, struct span *span)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, ret_header) || ret_header->sh_type != SHT_PROGBITS ||
		    !(ret_header->sh_flags & SHF_EXECINSTR) ||
		    !is_table(elf_strptr(elf, names, ret_header->sh_name)))
			continue;
		span_narrow(span, address, ret_header->sh_addr, ret_header->sh_addr + ret_header->sh_size);
		if (address - ret_header->sh_addr < ret_header->sh_size)
			return section;
	}
	return NULL;
}

static uint32_t read_number(const unsigned char *bytes)
{
	uint32_t number;

	memcpy(&number, bytes, sizeof(number));
	return number;
}

/* The relocation of a slot, or the one with that number among those of .plt. */
static bool find_relocation(Elf *elf, bool by_slot, uint64_t wanted, const char **ret_name)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header, symbols;
		const char *name;
		Elf_Data *data, *table;
		Elf_Scn *linked;
		size_t count;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA || !header.sh_entsize)
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		linked = elf_getscn(elf, header.sh_link);
		if ((!by_slot && (!name || strcmp(name, ".rela.plt") != 0)) || !linked ||
		    !gelf_getshdr(linked, &symbols))
			continue;
		data = elf_getdata(section, NULL);
		table = elf_getdata(linked, NULL);
		count = data && table ? data->d_size / header.sh_entsize : 0;
		for (size_t i = by_slot ? 0 : wanted; i < count && i <= INT32_MAX; i++) {
			GElf_Rela relocation;
			GElf_Sym symbol;

			if (!gelf_getrela(data, (int)i, &relocation))
				break;
			if (by_slot && relocation.r_offset != wanted)
				continue;
			if (!GELF_R_SYM(relocation.r_info) ||
			    !gelf_getsym(table, (int)GELF_R_SYM(relocation.r_info), &symbol))
				break;
			*ret_name = elf_strptr(elf, symbols.sh_link, symbol.st_name);
			return *ret_name && **ret_name;
		}
	}
	return false;
}

static bool find_function(Elf *elf, const unsigned char *entry, uint64_t begins, const char **ret_name)
{
	size_t skipped = memcmp(entry, endbr64, sizeof(endbr64)) ? 0 : sizeof(endbr64);

	if (entry[skipped] == PUSH)
		return find_relocation(elf, false, read_number(entry + skipped + 1), ret_name);
	/* linkers of 2018 to 2023 wrote bnd before the jump */
	skipped += entry[skipped] == 0xf2;
	if (memcmp(entry + skipped, jump, sizeof(jump)) != 0)
		return false;
	return find_relocation(
		elf, true,
		begins + skipped + JUMP_BYTES +
			(uint64_t)(int64_t)(int32_t)read_number(entry + skipped + sizeof(jump)),
		ret_name);
}

static void write_name(const char *function, char into[SYMBOLIZE_NAME_BYTES])
{
	size_t bytes = demangle(function, into, SYMBOLIZE_NAME_BYTES - sizeof(SUFFIX));

	memcpy(into + bytes, SUFFIX, sizeof(SUFFIX));
}

bool elf_plt_find(Elf *elf, uint64_t address, struct plt_entry *ret_entry, struct span *span)
{
	unsigned char entry[ENTRY_BYTES] = { 0 };
	const char *function;
	GElf_Shdr header;
	GElf_Ehdr file;
	Elf_Scn *section;
	Elf_Data *data;
	uint64_t at, bytes;

	if (!gelf_getehdr(elf, &file) || file.e_machine != EM_X86_64)
		return false;
	section = find_table(elf, address, &header, span);
	data = section ? elf_getdata(section, NULL) : NULL;
	if (!data || !data->d_buf)
		return false;
	bytes = header.sh_entsize == ENTRY_BYTES / 2 ? ENTRY_BYTES / 2 : ENTRY_BYTES;
	at = (address - header.sh_addr) / bytes * bytes;
	if (at >= data->d_size || data->d_size - at < bytes)
		return false;
	memcpy(entry, (const unsigned char *)data->d_buf + at, bytes);
	ret_entry->begins = header.sh_addr + at;
	span_narrow(span, address, ret_entry->begins, ret_entry->begins + bytes);
	if (!find_function(elf, entry, ret_entry->begins, &function))
		return false;
	write_name(function, ret_entry->name);
	return true;
}

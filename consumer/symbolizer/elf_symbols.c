/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbolizer/elf_symbols.h"

#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The best symbol so far for one offset. */
struct candidate {
	uint64_t address; /* the offset's virtual address */
	bool mapped;      /* a segment holds the offset */
	const char *name;
	uint64_t begins;
	int rank;
};

static int compare_addresses(const void *a, const void *b)
{
	const struct candidate *left = *(struct candidate *const *)a, *right = *(struct candidate *const *)b;

	return left->address < right->address ? -1 : left->address > right->address;
}

static void map_offsets(Elf *elf, struct candidate *candidates, const struct symbolize_request *request)
{
	size_t headers;

	if (elf_getphdrnum(elf, &headers))
		return;
	for (size_t i = 0; i < headers; i++) {
		GElf_Phdr header;

		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD)
			continue;
		for (uint32_t j = 0; j < request->count; j++) {
			uint64_t into = request->offsets[j] - header.p_offset;

			if (request->offsets[j] < header.p_offset || into >= header.p_filesz)
				continue;
			candidates[j].address = header.p_vaddr + into;
			candidates[j].mapped = true;
		}
	}
}

/* Of symbols that begin at one place the one that its author exported is the one people know. */
static int rank_of(const GElf_Sym *symbol)
{
	switch (GELF_ST_BIND(symbol->st_info)) {
	case STB_GLOBAL:
		return 3;
	case STB_WEAK:
		return 2;
	default:
		return 1;
	}
}

static bool is_better(const struct candidate *candidate, const GElf_Sym *symbol, const char *name)
{
	if (!candidate->name || symbol->st_value != candidate->begins)
		return !candidate->name || symbol->st_value > candidate->begins;
	if (rank_of(symbol) != candidate->rank)
		return rank_of(symbol) > candidate->rank;
	return strcmp(name, candidate->name) < 0;
}

/* Offers a symbol to all addresses that lie in it. */
static void offer(struct candidate **sorted, size_t count, const GElf_Sym *symbol, const char *name)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (sorted[middle]->address < symbol->st_value)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < count && sorted[low]->address - symbol->st_value < symbol->st_size; low++) {
		struct candidate *candidate = sorted[low];

		if (!is_better(candidate, symbol, name))
			continue;
		candidate->name = name;
		candidate->begins = symbol->st_value;
		candidate->rank = rank_of(symbol);
	}
}

static void scan_table(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, struct candidate **sorted,
		       size_t count)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t symbols = header->sh_entsize ? header->sh_size / header->sh_entsize : 0;

	for (size_t i = 1; data && i < symbols; i++) {
		GElf_Sym symbol;
		const char *name;
		int type;

		if (!gelf_getsym(data, (int)i, &symbol))
			return;
		type = GELF_ST_TYPE(symbol.st_info);
		if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF ||
		    symbol.st_size > INT64_MAX) /* an offset in it would make the whole reply unbelievable */
			continue;
		name = elf_strptr(elf, header->sh_link, symbol.st_name);
		if (name && *name)
			offer(sorted, count, &symbol, name);
	}
}

/* .symtab knows more than .dynsym: the latter fills in what the former, if it is there, left. */
static void find_symbols(Elf *elf, struct candidate *candidates, uint32_t count)
{
	static const uint32_t tables[] = { SHT_SYMTAB, SHT_DYNSYM };

	for (size_t i = 0; i < 2; i++) {
		struct candidate *sorted[SYMBOLIZE_BATCH] = { 0 };
		Elf_Scn *section = NULL;
		size_t open = 0;

		for (uint32_t j = 0; j < count; j++)
			if (candidates[j].mapped && !candidates[j].name)
				sorted[open++] = &candidates[j];
		qsort(sorted, open, sizeof(sorted[0]), compare_addresses);
		while (open && (section = elf_nextscn(elf, section))) {
			GElf_Shdr header;

			if (gelf_getshdr(section, &header) && header.sh_type == tables[i])
				scan_table(elf, section, &header, sorted, open);
		}
	}
}

static void take_build_id(Elf *elf, struct symbolize_reply *reply)
{
	const void *build_id;
	ssize_t bytes = dwelf_elf_gnu_build_id(elf, &build_id);

	if (bytes <= 0 || bytes > (ssize_t)sizeof(reply->build_id))
		return;
	memcpy(reply->build_id, build_id, (size_t)bytes);
	reply->build_id_bytes = (uint32_t)bytes;
}

size_t elf_symbols_answer(int fd, const struct symbolize_request *request, struct symbolize_reply *ret_reply)
{
	struct candidate candidates[SYMBOLIZE_BATCH] = { 0 };
	size_t names = 0;
	Elf *elf;

	memset(ret_reply, 0, offsetof(struct symbolize_reply, names));
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF) {
		take_build_id(elf, ret_reply);
		map_offsets(elf, candidates, request);
		find_symbols(elf, candidates, request->count);
		ret_reply->count = request->count;
	}
	for (uint32_t i = 0; i < ret_reply->count; i++) {
		struct symbolize_name *symbol = &ret_reply->symbols[i];

		if (!candidates[i].name)
			continue;
		symbol->at = (uint32_t)names;
		symbol->bytes = (uint32_t)strnlen(candidates[i].name, SYMBOLIZE_NAME_BYTES);
		symbol->function_offset = candidates[i].address - candidates[i].begins;
		memcpy(ret_reply->names + names, candidates[i].name, symbol->bytes);
		names += symbol->bytes;
	}
	elf_end(elf);
	return offsetof(struct symbolize_reply, names) + names;
}

/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/symbolizer/elf_symbols.h"

#include "common/base/array.h"
#include "common/base/numbers.h"

#include <stdlib.h>
#include <string.h>

static int compare_addresses(const void *a, const void *b)
{
	const struct elf_place *left = *(struct elf_place *const *)a, *right = *(struct elf_place *const *)b;

	return COMPARE(left->address, right->address);
}

void elf_symbols_map(Elf *elf, const uint64_t *offsets, struct elf_place *places, uint32_t count)
{
	size_t headers;

	for (uint32_t j = 0; j < count; j++)
		places[j] = (struct elf_place){ .span = SPAN_ALL };
	if (elf_getphdrnum(elf, &headers))
		return;
	for (size_t i = 0; i < headers; i++) {
		GElf_Phdr header;

		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD)
			continue;
		for (uint32_t j = 0; j < count; j++) {
			uint64_t into = offsets[j] - header.p_offset;

			/* of offsets; see below */
			span_narrow(&places[j].span, offsets[j], header.p_offset,
				    header.p_offset + header.p_filesz);
			if (offsets[j] < header.p_offset || into >= header.p_filesz)
				continue;
			places[j].address = header.p_vaddr + into;
			places[j].mapped = true;
		}
	}
	for (uint32_t j = 0; j < count; j++) {
		uint64_t bias = places[j].address - offsets[j];

		places[j].span.begins += bias;
		places[j].span.ends += bias;
	}
}

void elf_symbols_place(const uint64_t *addresses, struct elf_place *places, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		places[i] = (struct elf_place){ .address = addresses[i], .mapped = true, .span = SPAN_ALL };
}

/* Of symbols at the same address, prefer an exported one: people know that name. */
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

/* Of equal rank, prefer the name that is not reserved: malloc, not __libc_malloc. */
static size_t leading_underscores(const char *name)
{
	return strspn(name, "_");
}

static bool is_better(const struct elf_place *place, const GElf_Sym *symbol, const char *name)
{
	if (!place->name || symbol->st_value != place->begins)
		return !place->name || symbol->st_value > place->begins;
	if (rank_of(symbol) != place->rank)
		return rank_of(symbol) > place->rank;
	if (leading_underscores(name) != leading_underscores(place->name))
		return leading_underscores(name) < leading_underscores(place->name);
	return strcmp(name, place->name) < 0;
}

/*
 * Offers a symbol to all addresses that it covers. Its name is looked up only if there is one: most symbols cover none. Where it
 * begins and ends narrows the spans of the nearest addresses only; see narrow_others().
 */
static void offer(struct elf_place **sorted, size_t count, const GElf_Sym *symbol, Elf *elf, size_t names)
{
	uint64_t ends = symbol->st_value + symbol->st_size;
	size_t low = array_partition_point(count, i, sorted[i]->address < symbol->st_value);
	const char *name = NULL;

	if (ends < symbol->st_value)
		ends = UINT64_MAX;
	if (low)
		span_narrow(&sorted[low - 1]->span, sorted[low - 1]->address, symbol->st_value, ends);
	for (; low < count && sorted[low]->address - symbol->st_value < symbol->st_size; low++) {
		struct elf_place *place = sorted[low];

		span_narrow(&place->span, place->address, symbol->st_value, ends);
		if (!name)
			name = elf_strptr(elf, names, symbol->st_name);
		if (!name || !*name || !is_better(place, symbol, name))
			continue;
		place->name = name;
		place->begins = symbol->st_value;
		place->rank = rank_of(symbol);
	}
	if (low < count)
		span_narrow(&sorted[low]->span, sorted[low]->address, symbol->st_value, ends);
}

/* What begins behind an address begins behind all smaller ones, and what ends before it ends before all larger ones. */
static void narrow_others(struct elf_place **sorted, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (sorted[i - 1]->span.begins > sorted[i]->span.begins)
			sorted[i]->span.begins = sorted[i - 1]->span.begins;
	for (size_t i = count; i > 1; i--)
		if (sorted[i - 1]->span.ends < sorted[i - 2]->span.ends)
			sorted[i - 2]->span.ends = sorted[i - 1]->span.ends;
}

/* What is searched for: places by address, and of labels the nearest symbol before each. */
struct search {
	struct elf_place *sorted[SYMBOLIZE_BATCH];
	struct nearest *nearest;
	size_t count;
};

/* Takes one symbol, whose name is in the section number `names`. */
typedef void (*symbol_take)(struct search *search, Elf *elf, const GElf_Sym *symbol, size_t names);

static void each_symbol(Elf *elf, uint32_t type, struct search *search, symbol_take take)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while (search->count && (section = elf_nextscn(elf, section))) {
		Elf_Data *data;
		size_t symbols;
		GElf_Sym symbol;

		if (!gelf_getshdr(section, &header) || header.sh_type != type)
			continue;
		data = elf_getdata(section, NULL);
		symbols = header.sh_entsize ? header.sh_size / header.sh_entsize : 0;
		for (size_t i = 1; data && i < symbols && gelf_getsym(data, (int)i, &symbol); i++)
			take(search, elf, &symbol, header.sh_link);
	}
}

static void take_function(struct search *search, Elf *elf, const GElf_Sym *symbol, size_t names)
{
	int type = GELF_ST_TYPE(symbol->st_info);

	/* of a larger size, an offset in it would make the whole reply invalid */
	if ((type == STT_FUNC || type == STT_GNU_IFUNC) && symbol->st_shndx != SHN_UNDEF && symbol->st_size &&
	    symbol->st_size <= INT64_MAX)
		offer(search->sorted, search->count, symbol, elf, names);
}

/* Those without a symbol. */
static struct search search_open(struct elf_place *places, uint32_t count)
{
	struct search search = { .count = 0 };

	for (uint32_t i = 0; i < count; i++)
		if (places[i].mapped && !places[i].name)
			search.sorted[search.count++] = &places[i];
	qsort(search.sorted, search.count, sizeof(search.sorted[0]), compare_addresses);
	return search;
}

void elf_symbols_find(Elf *elf, uint32_t type, struct elf_place *places, uint32_t count)
{
	struct search search = search_open(places, count);

	each_symbol(elf, type, &search, take_function);
	narrow_others(search.sorted, search.count);
}

/* ---- labels ---- */

/* The nearest symbol before an address. */
struct nearest {
	uint64_t begins, ends; /* of the symbol, and of its section */
	const char *label;     /* NULL: it has a size, or there is none */
};

/* Whether code has symbols of this kind. `$x` and its like tell a disassembler what follows. */
static bool is_in_code(const GElf_Sym *symbol, const char *name)
{
	int type = GELF_ST_TYPE(symbol->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE) &&
	       symbol->st_shndx != SHN_UNDEF && symbol->st_shndx < SHN_LORESERVE && name && *name &&
	       *name != '$' && *name != '.';
}

/* Offers a symbol to the address behind it, from which pass_on() takes it; it ends what the address before it belongs to. */
static void offer_nearest(struct elf_place **sorted, struct nearest *nearest, size_t count,
			  const GElf_Sym *symbol, const char *name, uint64_t section_ends)
{
	size_t low = array_partition_point(count, i, sorted[i]->address < symbol->st_value);

	if (low)
		span_narrow(&sorted[low - 1]->span, sorted[low - 1]->address, symbol->st_value, UINT64_MAX);
	if (low == count || symbol->st_value < nearest[low].begins)
		return;
	/* of several at one address, one with a size is a function that has ended */
	if (symbol->st_value == nearest[low].begins && nearest[low].ends &&
	    (!nearest[low].label || (!symbol->st_size && strcmp(name, nearest[low].label) >= 0)))
		return;
	nearest[low] = (struct nearest){ symbol->st_value, section_ends, symbol->st_size ? NULL : name };
}

static void take_label(struct search *search, Elf *elf, const GElf_Sym *symbol, size_t names)
{
	const char *name = elf_strptr(elf, names, symbol->st_name);
	GElf_Shdr section;

	if (is_in_code(symbol, name) && gelf_getshdr(elf_getscn(elf, symbol->st_shndx), &section) &&
	    section.sh_flags & SHF_EXECINSTR && symbol->st_value - section.sh_addr < section.sh_size)
		offer_nearest(search->sorted, search->nearest, search->count, symbol, name,
			      section.sh_addr + section.sh_size);
}

/* An address has the symbol of the one before it, if none begins between them. */
static void pass_on(struct elf_place **sorted, struct nearest *nearest, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct elf_place *place = sorted[i];

		if (i && nearest[i - 1].ends && nearest[i - 1].begins > nearest[i].begins)
			nearest[i] = nearest[i - 1];
		if (!nearest[i].label)
			continue;
		span_narrow(&place->span, place->address, nearest[i].begins, nearest[i].ends);
		if (place->address >= nearest[i].ends || place->address - nearest[i].begins > INT64_MAX)
			continue;
		place->label = nearest[i].label;
		place->label_begins = nearest[i].begins;
	}
}

void elf_symbols_find_labels(Elf *elf, struct elf_place *places, uint32_t count)
{
	struct nearest nearest[SYMBOLIZE_BATCH] = { { 0 } };
	struct search search = search_open(places, count);

	search.nearest = nearest;
	each_symbol(elf, SHT_SYMTAB, &search, take_label);
	narrow_others(search.sorted, search.count);
	pass_on(search.sorted, nearest, search.count);
}

/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/symbolizer/go_program.h"

#include <errno.h>
#include <string.h>

/* Limits that a hostile file may reach and no ordinary program needs. */
#define SEGMENTS_MAX 64U
#define DYNAMIC_ENTRIES_MAX 256U
#define TABLES_MAX 16U  /* places where a table may begin */
#define MODULES_MAX 64U /* places where the moduledata may begin */

struct segment {
	uint64_t address;
	struct go_bytes bytes;
	bool is_writable;
};

/* The file as it is loaded. */
struct image {
	struct go_bytes file;
	struct segment segments[SEGMENTS_MAX];
	uint32_t segments_count;
	struct go_bytes relocations; /* Elf64_Rela of a program that is loaded anywhere */
};

/* ---- the image ---- */

static struct go_bytes bytes_of_file(struct go_bytes file, uint64_t at, uint64_t count)
{
	if (at > file.count || count > file.count - at)
		return (struct go_bytes){ NULL, 0 };
	return (struct go_bytes){ file.at + at, count };
}

/* Returns the bytes from the address to the end of its segment; none if the file has none for it. */
static struct go_bytes bytes_at(const struct image *image, uint64_t address)
{
	for (uint32_t i = 0; i < image->segments_count; i++) {
		const struct segment *segment = &image->segments[i];
		uint64_t into = address - segment->address;

		if (address >= segment->address && into < segment->bytes.count)
			return (struct go_bytes){ segment->bytes.at + into, segment->bytes.count - into };
	}
	return (struct go_bytes){ NULL, 0 };
}

static uint64_t word_at(const uint8_t *at, unsigned int width)
{
	uint64_t word = 0;

	memcpy(&word, at, width);
	return word;
}

static void find_relocations(struct image *image, const GElf_Phdr *header)
{
	struct go_bytes entries = bytes_at(image, header->p_vaddr);
	uint64_t address = 0, count = 0;

	for (uint32_t i = 0; i < DYNAMIC_ENTRIES_MAX && (i + 1) * sizeof(Elf64_Dyn) <= entries.count; i++) {
		Elf64_Dyn entry;

		memcpy(&entry, entries.at + i * sizeof(entry), sizeof(entry));
		if (entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag == DT_RELA)
			address = entry.d_un.d_ptr;
		if (entry.d_tag == DT_RELASZ)
			count = entry.d_un.d_val;
	}
	image->relocations = bytes_at(image, address);
	if (image->relocations.count > count)
		image->relocations.count = count;
}

static bool image_open(struct image *ret_image, Elf *elf)
{
	size_t size, headers;
	const char *file = elf_rawfile(elf, &size);
	GElf_Phdr header, dynamic = { .p_type = PT_NULL };

	if (!file || elf_getphdrnum(elf, &headers))
		return false;
	*ret_image = (struct image){ .file = { (const uint8_t *)file, size } };
	for (size_t i = 0; i < headers && ret_image->segments_count < SEGMENTS_MAX; i++) {
		if (!gelf_getphdr(elf, (int)i, &header))
			return false;
		if (header.p_type == PT_DYNAMIC)
			dynamic = header;
		if (header.p_type == PT_LOAD)
			ret_image->segments[ret_image->segments_count++] = (struct segment){
				.address = header.p_vaddr,
				.bytes = bytes_of_file(ret_image->file, header.p_offset, header.p_filesz),
				.is_writable = header.p_flags & PF_W,
			};
	}
	if (dynamic.p_type == PT_DYNAMIC && gelf_getclass(elf) == ELFCLASS64)
		find_relocations(ret_image, &dynamic);
	return true;
}

/* Calls `visit` for each relocation that adds to the program's address, until it returns false. */
static void each_relocation(const struct image *image,
			    bool (*visit)(void *user, uint64_t address, uint64_t value), void *user)
{
	Elf64_Rela entry;

	for (uint64_t at = 0; image->relocations.count - at >= sizeof(entry); at += sizeof(entry)) {
		memcpy(&entry, image->relocations.at + at, sizeof(entry));
		if (ELF64_R_TYPE(entry.r_info) == R_X86_64_RELATIVE &&
		    !visit(user, entry.r_offset, (uint64_t)entry.r_addend))
			return;
	}
}

/* ---- words as they are after loading ---- */

#define WORDS_MAX 48U

struct words {
	uint64_t address;
	unsigned int width;
	uint64_t list[WORDS_MAX];
	uint32_t count;
};

static bool relocate_word(void *user, uint64_t address, uint64_t value)
{
	struct words *words = user;
	uint64_t position = (address - words->address) / words->width;

	if (address >= words->address && position < words->count)
		words->list[position] = value;
	return true;
}

/* Reads words; fewer if the file has fewer. Some linkers leave 0 where a relocation will write. */
static void words_read(const struct image *image, uint64_t address, unsigned int width, uint32_t count,
		       struct words *ret_words)
{
	struct go_bytes bytes = bytes_at(image, address);

	*ret_words = (struct words){ .address = address, .width = width };
	while (ret_words->count < count && (ret_words->count + 1ULL) * width <= bytes.count) {
		ret_words->list[ret_words->count] = word_at(bytes.at + ret_words->count * width, width);
		ret_words->count++;
	}
	each_relocation(image, relocate_word, ret_words);
}

/* ---- the table ---- */

static bool has_name(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (!strcmp(name, *names))
			return true;
	return false;
}

/* Returns the first section that has bytes and one of these names. */
static bool find_section(Elf *elf, const char *const *names, GElf_Shdr *ret_header)
{
	Elf_Scn *section = NULL;
	size_t strings;

	if (elf_getshdrstrndx(elf, &strings))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, ret_header)
					   ? elf_strptr(elf, strings, ret_header->sh_name)
					   : NULL;

		if (name && ret_header->sh_type != SHT_NOBITS && has_name(name, names))
			return true;
	}
	return false;
}

/* Looks for the table's first bytes in all segments. */
static int search_table(const struct image *image, struct go_functions *ret_functions, uint64_t *ret_address)
{
	uint32_t tries = 0;

	for (uint32_t i = 0; i < image->segments_count; i++) {
		const struct segment *segment = &image->segments[i];

		/* the linker aligns it to its words at least */
		for (uint64_t at = -segment->address & 7;
		     at < segment->bytes.count && segment->bytes.count - at >= GO_HEADER_BYTES; at += 8) {
			if (!go_functions_begin(segment->bytes.at + at))
				continue;
			*ret_address = segment->address + at;
			if (!go_functions_open(ret_functions, segment->bytes.at + at,
					       segment->bytes.count - at))
				return 0;
			if (++tries == TABLES_MAX)
				return -EBADMSG;
		}
	}
	return -ENOENT;
}

/*
 * A linker may put the table into a section with others, as GNU ld does in a program that is loaded anywhere; and sections may
 * have been removed.
 */
static int find_table(Elf *elf, const struct image *image, struct go_functions *ret_functions,
		      uint64_t *ret_address)
{
	static const char *const tables[] = { ".gopclntab", ".data.rel.ro.gopclntab", NULL };
	static const char *const signs[] = { ".go.buildinfo", ".note.go.buildid", NULL };
	struct go_bytes bytes;
	GElf_Shdr header;
	size_t sections;

	if (find_section(elf, tables, &header)) {
		*ret_address = header.sh_addr;
		bytes = bytes_of_file(image->file, header.sh_offset, header.sh_size);
		return go_functions_open(ret_functions, bytes.at, bytes.count);
	}
	if (find_section(elf, signs, &header) || (!elf_getshdrnum(elf, &sections) && !sections))
		return search_table(image, ret_functions, ret_address);
	return -ENOENT;
}

/* ---- the moduledata ---- */

/*
 * Words of the moduledata (runtime/symtab.go). The positions of the first 32 are those of each release from 1.18 on. A slice has
 * three words, and the second is its length.
 */
enum {
	MODULE_HEADER = 0,
	MODULE_NAMES = 1,
	MODULE_UNITS = 4,
	MODULE_FILES = 7,
	MODULE_VALUES = 10,
	MODULE_RECORDS = 13,
	MODULE_ENTRIES = 16,
	MODULE_LOWEST = 20,
	MODULE_HIGHEST = 21,
	MODULE_TEXT = 22,
	MODULE_TEXT_END = 23,
	MODULE_RANGES = 24, /* four pairs of begin and end: data, and so on */
	MODULE_RANGES_END = 32,
};

/* Where the words behind them are. */
struct module_layout {
	enum go_layout since;
	unsigned int types, types_end, constants, trees;
	unsigned int table_end; /* 0: it has no such word */
};

/* In this order: a layout with more words would be taken for one with fewer. */
static const struct module_layout module_layouts[] = {
	{ GO_1_20, 37, 39, 42, 43, 44 }, /* from 1.27 on */
	{ GO_1_20, 37, 38, 39, 40, 0 },
	{ GO_1_18, 35, 36, 37, 38, 0 },
};

static bool is_part(const struct words *words, unsigned int position, const struct go_functions *functions,
		    struct go_bytes part)
{
	return words->list[position] == words->list[MODULE_HEADER] + (uint64_t)(part.at - functions->all.at);
}

/* True if the first words say of the table what its own header says. `*text` is 0, or must be that of the moduledata, too. */
static bool is_moduledata(const struct words *words, const struct go_functions *functions, uint64_t address,
			  uint64_t text)
{
	uint64_t begins = words->list[MODULE_TEXT];

	if (words->count < MODULE_RANGES_END || words->list[MODULE_HEADER] != address ||
	    !is_part(words, MODULE_NAMES, functions, functions->names) ||
	    !is_part(words, MODULE_UNITS, functions, functions->units) ||
	    !is_part(words, MODULE_FILES, functions, functions->files) ||
	    !is_part(words, MODULE_VALUES, functions, functions->values) ||
	    !is_part(words, MODULE_RECORDS, functions, functions->records) ||
	    !is_part(words, MODULE_ENTRIES, functions, functions->entries) ||
	    words->list[MODULE_ENTRIES + 1] != functions->count + 1)
		return false;
	for (unsigned int i = MODULE_RANGES; i < MODULE_RANGES_END; i += 2)
		if (words->list[i] > words->list[i + 1])
			return false;
	return words->list[MODULE_LOWEST] == begins + go_functions_entry(functions, 0) &&
	       words->list[MODULE_HIGHEST] == begins + go_functions_entry(functions, functions->count) &&
	       words->list[MODULE_HIGHEST] <= words->list[MODULE_TEXT_END] && (!text || text == begins);
}

static bool has_layout(const struct image *image, const struct words *words,
		       const struct go_functions *functions, const struct module_layout *layout)
{
	uint64_t records = words->list[MODULE_RECORDS], end = words->list[layout->table_end];

	if (functions->layout != layout->since || words->count <= layout->trees ||
	    words->count <= layout->table_end ||
	    words->list[layout->types] > words->list[layout->types_end] ||
	    !bytes_at(image, words->list[layout->types]).count ||
	    !bytes_at(image, words->list[layout->constants]).count)
		return false;
	return !layout->table_end || (end > records && end - records <= functions->records.count);
}

static struct go_bytes find_trees(const struct image *image, const struct words *words,
				  const struct go_functions *functions)
{
	for (size_t i = 0; i < sizeof(module_layouts) / sizeof(module_layouts[0]); i++)
		if (has_layout(image, words, functions, &module_layouts[i]))
			return bytes_at(image, words->list[module_layouts[i].trees]);
	return (struct go_bytes){ NULL, 0 };
}

/* Places that hold the address of the table, as the first word of the moduledata does. */
struct places {
	uint64_t table;
	uint64_t list[MODULES_MAX];
	uint32_t count;
};

static bool add_place(void *user, uint64_t address, uint64_t value)
{
	struct places *places = user;

	if (value == places->table)
		places->list[places->count++] = address;
	return places->count < MODULES_MAX;
}

static void find_places(const struct image *image, unsigned int width, struct places *places)
{
	each_relocation(image, add_place, places);
	for (uint32_t i = 0; i < image->segments_count; i++) {
		const struct segment *segment = &image->segments[i];

		for (uint64_t at = -segment->address & (width - 1);
		     segment->is_writable && places->count < MODULES_MAX && at < segment->bytes.count &&
		     segment->bytes.count - at >= width;
		     at += width)
			add_place(places, segment->address + at, word_at(segment->bytes.at + at, width));
	}
}

/* Sets `text` and `trees`. Returns false if the table's text is nowhere to be found. */
static bool find_module(const struct image *image, struct go_functions *functions, uint64_t address)
{
	struct places places = { .table = address };
	struct words words;

	words_read(image, address + go_functions_text_at(functions), functions->word, 1, &words);
	functions->text = words.count ? words.list[0] : 0;
	find_places(image, functions->word, &places);
	for (uint32_t i = 0; i < places.count; i++) {
		words_read(image, places.list[i], functions->word, WORDS_MAX, &words);
		if (!is_moduledata(&words, functions, address, functions->text))
			continue;
		functions->text = words.list[MODULE_TEXT];
		functions->trees = find_trees(image, &words, functions);
		return true;
	}
	return functions->text != 0;
}

int go_program_open(struct go_functions *ret_functions, Elf *elf)
{
	struct go_functions functions;
	struct image image;
	uint64_t address;
	int result;

	if (!image_open(&image, elf))
		return -ENOENT;
	result = find_table(elf, &image, &functions, &address);
	if (result < 0)
		return result;
	/* older tables have whole addresses, and their trees are somewhere else */
	if (functions.layout >= GO_1_18 && !find_module(&image, &functions, address))
		return -EBADMSG;
	functions.code = bytes_at(&image, functions.text);
	*ret_functions = functions;
	return 0;
}

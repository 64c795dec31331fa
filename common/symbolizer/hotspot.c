/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/symbolizer/hotspot.h"

#include "common/base/cleanup.h"

#include <gelf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The tables' entries on 64-bit machines, since JDK 6. The file exports their sizes, too, but mostly not their values. */
struct field_entry {
	uint64_t type, field,
		of; /* addresses of texts: the structure, its field, and the type of the field */
	uint32_t is_static, padding;
	uint64_t offset;  /* computed when the library is loaded */
	uint64_t address; /* of a static field */
};

struct type_entry {
	uint64_t type, super;
	uint32_t is_oop, is_integer, is_unsigned, padding;
	uint64_t bytes;
};

_Static_assert(sizeof(struct field_entry) == 48 && sizeof(struct type_entry) == 40,
	       "not as HotSpot has them");

#define ENTRIES_MAX 8192U /* JDK 17 has 788 */
#define SEGMENTS_MAX 64U
#define BLOCK_BYTES_MAX 64U /* JDK 17: 16; JDK 25: 8 */

/* A field that is searched. The names of one structure in different releases are alternatives: the first that is there counts. */
struct wanted {
	uint32_t number; /* HOTSPOT_* */
	const char *type, *field;
	const char *of; /* NULL: any type */
};

#define HEAPS HOTSPOT_FIELDS /* not a field's offset, but a place */

static const struct wanted wanted_fields[] = {
	{ HEAPS, "CodeCache", "_heaps", NULL },
	{ HOTSPOT_ARRAY_COUNT, "GrowableArrayBase", "_len", "int" },
	{ HOTSPOT_ARRAY_COUNT, "GenericGrowableArray", "_len", "int" }, /* before JDK 16 */
	{ HOTSPOT_ARRAY_DATA, "GrowableArray<int>", "_data", NULL },
	{ HOTSPOT_HEAP_MEMORY, "CodeHeap", "_memory", "VirtualSpace" },
	{ HOTSPOT_HEAP_SEGMENTS, "CodeHeap", "_segmap", "VirtualSpace" },
	{ HOTSPOT_HEAP_SHIFT, "CodeHeap", "_log2_segment_size", "int" },
	{ HOTSPOT_SPACE_BEGINS, "VirtualSpace", "_low_boundary", "char*" },
	{ HOTSPOT_SPACE_ENDS, "VirtualSpace", "_high_boundary", "char*" },
	{ HOTSPOT_BLOB_NAME, "CodeBlob", "_name", "const char*" },
	{ HOTSPOT_BLOB_BYTES, "CodeBlob", "_size", "int" },
	{ HOTSPOT_BLOB_CODE, "CodeBlob", "_code_begin", "address" },
	{ HOTSPOT_BLOB_CODE, "CodeBlob", "_code_offset", "int" }, /* since JDK 22 */
	{ HOTSPOT_BLOB_COMPLETE, "CodeBlob", "_frame_complete_offset", "int" },
	{ HOTSPOT_BLOB_COMPLETE, "CodeBlob", "_frame_complete_offset", "int16_t" }, /* since JDK 23 */
	{ HOTSPOT_BLOB_FRAME, "CodeBlob", "_frame_size", "int" },
};

struct segment {
	uint64_t begins, bytes, memory, offset;
};

struct file {
	Elf *elf;
	const uint8_t *bytes;
	size_t count;
	struct segment segments[SEGMENTS_MAX];
	size_t segments_count;
	uint64_t text; /* address less file offset, of the text */
};

/* ---- the file ---- */

/* Returns the bytes at an address up to the end of what the file has of them, or NULL. */
static const uint8_t *at_address(const struct file *file, uint64_t address, uint64_t *ret_left)
{
	for (size_t i = 0; i < file->segments_count; i++) {
		const struct segment *segment = &file->segments[i];
		uint64_t into = address - segment->begins;

		if (address < segment->begins || into >= segment->bytes)
			continue;
		*ret_left = segment->bytes - into;
		return file->bytes + segment->offset + into;
	}
	return NULL;
}

static bool text_is(const struct file *file, uint64_t address, const char *text)
{
	uint64_t left;
	const uint8_t *at = at_address(file, address, &left);
	size_t bytes = strlen(text) + 1;

	return at && left >= bytes && !memcmp(at, text, bytes);
}

static bool is_in_memory(const struct file *file, uint64_t address)
{
	for (size_t i = 0; i < file->segments_count; i++)
		if (address >= file->segments[i].begins &&
		    address - file->segments[i].begins < file->segments[i].memory)
			return true;
	return false;
}

/* Returns the place of an address (abi.h, unwind_hotspot), or 0. */
static uint32_t place_of(const struct file *file, uint64_t address)
{
	uint64_t place = address - file->text;

	return is_in_memory(file, address) && place < HOTSPOT_PLACE_MAX ? (uint32_t)place : 0;
}

/* All text has to be mapped at one distance: the kernel programs know no other. */
static bool read_segments(struct file *file)
{
	bool has_text = false;
	size_t count;

	if (elf_getphdrnum(file->elf, &count))
		return false;
	for (size_t i = 0; i < count && file->segments_count < SEGMENTS_MAX; i++) {
		GElf_Phdr header;

		if (!gelf_getphdr(file->elf, (int)i, &header) || header.p_type != PT_LOAD)
			continue;
		if (header.p_offset > file->count || header.p_filesz > file->count - header.p_offset ||
		    header.p_vaddr > INT64_MAX || header.p_memsz > INT64_MAX)
			return false;
		if (header.p_flags & PF_X) {
			if (has_text && file->text != header.p_vaddr - header.p_offset)
				return false;
			file->text = header.p_vaddr - header.p_offset;
			has_text = true;
		}
		file->segments[file->segments_count++] =
			(struct segment){ header.p_vaddr, header.p_filesz, header.p_memsz, header.p_offset };
	}
	return has_text;
}

static Elf_Data *section_of_type(Elf *elf, uint32_t type, Elf_Scn **at, GElf_Shdr *ret_header)
{
	while ((*at = elf_nextscn(elf, *at)))
		if (gelf_getshdr(*at, ret_header) && ret_header->sh_type == type && ret_header->sh_entsize)
			return elf_getdata(*at, NULL);
	return NULL;
}

/* Returns the address of an exported object, or 0. */
static uint64_t exported(Elf *elf, const char *name)
{
	Elf_Scn *at = NULL;
	GElf_Shdr header;
	const Elf_Data *data = section_of_type(elf, SHT_DYNSYM, &at, &header);
	size_t count = data ? data->d_size / header.sh_entsize : 0;

	for (size_t i = 0; i < count; i++) {
		GElf_Sym symbol;
		const char *text;

		if (!gelf_getsym((Elf_Data *)data, (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF ||
		    GELF_ST_TYPE(symbol.st_info) != STT_OBJECT)
			continue;
		text = elf_strptr(elf, header.sh_link, symbol.st_name);
		if (text && !strcmp(text, name))
			return symbol.st_value;
	}
	return 0;
}

/* Returns what a relocation writes, or 0 if it is of no kind that writes an address in the file. */
static uint64_t relocated(Elf *elf, const GElf_Rela *relocation)
{
	Elf_Scn *at = NULL;
	GElf_Shdr header;
	Elf_Data *data;
	GElf_Sym symbol;

	if (GELF_R_TYPE(relocation->r_info) == R_X86_64_RELATIVE)
		return (uint64_t)relocation->r_addend;
	if (GELF_R_TYPE(relocation->r_info) != R_X86_64_64)
		return 0;
	data = section_of_type(elf, SHT_DYNSYM, &at, &header);
	if (!data || !gelf_getsym(data, (int)GELF_R_SYM(relocation->r_info), &symbol) ||
	    symbol.st_shndx == SHN_UNDEF)
		return 0;
	return symbol.st_value + (uint64_t)relocation->r_addend;
}

/* Copies bytes from an address on, as they are when the library is loaded: relocations write the pointers in them. */
static bool read_loaded(const struct file *file, uint64_t address, void *to, size_t bytes)
{
	uint64_t left;
	const uint8_t *from = at_address(file, address, &left);
	Elf_Scn *at = NULL;
	GElf_Shdr header;
	Elf_Data *data;

	if (!from || left < bytes)
		return false;
	memcpy(to, from, bytes);
	while ((data = section_of_type(file->elf, SHT_RELA, &at, &header))) {
		size_t count = data->d_size / header.sh_entsize;

		for (size_t i = 0; i < count; i++) {
			GElf_Rela relocation;
			uint64_t into, value;

			if (!gelf_getrela(data, (int)i, &relocation))
				break;
			into = relocation.r_offset - address;
			if (relocation.r_offset < address || into > bytes - sizeof(value))
				continue;
			value = relocated(file->elf, &relocation);
			memcpy((char *)to + into, &value, sizeof(value));
		}
	}
	return true;
}

/* Reads the table that an exported pointer leads to: *ret_count entries, of which only those before the first without a name count. */
static void *read_table(const struct file *file, const char *name, size_t entry_bytes, uint64_t *ret_at,
			size_t *ret_count)
{
	uint64_t pointer = exported(file->elf, name), left;
	void *entries;

	if (!pointer || !read_loaded(file, pointer, ret_at, sizeof(*ret_at)) ||
	    !at_address(file, *ret_at, &left))
		return NULL;
	*ret_count = left / entry_bytes < ENTRIES_MAX ? left / entry_bytes : ENTRIES_MAX;
	entries = *ret_count ? calloc(*ret_count, entry_bytes) : NULL;
	if (entries && !read_loaded(file, *ret_at, entries, *ret_count * entry_bytes)) {
		free(entries);
		return NULL;
	}
	return entries;
}

/* ---- what is needed of it ---- */

static void note_field(const struct file *file, const struct wanted *wanted, const struct field_entry *entry,
		       uint64_t entry_at, struct unwind_hotspot *hotspot)
{
	if (wanted->number == HEAPS) {
		if (entry->is_static)
			hotspot->heaps = place_of(file, entry->address);
		return;
	}
	if (entry->is_static || hotspot->offsets[wanted->number])
		return;
	hotspot->offsets[wanted->number] = place_of(file, entry_at + offsetof(struct field_entry, offset));
	if (wanted->number == HOTSPOT_BLOB_CODE)
		hotspot->code_is_offset = !strcmp(wanted->of, "int");
	if (wanted->number == HOTSPOT_BLOB_COMPLETE)
		hotspot->complete_bytes = strcmp(wanted->of, "int") ? 2 : 4;
}

static void read_fields(const struct file *file, struct unwind_hotspot *hotspot)
{
	uint64_t at;
	size_t count = 0;
	_cleanup_free_ struct field_entry *entries =
		read_table(file, "gHotSpotVMStructs", sizeof(*entries), &at, &count);

	for (size_t i = 0; entries && i < count && entries[i].type; i++)
		for (size_t j = 0; j < ARRAY_SIZE(wanted_fields); j++) {
			const struct wanted *wanted = &wanted_fields[j];

			if (text_is(file, entries[i].type, wanted->type) &&
			    text_is(file, entries[i].field, wanted->field) &&
			    (!wanted->of || text_is(file, entries[i].of, wanted->of)))
				note_field(file, wanted, &entries[i], at + i * sizeof(*entries), hotspot);
		}
}

static void read_types(const struct file *file, struct unwind_hotspot *hotspot)
{
	uint64_t at;
	size_t count = 0;
	_cleanup_free_ struct type_entry *entries =
		read_table(file, "gHotSpotVMTypes", sizeof(*entries), &at, &count);

	for (size_t i = 0; entries && i < count && entries[i].type; i++)
		if (text_is(file, entries[i].type, "HeapBlock") && entries[i].bytes <= BLOCK_BYTES_MAX)
			hotspot->block_bytes = (uint8_t)entries[i].bytes;
}

static bool is_none(const struct unwind_hotspot *hotspot)
{
	static const struct unwind_hotspot none;

	return !memcmp(hotspot, &none, sizeof(none));
}

bool hotspot_is_valid(const struct unwind_hotspot *hotspot)
{
	if (is_none(hotspot))
		return true;
	for (size_t i = 0; i < HOTSPOT_FIELDS; i++)
		if (!hotspot->offsets[i] || hotspot->offsets[i] >= HOTSPOT_PLACE_MAX)
			return false;
	return hotspot->heaps && hotspot->heaps < HOTSPOT_PLACE_MAX && hotspot->block_bytes &&
	       hotspot->block_bytes <= BLOCK_BYTES_MAX &&
	       (hotspot->complete_bytes == 2 || hotspot->complete_bytes == 4) &&
	       hotspot->code_is_offset <= 1 && !hotspot->reserved;
}

bool hotspot_find(int elf_fd, struct unwind_hotspot *ret_hotspot)
{
	struct unwind_hotspot hotspot = { 0 };
	struct file file = { 0 };
	GElf_Ehdr header;

	elf_version(EV_CURRENT);
	file.elf = elf_begin(elf_fd, ELF_C_READ_MMAP, NULL);
	if (file.elf && elf_kind(file.elf) == ELF_K_ELF && gelf_getehdr(file.elf, &header) &&
	    header.e_machine == EM_X86_64 && header.e_ident[EI_CLASS] == ELFCLASS64) {
		file.bytes = (const uint8_t *)elf_rawfile(file.elf, &file.count);
		if (file.bytes && read_segments(&file)) {
			read_fields(&file, &hotspot);
			read_types(&file, &hotspot);
		}
	}
	elf_end(file.elf);
	if (!hotspot_is_valid(&hotspot))
		hotspot = (struct unwind_hotspot){ 0 };
	*ret_hotspot = hotspot;
	return hotspot.heaps != 0;
}

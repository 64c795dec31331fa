/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbolizer/unwind_table.h"

#include "common/array.h"
#include "common/cleanup.h"
#include "consumer/symbolizer/eh_frame.h"
#include "consumer/symbolizer/go_frames.h"
#include "consumer/symbolizer/unwind_rules.h"

#include <gelf.h>
#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#else
#define MACHINE EM_NONE /* no tables are compiled; all stacks are unwound by frame pointers */
#endif

#define RANGES_MAX (16U << 20) /* of address ranges, before equal neighbours are merged */
#define SEGMENTS_MAX 64U       /* executable ones; the most seen: 2 */

#define PADDING 16U
#define RECENT 251U

/* An executable segment of the file: virtual addresses, and what to add to one for the file offset. */
struct segment {
	uint64_t begins, ends, offset;
};

/* The rule that holds from a file offset to the next range. Files have hundreds of thousands. */
struct range {
	uint64_t at_and_rule;
};

#define RULE_BITS 16U

static struct range make_range(uint64_t at, uint32_t rule)
{
	return (struct range){ at << RULE_BITS | rule };
}

static uint64_t at_of(struct range range)
{
	return range.at_and_rule >> RULE_BITS;
}

static uint32_t rule_of(struct range range)
{
	return range.at_and_rule & ((1U << RULE_BITS) - 1);
}

struct function {
	uint64_t at;           /* file offset */
	uint32_t first, count; /* of its ranges */
};

struct compiler {
	Elf *elf;
	struct segment segments[SEGMENTS_MAX];
	size_t segments_count;
	const char *image; /* of the file */
	size_t image_bytes;
	const struct segment *segment; /* of the function that is read; NULL: in none */
	bool begins_stack;             /* the function that is read does */
	struct range *read;            /* in the order of the section */
	struct function *functions;
	struct range *ranges; /* in the order of the file */
	uint32_t read_count, read_room, functions_count, functions_room, ranges_count;
	uint32_t pages_room, chunks_room;
	uint32_t chunk_used; /* rows used in the last chunk */
	uint32_t recent[RECENT];
	struct unwind_rules rules;
	struct unwind_table table;
};

/* ---- rules ---- */

/*
 * Finds the number of a rule. Most are among those met last. Their places are not chosen with the process's key: whoever
 * makes rules fight for one place only takes this short way from them.
 */
static int intern_rule(struct compiler *compiler, const struct unwind_rule *rule, uint32_t *ret_rule)
{
	uint32_t mixed = (uint32_t)rule->cfa_offset * 31 + (uint32_t)rule->frame_pointer_at * 7 +
			 (uint32_t)rule->extra_at * 3 + rule->cfa_register;
	uint32_t *recent = &compiler->recent[mixed % RECENT], found = *recent;
	int result = 0;

	if (found >= compiler->rules.count || memcmp(&compiler->rules.rules[found], rule, sizeof(*rule)))
		found = unwind_rules_find(&compiler->rules, rule);
	if (found == HASH_INDEX_NONE) {
		found = compiler->rules.count;
		result = found == UNWIND_TABLE_RULES_MAX ? -EFBIG : unwind_rules_add(&compiler->rules, rule);
	}
	if (!result)
		*ret_rule = *recent = found;
	return result;
}

/* ---- ranges ---- */

static const struct segment *segment_of(const struct compiler *compiler, uint64_t address)
{
	for (size_t i = 0; i < compiler->segments_count; i++)
		if (address >= compiler->segments[i].begins && address < compiler->segments[i].ends)
			return &compiler->segments[i];
	return NULL;
}

/*
 * Whether its first instruction is `mov register, %rsp`. Such a function, __start_context() of glibc, has no caller: who makes a
 * stack puts its address there, so that the stack's first function returns to it.
 */
static bool begins_stack(const struct compiler *compiler, uint64_t at)
{
	const uint8_t *code;

	if (at + 3 > compiler->image_bytes)
		return false;
	code = (const uint8_t *)compiler->image + at;
	return (code[0] == 0x48 || code[0] == 0x4c) && code[1] == 0x89 && (code[2] & 0xc7) == 0xc4;
}

static int add_read(struct compiler *compiler, uint64_t at, uint32_t rule)
{
	if (compiler->read_count == RANGES_MAX)
		return -EFBIG;
	if (array_make_room(compiler->read, compiler->read_count, compiler->read_room, 1U))
		return -ENOMEM;
	compiler->read[compiler->read_count++] = make_range(at, rule);
	compiler->functions[compiler->functions_count - 1].count++;
	return 0;
}

static int begin_function(void *user, uint64_t begins)
{
	static const struct unwind_rule root = { .kind = UNWIND_ROOT };
	struct compiler *compiler = user;
	uint64_t at;
	uint32_t number;
	int result;

	compiler->segment = segment_of(compiler, begins);
	if (!compiler->segment)
		return 0;
	at = begins + compiler->segment->offset;
	compiler->begins_stack = begins > compiler->segment->begins && begins_stack(compiler, at);
	if (array_make_room(compiler->functions, compiler->functions_count, compiler->functions_room, 1U))
		return -ENOMEM;
	at -= compiler->begins_stack; /* rules are found by the byte before a return address */
	compiler->functions[compiler->functions_count++] = (struct function){ at, compiler->read_count, 0 };
	if (!compiler->begins_stack)
		return 0;
	result = intern_rule(compiler, &root, &number);
	return result ? result : add_read(compiler, at, number);
}

static int add_range(void *user, uint64_t address, const struct unwind_rule *rule)
{
	struct compiler *compiler = user;
	const struct segment *segment = compiler->segment;
	uint32_t number = 0;
	int result = 0;

	if (!segment)
		return 0;
	if (address >= segment->ends)
		address = segment->ends;
	else if (compiler->begins_stack && rule->kind != UNWIND_NONE)
		return 0; /* the root holds from before its begin on */
	else if (rule->kind != UNWIND_NONE)
		result = intern_rule(compiler, rule, &number);
	return result ? result : add_read(compiler, address + segment->offset, number);
}

/* At one address, that which comes first in the section comes first. */
static int compare_functions(const void *a, const void *b)
{
	const struct function *left = a, *right = b;

	if (left->at != right->at)
		return left->at < right->at ? -1 : 1;
	return left->first < right->first ? -1 : left->first > right->first;
}

/* Appends a range behind all others, unless it says the same. */
static void append_range(struct compiler *compiler, struct range range)
{
	struct range *ranges = compiler->ranges;
	uint32_t count = compiler->ranges_count;

	/* a gap between two functions that is shorter than their alignment is padding */
	if (count > 1 && rule_of(range) && !rule_of(ranges[count - 1]) &&
	    at_of(range) - at_of(ranges[count - 1]) < PADDING)
		count--;
	if (!count || rule_of(ranges[count - 1]) != rule_of(range))
		ranges[count++] = range;
	compiler->ranges_count = count;
}

/*
 * Brings the functions' ranges into the order of the file: linkers put functions of a kind together. Where functions
 * overlap, which no compiler makes, the later one cuts the one before; of two at one address the first stays.
 */
static int order_ranges(struct compiler *compiler)
{
	struct function *functions = compiler->functions;

	if (!compiler->functions_count)
		return -ENODATA;
	qsort(functions, compiler->functions_count, sizeof(*functions), compare_functions);
	compiler->ranges = calloc(compiler->read_count, sizeof(*compiler->ranges));
	if (!compiler->ranges)
		return -ENOMEM;
	for (uint32_t i = 0; i < compiler->functions_count; i++) {
		if (i && functions[i].at == functions[i - 1].at)
			continue;
		while (compiler->ranges_count &&
		       at_of(compiler->ranges[compiler->ranges_count - 1]) >= functions[i].at)
			compiler->ranges_count--;
		for (uint32_t j = 0; j < functions[i].count; j++)
			append_range(compiler, compiler->read[functions[i].first + j]);
	}
	return 0;
}

/* ---- pages ---- */

/* Reserves rows for a page within one chunk. */
static int reserve_rows(struct compiler *compiler, uint32_t rows, struct unwind_row **ret_rows)
{
	struct unwind_table *table = &compiler->table;

	if (!table->chunks_count || compiler->chunk_used + rows > UNWIND_CHUNK_ROWS) {
		if (table->chunks_count == UNWIND_TABLE_CHUNKS_MAX)
			return -EFBIG;
		if (array_make_room(table->chunks, table->chunks_count, compiler->chunks_room, 1U))
			return -ENOMEM;
		memset(&table->chunks[table->chunks_count++], 0, sizeof(*table->chunks));
		compiler->chunk_used = 0;
	}
	*ret_rows = table->chunks[table->chunks_count - 1].rows + compiler->chunk_used;
	compiler->chunk_used += rows;
	table->rows += rows;
	return 0;
}

/*
 * Adds a page with the ranges from `first` on that begin in it, preceded by the rule in force at its start.
 */
static int add_page(struct compiler *compiler, uint64_t begins, uint32_t first, uint32_t rule_before)
{
	struct unwind_table *table = &compiler->table;
	const struct range *ranges = compiler->ranges;
	uint32_t last = first, carried, cut = UINT32_MAX;
	struct unwind_page page = { 0 };
	struct unwind_row *rows;
	int result;

	while (last < compiler->ranges_count && at_of(ranges[last]) - begins < UNWIND_PAGE_BYTES)
		last++;
	carried = first == last || at_of(ranges[first]) != begins;
	page.rows = last - first + carried;
	/* the largest seen, in libclang-cpp.so.14, has 1,032: what has no room there has no rule */
	if (page.rows > UNWIND_CHUNK_ROWS) {
		page.rows = UNWIND_CHUNK_ROWS;
		last = first + UNWIND_CHUNK_ROWS - carried;
		cut = last - 1;
	}
	if (page.rows > 1 || rule_before || !carried) {
		result = reserve_rows(compiler, page.rows, &rows);
		if (result < 0)
			return result;
		page.first_row =
			(table->chunks_count - 1) * UNWIND_CHUNK_ROWS + compiler->chunk_used - page.rows;
		if (carried)
			*rows++ = (struct unwind_row){ 0, (__u16)rule_before };
		for (uint32_t i = first; i < last; i++)
			*rows++ = (struct unwind_row){ (__u16)(at_of(ranges[i]) - begins),
						       (__u16)(i == cut ? 0 : rule_of(ranges[i])) };
	} else {
		page.rows = 0;
	}
	if (array_make_room(table->pages, table->pages_count, compiler->pages_room, 1U))
		return -ENOMEM;
	table->pages[table->pages_count++] = page;
	return 0;
}

static int make_pages(struct compiler *compiler)
{
	const struct range *ranges = compiler->ranges;
	uint32_t count = compiler->ranges_count, next = 0;
	uint64_t first = at_of(ranges[0]) / UNWIND_PAGE_BYTES,
		 last = at_of(ranges[count - 1]) / UNWIND_PAGE_BYTES;
	int result = 0;

	if (last - first >= UNWIND_TABLE_PAGES_MAX)
		return -EFBIG;
	compiler->table.first_page = first;
	for (uint64_t page = first; page <= last && !result; page++) {
		uint64_t begins = page * UNWIND_PAGE_BYTES;

		result = add_page(compiler, begins, next, next ? rule_of(ranges[next - 1]) : 0);
		while (next < count && at_of(ranges[next]) - begins < UNWIND_PAGE_BYTES)
			next++;
	}
	return result;
}

/* ---- the file ---- */

static bool is_of_this_machine(Elf *elf)
{
	GElf_Ehdr header;

	return elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header) &&
	       header.e_machine == MACHINE && header.e_ident[EI_CLASS] == ELFCLASS64 &&
	       header.e_ident[EI_DATA] == ELFDATA2LSB;
}

/* The page of the file that is mapped first of the segment with code that has the lowest addresses; 0 of a file that has none. */
static uint32_t find_text_page(const struct compiler *compiler)
{
	const struct segment *first = NULL;
	uint64_t page;

	for (size_t i = 0; i < compiler->segments_count; i++)
		if (!first || compiler->segments[i].begins < first->begins)
			first = &compiler->segments[i];
	page = first ? (first->begins + first->offset) / UNWIND_PAGE_BYTES : 0;
	return page > UINT32_MAX ? 0 : (uint32_t)page;
}

/* Segments that no file of this size can have are left out. */
static int find_segments(struct compiler *compiler)
{
	size_t count;

	if (elf_getphdrnum(compiler->elf, &count))
		return -EBADMSG;
	for (size_t i = 0; i < count && compiler->segments_count < SEGMENTS_MAX; i++) {
		GElf_Phdr segment;
		uint64_t ends, file_ends;

		if (gelf_getphdr(compiler->elf, (int)i, &segment) && segment.p_type == PT_LOAD &&
		    segment.p_flags & PF_X &&
		    !__builtin_add_overflow(segment.p_vaddr, segment.p_filesz, &ends) &&
		    !__builtin_add_overflow(segment.p_offset, segment.p_filesz, &file_ends) &&
		    !(file_ends >> (64 - RULE_BITS)))
			compiler->segments[compiler->segments_count++] =
				(struct segment){ segment.p_vaddr, ends, segment.p_offset - segment.p_vaddr };
	}
	return 0;
}

static bool find_section(Elf *elf, struct eh_frame *ret_frame)
{
	Elf_Scn *at = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((at = elf_nextscn(elf, at))) {
		const char *name = gelf_getshdr(at, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
		const Elf_Data *data;

		if (!name || strcmp(name, ".eh_frame") || header.sh_type == SHT_NOBITS)
			continue;
		data = elf_rawdata(at, NULL);
		if (!data || !data->d_buf)
			return false;
		*ret_frame = (struct eh_frame){ data->d_buf, data->d_size, header.sh_addr };
		return true;
	}
	return false;
}

static int compile(struct compiler *compiler)
{
	const struct unwind_rule none = { .kind = UNWIND_NONE };
	struct eh_frame frame;
	uint32_t number;
	int result = intern_rule(compiler, &none, &number);

	compiler->image = elf_rawfile(compiler->elf, &compiler->image_bytes);
	if (!compiler->image)
		compiler->image_bytes = 0;
	if (!result)
		result = find_segments(compiler);
	compiler->table.text_page = find_text_page(compiler);
	if (!result && find_section(compiler->elf, &frame))
		result = eh_frame_read(&frame, begin_function, add_range, compiler);
	if (!result)
		result = go_frames_read(compiler->elf, begin_function, add_range, compiler);
	if (!result)
		result = order_ranges(compiler);
	return result ? result : make_pages(compiler);
}

int unwind_table_compile(int elf_fd, struct unwind_table *ret_table)
{
	struct compiler compiler = { 0 };
	int result = -ENOTSUP;

	elf_version(EV_CURRENT);
	compiler.elf = elf_begin(elf_fd, ELF_C_READ_MMAP, NULL);
	if (is_of_this_machine(compiler.elf))
		result = compile(&compiler);
	elf_end(compiler.elf);
	free(compiler.read);
	free(compiler.functions);
	free(compiler.ranges);
	compiler.table.rules = TAKE_PTR(compiler.rules.rules);
	compiler.table.rules_count = compiler.rules.count;
	unwind_rules_free(&compiler.rules);
	if (result < 0)
		unwind_table_free(&compiler.table);
	else
		*ret_table = compiler.table;
	return result;
}

void unwind_table_free(struct unwind_table *table)
{
	free(table->pages);
	free(table->chunks);
	free(table->rules);
	*table = (struct unwind_table){ 0 };
}

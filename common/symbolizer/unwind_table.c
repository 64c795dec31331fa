/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/symbolizer/unwind_table.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/base/numbers.h"
#include "common/symbolizer/eh_frame.h"
#include "common/symbolizer/go_frames.h"
#include "common/symbolizer/unwind_rules.h"

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
	struct unwind_rules steps; /* all that the file has, and how often each of them */
	uint32_t *steps_uses, steps_room;
	struct unwind_row rows[UNWIND_PAGE_BYTES + 1]; /* of one page */
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

	return COMPARE(left->at, right->at) ?: COMPARE(left->first, right->first);
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

/* ---- steps ---- */

#define STEP_BYTES_MAX 8U
/* An element of the map of rules is as large as so many rows. */
#define STEPS_ROWS (sizeof(struct unwind_rule) / sizeof(struct unwind_row))
#define STEPS_MAX (1U << 16) /* different ones of a file that are counted */

/*
 * Makes steps of the ranges from number `first` on, up to one that is too long for a step, or is the last before number `end`.
 * Returns how many ranges the steps replace; 1: they are none.
 */
static uint32_t read_steps(const struct compiler *compiler, uint32_t first, uint32_t end,
			   struct unwind_rule *ret_rule)
{
	const struct range *ranges = compiler->ranges + first;
	struct unwind_steps steps = { .kind = UNWIND_STEPS };
	uint32_t count = 0;

	while (count < UNWIND_STEPS_MAX && first + count + 1 < end &&
	       at_of(ranges[count + 1]) - at_of(ranges[count]) <= STEP_BYTES_MAX) {
		steps.at[count] = (__u8)(at_of(ranges[count]) - at_of(ranges[0]));
		steps.rules[count] = (__u16)rule_of(ranges[count]);
		count++;
	}
	for (uint32_t i = count; count && i < UNWIND_STEPS_MAX; i++) {
		steps.at[i] = steps.at[i - 1];
		steps.rules[i] = steps.rules[i - 1];
	}
	ret_rule->steps = steps;
	return count > 1 ? count : 1;
}

static int count_use(struct compiler *compiler, const struct unwind_rule *steps)
{
	uint32_t found = unwind_rules_find(&compiler->steps, steps);

	if (found != HASH_INDEX_NONE) {
		compiler->steps_uses[found]++;
		return 0;
	}
	found = compiler->steps.count;
	if (found == STEPS_MAX)
		return 0;
	if (array_make_room(compiler->steps_uses, found, compiler->steps_room, 1U))
		return -ENOMEM;
	compiler->steps_uses[found] = 1;
	return unwind_rules_add(&compiler->steps, steps);
}

/* Returns the number of so many steps among the rules, or 0: they would take more room than a row for each of them. */
static uint32_t number_steps(struct compiler *compiler, const struct unwind_rule *steps, uint32_t count)
{
	uint32_t found = unwind_rules_find(&compiler->steps, steps), number;

	return found == HASH_INDEX_NONE || compiler->steps_uses[found] * (count - 1) <= STEPS_ROWS ||
			       intern_rule(compiler, steps, &number)
		       ? 0
		       : number;
}

/* ---- pages ---- */

/* Returns the first range, from `first` on, that begins behind a page. */
static uint32_t find_page_end(const struct compiler *compiler, uint64_t begins, uint32_t first)
{
	while (first < compiler->ranges_count && at_of(compiler->ranges[first]) - begins < UNWIND_PAGE_BYTES)
		first++;
	return first;
}

static int count_steps(struct compiler *compiler)
{
	const struct range *ranges = compiler->ranges;
	int result = 0;

	for (uint32_t first = 0, end; first < compiler->ranges_count && !result; first = end) {
		uint32_t taken;

		end = find_page_end(compiler, at_of(ranges[first]) / UNWIND_PAGE_BYTES * UNWIND_PAGE_BYTES,
				    first);
		for (uint32_t i = first; i < end && !result; i += taken) {
			struct unwind_rule steps;

			taken = read_steps(compiler, i, end, &steps);
			if (taken > 1)
				result = count_use(compiler, &steps);
		}
	}
	return result;
}

/* Makes the rows of a page, preceded by the rule in force at its start. Returns their number. */
static uint32_t make_rows(struct compiler *compiler, uint64_t begins, uint32_t first, uint32_t end)
{
	const struct range *ranges = compiler->ranges;
	uint32_t count = 0;

	if (first == end || at_of(ranges[first]) != begins)
		compiler->rows[count++] =
			(struct unwind_row){ 0, (__u16)(first ? rule_of(ranges[first - 1]) : 0) };
	for (uint32_t i = first, next; i < end; i = next) {
		struct unwind_rule steps;
		uint32_t number;

		next = i + read_steps(compiler, i, end, &steps);
		number = next - i > 1 ? number_steps(compiler, &steps, next - i) : 0;
		for (uint32_t j = i; j < (number ? i + 1 : next); j++)
			compiler->rows[count++] =
				(struct unwind_row){ (__u16)(at_of(ranges[j]) - begins),
						     (__u16)(number ? number : rule_of(ranges[j])) };
	}
	/* the largest seen, in libclang-cpp.so.14, had 1,032 before there were steps: what has no room there has no rule */
	if (count > UNWIND_CHUNK_ROWS) {
		count = UNWIND_CHUNK_ROWS;
		compiler->rows[count - 1].rule = 0;
	}
	return count;
}

/* Returns the position of the first one, which is in one chunk with the others, or -errno. */
static int64_t append_rows(struct compiler *compiler, const struct unwind_row *rows, uint32_t count)
{
	struct unwind_table *table = &compiler->table;

	if (!table->chunks_count || compiler->chunk_used + count > UNWIND_CHUNK_ROWS) {
		if (table->chunks_count == UNWIND_TABLE_CHUNKS_MAX)
			return -EFBIG;
		if (array_make_room(table->chunks, table->chunks_count, compiler->chunks_room, 1U))
			return -ENOMEM;
		memset(&table->chunks[table->chunks_count++], 0, sizeof(*table->chunks));
		compiler->chunk_used = 0;
	}
	memcpy(table->chunks[table->chunks_count - 1].rows + compiler->chunk_used, rows,
	       count * sizeof(*rows));
	compiler->chunk_used += count;
	table->rows += count;
	return (int64_t)(table->chunks_count - 1) * UNWIND_CHUNK_ROWS + compiler->chunk_used - count;
}

/* Adds a page with the ranges that begin in it. */
static int add_page(struct compiler *compiler, uint64_t begins, uint32_t first, uint32_t end)
{
	struct unwind_table *table = &compiler->table;
	uint32_t rows = make_rows(compiler, begins, first, end);
	struct unwind_page page = { 0 };

	if (rows > 1 || compiler->rows[0].rule) {
		int64_t at = append_rows(compiler, compiler->rows, rows);

		if (at < 0)
			return (int)at;
		page = (struct unwind_page){ .first_row = (__u32)at, .rows = (__u16)rows };
	}
	if (array_make_room(table->pages, table->pages_count, compiler->pages_room, 1U))
		return -ENOMEM;
	table->pages[table->pages_count++] = page;
	return 0;
}

static int make_pages(struct compiler *compiler)
{
	const struct range *ranges = compiler->ranges;
	uint64_t first = at_of(ranges[0]) / UNWIND_PAGE_BYTES,
		 last = at_of(ranges[compiler->ranges_count - 1]) / UNWIND_PAGE_BYTES;
	uint32_t next = 0;
	int result;

	if (last - first >= UNWIND_TABLE_PAGES_MAX)
		return -EFBIG;
	compiler->table.first_page = first;
	result = count_steps(compiler);
	for (uint64_t page = first; page <= last && !result; page++) {
		uint32_t end = find_page_end(compiler, page * UNWIND_PAGE_BYTES, next);

		result = add_page(compiler, page * UNWIND_PAGE_BYTES, next, end);
		next = end;
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

/* Returns false if the file has none of this name. A compressed one is inflated in memory, of which a symbolizer has little. */
static bool find_section(Elf *elf, const char *wanted, struct eh_frame *ret_frame)
{
	Elf_Scn *at = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((at = elf_nextscn(elf, at))) {
		const char *name = gelf_getshdr(at, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
		bool is_compressed = header.sh_flags & SHF_COMPRESSED;
		const Elf_Data *data;

		if (!name || strcmp(name, wanted) || header.sh_type == SHT_NOBITS)
			continue;
		if (is_compressed && elf_compress(at, 0, 0) < 0)
			return false;
		data = is_compressed ? elf_getdata(at, NULL) : elf_rawdata(at, NULL);
		if (!data || !data->d_buf)
			return false;
		*ret_frame = (struct eh_frame){ .section = data->d_buf,
						.bytes = data->d_size,
						.address = header.sh_addr };
		return true;
	}
	return false;
}

/*
 * Of a function that several have, the first is taken. Linkers put .eh_frame of other files into programs that are built without,
 * and what Go writes into .debug_frame does not know where its scheduler changes the stack.
 */
static int read_frames(struct compiler *compiler)
{
	struct eh_frame frame;
	int result = 0;

	if (find_section(compiler->elf, ".eh_frame", &frame))
		result = eh_frame_read(&frame, begin_function, add_range, compiler);
	if (!result)
		result = go_frames_read(compiler->elf, begin_function, add_range, compiler);
	if (!result && find_section(compiler->elf, ".debug_frame", &frame)) {
		frame.is_debug_frame = true;
		result = eh_frame_read(&frame, begin_function, add_range, compiler);
	}
	return result;
}

static int compile(struct compiler *compiler)
{
	const struct unwind_rule none = { .kind = UNWIND_NONE };
	uint32_t number;
	int result = intern_rule(compiler, &none, &number);

	compiler->image = elf_rawfile(compiler->elf, &compiler->image_bytes);
	if (!compiler->image)
		compiler->image_bytes = 0;
	if (!result)
		result = find_segments(compiler);
	compiler->table.text_page = find_text_page(compiler);
	if (!result)
		result = read_frames(compiler);
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
	unwind_rules_free(&compiler.steps);
	free(compiler.steps_uses);
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

uint32_t unwind_table_step(const struct unwind_rule *rules, uint32_t number, uint32_t distance)
{
	const struct unwind_steps *steps = &rules[number].steps;
	uint32_t step = 0;

	if (steps->kind != UNWIND_STEPS)
		return number;
	while (step + 1 < UNWIND_STEPS_MAX && distance >= steps->at[step + 1])
		step++;
	return steps->rules[step];
}

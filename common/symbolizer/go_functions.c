/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/symbolizer/go_functions.h"

#include "common/base/array.h"

#include <errno.h>
#include <string.h>

/* Limits that a hostile file may reach and no ordinary program needs. */
#define STEPS_MAX 1048576U /* pairs of value and distance that are read for one address */
#define INLINED_MAX 128U   /* functions inlined into each other */

/* The tables of values that a function has beside its files and lines, and its other data; internal/abi/symtab.go. */
#define PCDATA_INLINED 2U
#define FUNCDATA_INLINED 3U
#define FUNCDATA_NONE UINT32_MAX

/* Positions in a record, behind the address of the function. */
#define RECORD_NAME 0U
#define RECORD_DEPTHS 12U
#define RECORD_FILES 16U
#define RECORD_LINES 20U
#define RECORD_TABLES 24U
#define RECORD_UNIT 28U

/* ---- numbers and texts within bytes ---- */

/* Go counts in 7 bits a byte, lowest first. */
static bool varint_at(struct go_bytes bytes, uint64_t *at, uint32_t *ret_number)
{
	uint32_t number = 0;

	for (unsigned int shift = 0; shift < 32 && *at < bytes.count; shift += 7) {
		uint8_t byte = bytes.at[(*at)++];

		number |= (uint32_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret_number = number;
			return true;
		}
	}
	return false;
}

/* The part from `at` up to `end`. */
static bool part_of(struct go_bytes bytes, uint64_t at, uint64_t end, struct go_bytes *ret_part)
{
	if (!bytes.at || at > end || end > bytes.count)
		return false;
	*ret_part = (struct go_bytes){ bytes.at + at, end - at };
	return true;
}

/* Returns NULL if no text begins here. `are_texts`: the bytes are texts and nothing else. */
static const char *text_at(struct go_bytes bytes, uint64_t at, bool are_texts)
{
	if (at >= bytes.count || !bytes.at[at] || (are_texts && at && bytes.at[at - 1]))
		return NULL;
	return memchr(bytes.at + at, '\0', bytes.count - at) ? (const char *)bytes.at + at : NULL;
}

/* ---- the header ---- */

/* Of an address in the table. */
static unsigned int entry_bytes(const struct go_functions *functions)
{
	return functions->layout >= GO_1_18 ? 4 : functions->word;
}

static uint64_t word_of_header(const struct go_functions *functions, unsigned int position)
{
	uint64_t word = UINT64_MAX;

	go_bytes_number(functions->all, GO_HEADER_BYTES + position * functions->word, functions->word, &word);
	return word;
}

bool go_functions_begin(const uint8_t *bytes)
{
	uint32_t magic;

	memcpy(&magic, bytes, sizeof(magic));
	return (magic == 0xfffffffbU || magic == 0xfffffffaU || magic == 0xfffffff0U ||
		magic == 0xfffffff1U) &&
	       !bytes[4] && !bytes[5] && (bytes[6] == 1 || bytes[6] == 2 || bytes[6] == 4) &&
	       (bytes[7] == 4 || bytes[7] == 8);
}

static enum go_layout layout_of(const uint8_t *bytes)
{
	switch (bytes[0]) {
	case 0xfb:
		return GO_1_2;
	case 0xfa:
		return GO_1_16;
	case 0xf0:
		return GO_1_18;
	default:
		return GO_1_20;
	}
}

static bool find_entries(struct go_functions *functions, struct go_bytes within, uint64_t at)
{
	unsigned int width = entry_bytes(functions);

	/* behind the last function there is its end */
	if (!functions->count || functions->count > within.count / width / 2)
		return false;
	return part_of(within, at, at + (2 * functions->count + 1) * width, &functions->entries);
}

/* All positions are relative to the start, and names and values are anywhere. */
static bool read_parts_1_2(struct go_functions *functions)
{
	uint64_t at = GO_HEADER_BYTES + functions->word, files, files_count;

	functions->names = functions->values = functions->records = functions->all;
	if (!find_entries(functions, functions->all, at) ||
	    !go_bytes_number(functions->all, at + functions->entries.count, 4, &files) ||
	    !go_bytes_number(functions->all, files, 4, &files_count))
		return false;
	return part_of(functions->all, files, files + 4 * files_count, &functions->files);
}

static bool read_parts(struct go_functions *functions)
{
	struct go_bytes *parts[] = { &functions->names, &functions->units, &functions->files,
				     &functions->values, &functions->records };
	unsigned int first = functions->layout >= GO_1_18 ? 3 : 2, count = sizeof(parts) / sizeof(parts[0]);

	for (unsigned int i = 0; i < count; i++) {
		uint64_t end = i + 1 < count ? word_of_header(functions, first + i + 1)
					     : functions->all.count;

		if (!part_of(functions->all, word_of_header(functions, first + i), end, parts[i]))
			return false;
	}
	return find_entries(functions, functions->records, 0);
}

uint64_t go_functions_entry(const struct go_functions *functions, uint64_t number)
{
	unsigned int width = entry_bytes(functions);
	uint64_t entry = 0;

	go_bytes_number(functions->entries, 2 * number * width, width, &entry);
	return entry;
}

/* The search relies on it. */
static bool are_sorted(const struct go_functions *functions)
{
	for (uint64_t i = 0; i < functions->count; i++)
		if (go_functions_entry(functions, i) > go_functions_entry(functions, i + 1))
			return false;
	return true;
}

int go_functions_open(struct go_functions *ret_functions, const uint8_t *bytes, uint64_t count)
{
	struct go_functions functions = { .all = { bytes, count } };

	if (count < GO_HEADER_BYTES || !go_functions_begin(bytes))
		return -EBADMSG;
	functions.layout = layout_of(bytes);
	functions.quantum = bytes[6];
	functions.word = bytes[7];
	functions.count = word_of_header(&functions, 0);
	if (functions.layout == GO_1_2 ? !read_parts_1_2(&functions) : !read_parts(&functions))
		return -EBADMSG;
	if (!are_sorted(&functions))
		return -EBADMSG;
	*ret_functions = functions;
	return 0;
}

uint64_t go_functions_text_at(const struct go_functions *functions)
{
	return functions->layout >= GO_1_18 ? GO_HEADER_BYTES + 2 * functions->word : 0;
}

/* ---- a function ---- */

/* What is known of the function at an address. */
struct function {
	const struct go_functions *functions;
	uint64_t begins, bytes;  /* of its code */
	struct go_bytes record;  /* behind the address of the function, and up to the end of all records */
	uint64_t tables, others; /* positions in the record of its tables of values, and of its other data */
	uint64_t tables_count, others_count;
	uint32_t steps_left;
	uint64_t into;     /* of the address that is looked for */
	struct span *span; /* where the same is found */
};

static bool number_of(const struct function *function, uint64_t at, uint32_t *ret_number)
{
	uint64_t number;

	if (!go_bytes_number(function->record, at, 4, &number))
		return false;
	*ret_number = (uint32_t)number;
	return true;
}

/* Where a record has, in four bytes, the function's kind, flags, and the number of its other data. */
static const unsigned int kind_at[] = { [GO_1_2] = 28, [GO_1_16] = 32, [GO_1_18] = 32, [GO_1_20] = 36 };

static bool find_tables(struct function *function)
{
	enum go_layout layout = function->functions->layout;
	uint32_t tables, others;

	if (!number_of(function, RECORD_TABLES, &tables) || !number_of(function, kind_at[layout], &others))
		return false;
	function->tables = kind_at[layout] + 4;
	function->tables_count = tables;
	function->others = function->tables + 4 * (uint64_t)tables;
	function->others_count = layout == GO_1_2 ? others : others >> 24;
	return true;
}

/* Sets `ret_function` if its record agrees with the entry that leads to it. */
static bool read_function(const struct go_functions *functions, uint64_t number,
			  struct function *ret_function)
{
	struct function function = { .functions = functions, .steps_left = STEPS_MAX };
	unsigned int width = entry_bytes(functions);
	uint64_t at, entry = go_functions_entry(functions, number), entry_of_record;

	if (!go_bytes_number(functions->entries, (2 * number + 1) * width, width, &at) ||
	    !go_bytes_number(functions->records, at, width, &entry_of_record) || entry_of_record != entry ||
	    !part_of(functions->records, at + width, functions->records.count, &function.record))
		return false;
	function.begins = functions->text + entry;
	function.bytes = go_functions_entry(functions, number + 1) - entry;
	/* an offset in a larger one would make the whole reply invalid */
	if (function.bytes > INT64_MAX || !find_tables(&function))
		return false;
	*ret_function = function;
	return true;
}

static bool find_function(const struct go_functions *functions, uint64_t address,
			  struct function *ret_function, struct span *span)
{
	uint64_t behind, into = address - functions->text;

	span_narrow(span, address, functions->text,
		    functions->text + go_functions_entry(functions, functions->count));
	if (address < functions->text || into >= go_functions_entry(functions, functions->count))
		return false;
	behind = array_partition_point(functions->count, i, go_functions_entry(functions, i) <= into);
	if (!behind || !read_function(functions, behind - 1, ret_function)) {
		span_narrow_to(span, address);
		return false;
	}
	ret_function->into = address - ret_function->begins;
	ret_function->span = span;
	span_narrow(span, address, ret_function->begins, ret_function->begins + ret_function->bytes);
	return true;
}

/*
 * Reads the value that a table has for the byte `into` the function, and where the bytes begin that have it. A table is a
 * sequence of pairs: by how much the value changes, and for how many bytes it holds.
 */
static bool value_at(struct function *function, uint32_t table, uint64_t into, int32_t *ret_value,
		     uint64_t *ret_begins)
{
	struct go_bytes values = function->functions->values;
	uint64_t at = table, begins = 0, ends = 0;
	uint32_t value = UINT32_MAX, change, distance;

	if (!table)
		return false;
	while (into >= ends) {
		begins = ends;
		if (!function->steps_left || !varint_at(values, &at, &change) || (!change && ends) ||
		    !varint_at(values, &at, &distance) || !distance) {
			span_narrow_to(function->span, function->begins + function->into);
			return false;
		}
		function->steps_left--;
		value += change & 1 ? ~(change >> 1) : change >> 1;
		ends += (uint64_t)distance * function->functions->quantum;
	}
	*ret_value = (int32_t)value;
	*ret_begins = begins;
	if (into == function->into)
		span_narrow(function->span, function->begins + into, function->begins + begins,
			    function->begins + ends);
	return true;
}

static const char *file_of(const struct function *function, uint32_t number)
{
	const struct go_functions *functions = function->functions;
	uint32_t unit;
	uint64_t at;

	if (functions->layout == GO_1_2) /* number 0 is the count of files */
		return number && go_bytes_number(functions->files, 4 * (uint64_t)number, 4, &at)
			       ? text_at(functions->all, at, false)
			       : NULL;
	if (!number_of(function, RECORD_UNIT, &unit) ||
	    !go_bytes_number(functions->units, 4 * ((uint64_t)unit + number), 4, &at))
		return NULL;
	return text_at(functions->files, at, true);
}

static void set_place(struct function *function, uint64_t into, struct source_frame *frame)
{
	int32_t number, line;
	uint32_t files, lines;
	uint64_t begins;

	if (!number_of(function, RECORD_FILES, &files) || !number_of(function, RECORD_LINES, &lines) ||
	    !value_at(function, files, into, &number, &begins) ||
	    !value_at(function, lines, into, &line, &begins) || number < 0 || line <= 0)
		return;
	frame->file = file_of(function, (uint32_t)number);
	frame->line = frame->file ? (uint32_t)line : 0;
}

/* ---- its frame ---- */

#define FLAG_TOP 1U
#define FLAG_MOVES_STACK 2U /* the runtime's "writes SP" */

bool go_functions_get(const struct go_functions *functions, uint64_t number, struct go_function *ret_function)
{
	struct function function;
	uint32_t name, depths, kind;

	if (functions->layout < GO_1_18 || number >= functions->count ||
	    !read_function(functions, number, &function) || !number_of(&function, RECORD_NAME, &name) ||
	    !number_of(&function, RECORD_DEPTHS, &depths) ||
	    !number_of(&function, kind_at[functions->layout], &kind))
		return false;
	*ret_function = (struct go_function){ .name = text_at(functions->names, name, true),
					      .begins = function.begins,
					      .bytes = function.bytes,
					      .is_top = kind >> 8 & FLAG_TOP,
					      .is_moving = kind >> 8 & FLAG_MOVES_STACK,
					      .quantum = functions->quantum };
	/* 0: none */
	return !depths || part_of(functions->values, depths, functions->values.count, &ret_function->depths);
}

bool go_functions_depth(struct go_function *function, uint64_t *ends, int32_t *depth)
{
	uint32_t change, distance, value = *ends ? (uint32_t)*depth : UINT32_MAX;
	uint64_t at = 0;

	if (*ends >= function->bytes || !varint_at(function->depths, &at, &change) || (!change && *ends) ||
	    !varint_at(function->depths, &at, &distance) || !distance)
		return false;
	function->depths = (struct go_bytes){ function->depths.at + at, function->depths.count - at };
	*depth = (int32_t)(value + (change & 1 ? ~(change >> 1) : change >> 1));
	*ends += (uint64_t)distance * function->quantum;
	if (*ends > function->bytes)
		*ends = function->bytes;
	return true;
}

/* ---- functions inlined into it ---- */

struct inlined {
	const char *name;
	uint64_t into; /* its code there */
};

struct chain {
	struct inlined list[INLINED_MAX]; /* innermost first */
	uint32_t count;
	uint64_t into;   /* the call of the outermost of them, or the address itself */
	uint64_t begins; /* of the innermost, into the function */
};

/* Finds where the function has its tree of inlined functions, and the table of their numbers in it. */
static bool find_tree(const struct function *function, struct go_bytes *ret_tree, uint32_t *ret_table)
{
	const struct go_functions *functions = function->functions;
	uint32_t at;

	if (functions->layout < GO_1_18 || function->tables_count <= PCDATA_INLINED ||
	    function->others_count <= FUNCDATA_INLINED)
		return false;
	return number_of(function, function->tables + 4 * PCDATA_INLINED, ret_table) && *ret_table &&
	       number_of(function, function->others + 4 * FUNCDATA_INLINED, &at) && at != FUNCDATA_NONE &&
	       part_of(functions->trees, at, functions->trees.count, ret_tree);
}

/* Reads a node of the tree: the function's name, and into which byte its call was compiled. */
static bool read_node(const struct function *function, struct go_bytes tree, uint32_t number,
		      struct inlined *ret_inlined, uint64_t *ret_call)
{
	const struct go_functions *functions = function->functions;
	bool is_old = functions->layout == GO_1_18;
	uint64_t at = (uint64_t)number * (is_old ? 20 : 16), id, name;

	if (!go_bytes_number(tree, at, 4, &id) || !go_bytes_number(tree, at + (is_old ? 12 : 4), 4, &name) ||
	    !go_bytes_number(tree, at + (is_old ? 16 : 8), 4, ret_call))
		return false;
	/* padding behind the function's kind */
	if (id >> (is_old ? 24 : 8) || *ret_call >= function->bytes)
		return false;
	ret_inlined->name = text_at(functions->names, name, true);
	return ret_inlined->name != NULL;
}

/*
 * Follows the calls from the innermost function on. A function comes before those inlined into it in the tree, so numbers
 * descend. Returns false if anything is damaged.
 */
static bool find_chain(struct function *function, uint64_t into, struct chain *ret_chain)
{
	struct go_bytes tree;
	int32_t number, last = INT32_MAX;
	uint32_t table;
	uint64_t begins;

	ret_chain->count = 0;
	ret_chain->into = into;
	ret_chain->begins = 0;
	if (!find_tree(function, &tree, &table))
		return true;
	while (value_at(function, table, ret_chain->into, &number, &begins)) {
		struct inlined *inlined = &ret_chain->list[ret_chain->count];

		if (number == -1)
			return true;
		if (number < 0 || number >= last || ret_chain->count == INLINED_MAX)
			return false;
		inlined->into = ret_chain->into;
		if (!read_node(function, tree, (uint32_t)number, inlined, &ret_chain->into))
			return false;
		if (!ret_chain->count++)
			ret_chain->begins = begins;
		last = number;
	}
	return false;
}

uint32_t go_functions_find(const struct go_functions *functions, uint64_t address,
			   struct source_frame ret_frames[SYMBOLIZE_DEPTH], struct span *span)
{
	struct function function;
	struct chain chain;
	uint32_t name, kept;

	if (!find_function(functions, address, &function, span) || !number_of(&function, RECORD_NAME, &name))
		return 0;
	ret_frames[0] =
		(struct source_frame){ .name = text_at(functions->names, name, functions->layout != GO_1_2),
				       .begins = function.begins };
	if (!ret_frames[0].name)
		return 0;
	if (!find_chain(&function, address - function.begins, &chain)) {
		chain.count = 0;
		chain.into = address - function.begins;
	}
	set_place(&function, chain.into, &ret_frames[0]);
	/* beyond SYMBOLIZE_DEPTH the innermost are left out */
	kept = chain.count < SYMBOLIZE_DEPTH ? chain.count : SYMBOLIZE_DEPTH - 1;
	for (uint32_t i = 0; i < kept; i++) {
		const struct inlined *inlined = &chain.list[chain.count - 1 - i];

		ret_frames[1 + i] = (struct source_frame){ .name = inlined->name,
							   .begins = function.begins + chain.begins };
		set_place(&function, inlined->into, &ret_frames[1 + i]);
	}
	return 1 + kept;
}

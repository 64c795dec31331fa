/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/symbolizer/dwarf_frames.h"

#include "common/base/array.h"
#include "common/symbolizer/pieces.h"

#include <dwarf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * Limits that a hostile file may reach and no ordinary file needs. References between entries may form loops
 * or fan out. Therefore entries are counted, and each child of an entry must lie behind the one before.
 */
#define UNITS_MAX 262144U
#define PIECES_MAX 4194304U
#define NESTING_MAX 64U
#define UNIT_ENTRIES_MAX 8388608U   /* entries examined for the functions of a unit */
#define LOOKUP_ENTRIES_MAX 1048576U /* entries examined for functions inlined at one address */

struct unit {
	Dwarf_Off entry;
	bool walked;
	struct pieces functions; /* owner: the entry's offset */
};

struct dwarf_frames {
	Dwarf *dwarf;
	bool indexed;
	struct unit *units;
	uint32_t units_count, units_room;
	struct pieces by_address; /* owner: index into units */
	size_t pieces;            /* total number of pieces */
};

/* ---- address ranges ---- */

/* The linker puts discarded code at 0, or at 1 if a range list would end at 0. */
static bool is_discarded(Dwarf_Addr begins)
{
	return begins <= 1;
}

/* Returns 0 or -ENOMEM; drops pieces beyond PIECES_MAX. */
static int add_pieces(struct dwarf_frames *frames, struct pieces *pieces, Dwarf_Die *entry, uint64_t owner)
{
	Dwarf_Addr base, begins, ends;
	ptrdiff_t at = 0;
	int result = 0;

	while (!result && frames->pieces < PIECES_MAX &&
	       (at = dwarf_ranges(entry, at, &base, &begins, &ends)) > 0) {
		if (is_discarded(begins))
			continue;
		frames->pieces++;
		result = pieces_add(pieces, begins, ends, owner);
	}
	return result;
}

/*
 * Uses the units' own ranges, because clang writes no .debug_aranges. The units' order does not matter:
 * pieces_sort() sorts by address.
 */
static void index_units(struct dwarf_frames *frames)
{
	Dwarf_CU *at = NULL, *next;
	Dwarf_Die entry;

	frames->indexed = true;
	while (frames->units_count < UNITS_MAX &&
	       !dwarf_get_units(frames->dwarf, at, &next, NULL, NULL, &entry, NULL)) {
		at = next;
		if (dwarf_tag(&entry) != DW_TAG_compile_unit && dwarf_tag(&entry) != DW_TAG_skeleton_unit)
			continue;
		if (array_make_room(frames->units, frames->units_count, frames->units_room, 1U) ||
		    add_pieces(frames, &frames->by_address, &entry, frames->units_count))
			break;
		frames->units[frames->units_count++] = (struct unit){ .entry = dwarf_dieoffset(&entry) };
	}
	pieces_sort(&frames->by_address);
}

/*
 * Iterates over children. A sibling that lies before its predecessor stops it; otherwise a loop could be
 * endless.
 */
struct children {
	Dwarf_Die entry;
	Dwarf_Off before;
	bool began;
};

static struct children children_of(Dwarf_Die *parent)
{
	return (struct children){ .entry = *parent, .before = dwarf_dieoffset(parent) };
}

static bool next_child(struct children *children, uint32_t *entries_left)
{
	Dwarf_Die next;
	int result = children->began ? dwarf_siblingof(&children->entry, &next)
				     : dwarf_child(&children->entry, &next);

	if (result || !*entries_left || dwarf_dieoffset(&next) <= children->before)
		return false;
	--*entries_left;
	children->began = true;
	children->entry = next;
	children->before = dwarf_dieoffset(&next);
	return true;
}

static bool may_hold_functions(int tag)
{
	switch (tag) {
	case DW_TAG_subprogram: /* local classes, nested functions, closures */
	case DW_TAG_lexical_block:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type: /* enumerations have methods in Rust */
		return true;
	default:
		return false;
	}
}

static int walk_functions(struct dwarf_frames *frames, struct unit *unit, Dwarf_Die *parent,
			  unsigned int nesting, uint32_t *entries_left)
{
	struct children children = children_of(parent);
	int result = 0;

	while (!result && next_child(&children, entries_left)) {
		int tag = dwarf_tag(&children.entry);

		if (tag == DW_TAG_subprogram)
			result = add_pieces(frames, &unit->functions, &children.entry,
					    dwarf_dieoffset(&children.entry));
		if (!result && nesting < NESTING_MAX && may_hold_functions(tag))
			result = walk_functions(frames, unit, &children.entry, nesting + 1, entries_left);
	}
	return result;
}

static bool find_function(struct dwarf_frames *frames, struct unit *unit, Dwarf_Die *unit_entry,
			  uint64_t address, Dwarf_Die *ret_function, uint64_t *ret_begins, struct span *span)
{
	uint32_t entries_left = UNIT_ENTRIES_MAX;
	const struct piece *piece;

	if (!unit->walked) {
		unit->walked = true; /* if out of memory, the functions found so far must do */
		walk_functions(frames, unit, unit_entry, 0, &entries_left);
		pieces_sort(&unit->functions);
	}
	piece = pieces_find(&unit->functions, address, span);
	if (!piece || !dwarf_offdie(frames->dwarf, piece->owner, ret_function))
		return false;
	*ret_begins = piece->begins;
	return true;
}

/* ---- attributes of an entry ---- */

static const char *name_of(Dwarf_Die *entry)
{
	static const unsigned int names[] = { DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		Dwarf_Attribute attribute;
		const char *name = dwarf_formstring(dwarf_attr_integrate(entry, names[i], &attribute));

		if (name && *name)
			return name;
	}
	return NULL;
}

/* libdw names a file "???" if it has a number but no name. */
static void set_place(struct source_frame *frame, const char *file, uint32_t line)
{
	if (!file || !strcmp(file, "???"))
		return;
	frame->file = file;
	frame->line = line;
}

/* To the addresses of the same row of the unit's line table, which is sorted. */
static void narrow_to_row(Dwarf_Die *unit_entry, uint64_t address, struct span *span)
{
	size_t count, low;
	Dwarf_Lines *rows;
	Dwarf_Addr begins;

	if (dwarf_getsrclines(unit_entry, &rows, &count))
		return;
	low = array_partition_point(count, i,
				    !dwarf_lineaddr(dwarf_onesrcline(rows, i), &begins) && begins <= address);
	if (low && !dwarf_lineaddr(dwarf_onesrcline(rows, low - 1), &begins))
		span_narrow(span, address, begins, UINT64_MAX);
	if (low < count && !dwarf_lineaddr(dwarf_onesrcline(rows, low), &begins))
		span_narrow(span, address, begins, UINT64_MAX);
}

static void set_line(Dwarf_Die *unit_entry, uint64_t address, struct source_frame *frame, struct span *span)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit_entry, address);
	bool is_end = true;
	int number;

	narrow_to_row(unit_entry, address, span);

	/* 0: code that the compiler added and that has no source line */
	if (!line || dwarf_lineendsequence(line, &is_end) || is_end || dwarf_lineno(line, &number) ||
	    number <= 0)
		return;
	set_place(frame, dwarf_linesrc(line, NULL, NULL), (uint32_t)number);
}

/* Sets the place of the call to an inlined function, which is in the function around it. */
static void set_call_place(Dwarf_Die *unit_entry, Dwarf_Die *inlined, struct source_frame *frame)
{
	Dwarf_Attribute attribute;
	Dwarf_Word file, line;
	Dwarf_Files *files;
	size_t count;

	if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file) ||
	    dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line) || !line ||
	    line > INT32_MAX || dwarf_getsrcfiles(unit_entry, &files, &count) || file >= count)
		return;
	set_place(frame, dwarf_filesrc(files, file, NULL, NULL), (uint32_t)line);
}

static bool holds(Dwarf_Die *entry, uint64_t address, uint64_t *ret_begins, struct span *span)
{
	Dwarf_Addr base, begins, ends;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(entry, at, &base, &begins, &ends)) > 0) {
		if (is_discarded(begins))
			continue;
		span_narrow(span, address, begins, ends);
		if (address < begins || address >= ends)
			continue;
		*ret_begins = begins;
		return true;
	}
	return false;
}

/* ---- inlined functions ---- */

/* Finds the function inlined directly into `parent` at the address, within nested blocks. */
static bool find_inlined(Dwarf_Die *parent, uint64_t address, unsigned int nesting, uint32_t *entries_left,
			 Dwarf_Die *ret_inlined, uint64_t *ret_begins, struct span *span)
{
	struct children children = children_of(parent);

	while (next_child(&children, entries_left)) {
		switch (dwarf_tag(&children.entry)) {
		case DW_TAG_inlined_subroutine:
			if (!holds(&children.entry, address, ret_begins, span))
				break;
			*ret_inlined = children.entry;
			return true;
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
			/* some compilers give blocks no addresses */
			if (nesting < NESTING_MAX &&
			    find_inlined(&children.entry, address, nesting + 1, entries_left, ret_inlined,
					 ret_begins, span))
				return true;
			break;
		default:
			break;
		}
	}
	return false;
}

/* Beyond SYMBOLIZE_DEPTH, drops the innermost functions; the last one kept has the place of its call. */
static uint32_t find_chain(Dwarf_Die *unit_entry, Dwarf_Die function, uint64_t address,
			   struct source_frame *frames, struct span *span)
{
	uint32_t entries_left = LOOKUP_ENTRIES_MAX, count = 1;
	struct source_frame *last = frames;
	uint64_t begins;
	Dwarf_Die inlined;

	while (find_inlined(&function, address, 0, &entries_left, &inlined, &begins, span)) {
		const char *name = name_of(&inlined);

		function = inlined;
		if (!name) /* unnamed: its caller stands for it */
			continue;
		set_call_place(unit_entry, &inlined, last);
		if (count == SYMBOLIZE_DEPTH)
			return count;
		last = &frames[count++];
		*last = (struct source_frame){ .name = name, .begins = begins };
	}
	set_line(unit_entry, address, last, span);
	return count;
}

struct dwarf_frames *dwarf_frames_new(Dwarf *dwarf)
{
	struct dwarf_frames *frames = calloc(1, sizeof(*frames));

	if (frames)
		frames->dwarf = dwarf;
	return frames;
}

void dwarf_frames_free(struct dwarf_frames *frames)
{
	if (!frames)
		return;
	for (uint32_t i = 0; i < frames->units_count; i++)
		pieces_free(&frames->units[i].functions);
	free(frames->units);
	pieces_free(&frames->by_address);
	free(frames);
}

uint32_t dwarf_frames_find(struct dwarf_frames *frames, uint64_t address,
			   struct source_frame ret_frames[SYMBOLIZE_DEPTH], struct span *span)
{
	const struct piece *piece;
	Dwarf_Die unit_entry, function;
	struct unit *unit;
	uint64_t begins;

	ret_frames[0] = (struct source_frame){ .name = NULL };
	if (!frames->indexed)
		index_units(frames);
	piece = pieces_find(&frames->by_address, address, span);
	if (!piece)
		return 0;
	unit = &frames->units[piece->owner];
	if (!dwarf_offdie(frames->dwarf, unit->entry, &unit_entry))
		return 0;
	if (!find_function(frames, unit, &unit_entry, address, &function, &begins, span)) {
		set_line(&unit_entry, address, &ret_frames[0], span);
		return 0;
	}
	ret_frames[0].name = name_of(&function);
	ret_frames[0].begins = begins;
	return find_chain(&unit_entry, function, address, ret_frames, span);
}

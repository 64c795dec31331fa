/* SPDX-License-Identifier: GPL-2.0-only */
/* abi/unwind.h defines how user stacks are unwound: a part of common/abi/abi.h. */
#ifndef BOURDON_ABI_UNWIND_H
#define BOURDON_ABI_UNWIND_H

#include "common/abi/base.h"

/*
 * ---- unwind_*: rules for unwinding the user stacks of targets; compiled from .eh_frame, .debug_frame and .gopclntab ----
 *
 * unwind_procs gives a process its part of unwind_maps: its executable mappings in ascending order. A mapping
 * has a part of unwind_pages, with one element for each 4 KiB of the file's text. A page has a part of one
 * chunk of unwind_rows, in ascending order, the first at offset 0. A row names the element of unwind_rules
 * that holds from its offset on, or one that has several rules, each for a few bytes: see UNWIND_STEPS. The consumer can write
 * all of it, so programs check every number.
 */

#define UNWIND_PAGE_BITS 12U
#define UNWIND_PAGE_BYTES (1U << UNWIND_PAGE_BITS)
#define UNWIND_CHUNK_BITS 10U
#define UNWIND_CHUNK_ROWS (1U << UNWIND_CHUNK_BITS)
#define UNWIND_MAPPINGS_MAX 2048U /* of one process */

struct unwind_process {
	__u64 started_ns;
	__u32 first; /* index into unwind_maps */
	__u32 count;
};

/*
 * A mapping without a table, in a process that has libjvm.so, may have code that HotSpot compiled. Then first_page
 * is an index into unwind_hotspot that is not 0, and table_at is where the first byte of libjvm.so is in the process:
 * where it would be if the whole file were mapped as its text is.
 */
struct unwind_mapping {
	__u64 begins; /* virtual addresses */
	__u64 ends;
	__u64 table_at; /* address that the table's first page describes */
	__u32 first_page; /* index into unwind_pages; without a table 0, UNWIND_OF_NO_FILE, or into unwind_hotspot */
	__u32 pages; /* 0: no table, use frame pointers */
};

/*
 * What one libjvm.so says of HotSpot's compiled code. HotSpot tells debuggers in gHotSpotVMStructs at which offset
 * each field of its structures is. The offsets are computed when the library is loaded, so what the file says is
 * where they will be: the programs read them from the process. Places are distances from its first byte, as above.
 */
#define HOTSPOT_ARRAY_COUNT 0U /* GrowableArray: _len, an int */
#define HOTSPOT_ARRAY_DATA 1U
#define HOTSPOT_HEAP_MEMORY 2U /* CodeHeap: _memory and _segmap, each a VirtualSpace */
#define HOTSPOT_HEAP_SEGMENTS 3U
#define HOTSPOT_HEAP_SHIFT 4U   /* _log2_segment_size, an int */
#define HOTSPOT_SPACE_BEGINS 5U /* VirtualSpace: _low_boundary and _high_boundary */
#define HOTSPOT_SPACE_ENDS 6U
#define HOTSPOT_BLOB_NAME 7U      /* CodeBlob: _name, a pointer to text */
#define HOTSPOT_BLOB_BYTES 8U     /* _size, an int */
#define HOTSPOT_BLOB_CODE 9U      /* _code_begin, a pointer, or _code_offset, an int */
#define HOTSPOT_BLOB_COMPLETE 10U /* _frame_complete_offset */
#define HOTSPOT_BLOB_FRAME 11U    /* _frame_size, an int: in words */
#define HOTSPOT_FIELDS 12U

#define HOTSPOT_OFFSET_MAX 4096U     /* of a field; above the largest known */
#define HOTSPOT_PLACE_MAX (1U << 31) /* in the file and the zeros behind it */

struct unwind_hotspot {
	__u32 heaps; /* place of CodeCache::_heaps, a pointer to a GrowableArray; 0: no HotSpot */
	__u32 offsets[HOTSPOT_FIELDS]; /* place of the word that has the offset of the field */
	__u8 block_bytes;              /* of the header that is before a CodeBlob in its heap */
	__u8 complete_bytes;           /* of _frame_complete_offset: 2 or 4 */
	__u8 code_is_offset;           /* 1: the CodeBlob has _code_offset */
	__u8 reserved;
};

#define UNWIND_HOTSPOTS 64U /* elements of the map: different files libjvm.so, and 0 for none */

/* unwind_mapping.first_page: the mapping is of no file, so its code was made at run time */
#define UNWIND_OF_NO_FILE (~0U)

struct unwind_page {
	__u32 first_row; /* chunk << UNWIND_CHUNK_BITS | row in the chunk */
	__u16 rows;      /* 0: no rule anywhere in the page */
	/* how often a rule was looked for in it: the programs count, up to the largest number, and the consumer sets it back */
	__u16 uses;
};

struct unwind_row {
	__u16 at;   /* offset in the page */
	__u16 rule; /* index into unwind_rules; 0: none */
};

struct unwind_chunk {
	struct unwind_row rows[UNWIND_CHUNK_ROWS];
};

/* unwind_rule.kind. CFA is DWARF's canonical frame address: where the caller's stack ends. */
#define UNWIND_NONE 0U
#define UNWIND_ROOT 1U      /* no caller: DWARF marks the return address undefined */
#define UNWIND_CFA 2U       /* register + cfa_offset */
#define UNWIND_CFA_DEREF 3U /* *(register + cfa_offset) + cfa_add */
/* register + cfa_offset, plus 8 from byte cfa_add on in each 16 bytes: an entry of x86's PLT */
#define UNWIND_CFA_PLT 4U
#define UNWIND_EXPRESSION 5U /* an expression of none of these forms */
#define UNWIND_CFA_MOVED 6U  /* register + cfa_offset, which may be on another stack */
/*
 * The frame is on the stack of Go's scheduler, its caller on the goroutine's: CFA is the stack pointer that the runtime saved
 * there, plus cfa_offset. With UNWIND_SAME for the return address, this is what the runtime saved beside it. The members say where
 * that is: g at cfa_add from the thread's FS, its M at cfa_register in that, the M's goroutine at extra_at in it, and the saved
 * stack pointer at frame_pointer_at in the goroutine. A saved frame pointer is right below the return address.
 */
#define UNWIND_GO_SWITCH 7U
#define UNWIND_KINDS 8U
/* no rule, but several: unwind_rule.steps */
#define UNWIND_STEPS 8U

/* unwind_rule.frame_pointer, .return_address and .extra: where the frame keeps its caller's value */
#define UNWIND_SAME 0U             /* in the register, unchanged */
#define UNWIND_AT_CFA 1U           /* in memory, at an offset from the CFA */
#define UNWIND_AT_STACK_POINTER 2U /* at an offset from the frame's own stack pointer: signal frames */
#define UNWIND_AT_FRAME_POINTER 3U /* from the frame's own frame pointer: prologues that align the stack */
#define UNWIND_ELSEWHERE 4U        /* for `extra`: unknown */
/* for return_address: in the register with the DWARF number return_address_at, which is known in the leaf frame alone */
#define UNWIND_IN_REGISTER 5U

/*
 * The rules of a prologue or an epilogue, which change with each instruction and are the same in many functions. A row that names
 * one stands for a row at each of the distances from it.
 */
#define UNWIND_STEPS_MAX 7U

struct unwind_steps {
	__u8 kind;                     /* UNWIND_STEPS */
	__u8 at[UNWIND_STEPS_MAX];     /* ascending, the first 0; then the last again */
	__u16 rules[UNWIND_STEPS_MAX]; /* indexes into unwind_rules, none of steps; then the last again */
	__u16 reserved;
};

struct unwind_rule {
	union {
		struct {
			__u8 kind;
			__u8 cfa_register; /* DWARF register number */
			__u8 is_signal; /* the caller was interrupted: its address is exact, not a return address */
			__u8 frame_pointer;
			__u8 return_address;
			__u8 extra; /* one more register that callers compute CFAs from: rbx on x86 */
			__s16 extra_at;
			__s32 cfa_offset;
			__s32 cfa_add;
			__s32 frame_pointer_at;
			__s32 return_address_at;
		};
		struct unwind_steps steps; /* kind == UNWIND_STEPS */
	};
};

ABI_SIZE(unwind_process, 16);
ABI_SIZE(unwind_mapping, 32);
ABI_SIZE(unwind_page, 8);
ABI_SIZE(unwind_row, 4);
ABI_SIZE(unwind_chunk, 4096);
ABI_SIZE(unwind_rule, 24);
ABI_SIZE(unwind_hotspot, 56);

#endif

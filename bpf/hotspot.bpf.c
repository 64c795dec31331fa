/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hotspot.bpf.c unwinds frames of code that HotSpot, the Java virtual machine, compiled. Such code has no frame
 * pointer and no .eh_frame. HotSpot itself finds the code's CodeBlob by the segment map of its heap, and the CodeBlob
 * has the size of the frame (share/code/codeBlob.hpp, share/memory/heap.hpp). Everything is read from the process's own
 * memory, which may say anything: a number of reads is bounded, and the caller records no word that is no address of code.
 */
#include "bpf/unwind_parts.h"

#if defined(__TARGET_ARCH_x86)

#define HEAPS_MAX 4U  /* HotSpot makes 1 or 3 */
#define SHIFT_MAX 16U /* of a segment's bytes; HotSpot's: 6 or 7 */
#define HEAP_BYTES_MAX (1ULL << 31)
#define TAGS_MAX 48U /* steps in the segment map; code of 1 MiB takes 33 */
#define TAG_FREE 0xffU
#define FRAME_WORDS_MAX 65536U
#define LOCALS_BYTES_MAX (65536U * 8) /* a Java method has 65,535 local variables at most */
#define STUB_BYTES_MAX 4096U          /* more than a stub's frame has */
#define PUSHED_MAX 6U                 /* words that code may have pushed onto its frame */
#define SEEN 16U                      /* Java processes that a CPU remembers; a power of two */

#define CODE_BEFORE 4U /* bytes of code before the address that are read, too */
#define CODE_BYTES 64U
#define RETURN_STEPS 8U /* instructions between a frame's end and its return */

/* First eight letters of the names of two kinds of code, little-endian. */
#define NAME_INTERPRETER 0x6572707265746e49ULL /* "Interpre" */
#define NAME_VTABLE 0x6320656c62617476ULL      /* "vtable c" */

/* Where a frame keeps its caller. */
enum caller {
	CALLER_OF_FRAME,    /* at the end of the frame, whose size is known, below it the caller's rbp */
	CALLER_OF_UNSAVED,  /* the same, but rbp is still the caller's */
	CALLER_AT_TOP,      /* at the stack pointer; rbp is still the caller's */
	CALLER_BELOW_SAVED, /* above the caller's rbp, which is at the stack pointer */
	CALLER_OF_POINTER,  /* above the caller's rbp, which is at rbp */
};

struct heap {
	__u64 begins, ends;
	__u64 segments; /* address of its segment map */
	__u32 shift;
	__u32 reserved;
};

/* What was read from a process's libjvm.so. */
struct seen {
	__u64 libjvm; /* as unwind_mapping.table_at; 0: nothing */
	__u32 tgid;
	__u32 number; /* as unwind_mapping.first_page */
	__u32 offsets[HOTSPOT_FIELDS];
	__u8 block_bytes, complete_bytes, code_is_offset, reserved[5];
	struct heap heaps[HEAPS_MAX];
};

/* A program that interrupts another on its CPU is of the same process, and reads the same. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SEEN);
	__type(key, __u32);
	__type(value, struct seen);
} hotspot_seen SEC(".maps");

static __always_inline bool read_user(void *to, __u32 bytes, __u64 address)
{
	return !bpf_probe_read_user(to, bytes, (void *)address);
}

/* ---- a process ---- */

static __noinline bool read_offsets(struct seen *seen, const struct unwind_hotspot *hotspot, __u64 libjvm)
{
	__u64 offset;

	for (__u32 i = 0; i < HOTSPOT_FIELDS; i++) {
		if (!read_user(&offset, sizeof(offset), libjvm + hotspot->offsets[i]) ||
		    offset >= HOTSPOT_OFFSET_MAX)
			return false;
		seen->offsets[i] = (__u32)offset;
	}
	seen->block_bytes = hotspot->block_bytes;
	seen->complete_bytes = hotspot->complete_bytes;
	seen->code_is_offset = hotspot->code_is_offset;
	return true;
}

static __always_inline bool read_heap(const struct seen *seen, struct heap *heap, __u64 at)
{
	__u64 memory = at + seen->offsets[HOTSPOT_HEAP_MEMORY];

	return read_user(&heap->begins, sizeof(heap->begins), memory + seen->offsets[HOTSPOT_SPACE_BEGINS]) &&
	       read_user(&heap->ends, sizeof(heap->ends), memory + seen->offsets[HOTSPOT_SPACE_ENDS]) &&
	       read_user(&heap->segments, sizeof(heap->segments),
			 at + seen->offsets[HOTSPOT_HEAP_SEGMENTS] + seen->offsets[HOTSPOT_SPACE_BEGINS]) &&
	       read_user(&heap->shift, sizeof(heap->shift), at + seen->offsets[HOTSPOT_HEAP_SHIFT]) &&
	       heap->ends - heap->begins <= HEAP_BYTES_MAX && heap->shift <= SHIFT_MAX;
}

static __noinline bool read_heaps(struct seen *seen, __u64 heaps_at)
{
	__u64 array, data, at;
	__u32 count;

	if (!read_user(&array, sizeof(array), heaps_at) ||
	    !read_user(&count, sizeof(count), array + seen->offsets[HOTSPOT_ARRAY_COUNT]) ||
	    !read_user(&data, sizeof(data), array + seen->offsets[HOTSPOT_ARRAY_DATA]) || !count)
		return false;
		/* unrolled: Linux 6.1 refuses a loop that clang enters in its middle ("back-edge") */
#pragma unroll
	for (__u32 i = 0; i < HEAPS_MAX; i++) {
		if (i >= count)
			seen->heaps[i].begins = seen->heaps[i].ends = 0;
		else if (!read_user(&at, sizeof(at), data + i * sizeof(at)) ||
			 !read_heap(seen, &seen->heaps[i], at))
			return false;
	}
	return true;
}

/* Returns what is known of the current process, or NULL. */
static __noinline struct seen *seen_of(const struct unwind_mapping *mapping)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32, slot = tgid % SEEN, number = mapping->first_page;
	__u64 libjvm = mapping->table_at;
	struct seen *seen = bpf_map_lookup_elem(&hotspot_seen, &slot);
	const struct unwind_hotspot *hotspot;

	if (!seen || (seen->tgid == tgid && seen->libjvm == libjvm && seen->number == number && libjvm))
		return seen;
	hotspot = bpf_map_lookup_elem(&unwind_hotspot, &number);
	if (!hotspot)
		return NULL;
	seen->libjvm = 0;
	if (!read_offsets(seen, hotspot, libjvm) || !read_heaps(seen, libjvm + hotspot->heaps))
		return NULL;
	seen->tgid = tgid;
	seen->number = number;
	seen->libjvm = libjvm;
	return seen;
}

/* ---- the CodeBlob of an address ---- */

/* Returns the number of the heap that contains the address, or HEAPS_MAX. */
__noinline __u32 hotspot_heap_of(const struct seen *seen, __u64 address)
{
	if (!seen)
		return HEAPS_MAX;
	for (__u32 i = 0; i < HEAPS_MAX; i++)
		if (address - seen->heaps[i].begins < seen->heaps[i].ends - seen->heaps[i].begins)
			return i;
	return HEAPS_MAX;
}

/* Each byte of the segment map tells how many segments before it the block begins, or a part of the way; 0: here. */
__noinline __u64 hotspot_block_of(const struct heap *heap, __u64 address)
{
	__u64 segment;
	__u8 tag;

	if (!heap)
		return 0;
	segment = (address - heap->begins) >> (heap->shift & 31);
	for (__u32 i = 0; i < TAGS_MAX; i++) {
		if (!read_user(&tag, sizeof(tag), heap->segments + segment) || tag == TAG_FREE)
			return 0;
		if (!tag)
			return heap->begins + (segment << (heap->shift & 31));
		segment -= tag;
	}
	return 0;
}

/* Sets state->blob and what belongs to it. */
static __always_inline bool find_blob(struct unwind_state *state, const struct seen *seen, __u64 address)
{
	__u32 heap, bytes;
	__u64 block;

	if (state->blob_ends && address - state->blob < state->blob_ends - state->blob)
		return true;
	state->blob_ends = 0;
	heap = hotspot_heap_of(seen, address);
	if (heap >= HEAPS_MAX)
		return false;
	block = hotspot_block_of(&seen->heaps[heap], address);
	if (!block)
		return false;
	state->blob = block + seen->block_bytes;
	if (!read_user(&bytes, sizeof(bytes), state->blob + seen->offsets[HOTSPOT_BLOB_BYTES]) ||
	    !read_user(&state->blob_words, sizeof(state->blob_words),
		       state->blob + seen->offsets[HOTSPOT_BLOB_FRAME]) ||
	    address - state->blob >= bytes)
		return false;
	state->blob_ends = state->blob + bytes;
	return true;
}

/* ---- the code of the innermost frame: it may be about to make its frame, or have removed it ---- */

/* Reads the code around the address into state->words, from CODE_BEFORE bytes before it on. */
static __always_inline bool read_code(struct unwind_state *state)
{
	state->block_bytes = 0;
	state->words[CODE_BYTES / sizeof(__u64)] = 0;
	return read_user(state->words, CODE_BYTES, state->address - CODE_BEFORE);
}

/* The eight bytes at a place in the code that was read. */
static __always_inline __u64 code_word(const struct unwind_state *state, __u32 at)
{
	at &= CODE_BYTES - 1;
	asm volatile("" : "+r"(at));
	at &= CODE_BYTES - 1;
	return *(const __u64 *)((const char *)state->words + at);
}

/*
 * The length of the instruction that the bytes begin with, if it is one that HotSpot has between a frame's end and its return:
 * a poll for a safepoint, or a look for an exception. 0: it is none.
 */
__noinline __u32 hotspot_bytes_before_return(__u64 code)
{
	switch (code & 0xff) {
	case 0x75: /* jne */
	case 0x77: /* ja */
		return 2;
	}
	switch (code & 0xffff) {
	case 0x850f: /* jne */
	case 0x870f: /* ja */
	case 0x0585: /* test %eax, (%rip) */
		return 6;
	}
	switch (code & 0xffffff) {
	case 0x77f8c5: /* vzeroupper */
	case 0x028541: /* test %eax, (%r10) */
		return 3;
	case 0x673b49: /* cmp (%r15), %rsp */
	case 0x578b4d: /* mov (%r15), %r10 */
		return 4;
	case 0x7f8349: /* cmpq $, (%r15) */
	case 0x47f641: /* testb $, (%r15) */
		return 5;
	case 0xa73b49:
	case 0x978b4d:
		return 7;
	case 0xbf8349:
	case 0x87f641:
	case 0x7f8149:
		return 8;
	case 0xbf8149:
		return 11;
	}
	return 0;
}

/* True if the code returns without a change of the stack pointer, but for an optional pop of rbp at first. */
__noinline int hotspot_code_returns(struct unwind_state *state, __u32 from)
{
	if (!state)
		return false;
	state->code_at = from;
	for (__u32 i = 0; i < RETURN_STEPS; i++) {
		__u64 code;
		__u32 bytes;

		/* the place is kept in the map, where the verifier does not follow its value */
		if (state->code_at >= CODE_BYTES)
			return false;
		code = code_word(state, state->code_at);
		/* ret, ret $, repz ret */
		if ((code & 0xff) == 0xc3 || (code & 0xff) == 0xc2 || (code & 0xffff) == 0xc3f3)
			return true;
		bytes = hotspot_bytes_before_return(code);
		if (!bytes)
			return false;
		state->code_at += bytes;
	}
	return false;
}

static __always_inline enum caller caller_at_return(struct unwind_state *state, enum caller otherwise)
{
	__u32 pops = (code_word(state, CODE_BEFORE) & 0xff) == 0x5d; /* pop %rbp */

	if (!hotspot_code_returns(state, CODE_BEFORE + pops))
		return otherwise;
	return pops ? CALLER_BELOW_SAVED : CALLER_AT_TOP;
}

/*
 * Finds where the code still makes its frame, in the `left` bytes before that is done: `push %rbp`, perhaps `mov %rsp, %rbp`, and
 * `sub $, %rsp`; or `sub $, %rsp` and `mov %rbp, (%rsp)`.
 */
__noinline int hotspot_caller_at_begin(struct unwind_state *state, __u32 left)
{
	__u64 code;

	if (!state)
		return CALLER_OF_FRAME;
	for (__u32 i = 0; i < CODE_BYTES - CODE_BEFORE - 4; i++) {
		__u32 before, here;

		if (i >= left)
			break;
		code = code_word(state, i);
		before = (__u32)code;
		here = (__u32)(code >> 32);
		if (state->blob_words == 2 && (here & 0xff) == 0x55)
			return CALLER_AT_TOP;
		if ((here & 0xffffff) != 0xec8348 && (here & 0xffffff) != 0xec8148)
			continue;
		if (before >> 24 == 0x55)
			return i >= 1 ? CALLER_AT_TOP : CALLER_BELOW_SAVED;
		if (before == 0xec8b4855)
			return i >= 4 ? CALLER_AT_TOP : CALLER_BELOW_SAVED;
		return CALLER_AT_TOP;
	}
	code = code_word(state, CODE_BEFORE) & 0xffffffff;
	return code == 0x246c8948 || code == 0x24ac8948 ? CALLER_OF_UNSAVED : CALLER_OF_FRAME;
}

/* A stub makes a frame with a frame pointer, or none. */
static __always_inline enum caller caller_of_stub(struct unwind_state *state)
{
	__u64 code = code_word(state, CODE_BEFORE);

	if ((__u32)code == 0xec8b4855) /* push %rbp; mov %rsp, %rbp */
		return CALLER_AT_TOP;
	if ((__u32)code_word(state, CODE_BEFORE - 1) == 0xec8b4855)
		return CALLER_BELOW_SAVED;
	return caller_at_return(state, CALLER_OF_POINTER);
}

static __always_inline enum caller caller_of_compiled(struct unwind_state *state, const struct seen *seen)
{
	__u64 begins = 0;
	__s32 complete = 0, into;

	if (!read_code(state))
		return CALLER_OF_FRAME;
	read_user(&begins, sizeof(begins), state->blob + seen->offsets[HOTSPOT_BLOB_CODE]);
	read_user(&complete, sizeof(complete), state->blob + seen->offsets[HOTSPOT_BLOB_COMPLETE]);
	if (seen->code_is_offset)
		begins = state->blob + (__u32)begins;
	if (seen->complete_bytes == 2)
		complete = (__s16)complete;
	into = (__s32)(state->address - begins);
	if (complete < 0) /* a stub, which does not say when its frame is complete */
		return caller_of_stub(state);
	if (into >= 0 && into < complete)
		return hotspot_caller_at_begin(state, (__u32)(complete - into));
	return caller_at_return(state, CALLER_OF_FRAME);
}

/* ---- the caller ---- */

/*
 * Moves to the caller, whose address is at `return_at`, whose rbp is at `frame_pointer_at`, if that is not 0, and whose stack
 * ends at `above`.
 */
static __noinline int move_up(struct unwind_state *state, __u64 return_at, __u64 frame_pointer_at,
			      __u64 above)
{
	__u64 frame_pointer = state->frame_pointer, address;

	if (above <= state->stack_pointer || above - state->stack_pointer > FRAME_BYTES_MAX)
		return -1;
	/* the lower word first, so that one block holds both */
	if ((frame_pointer_at && !unwind_read(state, frame_pointer_at, &frame_pointer)) ||
	    !unwind_read(state, return_at, &address) || !address)
		return -1;
	state->address = address;
	state->frame_pointer = frame_pointer;
	state->stack_pointer = above;
	state->extra_at = EXTRA_LOST;
	state->exact = 0;
	state->guessed = 1; /* what a process says of its code may be wrong */
	state->unwinders |= UNWINDER_EH_FRAME;
	return 1;
}

/*
 * The stack of an interpreted method's caller ends where the arguments begin, which become its local variables. Its value
 * is below the saved rbp (cpu/x86/frame_x86.hpp).
 */
static __always_inline int move_up_interpreted(struct unwind_state *state)
{
	__u64 at = state->frame_pointer, above = 0;

	if (at % sizeof(__u64) || at - state->stack_pointer > FRAME_BYTES_MAX ||
	    !unwind_read(state, at - sizeof(__u64), &above) ||
	    above - (at + 2 * sizeof(__u64)) > LOCALS_BYTES_MAX)
		return 0;
	return move_up(state, at + sizeof(__u64), at, above);
}

/*
 * Compiled code pushes a word or two onto its frame, where it compares strings or looks for a class. Of that nothing tells. But its
 * caller is compiled code, too, or the interpreter, or a stub: its return address is in one of the heaps. So it is looked for there
 * in the words above, if the frame is interrupted, or has called code that is not of these heaps.
 */
static __noinline int move_up_frame(struct unwind_state *state, const struct seen *seen, __u32 has_saved)
{
	__u64 at = state->stack_pointer + (__u64)state->blob_words * sizeof(__u64) - sizeof(__u64), address;
	__u32 most = state->exact || !state->guessed ? PUSHED_MAX : 0;

	for (__u32 i = 0; i <= PUSHED_MAX; i++) {
		if (i > most || !unwind_read(state, at, &address))
			break;
		if (hotspot_heap_of(seen, address) < HEAPS_MAX)
			return move_up(state, at, has_saved ? at - sizeof(__u64) : 0, at + sizeof(__u64));
		at += sizeof(__u64);
	}
	return -1;
}

static __always_inline int move_up_by(struct unwind_state *state, const struct seen *seen, enum caller caller)
{
	__u64 stack = state->stack_pointer, pointer = state->frame_pointer;

	switch (caller) {
	case CALLER_AT_TOP:
		return move_up(state, stack, 0, stack + 8);
	case CALLER_BELOW_SAVED:
		return move_up(state, stack + 8, stack, stack + 16);
	case CALLER_OF_POINTER:
		if (pointer % sizeof(__u64) || pointer - stack > STUB_BYTES_MAX)
			return -1;
		return move_up(state, pointer + 8, pointer, pointer + 16);
	case CALLER_OF_UNSAVED:
		return move_up_frame(state, seen, 0);
	default:
		return move_up_frame(state, seen, state->blob_words > 1);
	}
}

/* Code without a frame of a known size: the interpreter, and stubs. */
static __always_inline int unwind_other(struct unwind_state *state, const struct seen *seen)
{
	__u64 at, name = 0;

	if (!read_user(&at, sizeof(at), state->blob + seen->offsets[HOTSPOT_BLOB_NAME]) ||
	    !read_user(&name, sizeof(name), at))
		return 0;
	if (name == NAME_INTERPRETER)
		return move_up_interpreted(state);
	if (!state->exact)
		return state->frame_pointer ? 0 : -1;
	/* a jump by a table of methods has no frame */
	if (name == NAME_VTABLE)
		return move_up(state, state->stack_pointer, 0, state->stack_pointer + 8);
	return read_code(state) ? move_up_by(state, seen, caller_of_stub(state)) : 0;
}

__noinline int unwind_by_hotspot(struct unwind_state *state)
{
	const struct seen *seen;
	enum caller caller = CALLER_OF_FRAME;

	if (!state)
		return 0;
	seen = seen_of(&state->mapping);
	if (!seen || !find_blob(state, seen, state->address - !state->exact))
		return 0;
	state->ended = UNWIND_ENDED_NO_RULE;
	if (!state->blob_words)
		return unwind_other(state, seen);
	if (state->blob_words > FRAME_WORDS_MAX)
		return -1;
	if (state->exact)
		caller = caller_of_compiled(state, seen);
	return move_up_by(state, seen, caller);
}

#endif

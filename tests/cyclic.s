/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A function with debugging information that leads nowhere: each entry's next one lies before it, or is itself,
 * and what is inlined is an instance of itself. make_symbols.sh makes a library of it.
 */
	.text
	.globl looping
	.type looping, @function
looping:
	.skip 16, 0x90
	.size looping, 16
.Lend:

	.section .debug_abbrev
	.uleb128 1, 0x11		/* a unit */
	.byte 1				/* has children */
	.uleb128 0x11, 0x01		/* DW_AT_low_pc: an address */
	.uleb128 0x12, 0x07		/* DW_AT_high_pc: 8 bytes */
	.uleb128 0, 0
	.uleb128 2, 0x2e		/* a function */
	.byte 1
	.uleb128 0x03, 0x08		/* DW_AT_name: text */
	.uleb128 0x11, 0x01
	.uleb128 0x12, 0x07
	.uleb128 0x01, 0x13		/* DW_AT_sibling: an entry */
	.uleb128 0, 0
	.uleb128 3, 0x1d		/* an inlined one */
	.byte 1
	.uleb128 0x31, 0x13		/* DW_AT_abstract_origin: an entry */
	.uleb128 0x11, 0x01
	.uleb128 0x12, 0x07
	.uleb128 0x01, 0x13
	.uleb128 0, 0
	.uleb128 4, 0x0b		/* a block */
	.byte 1
	.uleb128 0x01, 0x13
	.uleb128 0, 0
	.uleb128 0

	.section .debug_info
.Lunit:
	.4byte .Lunit_end - .Lunit - 4
	.2byte 4			/* the version of DWARF */
	.4byte 0			/* abbreviations from here */
	.byte 8				/* an address is 8 bytes */
	.uleb128 1
	.8byte looping
	.8byte .Lend - looping
.Lfunction:
	.uleb128 2
	.asciz "looping"
	.8byte looping
	.8byte .Lend - looping
	.4byte .Lfunction - .Lunit	/* its next is itself */
.Lblock:
	.uleb128 4
	.4byte .Lfunction - .Lunit	/* its next is its parent */
.Linlined:
	.uleb128 3
	.4byte .Linlined - .Lunit	/* an instance of itself */
	.8byte looping
	.8byte .Lend - looping
	.4byte .Lblock - .Lunit		/* its next is its parent */
	/* a hundred blocks, each in the other, whose next is their first child: twice as many ways with each */
	.rept 100
	.uleb128 4
	.4byte . + 4 - .Lunit
	.endr
.Lunit_end:

#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# What the linked programs contain.

# bats file_tags=no-load

source "$BATS_TEST_DIRNAME/lib.bash"

setup() {
	[ -d "$BUILD/object" ] || skip 'the objects, and the tools that read them, are only where they were built'
}

# functions FILE...: the global functions that these objects or programs define
functions() {
	nm --defined-only -- "$@" | awk '$2 == "T" && $3 !~ /^(main|_.*)$/ { print $3 }' | sort -u
}

# has_cet FILE: whether its notes say that it supports both parts of CET
has_cet() {
	readelf --notes --wide "$1" 2> /dev/null | grep -q 'x86 feature: .*IBT, SHSTK'
}

@test "bourdon-load contains no function of bourdon-grant, and the reverse" {
	local own of_grant
	own=$(functions "$BUILD"/object/loader/*.o)
	of_grant=$(functions "$BUILD"/object/loader/grant/*.o)
	[[ $own == *load_run* && $of_grant == *grant_serve* ]]
	[[ $(functions "$BUILD/bourdon-load") == *load_run* ]]
	[[ $(functions "$BUILD/bourdon-grant") == *grant_serve* ]]
	run comm -12 <(functions "$BUILD/bourdon-load") <(echo "$of_grant")
	[ -z "$output" ] || { echo "$output"; false; }
	run comm -12 <(functions "$BUILD/bourdon-grant") <(echo "$own")
	[ -z "$output" ] || { echo "$output"; false; }
}

@test "the privileged programs use no library that only the others need" {
	run bash -c "readelf --dynamic '$BUILD/bourdon-load' '$BUILD/bourdon-grant' | grep NEEDED"
	[[ $output == *libcap-ng* ]]
	[[ $output != *sqlite* && $output != *libdw* && $output != *lzma* && $output != *seccomp* ]] ||
		{ echo "$output"; false; }
	run readelf --dynamic "$BUILD/bourdon-grant"
	[[ $output != *libbpf* && $output != *libelf* ]]
}

@test "every module is built with CET, and every program has its note where the start files have it" {
	[ "$(uname -m)" = x86_64 ] || skip 'CET is a feature of x86 processors'
	local file
	for file in "$BUILD"/object/{common/*,consumer,consumer/*,loader,loader/grant,report,report/*}/*.o; do
		has_cet "$file" || { echo "$file"; false; }
	done
	for file in Scrt1.o crti.o crtn.o crtbeginS.o crtendS.o; do
		has_cet "$("${CC:-gcc}" -print-file-name="$file")" || skip "$file of this distribution has no CET note"
	done
	for file in bourdon bourdond bourdon-load bourdon-grant; do
		has_cet "$BUILD/$file" || { echo "$file"; false; }
	done
}

@test "every program is position independent, bound at its start, and has no memory that is written and executed" {
	local file
	for file in bourdon bourdond bourdon-load bourdon-grant; do
		run readelf --wide --file-header --segments --dynamic "$BUILD/$file"
		[[ $output =~ Type:\ +DYN ]] || { echo "$file: no PIE"; false; }
		[[ $output =~ FLAGS_1.*NOW.*PIE && $output == *GNU_RELRO* ]] || { echo "$file: no full RELRO"; false; }
		[[ $output =~ GNU_STACK[^$'\n']*\ RW\  ]] || { echo "$file: the stack is executable"; false; }
		[[ ! $output =~ RWE|RPATH|RUNPATH|TEXTREL ]] || { echo "$file: ${BASH_REMATCH[0]}"; false; }
	done
}

@test "every source file of every program is compiled with each flag that hardens it" {
	local file flag unit units
	for file in bourdon bourdond bourdon-load bourdon-grant; do
		units=$(readelf --debug-dump=info --dwarf-depth=1 "$BUILD/$file" | grep -F DW_AT_producer)
		[[ $units != *clang* ]] || skip 'clang does not write its flags into the program'
		for flag in -O2 -fPIE -fno-strict-aliasing -fstack-protector-strong -ftrivial-auto-var-init=zero \
			-fzero-call-used-regs=used-gpr; do
			! grep -vF -e " $flag " <<< "$units" || { echo "$file: no $flag"; false; }
		done
	done
}

@test "the flags do what they are for: no old bytes in variables and registers, no write behind allocated memory" {
	[ "$("$BUILD/tools/show_hardening" variables)" = 0 ]
	run "$BUILD/tools/show_hardening" overflow
	# _FORTIFY_SOURCE=2 knows no size that only running tells
	[[ $status -eq 134 && $output == *'buffer overflow detected'* && $output != *written* ]]
	[[ ${CC:-gcc} != *clang* ]] || skip 'clang knows -fzero-call-used-regs from version 15 on'
	[ "$("$BUILD/tools/show_hardening" registers)" = 0 ]
}

@test "every program checks what it copies, and contains no path of the directory where it was built" {
	local file
	for file in bourdon bourdond bourdon-load bourdon-grant; do
		nm --dynamic "$BUILD/$file" | grep -q ' U __snprintf_chk@' || { echo "$file: no checked call"; false; }
		nm --dynamic "$BUILD/$file" | grep -q ' U __stack_chk_fail@' || { echo "$file: no canary"; false; }
		# a tree in /bourdon has a path that is part of others
		! grep -qE "$TREE/(build|common|consumer|loader|policy|report)/" "$BUILD/$file" || { echo "$file: contains $TREE"; false; }
	done
}
